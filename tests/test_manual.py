"""The manual is complete, its links resolve, and it speaks of the program as it is."""

import json
import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer.main
import yaml
from pydantic import SecretStr

from pincite import errors
from pincite.cli.main import app
from pincite.documents import assemble, decoding, discovery, frontmatter, office
from pincite.documents.headings import find_headings
from pincite.evaluation.verdict import Hit
from pincite.settings import load_settings
from pincite.settings.load import all_keys
from pincite.settings.model import Section, Settings

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
GUIDES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")
LEAST_PAGES = 14
WORDS = (60, 1_400)
# Tables to look something up in may be longer.
REFERENCE_WORDS = 1_600
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([A-Z][A-Z]+(?:_[A-Z]+)+|INTERNAL)`")
# What writes these codes is code in the middle of a step, not a constant.
INLINE_WARNINGS = (
    "EMBEDDING_CACHE_REBUILT",
    "EMBEDDING_CACHE_UNAVAILABLE",
    "FOLDER_EMPTY",
    "METADATA_SHORTENED",
    "RECOVERED",
    "ROLLED_BACK",
)
NOT_CODES = ("PREFECT_API_URL", "PINCITE_HOME", "PINCITE_CONFIG")


class Page(NamedTuple):
    """A page taken apart."""

    fields: dict[str, Any]
    body: str


@cache
def page(path: Path) -> Page:
    text = path.read_text("utf-8")
    if not text.startswith("---\n"):
        return Page({}, text)
    block, _, body = text.removeprefix("---\n").partition("\n---\n")
    return Page(yaml.safe_load(block), body)


def prose(path: Path) -> str:
    return _FENCE.sub("", page(path).body)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(path: Path) -> set[str]:
    return {_slug(heading.title) for heading in find_headings(page(path).body)}


def _slug(title: str) -> str:
    """The anchor that a forge gives a heading: lower case, signs left out, hyphens for blanks."""
    kept = (
        char
        for char in title.lower()
        if char in " -_" or unicodedata.category(char)[0] in ("L", "N", "M")
    )
    return "".join(kept).replace(" ", "-")


def links(path: Path) -> list[str]:
    return [link for link in _LINK.findall(prose(path)) if "://" not in link]


def is_written_by_make(path: Path) -> bool:
    """Results that a target of the Makefile writes; they may not be there yet."""
    return name(path) in (ROOT / "Makefile").read_text("utf-8")


def test_there_are_enough_pages() -> None:
    assert len(PAGES) >= LEAST_PAGES


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_frontmatter_is_complete(path: Path) -> None:
    fields = page(path).fields
    assert set(fields) == {"title", "category", "keywords", "summary"}
    assert all(isinstance(fields[key], str) and fields[key].strip() for key in fields
               if key != "keywords")  # fmt: skip
    assert isinstance(fields["keywords"], list)
    assert len(fields["keywords"]) >= 3
    assert all(isinstance(word, str) for word in fields["keywords"])


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_page_is_one_topic_of_a_readable_length(path: Path) -> None:
    headings = find_headings(page(path).body)
    assert [heading.level for heading in headings].count(1) == 1
    assert headings[0].level == 1
    most = REFERENCE_WORDS if page(path).fields["category"] == "reference" else WORDS[1]
    assert WORDS[0] <= len(page(path).body.split()) <= most


@pytest.mark.parametrize("path", [*PAGES, *GUIDES], ids=name)
def test_links_resolve(path: Path) -> None:
    broken = []
    for link in links(path):
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        found = target.exists() or is_written_by_make(target)
        if not found or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("path", [*PAGES, *GUIDES], ids=name)
def test_no_placeholder_is_left(path: Path) -> None:
    assert re.findall(r"^(?:[A-Z]{3,}|@+|TODO.*)$", page(path).body, re.MULTILINE) == []


def test_every_page_is_listed_in_the_contents() -> None:
    contents = DOCS / "README.md"
    assert {path.name for path in PAGES} - {"README.md"} <= set(links(contents))


def defaults() -> dict[str, Any]:
    return dict(_defaults(Settings, ()))


def _defaults(model: type[Section], path: tuple[str, ...]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for field_name, field in model.model_fields.items():
        here = (*path, field_name)
        value = field.get_default(call_default_factory=True)
        if isinstance(value, Section):
            found += _defaults(type(value), here)
        else:
            found.append((".".join(here).replace("_", "-"), value))
    return found


def shown(default: Any) -> str:
    """A default as the table shows it."""
    if isinstance(default, SecretStr):
        default = default.get_secret_value()
    if isinstance(default, Path):
        default = str(default)
    return "unset" if default is None else f"`{json.dumps(default)}`"


def test_every_setting_is_listed_once_with_its_default() -> None:
    rows = re.findall(r"^\| `([a-z.-]+)` \| ([^|]+) \|", table_of_settings(), re.MULTILINE)
    assert sorted(key for key, _ in rows) == all_keys()
    wanted = {key: shown(value) for key, value in defaults().items()}
    assert {key: default.strip() for key, default in rows} == wanted


def table_of_settings() -> str:
    pages = ("configuration.md", "settings-corpora.md")
    return "".join(page(DOCS / name).body.partition("\n## All settings\n")[2] for name in pages)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_page_names_settings_that_exist(path: Path) -> None:
    sections = "|".join(sorted({key.split(".")[0] for key in all_keys() if "." in key}))
    named = re.findall(rf"`((?:{sections})\.[a-z][a-z.-]*)`", prose(path))
    known = [*all_keys(), "catalog.sqlite"]
    assert [key for key in named if key not in known] == []


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_page_names_variables_that_exist(path: Path) -> None:
    known = {"PINCITE_CONFIG", "PINCITE_", "PINCITE_TEST_"}
    known |= {f"PINCITE_{key.replace('.', '__').replace('-', '_').upper()}" for key in all_keys()}
    assert set(re.findall(r"PINCITE_[A-Z_]*", page(path).body)) <= known


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_configurations_are_settings_that_load(path: Path, tmp_path: Path) -> None:
    for block in re.findall(r"^```toml\n(.*?)^```", page(path).body, re.MULTILINE | re.DOTALL):
        assert tomllib.loads(block)
        (tmp_path / "pincite.toml").write_text(block, "utf-8")
        load_settings(folder=tmp_path, environment={})


def error_codes() -> set[str]:
    kinds = [value for value in vars(errors).values() if isinstance(value, type)]
    return {kind.code for kind in kinds if issubclass(kind, errors.PinciteError)}


def warning_codes() -> set[str]:
    modules = (assemble, decoding, discovery, frontmatter, office)
    constants = (pair for module in modules for pair in vars(module).items())
    return {value for key, value in constants if key.isupper() and value == key}


def test_every_code_has_its_advice() -> None:
    body = page(DOCS / "troubleshooting.md").body
    explained = set(re.findall(r"^\*\*`([A-Z_]+)`\*\*: ", body, re.MULTILINE))
    warned = set(re.findall(r"^\| `([A-Z_]+)` \|", body, re.MULTILINE))
    assert explained == error_codes()
    assert warned == warning_codes() | set(INLINE_WARNINGS)


def test_inline_warnings_are_in_the_program() -> None:
    source = "".join(file.read_text("utf-8") for file in (ROOT / "src").rglob("*.py"))
    written = [code for code in INLINE_WARNINGS if re.search(f'"{code}"', source, re.IGNORECASE)]
    assert written == list(INLINE_WARNINGS)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_page_names_codes_that_exist(path: Path) -> None:
    attempts = {"FILTERED_VECTOR", "UNFILTERED_VECTOR", "UNFILTERED_VECTOR_RETRY"}
    variables = {code for code in _CODE.findall(prose(path)) if code.startswith("PINCITE_")}
    known = error_codes() | warning_codes() | {*INLINE_WARNINGS, *NOT_CODES, "OPENAI_API_KEY"}
    hits = {hit.value for hit in Hit}
    assert set(_CODE.findall(prose(path))) - variables <= known | attempts | hits


@cache
def commands() -> dict[str, set[str]]:
    """Long options of each command, ``eval run`` too; those of the application under ``""``."""
    group: Any = typer.main.get_command(app)
    found = {"": _options(group)}
    for name, command in group.commands.items():
        found[name] = _options(command)
        below = getattr(command, "commands", {})
        found.update({f"{name} {one}": _options(below[one]) for one in below})
    return found


def _called(first: str, second: str) -> str:
    """The command of two words, where the first is the name of several; else the first."""
    several = any(command.startswith(f"{first} ") for command in commands())
    return f"{first} {second}" if several and second else first


def _options(command: Any) -> set[str]:
    given = {
        option
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    return {option for option in given if option.startswith("--")} | {"--help"}


def command_line() -> str:
    return "".join(page(DOCS / f"command-line{part}.md").body for part in ("", "-eval"))


def section_of(command: str) -> str:
    body = command_line()
    if not command:
        return body.partition("\n## ")[0]
    _, heading, rest = body.partition(f"\n## pincite {command}\n")
    assert heading, command
    return rest.partition("\n## ")[0]


def test_every_command_is_listed_and_no_other() -> None:
    body = command_line()
    listed = re.findall(r"^## pincite (.+)$", body, re.MULTILINE)
    assert sorted(listed) == sorted(set(commands()) - {""})


def test_every_long_option_is_listed_with_its_command() -> None:
    for command, options in commands().items():
        rows = re.findall(r"^\| (`--[^|]*) \|", section_of(command), re.MULTILINE)
        listed = set(re.findall(r"`(--[a-z0-9-]+)`", " ".join(rows)))
        assert listed | {"--help"} == options, command


@pytest.mark.parametrize("path", [*PAGES, *GUIDES], ids=name)
def test_no_page_mentions_a_command_that_does_not_exist(path: Path) -> None:
    text = page(path).body
    pattern = r"(?:^|`|\$ )pincite (?:--home \S+ )?([a-z]+)\b(?: ([a-z]+)\b)?"
    calls = {_called(*found) for found in re.findall(pattern, text, re.MULTILINE)}
    assert calls <= set(commands())


@pytest.mark.parametrize("path", [*PAGES, *GUIDES], ids=name)
def test_example_commands_use_options_that_exist(path: Path) -> None:
    pattern = r"pincite (?:--home \S+ )?([a-z]+)\b(?: ([a-z]+)\b)?([^`\n#|]*)"
    for first, second, rest in re.findall(pattern, page(path).body):
        if (command := _called(first, second)) in commands():
            used = set(re.findall(r"(?<!\S)--[a-z][a-z0-9-]*", rest))
            assert used <= commands()[command] | commands()[""], (command, rest)


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for extra in extras.values() for line in extra)]
    wanted = {_package(line) for line in lines}
    body = page(DOCS / "libraries.md").body
    assert {package for package in wanted - {"pincite"} if f"`{package}`" not in body} == set()
    assert {extra for extra in extras if extra != "dev" and f"| `{extra}` |" not in body} == set()


def _package(requirement: str) -> str:
    return re.split(r"[\[<>=;! ]", requirement, maxsplit=1)[0]
