from __future__ import annotations

import pytest

from pincite.errors import ConfigInvalid
from pincite.store.capabilities import LITE, MEMORY, MEMORY_DENSE, SERVER
from pincite.store.registry import StoreConfig, make_store


def test_memory_is_one_store_per_name() -> None:
    first = make_store(StoreConfig("memory://registry-a"))
    assert make_store(StoreConfig("memory://registry-a")) is first
    assert make_store(StoreConfig("memory://registry-b")) is not first
    assert first.capabilities is MEMORY


def test_memory_without_full_text_is_another_store() -> None:
    with_text = make_store(StoreConfig("memory://registry-c"))
    without = make_store(StoreConfig("memory://registry-c?full_text=false"))
    assert without.capabilities is MEMORY_DENSE
    assert without is not with_text
    assert make_store(StoreConfig("memory://registry-c?full_text=false")) is without
    with pytest.raises(ConfigInvalid, match="'full_text=no'"):
        make_store(StoreConfig("memory://registry-c?full_text=no"))


def test_a_path_is_milvus_lite_and_an_address_a_server() -> None:
    assert make_store(StoreConfig("some/folder")).capabilities is LITE
    assert make_store(StoreConfig("http://127.0.0.1:1", timeout_s=1)).capabilities is SERVER


@pytest.mark.parametrize("uri", ["", "  ", "ftp://host", "postgresql://host/db"])
def test_another_address_is_refused(uri: str) -> None:
    with pytest.raises(ConfigInvalid, match="uri is"):
        make_store(StoreConfig(uri))
