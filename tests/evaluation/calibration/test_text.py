"""What a calibration is shown as: a table, settings to paste, a Markdown page, a picture."""

from __future__ import annotations

import json
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from pincite.errors import RequestInvalid
from pincite.evaluation.calibration.calibrate import calibrate
from pincite.evaluation.calibration.pictures import curve_picture
from pincite.evaluation.calibration.result import Calibration
from pincite.evaluation.calibration.text import (
    calibration_markdown,
    summary_lines,
    toml_lines,
)
from pincite.evaluation.calibration.write import write_calibration
from pincite.evaluation.report.svg import standalone
from pincite.settings import load_settings
from pincite.testing.evaluation import answer, attempt, block, golden_case

SVG = "{http://www.w3.org/2000/svg}"


def calibration(ours: list[float], others: list[float]) -> Calibration:
    cases, answers = [], []
    for kind, cosines in (("a", ours), ("u", others)):
        for at, cosine in enumerate(cosines):
            said = {"expectedSources": ["docs/a.md"]} if kind == "a" else {"answerable": False}
            cases.append(golden_case(f"{kind}{at}", **said))
            unknown = dict.fromkeys(("lexical", "rerank", "trust", "sourceRank"))
            scores = {**unknown, "dense": cosine, "fused": 0}
            attempts = [{**attempt(), "topScore": cosine}]
            found = block("docs/a.md", scores={**scores, "fused": 0.5})
            answers.append(answer([found], trace={"attempts": attempts}))
    return calibrate(cases, answers)


APART = calibration([0.7, 0.8, 0.9], [0.2, 0.3])
MIXED = calibration([0.7, 0.8, 0.9], [0.75, 0.95])


def test_the_settings_can_be_pasted(tmp_path):
    text = "\n".join(toml_lines(APART)) + "\n"
    assert tomllib.loads(text) == {"rag": {"threshold": 0.7, "low-quality": 0.7, "weak": 0.7}}
    (tmp_path / "pincite.toml").write_text(text, "utf-8")
    rag = load_settings(folder=tmp_path, environment={}).rag
    assert (rag.threshold, rag.low_quality, rag.weak) == (0.7, 0.7, 0.7)


def test_a_line_that_is_not_proposed_is_a_comment():
    lines = toml_lines(MIXED)
    assert tomllib.loads("\n".join(lines)) == {"rag": {"threshold": 0.7, "low-quality": 0.8}}
    assert any(line.startswith("# weak: It turns no unanswerable") for line in lines)


def test_a_person_reads_lines_confusion_and_settings():
    text = "\n".join(summary_lines(APART))
    assert "3 answerable and 2 unanswerable questions; at most 5.0% may be lost" in text
    assert "rag.threshold    0.7000  0 of 3 expected passages  0 of 2 unanswerable" in text
    assert "in force     answerable    3           0     0" in text
    assert "these lines  unanswerable  0           0     2" in text
    assert "weak = 0.7000" in text


def test_the_page_holds_the_same_with_the_picture():
    text = calibration_markdown(APART, curve_picture(APART), "calibration.svg")
    assert "| rag.weak | 0.7000 | 0 of 3 answerable | 0 of 2 unanswerable | – |" in text
    assert "| these lines | unanswerable | 0 | 0 | 2 |" in text
    assert "](calibration.svg)" in text
    assert "```toml\n[rag]\nthreshold = 0.7000\n" in text
    assert "Fewer than 20 answerable questions (3)" in text


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    return [(text.text or "").strip() for text in root.iter(f"{SVG}text")]


def test_the_picture_names_axes_curves_and_lines():
    shown = texts(standalone(curve_picture(APART)))
    for word in ("cut (cosine)", "share of questions (%)", "threshold", "low-quality", "weak"):
        assert word in shown
    assert shown.count("●") == 2
    assert shown.count("the same, in force") == 2
    assert "unanswerable still SUFFICIENT" in shown


def test_a_line_that_is_not_proposed_is_marked_as_such():
    assert "weak (not proposed)" in texts(standalone(curve_picture(MIXED)))


def test_the_picture_stands_alone_and_inside_a_page():
    svg = standalone(curve_picture(APART))
    assert svg.startswith("<svg xmlns=")
    assert "var(--" not in svg
    assert "currentColor" not in svg
    assert "<use" not in svg
    assert "<style" not in svg


def test_the_same_calibration_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_calibration(calibration([0.7, 0.8, 0.9], [0.2, 0.3]), tmp_path / name)
    for name in ("calibration.json", "calibration.svg", "calibration.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_document_holds_everything(tmp_path):
    write_calibration(APART, tmp_path)
    document = json.loads((tmp_path / "calibration.json").read_text("utf-8"))
    assert document == APART.as_dict()
    assert document["lines"]["weak"] == {
        "cut": 0.7,
        "proposed": True,
        "lost": 0,
        "of": 3,
        "accepted": 0,
        "against": 2,
        "remark": "",
    }
    assert document["cases"] == {"answerable": 3, "unanswerable": 2, "leftOut": 0}
    assert document["curve"][0] == {"cut": 0.7, "lost": 0.0, "accepted": 0.0}


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(RequestInvalid, match="cannot be written"):
        write_calibration(APART, tmp_path / "file")
