"""The table of items: accepted, waiting, settled, expired."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pincite.catalog.catalog import Catalog
from pincite.catalog.items import FAILED, INDEXED, PENDING, Items
from pincite.corpora.memory import MemoryCorpus
from pincite.errors import TextCorrupt, TextNotFound
from pincite.testing.memory_items import OWNER, item


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def catalog(tmp_path: Path, clock: Clock) -> Iterator[Catalog]:
    made = Catalog(f"sqlite:///{tmp_path / 'catalog.sqlite'}", clock)
    yield made
    made.close()


@pytest.fixture
def items(catalog: Catalog) -> Items:
    return catalog.items["memory"]


def row(text: str, expires_at: int = 0, created_at: int = 0, **fields: Any) -> dict[str, Any]:
    made = dict(MemoryCorpus().parse(item(text, **fields), "", 0).row)
    return {**made, "expires_at": expires_at, "created_at": created_at}


def texts_of(rows: list[dict[str, Any]]) -> list[str]:
    return [one["item_id"] for one in rows]


def test_an_accepted_item_waits(items: Items, clock: Clock) -> None:
    (put,) = items.put([row("tea", id="1")])
    assert (put["state"], put["attempts"], put["created_at"], put["revision"]) == (
        PENDING,
        0,
        clock.now,
        1,
    )
    assert items.pending(10) == [put]
    assert items.get([put["doc_id"]]) == {put["doc_id"]: put}
    assert items.counts() == {PENDING: 1}


def test_the_same_item_again_keeps_its_age_and_replaces_the_rest(
    items: Items, clock: Clock
) -> None:
    (first,) = items.put([row("tea", id="1")])
    items.settle([first], INDEXED)
    clock.now += 500
    (again,) = items.put([row("coffee", id="1", memory_type="preference")])
    assert again["created_at"] == first["created_at"]
    assert (again["state"], again["revision"]) == (PENDING, 2)
    assert items.as_put([row("milk", id="1")])[0]["created_at"] == first["created_at"]
    assert items.counts() == {PENDING: 1}


def test_what_is_settled_is_the_revision_that_was_written(items: Items) -> None:
    (first,) = items.put([row("tea", id="1")])
    items.put([row("coffee", id="1")])
    items.settle([first], INDEXED)
    assert items.counts() == {PENDING: 1}


def test_what_was_tried_least_is_next(items: Items, clock: Clock) -> None:
    first, *_ = items.put([row(name, id=name) for name in ("a", "b")])
    items.settle([first], PENDING, "STORE_UNREACHABLE")
    clock.now += 1
    items.put([row("c", id="c")])
    assert texts_of(items.pending(10)) == ["b", "c", "a"]
    assert texts_of(items.pending(1)) == ["b"]
    items.settle(items.pending(10), FAILED, "EMBEDDING_REJECTED")
    assert items.pending(10) == []
    assert items.get([first["doc_id"]])[first["doc_id"]]["error_code"] == "EMBEDDING_REJECTED"


def test_an_item_is_expired_from_its_millisecond_on(items: Items, clock: Clock) -> None:
    soon, _, _ = items.put([row("a", 2_000), row("b", 2_001), row("c")])
    clock.now = 1_999
    assert items.expired(10) == []
    clock.now = 2_000
    assert items.expired(10) == [soon["doc_id"]]
    assert [one["expires_at"] for one in items.of_owner(OWNER, 10, order=["item_id"])] != []
    assert soon["doc_id"] not in {r["doc_id"] for r in items.of_owner(OWNER, 9, order=["doc_id"])}


def test_one_that_came_back_to_life_is_written_again_and_not_forgotten(
    items: Items, clock: Clock
) -> None:
    gone, back = items.put([row("a", 1_500), row("b", 1_500)])
    items.settle([gone, back], INDEXED)
    clock.now = 1_500
    expired = items.expired(10)
    items.put([row("b", 9_000)])
    items.settle(list(items.get([back["doc_id"]]).values()), INDEXED)
    items.remove_expired(expired)
    assert items.get(expired).keys() == {back["doc_id"]}
    assert [one["doc_id"] for one in items.pending(10)] == [back["doc_id"]]


def test_an_owner_sees_only_what_is_theirs_alive_and_not_too_sensitive(items: Items) -> None:
    mine = [
        row("a", id="a", created_at=3),
        row("b", id="b", created_at=1, sensitivity_level=5),
        row("c", id="c", created_at=2, expires_at=999),
    ]
    others = [row("d", id="d", **{name: "other"}) for name in OWNER]
    scoped = {**row("e", id="e", created_at=4), "kb_scope": "rag-eval", "doc_id": "e"}
    items.put([*mine, *others, scoped])

    def seen(**asked: Any) -> list[str]:
        return texts_of(items.of_owner(OWNER, 10, order=["-created_at"], **asked))

    assert seen() == ["e", "a", "b"]
    assert seen(excluded=["rag-eval"]) == ["a", "b"]
    assert seen(kb_scope="rag-eval", excluded=["rag-eval"]) == ["e"]
    assert seen(max_sensitivity=4) == ["e", "a"]
    assert len(items.of_owner(OWNER, 1, order=["doc_id"])) == 1
    with pytest.raises(ValueError, match="one owner"):
        items.of_owner({}, 10, order=["doc_id"])


def test_an_order_puts_what_is_unknown_last(items: Items) -> None:
    items.put([row(str(n), id=str(n), sensitivity_level=n) for n in (0, 2, 1)])
    assert texts_of(items.of_owner(OWNER, 9, order=["+sensitivity_level"])) == ["1", "2", "0"]
    assert texts_of(items.of_owner(OWNER, 9, order=["sensitivity_level"])) == ["0", "1", "2"]
    assert texts_of(items.of_owner(OWNER, 9, order=["-sensitivity_level"])) == ["2", "1", "0"]


def test_many_items_at_once(items: Items) -> None:
    rows = [row(str(n)) for n in range(1_500)]
    items.put(rows)
    items.put(rows)
    assert items.counts() == {PENDING: 1_500}
    items.forget([one["doc_id"] for one in rows])
    assert items.counts() == {}


def test_a_text_is_kept_once_and_comes_back_or_is_told_lost(catalog: Catalog) -> None:
    texts = catalog.memory_texts
    digest = texts.put("tea 茶")
    assert texts.put("tea 茶") == digest
    assert texts.get(digest) == "tea 茶"
    with pytest.raises(TextNotFound):
        texts.get("0" * 64)


def test_a_text_that_was_changed_is_told(catalog: Catalog, tmp_path: Path) -> None:
    import sqlite3

    digest = catalog.memory_texts.put("tea")
    with sqlite3.connect(tmp_path / "catalog.sqlite") as connection:
        connection.execute("UPDATE memory_texts SET text = 'coffee'")
    connection.close()
    with pytest.raises(TextCorrupt):
        catalog.memory_texts.get(digest)
