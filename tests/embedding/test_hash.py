import asyncio
import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.embedding import hash as hashing
from pincite.embedding.config import EmbedderConfig
from pincite.embedding.hash import HashEmbedder
from pincite.embedding.vectors import norms

SAMPLE = ["Leases end.", "租约会到期", "Ströme №7", "", "\ud800"]


def similarity(a: str, b: str) -> float:
    first, second = HashEmbedder().vectors([a, b])
    return float(first @ second)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("A killed run", "a KILLED run!"),
        ("killed run", "run, killed"),
        ("STRASSE am Fluß", "straße am fluss"),
        ("cafe\u0301 noir", "café noir"),
        ("租约到期", "租约到期。"),
        ("ＡＢＣ 123", "abc 123"),
    ],
)
def test_equal_words_match_whatever_their_case_and_form(a: str, b: str) -> None:
    assert similarity(a, b) > 0.99


def test_words_of_an_ascii_text_match_those_of_another() -> None:
    assert similarity("Retry_after; THE lease-time", "retry after the lease time") > 0.99
    assert similarity("naive lease", "naïve lease") > 0.4


def test_chinese_texts_that_share_characters_are_closer_than_others() -> None:
    assert similarity("被终止的运行的租约", "租约被终止") > similarity(
        "被终止的运行的租约", "面包需要水"
    )


def test_texts_of_the_same_words_are_kept_apart() -> None:
    vectors = HashEmbedder().vectors(["a b", "b a", "A b", "a  b", "a, b"])
    assert len(np.unique(vectors, axis=0)) == len(vectors)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=8, unique=True))
@settings(max_examples=60, deadline=None)
def test_any_text_has_a_vector_of_its_own_of_unit_length(texts: list[str]) -> None:
    vectors = HashEmbedder().vectors(texts)
    assert np.allclose(norms(vectors), 1.0, atol=1e-5)
    assert len(np.unique(vectors, axis=0)) == len(texts)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_a_row_does_not_depend_on_its_batch(texts: list[str]) -> None:
    embedder = HashEmbedder()
    alone = np.concatenate([embedder.vectors([text]) for text in texts])
    assert np.array_equal(embedder.vectors(texts), alone)


def test_vectors_are_the_same_in_another_process() -> None:
    code = (
        "import hashlib; from pincite.embedding.hash import HashEmbedder; "
        f"print(hashlib.sha256(HashEmbedder().vectors({SAMPLE!a}).tobytes()).hexdigest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (
        run.stdout.strip() == hashlib.sha256(HashEmbedder().vectors(SAMPLE).tobytes()).hexdigest()
    )


def test_vectors_are_those_of_revision_1() -> None:
    row = HashEmbedder().vectors(["the lease"])[0]
    strongest = np.argsort(-np.abs(row))[:4]
    values = {int(at): round(float(row[at]), 3) for at in strongest}
    assert values == {85: 0.433, 141: -0.559, 153: -0.559, 215: -0.433}


def test_forgetting_terms_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"term{n} shared" for n in range(50)]
    expected = HashEmbedder().vectors(texts)
    monkeypatch.setattr(hashing, "REMEMBERED_TERMS", 3)
    embedder = HashEmbedder()
    assert np.array_equal(embedder.vectors(texts), expected)
    assert len(embedder._terms) <= 5


def test_tokens_are_a_quarter_of_the_bytes_rounded_up() -> None:
    assert HashEmbedder().count_tokens(["", "a", "abcd", "abcde", "租约"]) == [0, 1, 1, 2, 2]


def test_configured_thresholds_and_limits_are_kept() -> None:
    config = EmbedderConfig("hash", max_tokens=100, batch_size=7, revision="9")
    info = HashEmbedder.from_config(config).info
    assert (info.max_tokens, info.batch_size) == (100, 7)
    assert info.space.revision == "9"


def test_queries_and_passages_are_embedded_alike() -> None:
    embedder = HashEmbedder()
    query, passage = (asyncio.run(embedder.embed(["lease"], kind)) for kind in ("search", "add"))
    assert np.array_equal(query, passage)
