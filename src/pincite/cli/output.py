"""What a command prints, and the exit status that an error means: the one place for both."""

from __future__ import annotations

import json
import sys
from typing import Any

from pincite.errors import PinciteError, ServiceError, UsageError

DONE = 0
WITH_FAILURES = 1
WRONG_USAGE = 2
OUT_OF_REACH = 3
INTERRUPTED = 130


def exit_status(error: PinciteError) -> int:
    """0 done, 1 done with failures, 2 wrong usage, 3 a needed service is out of reach."""
    if isinstance(error, UsageError):
        return WRONG_USAGE
    return OUT_OF_REACH if isinstance(error, ServiceError) else WITH_FAILURES


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def print_error(error: PinciteError, *, as_json: bool) -> None:
    """``CODE: what happened. What to do next.``, or the JSON form on stdout."""
    if as_json:
        print_json({"error": error.as_dict()})
    else:
        sys.stderr.write(f"{error}\n")


def say(line: str = "") -> None:
    """A line for a person, on stdout."""
    sys.stdout.write(f"{line}\n")


def counted(number: int, noun: str) -> str:
    """``1 block``, ``2 blocks``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def note(line: str) -> None:
    """A line beside the result, on stderr."""
    sys.stderr.write(f"{line}\n")
