"""Conformance of a ``KnowledgeSearchPort``: what a search in any layout keeps.

Subclass the suite and give the fixture ``bench``: a port with a way to write passages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from pincite.analysis import analyze
from pincite.errors import FullTextUnsupported, RequestInvalid
from pincite.identity import text_sha256
from pincite.retrieval.knowledge import (
    KnowledgeSearchHit,
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
)
from pincite.store.port import Mode
from pincite.testing.store_kit import unit

HARD = [
    '"', "\\", '" or kb_scope != "', "*", "%", "null", "None", "{}", "a\nb", "a\tb", "'", "😀",
    "中文", "x" * 500, " ", "a ", "A",
]  # fmt: skip


@dataclass(frozen=True)
class Passage:
    """One passage to write; ``values`` are what its row says, by snake_case name.

    ``angle`` places its vector: the cosine with ``unit(0)`` is cos(angle).
    """

    doc_id: str
    chunk_index: int
    angle: float = 0.0
    text: str = "A passage."
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> tuple[str, int]:
        return self.doc_id, self.chunk_index


@dataclass(frozen=True)
class Bench:
    """A port, a function that writes passages into a collection of its own, and a loop."""

    port: KnowledgeSearchPort
    write: Callable[[Sequence[Passage]], Coroutine[Any, Any, str]]
    run: Callable[[Coroutine[Any, Any, Any]], Any]
    full_text: bool


Ask = Callable[[KnowledgeSearchRequest], list[KnowledgeSearchHit]]


def dense(top_k: int = 20, **values: Any) -> KnowledgeSearchRequest:
    """A request for what is near to ``unit(0)``."""
    vector = np.asarray(unit(0), np.float32)
    return KnowledgeSearchRequest(Mode.DENSE, top_k, vector, **values)


def lexical(text: str, top_k: int = 20, **values: Any) -> KnowledgeSearchRequest:
    """A request for the words of a text."""
    return KnowledgeSearchRequest(Mode.LEXICAL, top_k, terms=" ".join(analyze(text)), **values)


class KnowledgeSuite:
    """A port of any layout."""

    @pytest.fixture
    def bench(self) -> Bench:
        raise NotImplementedError("Give the fixture bench.")

    def test_the_nearest_come_first_with_their_cosine(self, bench: Bench) -> None:
        angles = {"far": 2.5, "near": 0.1, "mid": 0.7}
        passages = [Passage(doc, 0, angle) for doc, angle in angles.items()]
        ask = written(bench, passages)
        hits = ask(dense())
        assert [hit.doc_id for hit in hits] == ["near", "mid", "far"]
        for hit in hits:
            assert hit.similarity == pytest.approx(np.cos(angles[hit.doc_id or ""]), abs=1e-5)
            assert hit.lexical is None
        assert [hit.doc_id for hit in ask(dense(2))] == ["near", "mid"]

    def test_a_row_says_who_it_is(self, bench: Bench) -> None:
        text = "中文 and English 😀"
        values = {
            "doc_version": 7,
            "source": "docs/a.md",
            "title": "A title",
            "heading": "One > Two",
            "kb_scope": "s",
            "category": "c",
            "content_sha256": text_sha256(text),
            "char_start": 5,
            "char_end": 5 + len(text),
        }
        (hit,) = written(bench, [Passage("docs/a.md", 3, text=text, values=values)])(dense())
        assert hit.content == text
        assert (hit.doc_id, hit.chunk_index) == ("docs/a.md", 3)
        assert {name: getattr(hit, name) for name in values} == values
        assert hit.vector_id
        assert isinstance(hit.raw_score, float)

    def test_a_span_of_another_length_is_none(self, bench: Bench) -> None:
        values = {"char_start": 0, "char_end": 3}
        (hit,) = written(bench, [Passage("d", 0, text="four", values=values)])(dense())
        assert (hit.char_start, hit.char_end) == (None, None)

    def test_what_a_row_does_not_say_is_none(self, bench: Bench) -> None:
        absent = {"doc_id": "", "chunk_index": -1, "doc_version": -1, "content_sha256": ""}
        absent |= {"char_start": -1, "char_end": -1}
        (hit,) = written(bench, [Passage("d", 0, text="Text.", values=absent)])(dense())
        assert (hit.doc_id, hit.chunk_index, hit.doc_version) == (None, None, None)
        assert (hit.char_start, hit.char_end) == (None, None)
        assert hit.content_sha256 == text_sha256("Text.")
        assert (hit.kb_scope, hit.category, hit.heading) == ("", "", "")

    def test_scopes_bound_what_is_seen(self, bench: Bench) -> None:
        labels = {0: None, 1: "rag-eval", 2: "team", 3: "", 4: "other"}
        passages = [
            Passage("d", n, values={} if label is None else {"kb_scope": label})
            for n, label in labels.items()
        ]
        ask = written(bench, passages)
        cases = {
            ("", ("rag-eval",)): [0, 2, 3, 4],
            ("", ("rag-eval", "team", "")): [0, 3, 4],
            ("", ()): [0, 1, 2, 3, 4],
            ("team", ("rag-eval",)): [2],
            ("rag-eval", ("rag-eval",)): [1],
            ("nobody", ()): [],
        }
        for (scope, excluded), expected in cases.items():
            for request in _requests(bench, kb_scope=scope, exclude_scopes=excluded):
                assert _numbers(ask(request)) == expected, (scope, excluded)

    def test_every_scope_id_must_be_the_rows_own(self, bench: Bench) -> None:
        owners: list[dict[str, Any]] = [
            {"user_id": "u", "session_id": "s"},
            {"user_id": "u", "session_id": "t"},
            {"user_id": "U", "session_id": "s"},
            {"user_id": "u"},
            {},
        ]
        passages = [Passage("d", n, values=values) for n, values in enumerate(owners)]
        ask = written(bench, passages)
        cases = [({"user_id": "u"}, [0, 1, 3]), ({"user_id": "u", "session_id": "s"}, [0])]
        for ids, expected in cases:
            for request in _requests(bench, scope_ids=ids):
                assert _numbers(ask(request)) == expected

    def test_what_has_expired_or_is_too_sensitive_is_not_seen(self, bench: Bench) -> None:
        rows: list[dict[str, Any]] = [
            {"expires_at": 0, "sensitivity_level": 0},
            {"expires_at": 1_000, "sensitivity_level": 2},
            {"expires_at": 1_001, "sensitivity_level": 3},
        ]
        ask = written(bench, [Passage("d", n, values=values) for n, values in enumerate(rows)])
        cases: list[tuple[dict[str, Any], list[int]]] = [
            ({}, [0, 1, 2]),
            ({"alive_at": 999}, [0, 1, 2]),
            ({"alive_at": 1_000}, [0, 2]),
            ({"alive_at": 1_001}, [0]),
            ({"max_sensitivity": 2}, [0, 1]),
            ({"max_sensitivity": 0}, [0]),
            ({"alive_at": 1_000, "max_sensitivity": 2}, [0]),
        ]
        for asked, expected in cases:
            for request in _requests(bench, **asked):
                assert _numbers(ask(request)) == expected, asked

    def test_a_category_is_a_filter_and_none_is_none(self, bench: Bench) -> None:
        labels = ["travel", "Travel", "", "food"]
        passages = [Passage("d", n, values={"category": label}) for n, label in enumerate(labels)]
        ask = written(bench, passages)
        for category, expected in (("travel", [0]), ("", [0, 1, 2, 3]), ("nothing", [])):
            for request in _requests(bench, category=category):
                assert _numbers(ask(request)) == expected

    def test_hostile_values_match_only_themselves(self, bench: Bench) -> None:
        passages = [
            Passage(
                "d", n, values={"kb_scope": text[:200], "category": text, "user_id": text[:200]}
            )
            for n, text in enumerate(HARD)
        ]
        ask = written(bench, passages)
        for n, text in enumerate(HARD):
            scope, ids = text[:200], {"user_id": text[:200]}
            hits = ask(dense(category=text, kb_scope=scope, scope_ids=ids))
            assert _numbers(hits) == [n], text
        hits = ask(dense(exclude_scopes=tuple(HARD[:6])))
        assert _numbers(hits) == list(range(6, len(HARD)))

    def test_words_find_what_vectors_do_not(self, bench: Bench) -> None:
        passages = [
            Passage("zebra", 0, 2.0, "A zebra crosses the road."),
            Passage("zh", 0, 2.0, "斑马穿过马路。"),
            Passage("none", 0, 0.0, "Nothing of the kind."),
        ]
        ask = written(bench, passages)
        if not bench.full_text:
            with pytest.raises(FullTextUnsupported):
                ask(lexical("zebras"))
            return
        for text, expected in (("zebras", ["zebra"]), ("斑马", ["zh"]), ("giraffe", []), ("", [])):
            hits = ask(lexical(text))
            assert [hit.doc_id for hit in hits] == expected
            assert all(hit.similarity is None and (hit.lexical or 0) > 0 for hit in hits)
            assert all(hit.terms == " ".join(analyze(hit.content)) for hit in hits)

    def test_a_request_that_is_no_single_leg_is_refused(self, bench: Bench) -> None:
        collection = bench.run(bench.write([Passage("d", 0)]))
        vector = np.asarray(unit(0), np.float32)
        for request in (
            KnowledgeSearchRequest(Mode.HYBRID, 5, vector, "word"),
            KnowledgeSearchRequest(Mode.DENSE, 5),
            KnowledgeSearchRequest(Mode.DENSE, 0, vector),
        ):
            with pytest.raises(RequestInvalid):
                bench.run(bench.port.search(collection, request))

    def test_the_filter_can_be_read(self, bench: Bench) -> None:
        assert bench.port.filter_text(dense()) == ""
        text = bench.port.filter_text(
            dense(kb_scope='a"b', category="travel", scope_ids={"user_id": "u"})
        )
        for part in ("kb_scope", '"a\\"b"', "category", '"travel"', "user_id", '"u"'):
            assert part in text
        assert '"rag-eval"' in bench.port.filter_text(dense(exclude_scopes=("rag-eval",)))


def _requests(bench: Bench, **values: Any) -> list[KnowledgeSearchRequest]:
    """The same bounds for each leg that there is."""
    legs = [dense(**values)]
    return [*legs, lexical("a passage", **values)] if bench.full_text else legs


def written(bench: Bench, passages: Sequence[Passage]) -> Ask:
    """Write the passages into a collection of their own; returns a function that searches it."""

    async def write() -> str:
        collection = await bench.write(passages)
        await _until_visible(bench, collection, len(passages))
        return collection

    collection: str = bench.run(write())
    return lambda request: list(bench.run(bench.port.search(collection, request)))


async def _until_visible(bench: Bench, collection: str, count: int) -> None:
    for _ in range(50):
        if len(await bench.port.search(collection, dense(100))) == count:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"{count} passages did not become searchable in 5 s.")


def _numbers(hits: list[KnowledgeSearchHit]) -> list[int | None]:
    return sorted((hit.chunk_index for hit in hits), key=lambda number: number or 0)
