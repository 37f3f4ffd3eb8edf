"""The servers that tests run against keep out of each other's way."""

from __future__ import annotations

import pytest

from pincite.errors import StackFailed
from pincite.testing import lite_server as lite
from pincite.testing.milvus_server import milvus_server


def test_a_second_milvus_server_waits_for_the_first(milvus_server_uri: str) -> None:
    assert milvus_server_uri.startswith("http://127.0.0.1:")
    with pytest.raises(StackFailed, match="Another test session"), milvus_server(lock_wait_s=0.3):
        pass


def test_a_lite_server_that_cannot_start_says_why(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("broken")
    (folder / "data.db").write_text("no folder")
    with pytest.raises(StackFailed, match="did not start"), lite.lite_server(folder):
        pass
