"""What phrases and revisions promise."""

from __future__ import annotations

import pytest

from pincite.catalog.catalog import Catalog
from pincite.catalog.l0 import Described, Posting
from pincite.errors import CatalogUnreachable, LeaseLost
from pincite.recipe import Recipe
from pincite.testing.catalog_suite_values import (
    CORPUS,
    GENERATION,
    ODD_IDS,
    TTL_MS,
    failure_of,
    online,
    stamp_of,
    start,
    take,
    write,
)

EXCLUDED = ("rag-eval",)
RECIPE = Recipe("window/1", 400, 80, "hash", 384)


def found(
    catalog: Catalog, *phrases: str, kb_scope: str = "", excluded: tuple[str, ...] = EXCLUDED
) -> list[tuple[str, str]]:
    """Phrase and document of everything that matches."""
    postings = catalog.l0.match(CORPUS, phrases, kb_scope, excluded)
    return [(one.phrase, one.doc_id) for one in postings]


class L0Rules:
    """By which phrases documents are found."""

    def test_document_is_found_by_each_field(self, catalog: Catalog) -> None:
        write(
            catalog,
            take(catalog),
            "a",
            title="Night Trains",
            category="Travel",
            keywords=["sleeper car"],
            tags=["rail"],
            aliases=["couchette"],
        )
        phrases = ["couchett", "night train", "rail", "sleeper car", "travel"]
        assert catalog.l0.match(CORPUS, phrases, "", EXCLUDED) == [
            Posting("couchett", "alias", "Travel", "a"),
            Posting("night train", "title", "Travel", "a"),
            Posting("rail", "tag", "Travel", "a"),
            Posting("sleeper car", "keyword", "Travel", "a"),
            Posting("travel", "category", "Travel", "a"),
        ]

    def test_postings_come_by_phrase_and_then_by_document(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "b", "a", keywords=["two", "one"])
        assert found(catalog, "two", "none", "one") == [
            ("two", "a"),
            ("two", "b"),
            ("one", "a"),
            ("one", "b"),
        ]

    def test_many_phrases_are_asked_at_once(self, catalog: Catalog) -> None:
        words = [f"w{number:03}x" for number in range(60)]
        write(catalog, take(catalog), "a", keywords=words)
        assert found(catalog, *reversed(words)) == [(word, "a") for word in reversed(words)]
        assert found(catalog) == []

    def test_each_phrase_has_its_own_limit(self, catalog: Catalog) -> None:
        ids = [f"d{number}" for number in range(6)]
        write(catalog, take(catalog), *ids, keywords=["common"], title="", category="")
        write(catalog, take(catalog, "b", 2), "z", keywords=["rare"], title="", category="")
        postings = catalog.l0.match(CORPUS, ["common", "rare"], "", (), per_phrase_limit=4)
        assert [one.phrase for one in postings] == ["common"] * 4 + ["rare"]

    def test_set_scope_binds(self, catalog: Catalog) -> None:
        writer = take(catalog)
        for scope in ("", "team", "TEAM", "rag-eval", "team%"):
            write(catalog, writer, f"in {scope}", kb_scope=scope, keywords=["word"])
        assert found(catalog, "word", kb_scope="team") == [("word", "in team")]
        assert found(catalog, "word", kb_scope="rag-eval") == [("word", "in rag-eval")]
        assert found(catalog, "word", kb_scope="%") == []

    def test_excluded_scopes_are_left_out_when_none_is_set(self, catalog: Catalog) -> None:
        writer = take(catalog)
        for scope in ("", "team", "rag-eval"):
            write(catalog, writer, f"in {scope}", kb_scope=scope, keywords=["word"])
        assert found(catalog, "word") == [("word", "in "), ("word", "in team")]
        assert len(found(catalog, "word", excluded=())) == 3
        # The empty label cannot be excluded.
        assert found(catalog, "word", excluded=("", "team", "rag-eval")) == [("word", "in ")]

    def test_new_version_is_found_by_its_own_phrases_only(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a", "b", keywords=["old"])
        write(catalog, writer, "a", keywords=["new"], kb_scope="team")
        assert found(catalog, "old", "new") == [("old", "b"), ("new", "a")]

    def test_removed_document_is_not_found(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a", "b", keywords=["word"])
        catalog.journal.open_removals(writer, ["a"])
        catalog.documents.stamp_removed(writer, ["a"])
        assert found(catalog, "word") == [("word", "b")]

    def test_lost_stamp_leaves_no_phrase(self, catalog: Catalog) -> None:
        start(catalog, take(catalog), "a")
        with pytest.raises(LeaseLost):
            catalog.documents.stamp(online("other"), [stamp_of("a", 1)])
        assert found(catalog, "one") == []
        assert catalog.l0.is_empty(CORPUS)

    def test_odd_ids_and_scopes_are_found(self, catalog: Catalog) -> None:
        write(catalog, take(catalog), *ODD_IDS, keywords=["word"], kb_scope="s" * 256)
        ids = {doc_id for _, doc_id in found(catalog, "word", kb_scope="s" * 256)}
        assert ids == set(ODD_IDS)

    def test_longest_phrase_is_found(self, catalog: Catalog) -> None:
        phrase, characters = "q" * 80, "漢" * 24
        write(catalog, take(catalog), "a", keywords=["q" * 80, "q" * 81, "漢" * 24, "漢" * 25])
        assert found(catalog, phrase, characters, "q" * 81) == [(phrase, "a"), (characters, "a")]

    def test_corpora_with_ids_of_their_own_have_no_phrases(self, catalog: Catalog) -> None:
        for corpus in ("memory", "web"):
            writer = catalog.leases.acquire(corpus, GENERATION, "m", TTL_MS)
            write(catalog, writer, "a", keywords=["word"])
            assert catalog.l0.match(corpus, ["word"], "", ()) == []
            assert catalog.l0.is_empty(corpus)

    def test_described_documents_are_those_in_scope(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a", title="A", aliases=["b", "ü"], keywords=["k"])
        write(catalog, writer, "hidden", kb_scope="rag-eval")
        one = Described("a", "A", ("b", "ü"), ("k",))
        ids = ["hidden", "a", "unknown"]
        assert catalog.l0.described(CORPUS, ids, "", EXCLUDED) == {"a": one}
        assert list(catalog.l0.described(CORPUS, ids, "rag-eval", EXCLUDED)) == ["hidden"]
        assert catalog.l0.described("web", ids, "", EXCLUDED) == {}

    def test_time_that_is_up_is_an_error(self, catalog: Catalog) -> None:
        with pytest.raises(CatalogUnreachable, match="in time"):
            catalog.l0.match(CORPUS, ["word"], "", (), timeout_s=0.0)
        assert catalog.l0.match(CORPUS, ["word"], "", (), timeout_s=30.0) == []


class RevisionRules:
    """A number that changes with whatever a reader could see."""

    def test_first_generation_stamp_and_removal_change_it(self, catalog: Catalog) -> None:
        seen = [catalog.revision(CORPUS)]
        catalog.generations.add_first(CORPUS, GENERATION, "pincite_docs_g1", RECIPE)
        seen.append(catalog.revision(CORPUS))
        writer = take(catalog)
        write(catalog, writer, "a", "b")
        seen.append(catalog.revision(CORPUS))
        catalog.journal.open_removals(writer, ["a"])
        catalog.documents.stamp_removed(writer, ["a"])
        seen.append(catalog.revision(CORPUS))
        assert seen == [0, 1, 2, 3]

    def test_what_no_reader_sees_does_not_change_it(self, catalog: Catalog) -> None:
        writer = take(catalog)
        write(catalog, writer, "a")
        before = catalog.revision(CORPUS)
        start(catalog, writer, "b")
        catalog.documents.fail(writer, [failure_of("b")], frozenset(["b"]))
        with pytest.raises(LeaseLost):
            catalog.documents.stamp(writer, [stamp_of("b", 1)])
        assert catalog.revision(CORPUS) == before

    def test_corpora_change_apart(self, catalog: Catalog) -> None:
        write(catalog, take(catalog), "a")
        assert (catalog.revision(CORPUS), catalog.revision("memory")) == (1, 0)
