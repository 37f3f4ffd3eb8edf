"""``pincite eval calibrate`` as people and scripts run it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

CASES = {
    "defaults": {"kbScope": ""},
    "cases": [
        {"id": "paris", "query": "capital of France", "expectedSources": ["notes/paris.md"]},
        {"id": "water", "query": "when water boils", "expectedSources": ["notes/water.md"]},
        {"id": "none", "query": "price of a violin", "answerable": False},
    ],
}


@pytest.fixture(scope="module")
def cases(place: Path, pincite: Any) -> Path:
    """The file of cases, the notes ingested."""
    assert pincite("ingest", "notes", "--direct", "--json").status == 0
    path = place / "cases.json"
    path.write_text(json.dumps(CASES), "utf-8")
    return path


def calibrate(pincite: Any, cases: Path, *more: str) -> Any:
    return pincite("eval", "calibrate", "--cases", str(cases), *more)


def test_a_person_reads_lines_and_settings_to_paste(pincite, cases):
    ran = calibrate(pincite, cases)
    assert ran.status == 0, ran.err
    assert "2 answerable and 1 unanswerable questions" in ran.out
    settings = tomllib.loads(ran.out[ran.out.index("[rag]") :])
    assert 0 < settings["rag"]["threshold"] <= 1
    assert "warning: Fewer than 20 answerable questions (2)" in ran.err


def test_json_and_files_hold_the_same(pincite, cases, place):
    out = place / "calibration"
    ran = calibrate(pincite, cases, "--json", "--out", str(out))
    assert ran.status == 0, ran.err
    assert ran.json == json.loads((out / "calibration.json").read_text("utf-8"))
    assert ran.json["inForce"]["answerable"] == {"SUFFICIENT": 2, "WEAK": 0, "NONE": 0}
    assert sorted(path.name for path in out.iterdir()) == [
        "calibration.json",
        "calibration.md",
        "calibration.svg",
    ]


def test_fixtures_are_read_and_nothing_is_asked(pincite, cases, place):
    kept = place / "kept-answers"
    ran = pincite("eval", "snapshot", "--cases", str(cases), "--out", str(kept), "--json")
    assert ran.status == 0, ran.err
    nowhere = place / "no-home"
    ran = pincite(
        *("eval", "calibrate", "--cases", str(cases), "--fixtures", str(kept), "--json"),
        home=nowhere,
    )
    assert ran.status == 0, ran.err
    assert ran.json["lines"]["threshold"]["of"] == 2
    assert any("Only what was returned is seen" in one for one in ran.json["warnings"])
    assert not nowhere.exists()


@pytest.mark.parametrize(
    ("change", "more", "code"),
    [
        (CASES["cases"][:2], (), "CASES_INVALID"),
        (CASES["cases"][2:], (), "CASES_INVALID"),
        (CASES["cases"], ("--max-lost", "1"), "REQUEST_INVALID"),
        ([{**one, "mode": "lexical"} for one in CASES["cases"]], (), "CASES_INVALID"),
    ],
)
def test_what_cannot_be_calibrated_exits_2(pincite, cases, place, change, more, code):
    other = place / "other.json"
    other.write_text(json.dumps({**CASES, "cases": change}), "utf-8")
    ran = calibrate(pincite, other, "--json", *more)
    assert ran.status == 2, ran.err
    assert ran.json["error"]["code"] == code
