"""Against the real package with a tiny static model that is made here: nothing is downloaded."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from pincite.embedding.config import EmbedderConfig
from pincite.embedding.port import Embedder
from pincite.embedding.registry import make_embedder
from pincite.errors import ConfigInvalid, EmbedderUnreachable, EmbeddingRejected
from pincite.testing.embedder_suite import EmbedderConformance, cosine, embed, longest_text

pytestmark = pytest.mark.skipif(
    find_spec("fastembed") is None, reason="the extra 'fastembed' is not installed"
)
MODEL = "minishlab/potion-base-8M"
DIM = 256
WINDOW = 512


def tiny_model(folder: Path) -> Path:
    """A model that knows the 256 byte tokens, in the files of the static model ``MODEL``."""
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel

    letters = sorted(ByteLevel.alphabet())
    tokenizer = Tokenizer(BPE({letter: i for i, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.save(str(folder / "tokenizer.json"))
    table = np.random.default_rng(1).standard_normal((len(letters), DIM)).astype("<f4")
    place = {"dtype": "F32", "shape": table.shape, "data_offsets": [0, table.nbytes]}
    header = json.dumps({"embeddings": place}).encode()
    raw = len(header).to_bytes(8, "little") + header + table.tobytes()
    (folder / "model.safetensors").write_bytes(raw)
    return folder


def built(folder: Path, **options: str | int) -> Embedder:
    config = EmbedderConfig("fastembed", MODEL, model_dir=folder, **options)  # type: ignore[arg-type]
    return make_embedder(config)


class TestFastEmbed(EmbedderConformance):
    @pytest.fixture
    def embedder(self, tmp_path: Path) -> Embedder:
        return built(tiny_model(tmp_path))


def test_the_window_leaves_room_for_specials_and_prefix(tmp_path: Path) -> None:
    embedder = built(tiny_model(tmp_path), passage_prefix="doc: ", query_prefix="q: ")
    assert embedder.info.max_tokens == WINDOW - 2 - len("doc: ")
    assert embedder.count_tokens(["doc", "x" * 900]) == [3, 900]


def test_a_passage_that_would_be_cut_off_is_refused(tmp_path: Path) -> None:
    embedder = built(tiny_model(tmp_path))
    too_long = longest_text(embedder) + " and more"
    with pytest.raises(EmbeddingRejected):
        embed(embedder, [too_long])
    assert np.isfinite(embed(embedder, [too_long], "search")).all()


def test_prefixes_are_put_before_the_text(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path)
    prefixed = embed(built(folder, passage_prefix="doc: "), ["red apples"])
    assert cosine(prefixed[0], embed(built(folder), ["doc: red apples"])[0]) > 0.9999


def test_a_model_without_its_files_is_out_of_reach(tmp_path: Path) -> None:
    config = EmbedderConfig("fastembed", MODEL, model_dir=tmp_path, offline=True)
    with pytest.raises(EmbedderUnreachable, match="potion"):
        make_embedder(config)


def test_an_unknown_model_and_a_wrong_dimension_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="no-such-model"):
        make_embedder(EmbedderConfig("fastembed", "no-such-model"))
    with pytest.raises(ConfigInvalid, match="dim"):
        built(tiny_model(tmp_path), dim=17)
