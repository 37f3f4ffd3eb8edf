from pathlib import Path

import pytest
from pydantic import ValidationError

from pincite.settings import Settings, load_settings
from pincite.settings.load import all_keys

DEFAULTS: dict[str, object] = {
    "home": ".pincite",
    "rag.enabled": True,
    "rag.retrieve-k": None,
    "rag.return-n": None,
    "rag.max-chunks-per-document": 2,
    "rag.top-k": None,
    "rag.threshold": None,
    "rag.low-quality": None,
    "rag.weak": None,
    "rag.mode": "hybrid",
    "rag.token-budget": 3_000,
    "rag.reranker.enabled": True,
    "rag.reranker.provider": "blend",
    "rag.reranker.base-url": "",
    "rag.reranker.timeout-ms": 1_200,
    "rag.ingest.chunk-size": 400,
    "rag.ingest.chunk-overlap": 80,
    "rag.ingest.max-file-bytes": 16_777_216,
    "rag.retrieve.timeout-ms": 1_500,
    "retrieval.kb-scope": "",
    "retrieval.exclude-scopes": ("rag-eval",),
    "retrieval.vector-store.mode": "native",
    "memory.rag.enabled": True,
    "memory.rag.rollout": "on",
    "memory.rag.canary-percent": 0,
    "web.rag.enabled": True,
    "web.rag.rollout": "on",
    "web.rag.canary-percent": 0,
    "lookup.corpora": ("docs",),
    "store.uri": "",
    "catalog.url": "",
    "texts.url": "",
    "embedder.provider": "local",
    "embedder.model": "",
    "embedder.base-url": "",
}


def read(settings: Settings, key: str) -> object:
    value: object = settings
    for name in key.replace("-", "_").split("."):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("key", DEFAULTS)
def test_documented_setting_has_its_default(key: str) -> None:
    found = read(Settings(), key)
    assert (str(found) if key == "home" else found) == DEFAULTS[key]
    assert key in all_keys()


def test_every_setting_says_what_it_means() -> None:
    def undescribed(model: type, path: str) -> list[str]:
        missing = []
        for name, field in model.model_fields.items():
            if hasattr(field.annotation, "model_fields"):
                missing += undescribed(field.annotation, f"{path}{name}.")
            elif not field.description:
                missing.append(f"{path}{name}")
        return missing

    assert undescribed(Settings, "") == []


def test_widths_have_their_defaults() -> None:
    assert (Settings().rag.recall_width, Settings().rag.block_count) == (20, 5)


@pytest.mark.parametrize(
    ("given", "widths"),
    [
        ({"rag.top-k": 7}, (7, 7)),
        ({"rag.top-k": 7, "rag.retrieve-k": 30}, (30, 7)),
        ({"rag.top-k": 7, "rag.return-n": 3}, (7, 3)),
        ({"rag.top-k": 7, "rag.retrieve-k": 30, "rag.return-n": 3}, (30, 3)),
        ({"rag.return-n": 3}, (20, 3)),
    ],
)
def test_top_k_stands_in_for_what_is_not_given(
    given: dict[str, int], widths: tuple[int, int], tmp_path: Path
) -> None:
    rag = load_settings(given, folder=tmp_path, environment={}).rag
    assert (rag.recall_width, rag.block_count) == widths


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Settings().rag.token_budget = 5


def test_homes_parts_follow_home(tmp_path: Path) -> None:
    settings = load_settings({"home": "h"}, folder=tmp_path, environment={})
    assert settings.home == tmp_path / "h"
    assert settings.store_uri == str(tmp_path / "h" / "milvus.db")
    assert settings.catalog_url == f"sqlite:///{tmp_path / 'h' / 'catalog.sqlite'}"
    assert settings.texts_url == str(tmp_path / "h" / "texts")
    assert settings.cache_path == tmp_path / "h" / "cache" / "embeddings.sqlite"


def test_given_addresses_win_over_home(tmp_path: Path) -> None:
    given = {"store.uri": "http://m:1", "catalog.url": "postgresql://c", "texts.url": "s3://t"}
    settings = load_settings(given, folder=tmp_path, environment={})
    assert settings.store_uri == "http://m:1"
    assert settings.catalog_url == "postgresql://c"
    assert settings.texts_url == "s3://t"


@pytest.mark.parametrize(
    "key",
    ["embedder.api-key", "store.token", "store.uri", "catalog.url", "texts.url"],
)
def test_repr_shows_no_secret(key: str, tmp_path: Path) -> None:
    settings = load_settings({key: "db://user:hunter2@host"}, folder=tmp_path, environment={})
    assert "hunter2" not in f"{settings!r} {settings}"
