"""Maintain: what waits is written, what has expired goes, and a busy corpus keeps no other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pincite.catalog.items import INDEXED
from pincite.errors import CorpusBusy, RequestInvalid, StoreUnreachable
from pincite.testing.faults import put, raising
from pincite.testing.homes import Home
from pincite.testing.lookups import keys
from pincite.testing.memory_items import OWNER, from_now, item
from pincite.wiring import Workspace
from pincite.writing.maintain import Maintained, maintain
from pincite.writing.online import write_items
from pincite.writing.receipt import Receipt
from pincite.writing.steps import WriteSteps
from pincite.writing.target import open_target

MINE = {"corpus": "memory", **OWNER}


def maintained(home: Home, *corpora: str) -> Maintained:
    done: Maintained = home.run(lambda _: maintain(list(corpora), WriteSteps()))
    return done


def receipt_of(done: Maintained) -> Receipt:
    found = done.corpora["memory"]
    assert isinstance(found, Receipt)
    return found


async def _counts(workspace: Workspace) -> dict[str, int]:
    return workspace.catalog.items["memory"].counts()


def test_nothing_to_maintain_is_fine(home: Home) -> None:
    assert maintained(home).corpora == {}
    with pytest.raises(RequestInvalid, match="'docs'"):
        maintained(home, "docs")


def test_what_waits_is_written(home: Home) -> None:
    async def broken(workspace: Workspace) -> Any:
        workspace.store = put(workspace.store, "upsert", raising(StoreUnreachable("Gone.")))
        return await write_items("memory", [item(f"tea {n}") for n in range(40)])

    home.run(broken)
    done = maintained(home)
    assert done.ok
    assert receipt_of(done).chunks["written"] == 40
    assert home.run(_counts) == {INDEXED: 40}
    assert home.verified()


def test_what_has_expired_leaves_store_and_table_and_stays_citable(home: Home) -> None:
    soon = home.write("memory", item("tea until soon", ttl_at=from_now(seconds=1.2))).items[0]
    home.write("memory", item("tea for good"), item("tea for long", ttl_at=from_now(hours=1)))
    asyncio.run(asyncio.sleep(1.3))
    assert f"{soon.doc_id}#chunk-0" not in keys(home.look("tea", **MINE))
    assert len(home.rows("memory")) == 3
    done = maintained(home, "memory")
    assert receipt_of(done).documents["deleted"] == 1
    assert len(home.rows("memory")) == 2
    assert home.run(_counts) == {INDEXED: 2}
    cited = home.cite(f"{soon.doc_id}#chunk-0", scope_ids=OWNER)
    assert (cited.state, cited.text, cited.source_state) == (
        "superseded",
        "tea until soon",
        "missing",
    )
    assert home.verified()


def test_a_corpus_that_is_busy_is_told_and_the_others_are_done(home: Home) -> None:
    home.write("memory", item("tea"))

    async def work(workspace: Workspace) -> Maintained:
        async with open_target(workspace, "memory"):
            return await maintain(["memory"], WriteSteps())

    done = home.run(work)
    assert isinstance(done.corpora["memory"], CorpusBusy)
    assert not done.ok
    assert done.as_dict()["corpora"]["memory"]["error"]["code"] == "CORPUS_BUSY"


def test_a_removed_item_is_forgotten_by_both_paths(home: Home) -> None:
    from pincite.writing.remove import remove_online

    doc_id = home.write("memory", item("tea")).items[0].doc_id
    home.run(lambda _: remove_online("memory", [doc_id]))
    assert home.run(_counts) == {}
    assert keys(home.look("tea", **MINE)) == []
