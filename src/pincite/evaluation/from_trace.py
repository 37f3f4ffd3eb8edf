"""Turns a lookup of the log into a golden case, and adds it to a file of cases."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from pincite.catalog.activity import Activity, LookupLine
from pincite.errors import CasesInvalid, RequestInvalid, TraceNotFound
from pincite.evaluation.case_files import YAML_SUFFIXES, load_document, read_cases
from pincite.evaluation.cases import EDIT_ME
from pincite.identity import text_sha256

TAG = "from-trace"
ID_LENGTH = 12
SHOWN_BLOCKS = 10


def kept_lookup(activity: Activity, trace_id: str) -> LookupLine:
    """The latest lookup with this trace id.

    Raises:
        TraceNotFound: The log does not have it, or not any more.
    """
    line = activity.lookup(trace_id)
    if line is None:
        raise TraceNotFound(f"No lookup with the trace id {trace_id!r} is kept.")
    return line


def case_of_lookup(
    line: LookupLine,
    case_id: str | None = None,
    query: str | None = None,
    usual_mode: str = "",
) -> dict[str, Any]:
    """The case as its JSON object; what it expects is for a person to fill in.

    Args:
        line: The lookup in the log.
        case_id: ``None`` takes one from the trace id.
        query: The question, needed where the log keeps none.
        usual_mode: The mode of the settings; a case that was asked in it names none.

    Raises:
        RequestInvalid: The question is not kept and not given, or another one was asked.
    """
    short = re.sub(r"[^A-Za-z0-9._-]", "-", line.trace_id)[:ID_LENGTH]
    return {
        "id": case_id or f"trace-{short}",
        "query": _query(line, query),
        "corpus": line.corpus,
        "kbScope": line.kb_scope,
        **({"mode": line.mode} if line.mode not in ("", usual_mode) else {}),
        "tags": [TAG],
        "expectedSources": [EDIT_ME],
    }


def add_case(path: Path, case: dict[str, Any], line: LookupLine) -> None:
    """Add the case to the file, which is made if it is not there; what stands in it stays.

    Raises:
        CasesInvalid: The file is no file of cases, or the case does not fit into it.
    """
    draft = path.with_name(f".{path.stem}.draft{path.suffix}")
    try:
        # Its being there is the lock: what another one adds meanwhile must not be lost.
        with draft.open("xb") as file:
            file.write(_with_case(path, case, line))
    except FileExistsError as exc:
        raise CasesInvalid(
            f"{draft.name!r} is there: something else adds a case just now.",
            "Try again; delete that file if nothing runs any more.",
        ) from exc
    except OSError as exc:
        raise CasesInvalid(f"{str(path)!r} cannot be written: {exc.strerror}.") from exc
    except CasesInvalid:
        draft.unlink()
        raise
    _put_in_place(draft, path)


def _put_in_place(draft: Path, path: Path) -> None:
    """Check the draft, and only then let it be the file."""
    try:
        read_cases(draft)
        draft.replace(path)
    except CasesInvalid as exc:
        message = exc.message.replace(draft.name, path.name)
        raise CasesInvalid(message, exc.next_step) from exc
    except OSError as exc:
        raise CasesInvalid(f"{str(path)!r} cannot be written: {exc.strerror}.") from exc
    finally:
        draft.unlink(missing_ok=True)


def _query(line: LookupLine, given: str | None) -> str:
    if given is None:
        if line.query is None:
            raise RequestInvalid(
                "The log keeps no question of this lookup.",
                "Give it with --query, or set lookup.log-queries for the next ones.",
            )
        return line.query
    if text_sha256(given) != line.query_sha256:
        raise RequestInvalid("The lookup asked another question.", "Give it as it was asked.")
    return given


def _with_case(path: Path, case: dict[str, Any], line: LookupLine) -> bytes:
    if path.suffix.lower() not in YAML_SUFFIXES:
        document = load_document(path) if path.exists() else {"cases": []}
        _cases_of(path, document).append(case)
        return f"{json.dumps(document, ensure_ascii=False, indent=2)}\n".encode()
    if not path.exists():
        return f"cases:\n{_block(case, line, indent=2)}".encode()
    load_document(path)
    # Its own bytes stay, with their mark and their line ends.
    data = path.read_bytes()
    document = YAML(typ="rt").load(data.decode("utf-8-sig"))
    end = "\r\n" if b"\r\n" in data else "\n"
    block = _block(case, line, _end_of_cases(path, document)).replace("\n", end)
    return data + (b"" if data.endswith(b"\n") else end.encode()) + block.encode()


def _cases_of(path: Path, document: Any) -> Any:
    cases = document.get("cases") if isinstance(document, dict) else None
    if not isinstance(cases, list):
        raise CasesInvalid(f"{str(path)!r} holds no cases.", "Put a list under the key `cases`.")
    return cases


def _end_of_cases(path: Path, document: Any) -> int:
    """The column of the list's dashes; lines added at the end of the file must belong to it."""
    cases = _cases_of(path, document)
    if (
        list(document)[-1] != "cases"
        or not isinstance(cases, CommentedSeq)
        or cases.fa.flow_style()
    ):
        raise CasesInvalid(
            f"{str(path)!r} does not end with the list of cases.",
            "Put the key `cases` last, with one `- id: …` below the other.",
        )
    return int(cases.lc.col)


def _block(case: dict[str, Any], line: LookupLine, indent: int) -> str:
    """The case as an entry of the list, with what came back as a comment."""
    entry = CommentedMap(case)
    entry["query"] = DoubleQuotedScalarString(case["query"])
    keys = [block.evidence_key for block in line.blocks[:SHOWN_BLOCKS]]
    comment = f"Returned, {line.evidence_status}: {', '.join(map(repr, keys)) or 'nothing'}"
    entry.yaml_set_comment_before_after_key("expectedSources", before=comment, indent=4)
    writer = YAML(typ="rt")
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.width, writer.allow_unicode = 10**6, True
    out = StringIO()
    writer.dump([entry], out)
    lines = out.getvalue().splitlines()
    # The writer puts its own offset before the dash.
    offset = len(lines[0]) - len(lines[0].lstrip())
    return "".join(f"{' ' * indent}{text[offset:]}".rstrip() + "\n" for text in lines)
