"""Reads pincite.toml, .env and the environment; the only module that does."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError

from pincite.errors import ConfigInvalid
from pincite.settings.model import Settings

PREFIX = "PINCITE_"
CONFIG_VARIABLE = "PINCITE_CONFIG"
# The test suite's own switches are no settings.
TEST_PREFIX = "PINCITE_TEST_"
OPENAI_KEY = "OPENAI_API_KEY"
FILE_NAME = "pincite.toml"

Tree = dict[str, Any]


def load_settings(
    overrides: Mapping[str, Any] | None = None,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings in force.

    Args:
        overrides: Dotted keys (``"rag.return-n"``) that win over everything else.
        folder: Where ``pincite.toml`` and ``.env`` are looked for; default: the working folder.
        environment: Default: the process environment.

    Raises:
        ConfigInvalid: A file does not parse, a key is unknown, or a value does not fit.
    """
    folder = folder or Path.cwd()
    environment = os.environ if environment is None else environment
    variables = {**_dotenv(folder / ".env"), **environment}
    tree = _merge(_toml(folder, variables), _from_variables(variables))
    for key, value in (overrides or {}).items():
        if value is not None:
            tree = _merge(tree, _nest([*key.split(".")], value))
    if tree.get("home") == "":
        raise ConfigInvalid("Setting 'home' is empty.", "Give a folder, or leave it out.")
    settings = _validate(_normalise(tree, Settings, ()))
    settings = _with_openai_key(settings, variables)
    return settings.model_copy(update={"home": _absolute(settings.home, folder)})


def _with_openai_key(settings: Settings, variables: Mapping[str, str]) -> Settings:
    """OpenAI's own variable for a reranker of that provider; no other service may see the key."""
    reranker, key = settings.rag.reranker, variables.get(OPENAI_KEY, "")
    if reranker.provider != "openai" or reranker.api_key.get_secret_value() or not key:
        return settings
    reranker = reranker.model_copy(update={"api_key": SecretStr(key)})
    rag = settings.rag.model_copy(update={"reranker": reranker})
    return settings.model_copy(update={"rag": rag})


def _absolute(home: Path, folder: Path) -> Path:
    return (folder / home.expanduser()).resolve()


def _toml(folder: Path, variables: Mapping[str, str]) -> Tree:
    named = variables.get(CONFIG_VARIABLE)
    path = folder / Path(named).expanduser() if named else folder / FILE_NAME
    if not path.is_file():
        if named:
            raise ConfigInvalid(f"{CONFIG_VARIABLE} names {named!r}, which is not a file.")
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise ConfigInvalid(f"{str(path)!r} is not valid TOML: {exc}.") from exc
    except OSError as exc:
        raise ConfigInvalid(f"{str(path)!r} cannot be read: {exc.strerror}.") from exc


def _dotenv(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    try:
        values = dotenv_values(path, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        reason = type(exc).__name__
        raise ConfigInvalid(f"{str(path)!r} cannot be read as UTF-8 ({reason}).") from exc
    return {key: value for key, value in values.items() if value is not None}


def _from_variables(variables: Mapping[str, str]) -> Tree:
    tree: Tree = {}
    if variables.get(OPENAI_KEY):
        tree = {"embedder": {"api_key": variables[OPENAI_KEY]}}
    for name, value in sorted(variables.items()):
        if name.startswith(PREFIX) and name != CONFIG_VARIABLE and not _of_tests(name):
            path = name.removeprefix(PREFIX).lower().split("__")
            tree = _merge(tree, _nest(path, value))
    return tree


def _of_tests(name: str) -> bool:
    return name.startswith(TEST_PREFIX)


def _nest(path: list[str], value: Any) -> Tree:
    for part in reversed(path):
        value = {part: value}
    tree: Tree = value
    return tree


def _merge(low: Tree, high: Tree) -> Tree:
    """``high`` over ``low``; the spellings of one key count as one."""
    merged = {_snake(key): value for key, value in low.items()}
    for key, value in high.items():
        name = _snake(key)
        below = merged.get(name)
        both = isinstance(below, dict) and isinstance(value, dict)
        merged[name] = _merge(below, value) if both else value  # type: ignore[arg-type]
    return merged


def _snake(key: str) -> str:
    """kebab-case and camelCase to snake_case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).replace("-", "_").lower()


def kebab(path: tuple[str, ...]) -> str:
    """The dotted key as documented: ``("rag", "return_n")`` to ``rag.return-n``."""
    return ".".join(path).replace("_", "-")


def _normalise(tree: Tree, model: type[BaseModel], path: tuple[str, ...]) -> Tree:
    """Snake-case keys, checked against the model; text values made what the field wants."""
    result: Tree = {}
    for key, value in tree.items():
        name = _snake(key)
        here = (*path, name)
        field = model.model_fields.get(name)
        if field is None:
            raise _unknown(here, value)
        section = _section(field.annotation)
        entries = _entries(field.annotation)
        if entries is not None:
            result[name] = [_entry(one, entries, here) for one in _as_list(value, here)]
        elif section is None:
            result[name] = _fit(value, str(field.annotation), here)
        elif isinstance(value, dict):
            result[name] = _normalise(value, section, here)
        else:
            # The value may be a token that belongs one level deeper.
            raise ConfigInvalid(f"{kebab(here)!r} is a section, not {type(value).__name__}.")
    return result


def _fit(value: Any, annotation: str, path: tuple[str, ...]) -> Any:
    """Text from the environment as a list or as nothing, where the field wants that."""
    if isinstance(value, str) and "tuple" in annotation:
        return _as_list(value, path)
    absent = value == "" and "None" in annotation and "str" not in annotation
    return None if absent else value


def _entry(value: Any, model: type[BaseModel], path: tuple[str, ...]) -> Tree:
    """One table of a list of tables."""
    if not isinstance(value, dict):
        # The value may be a token that belongs one level deeper.
        raise ConfigInvalid(f"{kebab(path)!r} is a list of tables, not of {type(value).__name__}.")
    return _normalise(value, model, path)


def _as_list(value: Any, path: tuple[str, ...]) -> list[Any]:
    """A list as it is; from the environment: JSON, or parts between commas."""
    if not isinstance(value, str):
        if not isinstance(value, list):
            raise ConfigInvalid(f"{kebab(path)!r} is a list, not {type(value).__name__}.")
        return value
    if value.lstrip().startswith("["):
        try:
            parsed = json.loads(value)
        except ValueError as exc:
            raise ConfigInvalid(f"Setting {kebab(path)!r} is no valid JSON list.") from exc
        return list(parsed)
    return [part.strip() for part in value.split(",") if part.strip()]


def _section(annotation: Any) -> type[BaseModel] | None:
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return annotation if is_model else None


def _entries(annotation: Any) -> type[BaseModel] | None:
    """The section that a list holds many of, ``None`` for any other setting."""
    inner = get_args(annotation) if get_origin(annotation) is tuple else ()
    return _section(inner[0]) if inner else None


def _unknown(path: tuple[str, ...], value: Any) -> ConfigInvalid:
    while isinstance(value, dict) and value:
        name, value = next(iter(value.items()))
        path = (*path, _snake(name))
    key = kebab(path)
    near = difflib.get_close_matches(key, all_keys(), n=1, cutoff=0.0)
    return ConfigInvalid(
        f"Unknown setting {key!r}; the nearest known one is {near[0]!r}.",
        "Correct the key in pincite.toml, or the PINCITE_ variable in the environment.",
    )


def all_keys() -> list[str]:
    """Every dotted setting key, sorted."""
    return sorted(_keys(Settings, ()))


def _keys(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        section = _section(field.annotation)
        if section is None:
            yield kebab((*path, name))
        else:
            yield from _keys(section, (*path, name))


def _validate(tree: Tree) -> Settings:
    try:
        return Settings.model_validate(tree)
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        path = tuple(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        given = f" (given {first['input']!r})" if _may_be_shown(path) else ""
        raise ConfigInvalid(f"Setting {kebab(path)!r}: {message}{given}.") from exc


def _may_be_shown(path: tuple[str, ...]) -> bool:
    """Whether the value of a setting may stand in a message: no token, no address, no section."""
    model: type[BaseModel] = Settings
    for name in path:
        field = model.model_fields[name]
        section = _section(field.annotation)
        if _entries(field.annotation) is not None:
            return False
        if section is None:
            return field.repr and field.annotation is not SecretStr
        model = section
    return False
