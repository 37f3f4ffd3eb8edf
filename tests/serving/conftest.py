"""Order, what takes the shared Milvus server away runs last; and a store of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pincite.testing.lite_server import lite_server

OUTAGE = "milvus_outage"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: OUTAGE in getattr(item, "fixturenames", ()))


@pytest.fixture
def own_lite_uri(tmp_path: Path) -> Iterator[str]:
    """The address of a Milvus Lite server whose collections no other catalogue has written."""
    with lite_server(tmp_path / "lite-server") as uri:
        yield uri
