"""Maintain: what waits is written, what has expired goes, and a busy corpus keeps no other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pincite.catalog.database import now_ms
from pincite.catalog.items import INDEXED
from pincite.errors import CorpusBusy, RequestInvalid, StoreUnreachable
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.request import request_from_settings
from pincite.retrieval.result import LookupResult
from pincite.testing.faults import put, raising
from pincite.testing.homes import Home
from pincite.testing.lookups import keys
from pincite.testing.memory_items import OWNER, from_now, item, let_expire
from pincite.wiring import Workspace
from pincite.writing.maintain import Maintained, MaintainSteps, maintain
from pincite.writing.online import write_items
from pincite.writing.receipt import Receipt
from pincite.writing.target import open_target

MINE = {"corpus": "memory", **OWNER}


def maintained(home: Home, *corpora: str) -> Maintained:
    done: Maintained = home.run(lambda _: maintain(list(corpora), MaintainSteps()))
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
    until = from_now(hours=1)
    soon = home.write("memory", item("tea until soon", id="soon", ttl_at=until)).items[0]
    home.write("memory", item("tea for good"), item("tea for long", ttl_at=from_now(hours=2)))
    assert len(home.rows("memory")) == 3
    let_expire(home.settings.home, "soon")
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


def test_what_has_expired_is_not_seen_though_its_row_is_there(home: Home) -> None:
    words = [f"tea number {n}" for n in range(8)]
    hour = 3_600_000
    home.write(
        "memory",
        *[item(word, id=str(n), ttl_at=from_now(hours=1)) for n, word in enumerate(words[:6])],
        *[item(word, id=str(n + 6)) for n, word in enumerate(words[6:])],
    )

    async def later(workspace: Workspace) -> LookupResult:
        request = request_from_settings(workspace.settings, "tea number", retrieve_k=2, **MINE)
        parts = replace(workspace.lookup_parts, clock=lambda: now_ms() + 2 * hour)
        return await lookup_direct(request, parts)

    result = home.run(later)
    # The two that live come back, though more than the recall width have expired.
    assert sorted(block.content for block in result.blocks) == words[6:]
    assert result.trace.dropped == []


def test_a_corpus_that_is_busy_is_told_and_the_others_are_done(home: Home) -> None:
    home.write("memory", item("tea"))

    async def work(workspace: Workspace) -> Maintained:
        async with open_target(workspace, "memory"):
            return await maintain(["memory"], MaintainSteps())

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
