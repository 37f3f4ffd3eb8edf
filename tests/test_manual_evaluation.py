"""The pages on evaluation speak of cases, hit classes and changes as the program has them."""

import ast
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic.alias_generators import to_camel

from pincite.evaluation.case_files import read_cases
from pincite.evaluation.cases import Asking, CaseFile, GoldenCase, SeedDocuments
from pincite.evaluation.diff.reports import FAIL_ON, KINDS
from pincite.evaluation.measures import standard
from pincite.evaluation.report.document import DEFAULT_K
from pincite.evaluation.verdict import Hit

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = ("evaluation", "golden-cases", "evaluation-reports", "calibration")


def body(page: str) -> str:
    return (DOCS / f"{page}.md").read_text("utf-8")


def section(page: str, heading: str) -> str:
    return body(page).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(text: str) -> list[str]:
    """What the first column of the tables names, in order."""
    cells = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def fences(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", body(page), re.MULTILINE | re.DOTALL)


def case_files() -> list[str]:
    blocks = [block for page in PAGES for block in fences(page, "yaml")]
    return [block for block in blocks if "cases" in yaml.safe_load(block)]


def keys(model: Any) -> set[str]:
    return {field.alias or to_camel(name) for name, field in model.model_fields.items()}


def test_every_key_of_a_case_has_its_row():
    assert set(rows(section("golden-cases", "The file"))) == keys(CaseFile)
    assert set(rows(section("golden-cases", "How a case is asked"))) == keys(Asking)
    others = ("The case", "What must come back", "Assertions")
    named = [name for heading in others for name in rows(section("golden-cases", heading))]
    assert sorted(named) == sorted(keys(GoldenCase) - keys(Asking))


def test_the_row_of_documents_names_their_keys():
    (row,) = re.findall(r"^\| `documents` \|.*$", body("golden-cases"), re.MULTILINE)
    assert keys(SeedDocuments) <= set(re.findall(r"`([^`]+)`", row))


def test_hit_classes_and_changes_are_explained_in_their_order():
    assert rows(section("evaluation-reports", "Hit classes")) == [hit.value for hit in Hit]
    assert rows(section("evaluation-reports", "Comparing two reports")) == list(KINDS)


def test_defaults_are_those_of_the_program():
    kinds = ",".join(FAIL_ON)
    page = body("command-line-eval")
    commands = re.findall(r"^\| `--fail-on` \| `([^`]+)` \|", page, re.MULTILINE)
    assert commands == [kinds, kinds]
    assert f"by default `{kinds}`" in body("evaluation-reports")
    assert re.search(rf"^\| `--k` \| {DEFAULT_K} \|", page, re.MULTILINE)
    shown = " ".join(fences("evaluation", "console"))
    assert all(f"  {name} " in shown for name in standard(DEFAULT_K))


@pytest.mark.parametrize("block", case_files())
def test_case_files_that_are_shown_can_be_read(block, tmp_path):
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "boots.md").write_text("Boots.", "utf-8")
    (tmp_path / "cases.yaml").write_text(block, "utf-8")
    assert read_cases(tmp_path).cases


def test_the_schedule_that_is_shown_is_one_of_the_flow():
    (block,) = fences("evaluation-reports", "yaml")
    (deployment,) = yaml.safe_load(block)["deployments"]
    module, _, name = deployment["entrypoint"].rpartition(".")
    flow = getattr(importlib.import_module(module), name)
    assert flow.validate_parameters(deployment["parameters"])["cases"] == "golden"
    line = body("evaluation-reports").partition("\nParameters are those of the command: ")[2]
    line = line.partition(".")[0]
    assert re.findall(r"`([^`]+)`", line) == list(inspect.signature(flow.fn).parameters)


def test_the_program_that_is_shown_imports_what_there_is():
    (block,) = fences("evaluation-reports", "python")
    imports = [node for node in ast.parse(block).body if isinstance(node, ast.ImportFrom)]
    wanted = [(node.module, alias.name) for node in imports for alias in node.names]
    assert wanted
    assert [one for one in wanted if not hasattr(importlib.import_module(one[0]), one[1])] == []
