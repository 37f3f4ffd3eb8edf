"""The words that labels may hold are those that a lookup writes down."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pincite.retrieval
from pincite.errors import PinciteError
from pincite.serving.metric_labels import DEGRADATIONS, FAILURES, OTHER, STAGES, known


def written_down() -> Iterator[tuple[str, str]]:
    """Stages and codes that stand in the source of a lookup."""
    for file in Path(pincite.retrieval.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="stage" | "apply"), args=[ast.Constant(str(name)), *_]
                ):
                    yield "stage", name
                case ast.Call(
                    func=ast.Attribute(attr="degrade"), args=[_, ast.Constant(str(code)), *_]
                ):
                    yield "code", code
                case ast.Constant(str(text)) if _CODE.fullmatch(text):
                    yield "code", text


_CODE = re.compile(r"(?:rerank|l0)_[a-z_]+|legacy_failed")
# A kind of hit, the name of a column and of a setting; no codes.
NOT_CODES = {"l0_category", "rerank_top_k", "rerank_timeout_ms"}


def test_every_stage_and_code_of_a_lookup_is_known() -> None:
    found = set(written_down())
    assert {name for kind, name in found if kind == "stage"} == set(STAGES)
    codes = {code for kind, code in found if kind == "code"} - NOT_CODES
    assert codes <= DEGRADATIONS
    of_errors = {code.lower() for code in FAILURES}
    # Put together of a mode.
    assert DEGRADATIONS - of_errors - codes == {"hybrid_unsupported"}
    assert {PinciteError.code, "STORE_UNREACHABLE", "SERVER_BUSY"} <= FAILURES


def test_any_other_word_is_other() -> None:
    assert [known(word, STAGES) for word in ("pack", "Pack", "")] == ["pack", OTHER, OTHER]
