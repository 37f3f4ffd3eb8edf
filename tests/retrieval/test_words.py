import math

import pytest

from pincite.retrieval.words import held, idfs, length


def test_a_word_of_few_texts_says_more_than_one_of_all() -> None:
    texts = [{"red", "apple", "x"}, {"red"}, ["red", "red"]]
    made = idfs(["red", "apple", "none", "red"], texts)
    assert made == pytest.approx(
        {
            "red": math.log(1 + 0.5 / 3.5),
            "apple": math.log(1 + 2.5 / 1.5),
            "none": math.log(1 + 3.5 / 0.5),
        }
    )
    assert list(made) == ["apple", "none", "red"]


def test_every_word_says_something_also_without_texts() -> None:
    assert idfs(["red"], []) == {"red": math.log(2)}
    assert idfs([], [{"red"}]) == {}
    assert all(weight > 0 for weight in idfs(["red"], [{"red"}] * 1_000).values())


@pytest.mark.parametrize(("term", "says"), [("a", 1.0), ("pear", 2.0), ("果", 1.0), ("苹果", 2.0)])
def test_a_long_word_says_more_and_a_character_is_a_word(term: str, says: float) -> None:
    assert length(term) == says


def test_a_text_holds_the_weight_of_each_word_once() -> None:
    weights = {"red": 1.0, "apple": 2.5, "pear": 4.0}
    assert held(["red", "red", "apple", "x"], weights) == 3.5
    assert held([], weights) == held(["red"], {}) == 0
