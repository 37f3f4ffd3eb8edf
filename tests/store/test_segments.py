from __future__ import annotations

from pincite.store.bm25 import idf
from pincite.store.port import Hit
from pincite.store.segments import MAX_WORDS, doubtful_words, holding, lifted, rows_of


def hit(key: str, lexical: float, words: str) -> Hit:
    return Hit(key, None, lexical, -lexical, {"terms": words})


def test_words_are_counted_by_rows() -> None:
    rows = rows_of([hit("a", 1.0, "x x y"), hit("b", 1.0, "y z")], "terms")
    assert holding("x y w y", rows) == {"x": 1, "y": 2, "w": 0}


def test_words_that_few_of_the_first_hits_have_are_in_doubt_the_rarest_first() -> None:
    rows = rows_of([hit(str(n), 1.0, "common" + " half" * (n % 2)) for n in range(10)], "terms")
    rows += rows_of([hit("r", 1.0, "rare")], "terms")
    assert doubtful_words("common half rare none longer", rows) == [
        "longer",
        "none",
        "rare",
        "half",
    ]
    assert len(doubtful_words(" ".join(map(str, range(50))), rows)) == MAX_WORDS


def test_a_row_scores_at_least_what_its_rare_words_are_worth() -> None:
    first = [hit("large", 3.0, "common other"), hit("other", 2.0, "common other")]
    sunk = [hit("sunk", 0.3, "rare common")]
    hits = lifted(rows_of([*first, *sunk], "terms"), {"rare": 1}, 1_000)
    assert [each.vector_id for each in hits] == ["sunk", "large", "other"]
    assert hits[0].lexical is not None
    assert abs(hits[0].lexical - idf(1_000, 1)) < 1e-9
    assert [each.lexical for each in hits[1:]] == [3.0, 2.0]
    assert hits[0].raw_score == -0.3


def test_a_row_found_twice_is_one_hit_with_the_first_score() -> None:
    rows = rows_of([hit("a", 5.0, "x"), hit("b", 4.0, "x y"), hit("a", 0.1, "x")], "terms")
    hits = lifted(rows, {}, 10)
    assert [(each.vector_id, each.lexical) for each in hits] == [("a", 5.0), ("b", 4.0)]


def test_nothing_found_stays_nothing() -> None:
    assert lifted([], {"rare": 1}, 10) == []
    assert doubtful_words("a b", []) == []
