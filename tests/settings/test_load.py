import json
import traceback
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from pincite.errors import ConfigInvalid
from pincite.settings import Settings, load_settings
from pincite.settings.load import all_keys


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def toml(folder: Path, text: str) -> Path:
    (folder / "pincite.toml").write_text(text, encoding="utf-8")
    return folder


def refused(folder: Path, overrides: dict[str, Any] | None = None, **variables: str) -> str:
    with pytest.raises(ConfigInvalid) as caught:
        load_settings(overrides, folder=folder, environment=variables)
    return str(caught.value)


def variable(key: str) -> str:
    return "PINCITE_" + key.replace(".", "__").replace("-", "_").upper()


@pytest.mark.parametrize("spelling", ["return-n", "returnN", "return_n"])
def test_spellings_of_a_key_are_one(folder: Path, spelling: str) -> None:
    toml(folder, f"[rag]\n{spelling} = 3")
    assert load_settings(folder=folder, environment={}).rag.return_n == 3


@pytest.mark.parametrize("spelling", ["vector-store", "vectorStore", "vector_store"])
def test_spellings_of_a_section_are_one(folder: Path, spelling: str) -> None:
    toml(folder, f'[retrieval.{spelling}]\nmode = "spring"')
    settings = load_settings(folder=folder, environment={})
    assert settings.retrieval.vector_store.mode == "spring"


def test_environment_wins_over_another_spelling_in_the_file(folder: Path) -> None:
    toml(folder, "[rag.reranker]\ntimeoutMs = 1\nbase-url = 'x'")
    variables = {"PINCITE_RAG__RERANKER__TIMEOUT_MS": "2"}
    reranker = load_settings(folder=folder, environment=variables).rag.reranker
    assert (reranker.timeout_ms, reranker.base_url) == (2, "x")


def test_each_source_wins_over_the_one_before(folder: Path) -> None:
    found = []
    found.append(load_settings(folder=folder, environment={}).rag.token_budget)
    toml(folder, "[rag]\ntoken-budget = 1")
    found.append(load_settings(folder=folder, environment={}).rag.token_budget)
    (folder / ".env").write_text("PINCITE_RAG__TOKEN_BUDGET=2\nOTHER=x\n")
    found.append(load_settings(folder=folder, environment={}).rag.token_budget)
    variables = {"PINCITE_RAG__TOKEN_BUDGET": "3"}
    found.append(load_settings(folder=folder, environment=variables).rag.token_budget)
    overrides = {"rag.token-budget": 4}
    given = load_settings(overrides, folder=folder, environment=variables)
    found.append(given.rag.token_budget)
    assert found == [3_000, 1, 2, 3, 4]


def test_sources_complete_each_other(folder: Path) -> None:
    toml(folder, "[rag]\nretrieve-k = 40\n[rag.ingest]\nchunk-size = 300")
    variables = {"PINCITE_RAG__RETURN_N": "3", "PINCITE_RAG__INGEST__CHUNK_OVERLAP": "10"}
    rag = load_settings({"rag.mode": "hybrid"}, folder=folder, environment=variables).rag
    assert (rag.retrieve_k, rag.return_n, rag.mode) == (40, 3, "hybrid")
    assert (rag.ingest.chunk_size, rag.ingest.chunk_overlap) == (300, 10)


def test_override_of_none_says_nothing(folder: Path) -> None:
    variables = {"PINCITE_RAG__RETURN_N": "3"}
    settings = load_settings({"rag.return-n": None}, folder=folder, environment=variables)
    assert settings.rag.return_n == 3


def test_empty_variable_unsets_an_optional_setting(folder: Path) -> None:
    toml(folder, "[rag]\nretrieve-k = 40")
    variables = {"PINCITE_RAG__RETRIEVE_K": ""}
    assert load_settings(folder=folder, environment=variables).rag.retrieve_k is None


def test_home_from_its_variable_is_absolute(folder: Path) -> None:
    assert load_settings(folder=folder, environment={}).home == folder / ".pincite"
    variables = {"PINCITE_HOME": "elsewhere"}
    assert load_settings(folder=folder, environment=variables).home == folder / "elsewhere"
    variables = {"PINCITE_HOME": str(folder / "x" / ".." / "y")}
    assert load_settings(folder=folder, environment=variables).home == folder / "y"


def test_config_variable_names_the_file(folder: Path) -> None:
    (folder / "other.toml").write_text("[rag]\nreturn-n = 9")
    variables = {"PINCITE_CONFIG": "other.toml"}
    assert load_settings(folder=folder, environment=variables).rag.return_n == 9
    message = refused(folder, PINCITE_CONFIG="missing.toml")
    assert "'missing.toml', which is not a file" in message


def test_files_may_start_with_a_byte_order_mark(folder: Path) -> None:
    (folder / "pincite.toml").write_bytes(b"\xef\xbb\xbf[rag]\nreturn-n = 8")
    (folder / ".env").write_bytes(b"\xef\xbb\xbfPINCITE_RAG__TOP_K=9")
    rag = load_settings(folder=folder, environment={}).rag
    assert (rag.return_n, rag.top_k) == (8, 9)


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("rag.retrun-n", "rag.return-n"),
        ("rga.return-n", "rag.return-n"),
        ("rag.reranker.timeout", "rag.reranker.timeout-ms"),
        ("embedder.apikey", "embedder.api-key"),
        ("hom", "home"),
    ],
)
def test_unknown_key_names_the_nearest(folder: Path, key: str, nearest: str) -> None:
    for message in (refused(folder, {key: "x"}), refused(folder, None, **{variable(key): "x"})):
        assert message.startswith("CONFIG_INVALID: Unknown setting")
        assert f"{key!r}; the nearest known one is {nearest!r}" in message


def test_unknown_key_in_the_file_is_refused(folder: Path) -> None:
    toml(folder, "[rag.ingest]\nchunkSise = 3")
    assert "'rag.ingest.chunk-sise'" in refused(folder)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("docs,memory", ("docs", "memory")),
        (" docs , memory ,", ("docs", "memory")),
        ('["docs", "a,b"]', ("docs", "a,b")),
        ("web", ("web",)),
    ],
)
def test_list_from_the_environment(folder: Path, text: str, value: tuple[str, ...]) -> None:
    settings = load_settings(folder=folder, environment={"PINCITE_LOOKUP__CORPORA": text})
    assert settings.lookup.corpora == value


def test_empty_list_from_the_environment(folder: Path) -> None:
    variables = {"PINCITE_RETRIEVAL__EXCLUDE_SCOPES": ""}
    settings = load_settings(folder=folder, environment=variables)
    assert settings.retrieval.exclude_scopes == ()


def test_a_list_of_tables_takes_every_spelling_of_its_keys(folder: Path) -> None:
    (folder / "pincite.toml").write_text(
        '[[serve.tokens]]\nname = "a"\ntoken = "a-secret-of-some-length"\nuser-id = "u"\n'
        '[[serve.tokens]]\nname = "b"\ntoken = "b-secret-of-some-length"\nuserId = "v"\n'
        '[[web.trust]]\ndomain = "my-site.example.org"\nweight = 0.9\n'
    )
    settings = load_settings(folder=folder, environment={})
    assert [one.user_id for one in settings.serve.tokens] == ["u", "v"]
    assert settings.web.trust[0].domain == "my-site.example.org"


def test_a_list_of_tables_from_the_environment_is_json(folder: Path) -> None:
    text = '[{"domain": "example.org", "weight": 1}]'
    settings = load_settings(folder=folder, environment={"PINCITE_WEB__TRUST": text})
    assert settings.web.trust[0].weight == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"name": "a", "token": "a-secret-that-hides", "user": "u"}]', "'serve.tokens.user'"),
        ('[{"name": "a", "token": "hides"}]', "fewer than 16 characters"),
        (
            '[{"name": "a", "token": "a-secret-that-hides"},'
            ' {"name": "a", "token": "b-secret-that-hides"}]',
            "have one name or one token",
        ),
        (
            '[{"name": "a", "token": "a-secret-that-hides"},'
            ' {"name": "b", "token": "a-secret-that-hides"}]',
            "have one name or one token",
        ),
        ('["a-secret-that-hides"]', "is a list of tables, not of str"),
        ('["a-secret-that-hides"', "is no valid JSON list"),
    ],
)
def test_a_wrong_table_is_refused_and_no_secret_is_told(
    folder: Path, text: str, message: str
) -> None:
    told = refused(folder, None, PINCITE_SERVE__TOKENS=text)
    assert message in told
    assert "hides" not in told


def test_list_that_is_no_json_names_the_setting(folder: Path) -> None:
    message = refused(folder, None, PINCITE_LOOKUP__CORPORA="[docs")
    assert "'lookup.corpora' is no valid JSON list" in message
    assert "[docs" not in message


@pytest.mark.parametrize("text", ["[rag", "\n\nrag = {", "[rag]\nmode = 1\nmode = 2", "x = ü"])
def test_broken_toml_says_where(folder: Path, text: str) -> None:
    message = refused(toml(folder, text))
    assert "pincite.toml' is not valid TOML" in message
    assert "(at " in message


def test_file_that_is_not_utf8_is_refused(folder: Path) -> None:
    (folder / "pincite.toml").write_bytes("[rag]\nmode = 'ü'".encode("latin-1"))
    assert "not valid TOML" in refused(folder)
    (folder / "pincite.toml").unlink()
    (folder / ".env").write_bytes("PINCITE_HOME=ü".encode("utf-16"))
    assert "UTF-8" in refused(folder)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rag.low-quality": 0.5, "rag.threshold": 0.6}, "must not be under rag.threshold (0.6)"),
        ({"rag.ingest.chunk-size": 80}, "chunk-overlap (80) must be under"),
        ({"rag.ingest.chunk-size": 100, "rag.ingest.chunk-overlap": 100}, "chunk-size (100)"),
        ({"rag.return-n": 0}, "'rag.return-n'"),
        ({"rag.retrieve-k": 16_385}, "(given 16385)"),
        ({"rag.threshold": 1.5}, "'rag.threshold'"),
        ({"rag.threshold": "nan"}, "'rag.threshold'"),
        ({"embedder.price-per-million-tokens": "inf"}, "'embedder.price-per-million-tokens'"),
        ({"rag.mode": "sparse"}, "'dense', 'lexical' or 'hybrid'"),
        ({"memory.rag.rollout": "half"}, "'memory.rag.rollout'"),
        ({"web.rag.canary-percent": 101}, "'web.rag.canary-percent'"),
        ({"rag.enabled": "maybe"}, "(given 'maybe')"),
        ({"rag": 5}, "'rag' is a section, not int"),
    ],
)
def test_value_that_does_not_fit_is_refused(
    folder: Path, given: dict[str, Any], words: str
) -> None:
    message = refused(folder, given)
    assert message.startswith("CONFIG_INVALID: ")
    assert words in message


@pytest.mark.parametrize(
    "given",
    [
        {"rag.low-quality": 0.6, "rag.threshold": 0.6},
        {"rag.low-quality": 0.1},
        {"rag.ingest.chunk-size": 2, "rag.ingest.chunk-overlap": 1},
    ],
)
def test_value_on_the_edge_fits(folder: Path, given: dict[str, Any]) -> None:
    load_settings(given, folder=folder, environment={})


@pytest.mark.parametrize(
    "given",
    [
        {"embedder.api-key": ["hunter2"]},
        {"store.token": {"hunter2": "hunter2"}},
        {"catalog.url": ["db://user:hunter2@host"]},
        {"embedder": "hunter2"},
        {"embedder": [{"api-key": "hunter2"}]},
        {"embedder.api-key": "hunter2", "embedder.batch-size": 0},
        {"embedder.apikey": "hunter2"},
    ],
)
def test_refusal_shows_no_secret(folder: Path, given: dict[str, Any]) -> None:
    try:
        load_settings(given, folder=folder, environment={})
    except ConfigInvalid as error:
        shown = "".join(traceback.format_exception(error, limit=0))
        assert "hunter2" not in shown
    else:
        pytest.fail("the value was accepted")


def test_process_environment_and_working_folder_are_the_defaults(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PINCITE_RAG__RETURN_N", "4")
    settings = load_settings()
    assert (settings.rag.return_n, settings.home) == (4, folder / ".pincite")


_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "tuple": st.lists(_TEXT, max_size=4),
    "secretstr": _TEXT,
    "bool": st.booleans(),
    "path": st.sampled_from([Path("model"), Path("a folder/tokenizer.json")]),
    "float": st.floats(-1, 1, allow_nan=False),
    "int": st.integers(1, 90),
    "str": _TEXT,
}


def _leaf(key: str) -> Any:
    model: Any = Settings
    for name in key.replace("-", "_").split("."):
        annotation = model.model_fields[name].annotation
        model = annotation
    return annotation


def _strategy(key: str) -> st.SearchStrategy[Any]:
    annotation = str(_leaf(key))
    if "Literal" in annotation:
        return st.sampled_from(_leaf(key).__args__)
    if key in ("rag.ingest.chunk-overlap", "memory.rag.canary-percent", "web.rag.canary-percent"):
        return st.integers(0, 90)
    floors = {
        **{"rag.ingest.chunk-size": 91, "lease.ttl-ms": 200, "cache.max-bytes": 2**20},
        "serve.max-body-bytes": 1_024,
    }
    if key in floors:
        return st.integers(floors[key], 2**31)
    if key == "lookup.corpora":
        return st.lists(_TEXT, min_size=1, max_size=4)
    if key == "rag.ingest.in-flight":
        return st.integers(1, 16)
    if key.startswith("web.") and "float" in annotation:
        return st.floats(0.01, 0.4)
    if key == "embedder.price-per-million-tokens":
        return st.floats(0, 1e6)
    kind = next(name for name in _VALUES if name in annotation.lower())
    return _VALUES[kind]


def _as_variable(value: Any) -> str:
    return json.dumps(value) if isinstance(value, list | bool) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return list(value) if isinstance(value, tuple) else value


def _read(model: BaseModel, key: str) -> Any:
    value: Any = model
    for name in key.replace("-", "_").split("."):
        value = getattr(value, name)
    return _plain(value)


@given(data=st.data())
@hypothesis_settings(max_examples=60, deadline=None)
def test_any_setting_goes_through_the_environment(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tables = ("serve.tokens", "web.trust")
    keys = [key for key in all_keys() if key not in ("home", "rag.low-quality", *tables)]
    chosen = data.draw(st.lists(st.sampled_from(keys), unique=True, min_size=1, max_size=6))
    if "rag.ingest.chunk-overlap" in chosen and "rag.ingest.chunk-size" not in chosen:
        chosen.append("rag.ingest.chunk-size")
    values = {key: data.draw(_strategy(key), label=key) for key in chosen}
    variables = {variable(key): _as_variable(value) for key, value in values.items()}
    settings = load_settings(folder=tmp_path_factory.getbasetemp(), environment=variables)
    assert {key: _read(settings, key) for key in chosen} == values
