"""Reads files of golden cases; whatever is wrong in them is one clear error."""

from __future__ import annotations

import difflib
import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from pincite.errors import CasesInvalid
from pincite.evaluation.cases import Asking, CaseFile, GoldenCase, SeedDocuments

YAML_SUFFIXES = (".yaml", ".yml")
SUFFIXES = (*YAML_SUFFIXES, ".json")
# The report that later ones are compared with; it lies beside the cases.
ACCEPTED = "accepted.json"
# How pydantic names an unknown key.
EXTRA = "extra_forbidden"


@dataclass(frozen=True)
class Seed:
    """A folder of documents for evaluation, with the name and the scope they are ingested under."""

    folder: Path
    source: str
    kb_scope: str

    def sources(self) -> set[str]:
        """Sources of all files below the folder, as results name them."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        below = (path.relative_to(self.folder).as_posix() for path in files)
        return {unicodedata.normalize("NFC", f"{self.source}/{path}") for path in below}


@dataclass(frozen=True)
class CaseSet:
    """Cases in the order of their files, and the seeds that the files name."""

    cases: tuple[GoldenCase, ...]
    seeds: tuple[Seed, ...]


def read_cases(path: Path) -> CaseSet:
    """The cases of a file, or of all files of a folder.

    Raises:
        CasesInvalid: There is no case, a file does not parse or breaks the schema, two cases
            have one id, or a case names a source that the documents beside it do not have.
    """
    files = _files(path)
    read = [(file, _read(file)) for file in files]
    cases = tuple(case for _, one in read for case in one.cases)
    _require_unique(read)
    seeds = tuple(_seed(file, one.documents) for file, one in read if one.documents is not None)
    case_set = CaseSet(cases, tuple(dict.fromkeys(seeds)))
    _require_seeded(case_set)
    return case_set


def load_document(path: Path) -> Any:
    """What a YAML or JSON file holds, as plain values.

    Raises:
        CasesInvalid: It cannot be read, or does not parse; a key that stands twice included.
    """
    try:
        text = path.read_text("utf-8-sig")
        return _yaml(text) if path.suffix.lower() in YAML_SUFFIXES else _json(text)
    except OSError as exc:
        raise CasesInvalid(f"{str(path)!r} cannot be read: {exc.strerror}.") from exc
    except (YAMLError, ValueError, RecursionError) as exc:
        problem = getattr(exc, "problem", None) or str(exc).strip()
        first = problem.splitlines() or [type(exc).__name__]
        where = getattr(getattr(exc, "problem_mark", None), "line", None)
        at = "" if where is None else f" in line {where + 1}"
        raise CasesInvalid(f"{str(path)!r} does not parse{at}: {first[0]}.") from exc


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(one for one in path.iterdir() if _is_case_file(one))
        if not files:
            raise CasesInvalid(f"The folder {str(path)!r} holds no file of cases.")
        return files
    if not path.is_file():
        raise CasesInvalid(f"There is no file {str(path)!r}.", "Give a file or folder of cases.")
    if path.suffix.lower() not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise CasesInvalid(f"{str(path)!r} is no file of cases.", f"Use one of: {known}.")
    return [path]


def _is_case_file(path: Path) -> bool:
    # A hidden one is what an editor left.
    is_shown = not path.name.startswith(".")
    return is_shown and path.is_file() and path.suffix.lower() in SUFFIXES and path.name != ACCEPTED


def _yaml(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def _json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_no_key_twice)


def _no_key_twice(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice")
    return found


def _read(path: Path) -> CaseFile:
    document = load_document(path)
    if not isinstance(document, dict) or not document.get("cases"):
        raise CasesInvalid(
            f"{str(path)!r} holds no cases.", "Put a list of them under the key `cases`."
        )
    if isinstance(document["cases"], list) and isinstance(document.get("defaults"), dict):
        document["cases"] = [_with(document["defaults"], one) for one in document["cases"]]
    return _validated(path, document)


def _with(defaults: Mapping[str, Any], case: Any) -> Any:
    return {**defaults, **case} if isinstance(case, dict) else case


def _validated(path: Path, document: dict[str, Any]) -> CaseFile:
    try:
        # Strict types as JSON has them, whatever the file was.
        return CaseFile.model_validate_json(json.dumps(document))
    except (TypeError, ValueError) as exc:
        if isinstance(exc, ValidationError):
            raise CasesInvalid(f"{str(path)!r}: {_first(exc, document)}") from exc
        reason = "a value is neither text, number, list nor mapping; put dates between quotes"
        raise CasesInvalid(f"{str(path)!r}: {reason}.") from exc


def _first(exc: ValidationError, document: dict[str, Any]) -> str:
    """One fault in words, with the id of its case: a key spelled wrong explains a missing one."""
    faults = exc.errors(include_url=False)
    fault = next((one for one in faults if one["type"] == EXTRA), faults[0])
    place = tuple(fault["loc"])
    where = _case_name(place, document)
    if fault["type"] == EXTRA:
        return f"{where}unknown key {place[-1]!r}; the nearest known one is {_nearest(place)!r}."
    name = ".".join(str(part) for part in (place[2:] if where else place))
    message = fault["msg"].removeprefix("Value error, ")
    return f"{where}{name + ': ' if name else ''}{message[:1].lower()}{message[1:]}."


def _case_name(place: Sequence[Any], document: dict[str, Any]) -> str:
    if len(place) < 2 or place[0] != "cases":
        return ""
    case = document["cases"][place[1]]
    given = case.get("id") if isinstance(case, dict) else None
    return f"case {given!r}: " if given else f"case {place[1] + 1} of the file: "


def _nearest(place: Sequence[Any]) -> str:
    model: type[BaseModel] = CaseFile
    for part, below in (("cases", GoldenCase), ("defaults", Asking), ("documents", SeedDocuments)):
        if len(place) > 1 and place[0] == part:
            model = below
    names = [field.alias or to_camel(name) for name, field in model.model_fields.items()]
    return difflib.get_close_matches(str(place[-1]), names, n=1, cutoff=0.0)[0]


def _require_unique(read: Sequence[tuple[Path, CaseFile]]) -> None:
    """One id each, whatever the case of its letters: fixtures are files of that name."""
    seen: dict[str, Path] = {}
    for file, case in ((file, case) for file, one in read for case in one.cases):
        if case.id.casefold() in seen:
            other = seen[case.id.casefold()]
            raise CasesInvalid(
                f"Two cases have the id {case.id!r}, in {other.name!r} and {file.name!r}.",
                "Give one of them another id.",
            )
        seen[case.id.casefold()] = file


def _seed(file: Path, given: SeedDocuments) -> Seed:
    folder = (file.parent / given.folder).resolve()
    if not folder.is_dir():
        raise CasesInvalid(
            f"{str(file)!r}: there is no folder {given.folder!r} beside it.",
            "Correct `documents.folder`.",
        )
    return Seed(folder, given.source, given.kb_scope)


def _require_seeded(case_set: CaseSet) -> None:
    """A source below a seed's name must be one of its files: a name spelled wrong never matches."""
    known: dict[str, set[str]] = {}
    for seed in case_set.seeds:
        known.setdefault(seed.source, set()).update(seed.sources())
    for case in case_set.cases:
        for source in _unknown(case, known):
            near = difflib.get_close_matches(source, known[source.partition("/")[0]], 1, 0.0)
            hint = f" The nearest is {near[0]!r}." if near else ""
            raise CasesInvalid(
                f"Case {case.id!r} names {source!r}, which no seed document has.{hint}",
                "Correct the case, or add the document.",
            )


def _unknown(case: GoldenCase, known: Mapping[str, set[str]]) -> Iterator[str]:
    for source in case.named_sources:
        seed = known.get(source.partition("/")[0])
        if seed is not None and source not in seed:
            yield source
