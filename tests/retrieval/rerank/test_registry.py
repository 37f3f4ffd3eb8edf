import subprocess
import sys

import pytest

from pincite.errors import ConfigInvalid
from pincite.retrieval.rerank.config import RerankerConfig
from pincite.retrieval.rerank.http import HttpReranker
from pincite.retrieval.rerank.openai import OpenAIReranker
from pincite.retrieval.rerank.registry import PROVIDERS, make_reranker


@pytest.mark.parametrize(
    ("given", "nearest"), [("htpp", "http"), ("openia", "openai"), ("nones", "none"), ("", "")]
)
def test_an_unknown_provider_names_the_nearest_and_all(given, nearest) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        make_reranker(RerankerConfig(given))
    assert repr(given) in caught.value.message
    assert f"the nearest one is '{nearest}" in caught.value.message
    assert all(repr(name) in caught.value.next_step for name in PROVIDERS)


def test_none_is_no_reranker() -> None:
    assert make_reranker(RerankerConfig("none")) is None


def test_the_named_provider_is_built() -> None:
    http = make_reranker(RerankerConfig("http", "m", "http://localhost:8080"))
    openai = make_reranker(RerankerConfig("openai", "m", "http://localhost:8000/v1"))
    assert isinstance(http, HttpReranker)
    assert isinstance(openai, OpenAIReranker)


@pytest.mark.parametrize(
    "url", ["localhost:8080", "ftp://host", "http:///v1", "http://[::1", "http://h:99999"]
)
def test_what_is_no_address_is_refused_without_showing_it(url) -> None:
    with pytest.raises(ConfigInvalid, match="base-url") as caught:
        RerankerConfig("http", base_url=url)
    assert url not in str(caught.value)


@pytest.mark.parametrize("url", ["http://[::1]:8080", "https://api.jina.ai/v1", "http://u:p@h"])
def test_addresses_are_taken(url) -> None:
    assert RerankerConfig("http", base_url=url).base_url == url


@pytest.mark.parametrize("key", ["sk-1\n", "sk\r\nx-injected: 1", "schlüssel", "sk\0"])
def test_a_key_that_no_header_may_hold_is_refused_without_showing_it(key) -> None:
    with pytest.raises(ConfigInvalid, match="api-key") as caught:
        RerankerConfig("http", base_url="http://h", api_key=key)
    assert key not in str(caught.value)


def test_repr_shows_no_secret() -> None:
    config = RerankerConfig("http", "m", "http://user:hunter2@host", "hunter2")
    assert "hunter2" not in repr(config)


def test_no_adapter_is_imported_before_it_is_chosen() -> None:
    code = (
        "import sys; from pincite.retrieval.rerank.registry import make_reranker; "
        "import pincite.retrieval.rerank.guarded; "
        "print([m for m in ('openai', 'httpx', 'numpy', 'pyarrow') if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.strip() == "[]"
