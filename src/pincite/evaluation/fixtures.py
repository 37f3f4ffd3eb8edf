"""Fixtures: one file a case, holding the LookupResult that its query got."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pincite.errors import FixtureContract, FixtureMismatch
from pincite.evaluation.answer import Answer, read_answer
from pincite.evaluation.cases import GoldenCase
from pincite.evaluation.files import write_files

KEY = "lookupResult"


def fixture_path(folder: Path, case: GoldenCase) -> Path:
    """Where the case's fixture lies."""
    return folder / f"{case.id}.json"


def write_fixture(folder: Path, case: GoldenCase, result: dict[str, Any]) -> Path:
    """Write the LookupResult of a case.

    Raises:
        RequestInvalid: The folder cannot be written.
    """
    path = fixture_path(folder, case)
    text = json.dumps({KEY: result}, ensure_ascii=False, indent=2, allow_nan=False)
    write_files(folder, {path.name: text + "\n"})
    return path


def read_fixtures(folder: Path, cases: Sequence[GoldenCase]) -> list[Answer]:
    """The answers of all cases, in their order.

    Raises:
        FixtureMismatch: A case has no fixture, or it answers another query, corpus or scope.
        FixtureContract: A fixture is no LookupResult of this version.
    """
    return [_read(folder, case) for case in cases]


def _read(folder: Path, case: GoldenCase) -> Answer:
    path = fixture_path(folder, case)
    answer = read_answer(_document(path, case), repr(str(path)))
    for name, wanted in (("query", case.query), ("corpus", case.corpus)):
        _require_same(path, name, getattr(answer, name), wanted)
    if case.kb_scope:
        _require_same(path, "kbScope", answer.kb_scope, case.kb_scope)
    return answer


def _document(path: Path, case: GoldenCase) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text("utf-8"), parse_constant=_refuse_constant)
        # An escape may name half of a character, which no file can hold.
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except FileNotFoundError as exc:
        raise FixtureMismatch(f"Case {case.id!r} has no fixture {str(path)!r}.") from exc
    except OSError as exc:
        raise FixtureContract(f"{str(path)!r} cannot be read: {exc.strerror}.") from exc
    except (ValueError, RecursionError) as exc:
        raise FixtureContract(f"{str(path)!r} is no JSON document: {exc}.") from exc
    result = document.get(KEY) if isinstance(document, dict) else None
    if not isinstance(result, dict):
        raise FixtureContract(f"{str(path)!r} has no {KEY!r}.")
    return result


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _require_same(path: Path, name: str, found: str, wanted: str) -> None:
    if found != wanted:
        raise FixtureMismatch(
            f"{str(path)!r} has the {name} {found!r}, its case asks with {wanted!r}."
        )
