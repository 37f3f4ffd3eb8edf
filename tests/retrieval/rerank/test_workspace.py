"""From the settings to the reranker of a workspace."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pincite.errors import ConfigInvalid
from pincite.retrieval.rerank.guarded import guarded
from pincite.settings import Settings, load_settings
from pincite.testing.rerank_endpoint import RerankEndpoint
from pincite.testing.reranker_suite import BEST, PASSAGES, QUERY
from pincite.wiring import Workspace

OPENAI = {"OPENAI_API_KEY": "sk-of-openai"}


def settings(folder: Path, given: dict[str, Any], **variables: str) -> Settings:
    overrides = {f"rag.reranker.{key}": value for key, value in given.items()}
    return load_settings(overrides, folder=folder, environment=variables)


def key_of(found: Settings) -> str:
    return found.rag.reranker.api_key.get_secret_value()


def test_the_settings_reach_the_endpoint(tmp_path: Path) -> None:
    async def run(url: str) -> Any:
        given = {"provider": "http", "base-url": url, "model": "m", "api-key": "sk-1", "api": "tei"}
        workspace = Workspace(settings(tmp_path, given))
        reranker = workspace.reranker
        assert reranker is workspace.reranker
        try:
            return await guarded(reranker, QUERY, PASSAGES, 20, 5.0)
        finally:
            await workspace.close()

    with RerankEndpoint() as endpoint:
        verdict = asyncio.run(run(endpoint.url))
        (call,) = endpoint.calls
    assert max(verdict.scores) == verdict.scores[PASSAGES.index(BEST)]
    assert call.headers["authorization"] == "Bearer sk-1"
    assert "texts" in call.body


@pytest.mark.parametrize("given", [{}, {"provider": "http"}, {"provider": "nonsense"}])
def test_what_is_not_enabled_is_not_made(tmp_path: Path, given: dict[str, Any]) -> None:
    workspace = Workspace(settings(tmp_path, {"enabled": False, **given}))
    assert workspace.reranker is None
    asyncio.run(workspace.close())


def test_the_embedded_one_is_the_default(tmp_path: Path) -> None:
    workspace = Workspace(settings(tmp_path, {}))
    assert workspace.reranker is not None
    assert workspace.reranker.name == "blend"
    asyncio.run(workspace.close())


def test_none_is_no_reranker(tmp_path: Path) -> None:
    workspace = Workspace(settings(tmp_path, {"enabled": True, "provider": "none"}))
    assert workspace.reranker is None
    asyncio.run(workspace.close())


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"provider": "http"}, "base-url"),
        ({"provider": "http", "base-url": "localhost:1"}, "base-url"),
        ({"provider": "htpp"}, "'http'"),
        ({"provider": "openai"}, "model"),
        ({"provider": "openai", "model": "m"}, "api-key"),
        ({"provider": "http", "base-url": "http://h", "api-key": "a\nb"}, "api-key"),
    ],
)
def test_a_wrong_configuration_is_refused_when_it_is_made(
    tmp_path: Path, given: dict[str, Any], word: str
) -> None:
    workspace = Workspace(settings(tmp_path, {"enabled": True, **given}))
    with pytest.raises(ConfigInvalid) as caught:
        _ = workspace.reranker
    assert word in str(caught.value)
    asyncio.run(workspace.close())


def test_openais_variable_is_the_key_of_an_openai_reranker(tmp_path: Path) -> None:
    assert key_of(settings(tmp_path, {"provider": "openai"}, **OPENAI)) == "sk-of-openai"


@pytest.mark.parametrize("provider", ["http", "blend", "none"])
def test_no_other_service_gets_the_key_of_openai(tmp_path: Path, provider: str) -> None:
    assert key_of(settings(tmp_path, {"provider": provider}, **OPENAI)) == ""


def test_a_key_of_its_own_wins(tmp_path: Path) -> None:
    given = {"provider": "openai", "api-key": "sk-own"}
    assert key_of(settings(tmp_path, given, **OPENAI)) == "sk-own"
    own = {"PINCITE_RAG__RERANKER__API_KEY": "sk-own"}
    assert key_of(settings(tmp_path, {"provider": "openai"}, **OPENAI, **own)) == "sk-own"


@pytest.mark.parametrize("top_k", [0, 1_001])
def test_top_k_has_bounds(tmp_path: Path, top_k: int) -> None:
    with pytest.raises(ConfigInvalid, match="top-k"):
        settings(tmp_path, {"top-k": top_k})


def test_an_unknown_api_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="'cohere', 'vllm' or 'tei'"):
        settings(tmp_path, {"api": "jina"})


def test_settings_show_no_secret(tmp_path: Path) -> None:
    found = settings(tmp_path, {"api-key": "hunter2", "base-url": "http://u:hunter2@h"})
    assert "hunter2" not in f"{found!r} {found}"
