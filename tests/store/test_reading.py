from __future__ import annotations

import pytest

from pincite.errors import StoreRejected
from pincite.store.reading import similarity, to_layout


def test_every_metric_becomes_cosine_higher_is_better() -> None:
    assert similarity("COSINE", 0.25) == 0.25
    assert similarity("IP", -0.5) == -0.5
    assert similarity("L2", 0.0) == 1.0
    assert similarity("L2", 2.0) == 0.0
    assert similarity("L2", 4.0) == -1.0


def test_rounding_does_not_leave_the_range() -> None:
    assert similarity("COSINE", 1.0000002) == 1.0
    assert similarity("L2", 4.0000001) == -1.0


def test_a_metric_without_cosine_is_refused() -> None:
    with pytest.raises(StoreRejected, match="'HAMMING'"):
        similarity("HAMMING", 1.0)


def test_a_collection_without_a_single_vector_is_refused() -> None:
    with pytest.raises(StoreRejected, match="has keys"):
        to_layout({"collection_name": "c", "fields": []}, {})
