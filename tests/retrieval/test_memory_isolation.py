"""On the real server: whatever the ids and however many at once, nobody sees another's row."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pincite.errors import EvidenceNotFound, ScopeInvalid, ScopeRequired
from pincite.retrieval.citation import cite
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import LookupRequest, request_from_settings
from pincite.retrieval.result import LookupResult
from pincite.settings import load_settings
from pincite.testing.crash_database import own_database
from pincite.testing.memory_items import OWNER, item
from pincite.verification import verify
from pincite.wiring import Workspace, using
from pincite.writing.online import write_items

T = TypeVar("T")
NAMES = tuple(OWNER)
HOSTILE = (
    "*", "%", "_", "null", "None", "0", "''", '"', '"" or 1 == 1', 'u" or user_id != "', "\\",
    "\\\\", "u\n", "\tu", "u ", " u", "U", "u", "ü", "u\u0308", "𝒖", "知", "{user_id}", "a||b",
    "user_id", "😀", "x" * 256, "é" * 128, "like", "in []", "\x00", "\ufeffu",
)  # fmt: skip
ANY_ID = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40))
QUICK = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class World:
    """One workspace on the real server, and the loop that it lives in."""

    def __init__(self, workspace: Workspace, loop: asyncio.AbstractEventLoop) -> None:
        self.workspace = workspace
        self.owners: list[dict[str, str]] = []
        self._loop = loop

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        with using(self.workspace):
            return self._loop.run_until_complete(self._loop.create_task(work))

    async def look(self, ids: dict[str, str], **options: Any) -> LookupResult:
        request = request_from_settings(
            self.workspace.settings, "whose tea is it", corpus="memory", **{**ids, **options}
        )
        return await lookup_direct(request, self.workspace.lookup_parts)


@pytest.fixture(scope="module")
def world(milvus_server_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("tenants")
    with own_database(milvus_server_uri, "memory", "web") as database, asyncio.Runner() as runner:
        given = {
            **{"home": folder, "embedder.provider": "hash"},
            **{"store.uri": milvus_server_uri, "store.database": database},
            **{"rag.retrieve.timeout-ms": 60_000, "memory.write-timeout-ms": 60_000},
            **{"web.write-timeout-ms": 60_000},
            # A kept answer would hide what the store gives.
            "rag.hot.results": 0,
        }
        made = load_settings(given, folder=folder, environment={})
        world = World(Workspace(made), runner.get_loop())
        world.run(_fill(world))
        yield world
        world.run(world.workspace.close())


def whose(ids: dict[str, str]) -> str:
    """The words by which a row of this owner tells whose it is."""
    return "tea of " + "|".join(repr(ids[name]) for name in NAMES)


async def _fill(world: World) -> None:
    """An item of each hostile id in each of the three places, others plain."""
    world.owners = [{**OWNER, name: value} for name in NAMES for value in HOSTILE if value.strip()]
    items = [item(whose(ids), **ids, id="1") for ids in world.owners]
    for start in range(0, len(items), 50):
        receipt = await write_items("memory", items[start : start + 50])
        assert {one.state for one in receipt.items} == {"INDEXED"}


def contents(result: LookupResult) -> list[str]:
    return [block.content for block in result.blocks]


def test_each_owner_finds_their_own_item_and_nothing_else(world: World) -> None:
    for ids in world.owners:
        assert contents(world.run(world.look(ids, return_n=50))) == [whose(ids).strip()]


@QUICK
@given(
    values=st.tuples(ANY_ID, ANY_ID, ANY_ID),
    mode=st.sampled_from(["dense", "lexical", "hybrid"]),
    category=st.sampled_from(["", "fact", '" or 1 == 1']),
)
def test_any_ids_show_their_own_rows_or_are_refused(
    world: World, values: tuple[str, str, str], mode: str, category: str
) -> None:
    ids = dict(zip(NAMES, values, strict=True))
    try:
        result = world.run(world.look(ids, mode=mode, category=category, return_n=50))
    except (ScopeInvalid, ScopeRequired):
        assert any(not v.strip() or len(v.encode("utf-8", "surrogatepass")) > 256 for v in values)
        return
    assert set(contents(result)) <= {whose(ids).strip()}
    assert {one.evidence_key for one in result.trace.dropped} == set()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [None, "", " ", "\u3000", "x" * 257, "é" * 250])
def test_missing_blank_and_long_ids_are_refused_on_read_and_write(
    world: World, name: str, value: str | None
) -> None:
    with pytest.raises((ScopeRequired, ScopeInvalid)):
        LookupRequest("q", corpus="memory", **{**OWNER, name: value})
    with pytest.raises((ScopeRequired, ScopeInvalid)):
        world.run(write_items_in(world, [item("tea", **{name: value})]))


async def write_items_in(world: World, values: list[dict[str, Any]]) -> Any:
    return await write_items("memory", values)


def test_no_key_of_another_resolves(world: World) -> None:
    keys = {
        result.blocks[0].candidate.evidence_key: ids
        for ids in world.owners
        if (result := world.run(world.look(ids))).blocks
    }
    catalog, texts = world.workspace.catalog, world.workspace.texts
    for key, ids in keys.items():
        assert cite(key, catalog, texts, scope_ids=ids).text == whose(ids).strip()
        for other in ({**ids, name: "somebody else"} for name in NAMES):
            with pytest.raises(EvidenceNotFound):
                cite(key, catalog, texts, scope_ids=other)


def test_two_hundred_at_once_never_give_a_foreign_row(world: World) -> None:
    tenants = [
        {"user_id": f"user {n % 20}", "assistant_id": "a", "conversation_id": f"c {n % 3}"}
        for n in range(60)
    ]

    async def write(n: int) -> None:
        ids = tenants[n % len(tenants)]
        receipt = await write_items("memory", [item(f"{whose(ids)} number {n}", **ids)])
        assert receipt.items[0].state in ("INDEXED", "PENDING")

    async def read(n: int) -> None:
        ids = tenants[n % len(tenants)]
        found = contents(await world.look(ids, return_n=50))
        assert all(content.startswith(whose(ids)) for content in found)

    async def all_at_once() -> None:
        await asyncio.gather(*(write(n) if n % 2 else read(n) for n in range(200)))

    world.run(all_at_once())
    mine = dict(tenants[1])
    receipt = world.run(write_items_in(world, [item("my own words", **mine)]))
    assert receipt.items[0].state == "INDEXED"
    assert "my own words" in contents(world.run(world.look(mine, return_n=50)))
    found = world.run(verify(world.workspace.catalog, world.workspace.store, world.workspace.texts))
    assert found.ok, found.as_dict()


def test_a_writer_finds_at_once_what_it_wrote(world: World) -> None:
    for n in range(10):
        ids = {**OWNER, "user_id": f"at once {n}"}
        world.run(write_items_in(world, [item(f"word{n} was said", **ids)]))
        assert contents(world.run(world.look(ids))) == [f"word{n} was said"]


SESSIONS = [{"session_id": value} for value in HOSTILE if value.strip()]
SEARCHES = [{"query_id": value} for value in HOSTILE if value.strip()]


def test_web_results_are_seen_by_their_own_session_and_search_only(world: World) -> None:
    owners = [*SESSIONS, *SEARCHES, {"session_id": "both", "query_id": "both"}]
    results = [
        {"url": "https://example.org/tea", "title": "Tea", "content": f"tea for {ids!r}", **ids}
        for ids in owners
    ]

    async def write() -> None:
        for start in range(0, len(results), 50):
            receipt = await write_items("web", results[start : start + 50])
            assert {one.state for one in receipt.items} == {"INDEXED"}

    world.run(write())

    async def look(ids: dict[str, str]) -> list[str]:
        request = request_from_settings(
            world.workspace.settings, "whose tea is it", corpus="web", return_n=50, **ids
        )
        return contents(await lookup_direct(request, world.workspace.lookup_parts))

    for ids, result in zip(owners, results, strict=True):
        assert world.run(look(ids)) == [result["content"].strip()]
    # Both ids that are given are enforced.
    assert world.run(look({"session_id": "both", "query_id": "other"})) == []
    assert world.run(look({"session_id": "nobody"})) == []
