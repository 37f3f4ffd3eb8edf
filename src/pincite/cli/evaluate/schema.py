"""``pincite eval schema``."""

from __future__ import annotations

from pincite.cli.output import print_json


def schema() -> int:
    """Print the JSON Schema of a file of golden cases, for editors and checks."""
    from pincite.evaluation.cases import json_schema

    print_json(json_schema())
    return 0
