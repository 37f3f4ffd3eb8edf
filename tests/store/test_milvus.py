from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pincite.errors import StoreLocked, StoreRejected, StoreUnreachable
from pincite.schemas.rows import rows_contract
from pincite.store.capabilities import LITE, SERVER
from pincite.store.filters import Eq
from pincite.store.milvus import MilvusStore
from pincite.store.port import VectorQuery
from pincite.testing.lite_server import free_port
from pincite.testing.store_suite import DIM, SPEC, document, keys_of, row, unit

HELPERS = """
import asyncio, sys
from pincite.errors import PinciteError
from pincite.store.filters import Eq
from pincite.store.milvus import MilvusStore
from pincite.store.port import VectorQuery
from pincite.testing.store_suite import SPEC, document, keys_of, unit
"""


def script(body: str, *arguments: str) -> subprocess.Popen[str]:
    """A Python process with warnings as errors, which runs the body."""
    code = HELPERS + textwrap.dedent(body)
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def on_lite(path: str, work: Callable[[MilvusStore], Any]) -> Any:
    async def run() -> Any:
        store = MilvusStore(path)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


def test_a_folder_of_another_process_is_locked(lite_path: str) -> None:
    holder = script(
        """
        asyncio.run(MilvusStore(sys.argv[1]).create("c", SPEC))
        print("open", flush=True)
        sys.stdin.read()
        """,
        lite_path,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StoreLocked, match="pincite up"):
            on_lite(lite_path, lambda store: store.count("c"))
    finally:
        holder.communicate()
    assert on_lite(lite_path, lambda store: store.count("c")) == 0


def test_a_folder_that_is_none_is_refused_and_not_called_locked(tmp_path: Path) -> None:
    (tmp_path / "file.db").write_text("x")
    for path in (tmp_path / "file.db", tmp_path / "file.db" / "below.db"):
        with pytest.raises(StoreRejected, match="folder"):
            on_lite(str(path), lambda store: store.exists("c"))


def test_rows_are_found_again_by_the_next_process(lite_path: str) -> None:
    async def write(store: MilvusStore) -> None:
        await store.create("c", SPEC)

    reader = """
    async def main():
        store = MilvusStore(sys.argv[1])
        if sys.argv[2] == "write":
            await store.create("c", SPEC)
            await store.upsert("c", document("d", 3))
        else:
            hits, keys = await asyncio.gather(
                store.search("c", VectorQuery(unit(0), 2)), keys_of(store, "c", Eq("doc_id", "d"))
            )
            print(len(hits), len(keys), await store.count("c"))
        await store.close()
    asyncio.run(main())
    """
    for action, expected in (("write", ""), ("read", "2 3 3\n")):
        assert script(reader, lite_path, action).communicate() == (expected, "")


def test_failures_say_nothing_but_their_code(tmp_path: Path) -> None:
    body = """
    async def main():
        for uri in (sys.argv[1], sys.argv[2]):
            store = MilvusStore(uri, timeout_s=0.5)
            for work in (store.count("absent"), store.exists("absent"), keys_of(store, "x", None)):
                try:
                    await work
                except PinciteError as exc:
                    print(exc.code)
            await store.close()
    asyncio.run(main())
    """
    address = f"http://127.0.0.1:{free_port()}"
    out, err = script(body, address, str(tmp_path / "quiet.db")).communicate()
    assert err == ""
    assert out.split() == ["STORE_UNREACHABLE"] * 3 + ["STORE_REJECTED"] * 2


def test_an_address_without_a_server_is_unreachable_within_the_deadline() -> None:
    async def run() -> float:
        store = MilvusStore(f"http://127.0.0.1:{free_port()}", timeout_s=5.0)
        started = asyncio.get_running_loop().time()
        with pytest.raises(StoreUnreachable):
            await store.get("c", ["a"], ["doc_id"], timeout_s=0.3)
        await store.close()
        return asyncio.get_running_loop().time() - started

    assert asyncio.run(run()) < 2.0


def test_capabilities_are_those_of_the_version_after_the_first_call(
    lite_path: str, lite_server_uri: str
) -> None:
    async def run() -> None:
        for uri, before in ((lite_path, LITE), (lite_server_uri, SERVER)):
            store = MilvusStore(uri)
            assert store.capabilities is before
            assert not await store.exists("absent")
            assert store.capabilities is LITE
            await store.close()

    asyncio.run(run())


class _Counting(MilvusStore):
    queries = 0

    async def _query(self, *args: Any) -> Any:
        self.queries += 1
        return await super()._query(*args)


def test_a_scan_that_fits_a_page_is_one_query(lite_path: str) -> None:
    async def run() -> list[int]:
        store = _Counting(lite_path)
        await store.create("c", SPEC)
        await store.upsert("c", document("d", 30))
        counts = []
        for page in (31, 30, 10):
            store.queries = 0
            assert len(await keys_of(store, "c", Eq("doc_id", "d"), page=page)) == 30
            counts.append(store.queries)
        await store.close()
        return counts

    assert asyncio.run(run()) == [1, 2, 4]


def many(count: int) -> pa.Table:
    """``count`` rows, keys in no order."""
    order = np.random.default_rng(7).permutation(count)
    keys = [f"d{n:05}#chunk-0" for n in order]
    base = rows_contract(DIM).from_rows([row("d", 0)])
    rows = pa.concat_tables([base] * count).combine_chunks()
    for name in ("vector_id", "evidence_key", "doc_id"):
        rows = rows.set_column(rows.schema.get_field_index(name), name, pa.array(keys))
    return rows


@pytest.mark.parametrize("kind", ["lite", "server"])
def test_more_rows_than_one_answer_may_hold_are_scanned_and_got(
    kind: str, lite_path: str, request: pytest.FixtureRequest
) -> None:
    uri = lite_path if kind == "lite" else request.getfixturevalue("milvus_server_uri")
    rows = many(17_000)

    async def run() -> None:
        store = MilvusStore(uri, timeout_s=60.0)
        await store.create("many", SPEC)
        assert await store.upsert("many", rows) == 17_000
        expected = sorted(rows["vector_id"].to_pylist())
        assert await keys_of(store, "many", None, page=20_000) == expected
        read = await store.get("many", expected, ["doc_version"])
        assert read["vector_id"].to_pylist() == expected
        assert await store.count("many") == 17_000
        await store.drop("many")
        await store.close()

    asyncio.run(run())


def test_a_password_in_the_address_is_in_no_message() -> None:
    async def run() -> str:
        store = MilvusStore(f"http://root:s3cret@127.0.0.1:{free_port()}", timeout_s=0.3)
        with pytest.raises(StoreUnreachable) as caught:
            await store.count("c")
        await store.close()
        return str(caught.value)

    assert "s3cret" not in asyncio.run(run())


def test_the_first_call_has_one_deadline_for_all_it_needs(lite_server_uri: str) -> None:
    async def run() -> float:
        store = MilvusStore(lite_server_uri)
        assert not await store.exists("absent")
        started = asyncio.get_running_loop().time()
        with pytest.raises(StoreUnreachable):
            await store.search("absent", VectorQuery(unit(0), 1, timeout_s=0.0))
        await store.close()
        return asyncio.get_running_loop().time() - started

    assert asyncio.run(run()) < 1.0
