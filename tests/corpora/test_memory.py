"""Memory items: what is taken, what is refused, and who they are."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.corpora.memory import MAX_TEXT_CHARS, MemoryCorpus
from pincite.corpora.port import Item
from pincite.errors import ItemInvalid, ScopeInvalid, ScopeRequired
from pincite.identity import text_sha256
from pincite.retrieval.candidates import Candidate, to_table
from pincite.schemas.documents import DOCUMENTS
from pincite.testing.memory_items import OWNER, item

NOW = 1_900_000_000_000
CORPUS = MemoryCorpus()


def parsed(text: str = "tea at four", kb_scope: str = "", **fields: Any) -> Item:
    return CORPUS.parse(item(text, **fields), kb_scope, NOW)


def test_an_item_has_every_column_of_its_table() -> None:
    made = parsed(
        id="i-1",
        memory_type="preference",
        confidence=1,
        sensitivity_level=2,
        ttl_at="2030-01-31T12:00:00+01:00",
        source_event_id="e-9",
        created_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    )
    assert made.text == "tea at four"
    assert dict(made.row) == {
        **OWNER,
        "doc_id": made.row["doc_id"],
        "kb_scope": "",
        "text_digest": text_sha256("tea at four"),
        "created_at": 1_767_323_045_000,
        "expires_at": 1_896_087_600_000,
        "item_id": "i-1",
        "memory_type": "preference",
        "confidence": 1.0,
        "sensitivity_level": 2,
        "source_event_id": "e-9",
    }


def test_what_is_not_said_is_a_fact_that_lasts() -> None:
    row = parsed().row
    said = {name: row[name] for name in ("memory_type", "confidence", "sensitivity_level")}
    assert said == {"memory_type": "fact", "confidence": 1.0, "sensitivity_level": 0}
    assert (row["expires_at"], row["created_at"], row["source_event_id"]) == (0, 0, "")


@pytest.mark.parametrize("change", [{name: "other"} for name in OWNER] + [{"kb_scope": "team"}])
def test_the_same_words_and_the_same_id_of_another_scope_are_another_item(
    change: dict[str, str],
) -> None:
    assert parsed().row["doc_id"] != parsed(**change).row["doc_id"]
    assert parsed(id="1").row["doc_id"] != parsed(id="1", **change).row["doc_id"]


def test_the_same_words_are_one_item_and_an_id_keeps_an_item_through_other_words() -> None:
    assert parsed("a b").row["doc_id"] == parsed(" a b\r\n").row["doc_id"]
    assert parsed("a", id="1").row["doc_id"] == parsed("b", id="1").row["doc_id"]
    assert parsed("a").row["doc_id"] != parsed("b").row["doc_id"]


@given(st.lists(st.text(min_size=1, max_size=4), min_size=4, max_size=4), st.data())
def test_no_two_owners_share_an_identity(parts: list[str], data: st.DataObject) -> None:
    others = data.draw(st.permutations(parts))
    names = [*OWNER, "id"]
    try:
        one, other = (
            parsed(**dict(zip(names, ids, strict=True))).row["doc_id"] for ids in (parts, others)
        )
    except ScopeInvalid:
        return
    assert (one == other) == (parts == others)


@pytest.mark.parametrize("name", [*OWNER, "id"])
@pytest.mark.parametrize("value", ["", " ", "　\t", "x" * 257, "é" * 129, "\ud800"])
def test_blank_long_and_broken_ids_are_refused(name: str, value: str) -> None:
    with pytest.raises((ScopeInvalid, ItemInvalid)):
        parsed(**{name: value})


@pytest.mark.parametrize("name", OWNER)
def test_every_id_of_the_owner_is_required(name: str) -> None:
    value = item("tea")
    del value[name]
    with pytest.raises(ScopeRequired, match=name):
        CORPUS.parse(value, "", NOW)
    with pytest.raises(ScopeRequired, match=name):
        CORPUS.parse({**value, name: None}, "", NOW)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"ttl_at": "2030-01-31T12:00:00"}, "ttl_at"),
        ({"ttl_at": datetime(2030, 1, 31)}, "ttl_at"),
        ({"ttl_at": 1_900_000_000}, "ISO 8601"),
        ({"ttl_at": "soon"}, "ttl_at"),
        ({"created_at": "2026-01-31"}, "created_at"),
        ({"confidence": 1.01}, "confidence"),
        ({"confidence": -0.01}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"confidence": "1"}, "confidence"),
        ({"confidence": True}, "confidence"),
        ({"sensitivity_level": -1}, "sensitivity_level"),
        ({"sensitivity_level": 1.5}, "sensitivity_level"),
        ({"sensitivity_level": True}, "sensitivity_level"),
        ({"sensitivity_level": 2**40}, "sensitivity_level"),
        ({"memory_type": "secret"}, "memory_type"),
        ({"mood": "good"}, "mood"),
        ({"text": " \n\0 ".replace("\0", "")}, "text"),
        ({"text": "x" * (MAX_TEXT_CHARS + 1)}, "text"),
        ({"text": "a\ud800b"}, "text"),
        ({"text": 5}, "text"),
    ],
)
def test_what_a_field_must_not_be_is_refused_by_name(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(ItemInvalid, match=told):
        CORPUS.parse({**item("tea"), **fields}, "", NOW)


def test_a_refusal_repeats_no_word_of_the_item() -> None:
    with pytest.raises(ItemInvalid) as refused:
        parsed("my private words", memory_type="my private type")
    assert "private" not in str(refused.value)


def test_the_document_of_an_item_is_a_row_of_the_documents_table() -> None:
    made = parsed(id="i-1", memory_type="constraint", sensitivity_level=3, kb_scope="team")
    row = CORPUS.build_ingest_document(made)
    table = DOCUMENTS.from_rows([row])
    assert table.to_pylist() == [row]
    assert CORPUS.build_ingest_document(made) == row
    told = {name: row[name] for name in (*OWNER, "sensitivity_level", "category", "source")}
    assert told == {
        **OWNER,
        "sensitivity_level": 3,
        "category": "constraint",
        "source": "memory/i-1",
    }
    assert json.loads(row["metadata"])["memory_type"] == "constraint"


def _candidate(key: str, category: str, score: float) -> Candidate:
    return Candidate(
        evidence_key=key,
        corpus="memory",
        generation=1,
        doc_id=key,
        chunk_index=0,
        vector_id=key,
        doc_version=1,
        source="",
        title="",
        heading="",
        content="",
        char_start=None,
        char_end=None,
        content_sha256="",
        kb_scope="",
        category=category,
        original_rank=0,
        hit_reasons=("dense",),
        score=score,
    )


def test_what_must_be_heeded_has_priority_and_nothing_else_changes() -> None:
    kinds = ["fact", "constraint", "todo_hint", "preference", ""]
    given_table = to_table(_candidate(f"d{n}", kind, n / 10) for n, kind in enumerate(kinds))
    adjusted = CORPUS.adjust(given_table)
    assert adjusted["priority"].to_pylist() == [0, 1, 0, 1, 0]
    assert adjusted.drop_columns(["priority"]) == given_table.drop_columns(["priority"])
    assert CORPUS.adjust(given_table.slice(0, 0)).num_rows == 0


def test_the_legacy_rank_is_by_words_and_then_by_age() -> None:
    texts = ["nothing of it", "green tea", "tea", "tea again", "green tea with milk"]
    items = [parsed(text) for text in texts]
    ranked = CORPUS.legacy_rank("green tea", items)
    by_id = {one.row["doc_id"]: one.text for one in items}
    assert [by_id[one.row["doc_id"]] for one in ranked] == [
        "green tea",
        "green tea with milk",
        "tea",
        "tea again",
        "nothing of it",
    ]
    assert [one.lexical for one in ranked] == [1.0, 1.0, 0.5, 0.5, None]
    assert CORPUS.legacy_rank("？！", items)[0].lexical is None
    assert CORPUS.legacy_rank("tea", []) == []
