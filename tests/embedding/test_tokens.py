import base64
import random
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.embedding.config import EmbedderConfig
from pincite.embedding.openai import OpenAIEmbedder
from pincite.embedding.tokens import estimate_tokens, estimated_counts, tokenizer_counts
from pincite.errors import ConfigInvalid, ExtraMissing

HAS_TOKENIZERS = find_spec("tokenizers") is not None


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("the", 1),
        ("lease", 2),
        ("a lease, 2026.", 9),
        ("one\n\ntwo", 3),
        ("a b", 2),
        ("a   b", 3),
        ("租约", 4),
        ("é", 2),
        ("🙂", 3),
    ],
)
def test_the_estimate_follows_its_rule(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_the_estimate_never_exceeds_the_bytes(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= len(text.encode("utf-8")) + 1


@given(st.text(max_size=100), st.text(max_size=100))
@settings(max_examples=60, deadline=None)
def test_two_texts_together_count_about_as_much_as_apart(a: str, b: str) -> None:
    apart = estimate_tokens(a) + estimate_tokens(b)
    assert abs(estimate_tokens(a + b) - apart) <= 2


def test_random_letters_are_not_taken_for_words() -> None:
    noise = base64.b64encode(random.Random(1).randbytes(3000)).decode()
    assert estimate_tokens(noise) > len(noise) / 3


def test_counts_come_in_order() -> None:
    assert estimated_counts(["the", "", "租约"]) == [1, 0, 4]


@pytest.mark.skipif(HAS_TOKENIZERS, reason="the package 'tokenizers' is installed")
def test_a_tokenizer_file_without_its_package_names_the_package() -> None:
    with pytest.raises(ExtraMissing, match="tokenizers"):
        tokenizer_counts(Path("tokenizer.json"))


@pytest.mark.skipif(not HAS_TOKENIZERS, reason="the package 'tokenizers' is not installed")
def test_a_tokenizer_file_counts_whole_texts_without_specials(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer_file(path)
    config = EmbedderConfig("openai", "own", base_url="http://x/v1", dim=4, tokenizer_file=path)
    embedder = OpenAIEmbedder(config)
    assert embedder.info.exact_tokens
    assert embedder.count_tokens(["red apples", "", "red " * 50]) == [2, 0, 50]


@pytest.mark.skipif(not HAS_TOKENIZERS, reason="the package 'tokenizers' is not installed")
def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    with pytest.raises(ConfigInvalid, match="tokenizer-file"):
        tokenizer_counts(path)


def tokenizer_file(path: Path) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "red": 1, "apples": 2, "[CLS]": 3}, "[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing("[CLS] $A", special_tokens=[("[CLS]", 3)])
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4)
    tokenizer.save(str(path))
