"""Hints of a query, over a real catalogue."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pincite.catalog.catalog import Catalog
from pincite.catalog.l0 import PER_PHRASE, Posting
from pincite.errors import CatalogUnreachable
from pincite.retrieval.hints import MAX_EXPANSION, Hints, Match, category_of, hints_for, longest
from pincite.testing.catalog_suite_values import online, write

EXCLUDED = ("rag-eval",)
HOSTILE = [
    "?!…",
    "😀👩‍👩‍👧",
    "%",
    "_ _",
    "' OR 1=1; DROP TABLE documents; --",
    "\0\0",
    "\ud800",
    "the of and",
    "word " * 20_000,
    "漢字" * 20_000,
    '"\\{}[]*:^~',
]


class Shelf:
    """A catalogue with documents that have metadata and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.catalog = Catalog(f"sqlite:///{folder / 'catalog.sqlite'}")

    def put(self, doc_id: str, **record: Any) -> None:
        fields = {"title": "", "category": "", "keywords": []}
        write(self.catalog, online("shelf"), doc_id, **{**fields, **record})

    def many(self, count: int, name: str, **record: Any) -> None:
        ids = [f"{name}{number}" for number in range(count)]
        fields = {"title": "", "category": "", "keywords": []}
        write(self.catalog, online("shelf"), *ids, **{**fields, **record})

    def hints(self, query: str, kb_scope: str = "") -> Hints:
        return hints_for(self.catalog.l0, query, "docs", kb_scope, EXCLUDED, 30.0)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    with closing(made.catalog):
        yield made


@pytest.fixture(scope="module")
def scoped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """Two scopes and none, where everything of a document begins with its scope's letter."""
    made = Shelf(tmp_path_factory.mktemp("scoped"))
    for letter, scope in (("p", ""), ("q", "team"), ("z", "rag-eval")):
        for number in range(3):
            names = [f"{letter}alias{number}", f"{letter}other{number}"]
            made.put(
                f"{letter}{number}",
                kb_scope=scope,
                category=f"{letter}cat",
                title=f"{letter}title {letter}word{number}",
                keywords=[f"{letter}key{number}", "shared", "索引"],
                aliases=[*names, "common name"],
            )
    with closing(made.catalog):
        yield made


def test_alias_reaches_the_other_names_of_its_document(shelf: Shelf) -> None:
    shelf.put("a", title="Cluster operations", aliases=["k8s", "Kubernetes"], keywords=["pods"])
    hints = shelf.hints("how do I restart k8s")
    assert hints.expansion == ("kubernet", "cluster", "oper", "pod")
    assert hints.matched == ("k8s",)
    assert shelf.hints("Kubernetes restart").expansion[0] == "k8s"


def test_words_of_the_query_are_not_added_again(shelf: Shelf) -> None:
    shelf.put("a", aliases=["k8s", "Kubernetes"], keywords=["restart"])
    assert shelf.hints("restart kubernetes k8s").expansion == ()


def test_chinese_names_are_added_in_pairs(shelf: Shelf) -> None:
    shelf.put("a", aliases=["向量库", "HNSW 索引"])
    hints = shelf.hints("怎么调HNSW索引参数")
    assert hints.matched == ("hnsw 索引",)
    assert hints.expansion == ("向量", "量库")


def test_phrase_of_many_documents_adds_nothing(shelf: Shelf) -> None:
    shelf.many(4, "d", aliases=["k8s", "Kubernetes"])
    assert shelf.hints("k8s").expansion == ()
    assert shelf.hints("k8s").matched == ("k8s",)


def test_title_reaches_the_other_names_too(shelf: Shelf) -> None:
    shelf.put("a", title="Kubernetes", aliases=["k8s"])
    assert shelf.hints("restart kubernetes").expansion == ("k8s",)


def test_tag_and_category_add_nothing(shelf: Shelf) -> None:
    shelf.put("a", tags=["rail"], category="travel", aliases=["sleeper"])
    hints = shelf.hints("travel by rail")
    assert (hints.expansion, hints.matched) == ((), ("travel", "rail"))


def test_expansion_is_bounded_and_its_best_come_first(shelf: Shelf) -> None:
    names = [f"name{number}x" for number in range(9)]
    shelf.put("a", title="Title", keywords=["word", "second"], aliases=names)
    assert shelf.hints("word").expansion == tuple(names[:MAX_EXPANSION])
    assert len(names) > MAX_EXPANSION


def test_alias_leads_further_than_a_keyword(shelf: Shelf) -> None:
    shelf.put("by keyword", keywords=["word"], aliases=["alpha"])
    shelf.put("by alias", aliases=["rail", "omega"])
    assert shelf.hints("word on rail").expansion == ("omega", "alpha")


def test_only_the_first_keywords_are_added(shelf: Shelf) -> None:
    shelf.put("a", title="Title", keywords=["zeta", "word", "eta", "theta", "alpha"])
    assert shelf.hints("theta").expansion == ("titl", "eta", "word", "zeta")


def test_own_name_predicts_a_category(shelf: Shelf) -> None:
    shelf.many(30, "d", category="Business Travel")
    shelf.put("other", category="Finance")
    assert shelf.hints("rules of business travel").category == "Business Travel"
    assert shelf.hints("rules of travel").category == ""


def test_category_of_a_scope_without_spaces(shelf: Shelf) -> None:
    shelf.put("a", category="差旅")
    assert shelf.hints("差旅报销怎么做").category == "差旅"


def test_single_word_predicts_nothing_alone(shelf: Shelf) -> None:
    shelf.put("a", category="travel", keywords=["rail", "tickets"], aliases=["train", "火车"])
    for query in ("rail to Rome", "tickets", "train times", "火车时刻"):
        assert shelf.hints(query).category == ""


def test_two_rare_words_of_one_category_predict_it(shelf: Shelf) -> None:
    shelf.put("a", category="travel", keywords=["rail", "tickets"])
    shelf.put("b", category="finance", keywords=["tax"])
    assert shelf.hints("are rail tickets refunded").category == "travel"


def test_phrase_of_several_words_predicts_alone(shelf: Shelf) -> None:
    shelf.put("a", category="travel", aliases=["night train"])
    assert shelf.hints("which night train is cheap").category == "travel"


def test_contrary_evidence_predicts_nothing(shelf: Shelf) -> None:
    shelf.put("a", category="travel", aliases=["night train"])
    shelf.put("b", category="finance", aliases=["tax return"])
    assert shelf.hints("night train in the tax return").category == ""


def test_phrase_of_many_categories_says_nothing(shelf: Shelf) -> None:
    for number in range(3):
        shelf.put(f"d{number}", category=f"cat{number}", aliases=["night train"])
    assert shelf.hints("night train").category == ""
    assert shelf.hints("night train").matched == ("night train",)


def test_documents_without_a_category_count_against_one(shelf: Shelf) -> None:
    shelf.put("a", category="travel", aliases=["night train"])
    shelf.many(2, "plain", aliases=["night train"])
    assert shelf.hints("night train").category == ""


def test_two_thirds_are_clear(shelf: Shelf) -> None:
    shelf.many(2, "t", category="travel", aliases=["night train"])
    shelf.put("f", category="finance", aliases=["night train"])
    assert shelf.hints("night train").category == ""
    shelf.many(6, "u", category="travel", aliases=["night bus"])
    shelf.put("g", category="travel", aliases=["sleeper"])
    assert shelf.hints("night bus or sleeper").category == "travel"


def test_part_of_a_longer_phrase_does_not_count(shelf: Shelf) -> None:
    shelf.put("a", category="travel", keywords=["travel"], aliases=["trips"])
    shelf.put("b", category="finance", aliases=["travel insurance"])
    hints = shelf.hints("travel insurance")
    assert (hints.category, hints.matched) == ("finance", ("travel insur",))


def test_rare_phrase_outweighs_a_frequent_one() -> None:
    rare = Match("a b", (Posting("a b", "keyword", "one", "x"),))
    often = Match("c d", tuple(Posting("c d", "keyword", "two", str(n)) for n in range(100)))
    assert rare.rarity == 1.0
    assert 0.0 < often.rarity < 0.2
    names = Match("e f", (Posting("e f", "alias", "one", "x"),))
    assert category_of([rare, often, names]) == "one"


def test_phrase_of_as_many_documents_as_are_read_says_nothing() -> None:
    postings = tuple(Posting("a b", "alias", "one", str(n)) for n in range(PER_PHRASE))
    assert category_of([Match("a b", postings)]) == ""
    few = (Match("a b", postings[:2]), Match("c d", postings))
    assert category_of(few) == "one"


def test_longest_phrases_keep_their_order() -> None:
    phrases = ["索引", "hnsw", "hnsw 索引", "tool", "of tool"]
    found = longest(Posting(phrase, "tag", "", "a") for phrase in phrases)
    assert [match.phrase for match in found] == ["hnsw 索引", "of tool"]


def test_empty_catalogue_gives_empty_hints(shelf: Shelf) -> None:
    assert shelf.hints("anything") == Hints()
    assert shelf.catalog.l0.is_empty("docs")


def test_time_that_is_up_is_an_error(shelf: Shelf) -> None:
    with pytest.raises(CatalogUnreachable):
        hints_for(shelf.catalog.l0, "word", "docs", "", EXCLUDED, 0.0)


def test_scope_that_is_set_binds(scoped: Shelf) -> None:
    hints = scoped.hints("qalias1 palias1 zalias1", "team")
    assert hints.matched == ("qalias1",)
    assert "qother1" in hints.expansion
    own = {term for term in hints.expansion if term[0] == "q"}
    assert set(hints.expansion) - own <= {"common", "name", "share", "索引"}


def test_excluded_scope_gives_no_hint_unless_it_is_set(scoped: Shelf) -> None:
    assert scoped.hints("zcat zalias1 ztitle zword1") == Hints()
    assert scoped.hints("zcat zalias1", "rag-eval").category == "zcat"


def test_scope_that_nothing_is_in_gives_no_hint(scoped: Shelf) -> None:
    assert scoped.hints("shared common name 索引 pcat", "nobody") == Hints()


WORDS = [
    *(f"{letter}{name}" for letter in "pqz" for name in ("cat", "alias0", "key1", "title")),
    *("shared", "索引", "common name", "怎么", "%", "and", "😀"),
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=8),
    kb_scope=st.sampled_from(["", "team", "rag-eval", "%", "team%", "TEAM"]),
)
def test_nothing_of_another_scope_is_ever_in_the_hints(
    scoped: Shelf, words: list[str], kb_scope: str
) -> None:
    seen = {"": "pq", "team": "q", "rag-eval": "z"}.get(kb_scope, "")
    hints = scoped.hints(" ".join(words), kb_scope)
    shared = {"share", "索引", "common name", "common", "name"} if seen else set()
    for text in (hints.category, *hints.expansion, *hints.matched):
        assert not text or text in shared or text[0] in seen


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(query=st.text(max_size=200))
def test_any_text_is_a_query(scoped: Shelf, query: str) -> None:
    assert len(scoped.hints(query).expansion) <= MAX_EXPANSION


@pytest.mark.parametrize("query", HOSTILE)
def test_hostile_query_gives_no_hint_and_no_error(scoped: Shelf, query: str) -> None:
    assert scoped.hints(query) == Hints()


@pytest.mark.parametrize("order", [lambda ids: ids, lambda ids: ids[::-1]])
def test_hints_do_not_depend_on_the_order_of_writing(
    shelf: Shelf, order: Callable[[list[int]], list[int]]
) -> None:
    for number in order(list(range(3))):
        shelf.put(f"d{number}", category=f"c{number}", aliases=["word", f"name{number}x"])
    assert shelf.hints("word") == Hints("", ("name0x", "name1x", "name2x"), ("word",))
