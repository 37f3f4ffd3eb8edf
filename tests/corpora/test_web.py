"""Search results as items: what is checked, whose they are, until when, and how they are sorted."""

from __future__ import annotations

import json
import random
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.corpora.port import Item, ItemCorpus
from pincite.corpora.web import WebCorpus
from pincite.errors import ItemInvalid, PinciteError, ScopeInvalid, ScopeRequired
from pincite.identity import text_sha256
from pincite.retrieval.candidates import Candidate, to_table
from pincite.schemas.candidates import CANDIDATES
from pincite.schemas.documents import DOCUMENTS
from pincite.settings.model import TrustRule, WebSettings

NOW = 1_800_000_000_000
HOUR = 3_600_000
GIVEN: dict[str, Any] = {
    "session_id": "s-1",
    "query_id": "q-1",
    "url": "https://user:pw@www.Example.co.uk/a?id=1&utm_source=x#top",
    "title": "Night\n trains",
    "snippet": "They return.",
    "content": "<p>Night trains return.</p><p>From December.</p>",
    "published_at": "2026-11-30T08:00:00+01:00",
    "fetched_at": "2027-01-15T07:00:00Z",
    "language": "en",
    "source_rank": 3,
}


def corpus(**settings: Any) -> WebCorpus:
    return WebCorpus(WebSettings(**settings))


def item(kb_scope: str = "", now: int = NOW, **fields: Any) -> Item:
    given = {**GIVEN, **fields}
    return corpus().parse({n: v for n, v in given.items() if v is not ...}, kb_scope, now)


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def test_it_keeps_the_port() -> None:
    assert isinstance(corpus(), ItemCorpus)


def test_row_has_what_the_table_wants() -> None:
    parsed = item("team")
    doc_id = parsed.row["doc_id"]
    assert parsed.text == "Night trains return.\n\nFrom December."
    assert parsed.row == {
        "doc_id": doc_id,
        "kb_scope": "team",
        "text_digest": text_sha256(parsed.text),
        "created_at": 0,
        "expires_at": ms("2027-01-16T07:00:00+00:00"),
        "session_id": "s-1",
        "query_id": "q-1",
        "url": "https://www.Example.co.uk/a?id=1&utm_source=x#top",
        "domain": "www.example.co.uk",
        "title": "Night trains",
        "language": "en",
        "published_at": ms("2026-11-30T07:00:00+00:00"),
        "fetched_at": ms("2027-01-15T07:00:00+00:00"),
        "source_rank": 3,
    }


def test_document_is_made_of_the_row_alone_and_names_the_canonical_address() -> None:
    parsed = item("team")
    document = corpus().build_ingest_document(parsed)
    assert document == corpus().build_ingest_document(Item(dict(parsed.row), parsed.text))
    (row,) = DOCUMENTS.from_rows([document]).to_pylist()
    assert row["source"] == "https://www.example.co.uk/a?id=1"
    assert (row["title"], row["category"], row["source_name"]) == ("Night trains", "", "")
    assert (row["session_id"], row["query_id"], row["user_id"]) == ("s-1", "q-1", "")
    assert (row["kb_scope"], row["expires_at"]) == ("team", parsed.row["expires_at"])
    assert row["raw_sha256"] == row["text_digest"] == parsed.row["text_digest"]
    assert row["reader"] == "web/1"
    assert json.loads(row["metadata"]) == {
        "url": "https://www.Example.co.uk/a?id=1&utm_source=x#top",
        "domain": "www.example.co.uk",
        "registrable_domain": "example.co.uk",
        "language": "en",
        "published_at": parsed.row["published_at"],
        "fetched_at": parsed.row["fetched_at"],
        "source_rank": 3,
    }
    assert "pw" not in str(document)


def test_absent_and_null_are_the_same() -> None:
    few = {"url": GIVEN["url"], "session_id": "s-1", "title": "Night trains"}
    nulls = {**dict.fromkeys(GIVEN), **few}
    parsed = corpus().parse(few, "", NOW)
    assert corpus().parse(nulls, "", NOW) == parsed
    assert parsed.text == "Night trains"
    assert (parsed.row["source_rank"], parsed.row["published_at"]) == (0, 0)
    assert (parsed.row["fetched_at"], parsed.row["query_id"]) == (NOW, "")


@pytest.mark.parametrize("content", [None, "", " \n", "<html><script>x()</script></html>"])
def test_without_content_title_and_snippet_are_kept(content: str | None) -> None:
    assert item(content=content).text == "Night trains\n\nThey return."
    assert item(content=content, title=None).text == "They return."
    with pytest.raises(ItemInvalid, match="no text"):
        item(content=content, title=" ", snippet=None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", ...),
        ("url", "ftp://example.org/"),
        ("url", "https://exa mple.org/"),
        ("url", "https://example.org/" + "a" * 5_000),
        ("title", "x" * 1_001),
        ("title", 7),
        ("snippet", "x" * 10_001),
        ("content", "x" * (5 * 2**20 + 1)),
        ("content", "ä" * (3 * 2**20)),
        ("content", "\ud800"),
        ("language", "x" * 65),
        ("published_at", "2026-11-30T08:00:00"),
        ("published_at", "2026-11-30"),
        ("fetched_at", 1_800_000_000),
        ("source_rank", 0),
        ("source_rank", -1),
        ("source_rank", "3"),
        ("source_rank", 1.5),
        ("source_rank", True),
        ("rank", 3),
    ],
)
def test_what_does_not_fit_is_refused_with_the_name_of_the_field(field: str, value: Any) -> None:
    with pytest.raises(ItemInvalid, match=field) as caught:
        item(**{field: value})
    assert len(str(caught.value)) < 400


def test_content_of_five_megabytes_is_taken() -> None:
    assert len(item(content="x" * 5 * 2**20).text) == 5 * 2**20


def test_one_of_session_and_search_is_required() -> None:
    assert item(query_id=...).row["query_id"] == ""
    assert item(session_id=...).row["session_id"] == ""
    with pytest.raises(ScopeRequired):
        item(session_id=..., query_id=...)


@pytest.mark.parametrize("name", ["session_id", "query_id"])
@pytest.mark.parametrize("value", ["", "  ", "x" * 257, "ä" * 129])
def test_blank_and_long_ids_are_refused(name: str, value: str) -> None:
    with pytest.raises(ScopeInvalid):
        item(**{name: value})


@pytest.mark.parametrize("value", ["*", "%", "null", "a'b\"c\\", "ä" * 128])
def test_any_other_id_is_taken_as_it_is(value: str) -> None:
    assert item(session_id=value).row["session_id"] == value


def test_identity_is_the_address_within_its_scope() -> None:
    doc_id = item().row["doc_id"]
    same = item(url="https://www.example.co.uk:443/a?fbclid=2&id=1", title="Other", content="New")
    assert same.row["doc_id"] == doc_id
    others = [
        item(url="https://www.example.co.uk/a?id=2"),
        item(session_id="s-2"),
        item(query_id="q-2"),
        item(session_id=...),
        item(query_id=...),
        item(session_id="q-1", query_id="s-1"),
        item("team"),
    ]
    ids = {doc_id, *(other.row["doc_id"] for other in others)}
    assert len(ids) == 1 + len(others)


def test_expiry_is_reckoned_from_the_fetch_but_never_from_the_future() -> None:
    assert item(fetched_at=None).row["expires_at"] == NOW + 24 * HOUR
    assert item(fetched_at="2999-01-01T00:00:00Z").row["expires_at"] == NOW + 24 * HOUR
    old = corpus(ttl_hours=0.5).parse({**GIVEN, "fetched_at": "2026-01-01T00:00:00Z"}, "", NOW)
    assert old.row["expires_at"] == ms("2026-01-01T00:30:00+00:00")


def test_expiry_is_never_the_zero_that_means_never() -> None:
    assert item(fetched_at="1969-12-31T00:00:00Z").row["expires_at"] == 1
    assert item(fetched_at="0001-01-01T00:00:00Z").row["expires_at"] == 1
    late = corpus(ttl_hours=1e300).parse(GIVEN, "", NOW)
    assert NOW < late.row["expires_at"] < 2**53


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=3,
)


@given(st.dictionaries(st.sampled_from([*GIVEN, "x"]), JSON, max_size=4))
def test_whatever_comes_is_an_item_or_an_error_with_a_code(changes: dict[str, Any]) -> None:
    try:
        parsed = corpus().parse({**GIVEN, **changes}, "", NOW)
    except PinciteError:
        return
    DOCUMENTS.from_rows([corpus().build_ingest_document(parsed)])
    assert parsed.text.strip()


def candidate(key: str, score: float | None, metadata: Any) -> Candidate:
    text = metadata if isinstance(metadata, str) else json.dumps(metadata)
    return Candidate(
        evidence_key=key, corpus="web", generation=1, doc_id=key, chunk_index=0, vector_id=key,
        doc_version=1, source="", title="", heading="", content=key, char_start=0, char_end=1,
        content_sha256="", kb_scope="", category="", original_rank=0, hit_reasons=("dense",),
        score=score, metadata=text,
    )  # fmt: skip


def adjusted(adapter: WebCorpus, *candidates: Candidate) -> dict[str, dict[str, Any]]:
    table = CANDIDATES.conform(adapter.adjust(to_table(candidates)))
    assert table["evidence_key"].to_pylist() == [one.evidence_key for one in candidates]
    return {row["evidence_key"]: row for row in table.to_pylist()}


RULES = (TrustRule(domain="good.example", weight=0.9), TrustRule(domain="bad.example", weight=0.1))


def test_score_is_blended_of_fit_trust_and_rank_and_shows_the_parts() -> None:
    found = adjusted(
        corpus(trust=RULES),
        candidate("a", 0.8, {"domain": "www.good.example", "source_rank": 2}),
        candidate("b", 0.6, {"domain": "bad.example", "source_rank": 0}),
        candidate("c", 0.4, {"domain": "other.example", "source_rank": 1}),
    )
    assert [(row["trust"], row["source_rank"]) for row in found.values()] == [
        (0.9, 0.5),
        (0.1, 0.0),
        (0.5, 1.0),
    ]
    assert found["a"]["score"] == pytest.approx(0.75 + 0.2 * 0.9 + 0.05 * 0.5)
    assert found["b"]["score"] == pytest.approx(0.75 * 0.5 + 0.2 * 0.1)
    assert found["c"]["score"] == pytest.approx(0.2 * 0.5 + 0.05)


def test_trust_decides_between_texts_that_fit_alike() -> None:
    found = adjusted(
        corpus(trust=RULES),
        candidate("a", 0.90, {"domain": "bad.example", "source_rank": 1}),
        candidate("b", 0.89, {"domain": "good.example", "source_rank": 9}),
        candidate("c", 0.20, {"domain": "good.example", "source_rank": 1}),
    )
    assert found["b"]["score"] > found["a"]["score"] > found["c"]["score"]


def test_rank_decides_between_texts_that_are_otherwise_alike() -> None:
    found = adjusted(
        corpus(),
        candidate("a", 0.9, {"domain": "x.example", "source_rank": 2}),
        candidate("b", 0.9, {"domain": "x.example", "source_rank": 1}),
        candidate("c", 0.9, {"domain": "x.example"}),
    )
    assert found["b"]["score"] > found["a"]["score"] > found["c"]["score"]


def test_candidate_without_a_score_stays_without_and_has_its_parts() -> None:
    found = adjusted(
        corpus(trust=RULES),
        candidate("a", None, {"domain": "good.example", "source_rank": 1}),
        candidate("b", float("nan"), {"domain": "good.example"}),
        candidate("c", -3.0, {"domain": "bad.example"}),
    )
    assert (found["a"]["score"], found["b"]["score"]) == (None, None)
    assert (found["a"]["trust"], found["a"]["source_rank"]) == (0.9, 1.0)
    assert found["c"]["score"] == pytest.approx(0.75 + 0.2 * 0.1)


@pytest.mark.parametrize(
    "metadata",
    ["", "{", "[]", "7", {}, {"domain": 7, "source_rank": "1"}, {"domain": None},
     {"source_rank": True}, {"source_rank": -1}, {"source_rank": 1.5}],
)  # fmt: skip
def test_row_that_says_nothing_of_itself_has_the_default_trust(metadata: Any) -> None:
    found = adjusted(corpus(default_trust=0.3), candidate("a", 0.5, metadata))
    assert (found["a"]["trust"], found["a"]["source_rank"]) == (0.3, 0.0)


def test_nothing_to_adjust_is_adjusted_to_nothing() -> None:
    assert adjusted(corpus()) == {}


ROWS = st.lists(
    st.tuples(
        st.floats(-10, 10) | st.none(),
        st.sampled_from(["good.example", "bad.example", "x.example"]),
        st.integers(0, 20),
    ),
    max_size=8,
)


@given(ROWS)
def test_without_weights_the_order_is_that_of_the_scores(rows) -> None:
    candidates = [
        candidate(str(at), score, {"domain": domain, "source_rank": rank})
        for at, (score, domain, rank) in enumerate(rows)
    ]
    found = adjusted(corpus(trust=RULES, trust_weight=0, rank_weight=0), *candidates)
    known = [(c.score, found[c.evidence_key]["score"]) for c in candidates if c.score is not None]
    assert [new for _, new in sorted(known)] == sorted(new for _, new in known)
    assert all(0 <= row["score"] <= 1 for row in found.values() if row["score"] is not None)


def test_legacy_path_has_ranked_results_first_then_the_newest() -> None:
    given = [(0, "09"), (2, "08"), (1, "07"), (0, "10"), (1, "11")]
    items = [
        item(
            url=f"https://example.org/{at}",
            source_rank=rank or None,
            fetched_at=f"2027-01-15T{hour}:00:00Z" if hour != "11" else "2027-01-15T06:00:00Z",
            now=ms("2027-01-15T12:00:00+00:00"),
        )
        for at, (rank, hour) in enumerate(given)
    ]
    wanted = [items[at].row["doc_id"] for at in (2, 4, 1, 3, 0)]
    random.Random(7).shuffle(items)
    ranked = corpus().legacy_rank("anything", items)
    assert [one.row["doc_id"] for one in ranked] == wanted
    scores = [one.score for one in ranked]
    assert scores == sorted(set(scores), reverse=True)
    assert corpus().legacy_rank("anything", []) == []
