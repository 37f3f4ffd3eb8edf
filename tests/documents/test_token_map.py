from collections.abc import Sequence

import pytest

from pincite.documents.token_map import TokenMap


def count(texts: Sequence[str]) -> list[int]:
    return [7 + len(text) for text in texts]


@pytest.mark.parametrize("text", ["", "x", "word " * 500, "中" * 1_000, "\n" * 300])
def test_overhead_is_taken_out_of_every_piece(text: str) -> None:
    tokens = TokenMap(text, count)
    assert tokens.overhead == 7
    assert tokens.before(len(text)) == len(text)
    assert tokens.position(10**9) == len(text)


def test_positions_are_interpolated_and_invert() -> None:
    tokens = TokenMap("word " * 500, count)
    assert all(tokens.position(tokens.before(at)) == at for at in range(0, 2_500, 7))


def test_pieces_without_tokens_are_passed_over() -> None:
    def words(texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    text = "a" + " " * 1_000 + "b"
    assert TokenMap(text, words).position(1) >= 900


def test_all_counts_are_asked_for_in_one_batch() -> None:
    calls: list[int] = []

    def counting(texts: Sequence[str]) -> list[int]:
        calls.append(len(texts))
        return count(texts)

    TokenMap("word " * 500, counting)
    assert len(calls) == 1
