from __future__ import annotations

import pytest

from pincite.store.capabilities import LITE, SERVER, SERVER_2_5, capabilities_of


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("v2.3.5-lite", SERVER),
        ("v2.4.23", SERVER),
        ("2.5.0", SERVER_2_5),
        ("v2.6.1-dev", SERVER_2_5),
        ("3.0", SERVER_2_5),
        ("Zilliz Cloud Vector Database(Compatible with Milvus 2.5)", SERVER_2_5),
        ("milvus_lite-3.2.2", LITE),
        ("unknown", SERVER),
        ("", SERVER),
    ],
)
def test_a_version_says_what_the_store_can_do(version: str, expected: object) -> None:
    assert capabilities_of(version) is expected


def test_a_store_with_full_text_says_what_parts_the_words() -> None:
    for capabilities in (LITE, SERVER_2_5):
        assert capabilities.full_text
    assert (LITE.tokenizer, SERVER_2_5.tokenizer) == ("standard", "whitespace")
    assert not SERVER.full_text
