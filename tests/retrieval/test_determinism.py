"""The same lookup gives the same JSON, whatever order the store gives equal scores in."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from pincite.retrieval.rerank.blend import BlendReranker
from pincite.store.port import Hit
from pincite.testing.faults import changing, put
from pincite.testing.lookups import fruit_corpus, lasting, look, parts_of, write
from pincite.testing.small_corpus import SmallCorpus

REPEATS = 100
TEXT = "the harvest of apples"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCorpus]:
    """Documents of the same words, so that every score of a leg comes many times."""
    with fruit_corpus(tmp_path_factory.mktemp("equal")) as made:
        for number in range(9):
            write(
                made,
                f"d{number}",
                TEXT,
                f"{TEXT} again",
                TEXT,
                category=("food", "work")[number % 2],
                keywords=["harvest", f"k{number}"],
                aliases=["harvest of apples", f"alias {number % 3}"],
            )
        yield made


def shuffled(store: Any, chance: random.Random) -> tuple[Any, list[list[str]]]:
    """The store giving its hits in another order each time, and the orders it gave."""
    orders: list[list[str]] = []

    def shuffle(hits: list[Hit]) -> list[Hit]:
        mixed = chance.sample(hits, len(hits))
        orders.append([hit.vector_id for hit in mixed])
        return mixed

    return put(store, "search", changing(shuffle)), orders


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "hybrid"},
        {"mode": "dense", "retrieve_k": 50},
        {"mode": "lexical"},
        {"mode": "hybrid", "rerank": True, "return_n": 8},
        {"mode": "hybrid", "category": "work", "low_quality": 1.0, "token_budget": 20},
    ],
    ids=["hybrid", "dense", "lexical", "reranked", "retried"],
)
def test_a_hundred_repeats_give_one_json(corpus: SmallCorpus, options: dict[str, Any]) -> None:
    store, orders = shuffled(corpus.store, random.Random(7))
    parts = parts_of(corpus, store=store, reranker=BlendReranker())
    repeats = REPEATS if options == {"mode": "hybrid"} else REPEATS // 5
    documents = [lasting(look(parts, TEXT, **options)) for _ in range(repeats)]
    assert all(one == documents[0] for one in documents)
    assert list(documents[0]) == list(documents[-1])
    # Nothing would be shown if the store had always given one order, or the scores differed.
    assert len({tuple(order) for order in orders}) > repeats // 2
    scores = [one["scores"] for one in documents[0]["context"]["blocks"]]
    leg = "lexical" if options["mode"] == "lexical" else "dense"
    assert len({one[leg] for one in scores}) < len(scores)


def test_equal_scores_are_in_the_order_of_their_keys(corpus: SmallCorpus) -> None:
    store, _ = shuffled(corpus.store, random.Random(8))
    result = look(parts_of(corpus, store=store), TEXT, mode="dense", return_n=8, retrieve_k=50)
    ranks = [(-(b.candidate.score or 0), b.candidate.evidence_key) for b in result.blocks]
    assert ranks == sorted(ranks)
    assert ranks[0][0] == ranks[1][0]
