"""The report: what is compared, what is only observed, and figures that say what they rest on."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import ReportInvalid
from pincite.evaluation.measures import per_query, standard
from pincite.evaluation.report.document import compared, make_report, read_report, to_json
from pincite.testing.evaluation import block, dropped, golden_case, verdict

A, B = "docs/a.md", "docs/b.md"


def verdicts():
    both = ["en", "zh"]
    return [
        verdict(golden_case("top", expectedSources=[A], tags=["en"]), [block(A), block(B)]),
        verdict(golden_case("second", expectedSources=[A], tags=both), [block(B), block(A)]),
        verdict(
            golden_case("lost", expectedSources=[A], tags=["zh"]),
            [block(B)],
            [dropped(A, 0, "document_cap"), dropped(B, 3, "budget", "pack")],
        ),
        verdict(golden_case("none", answerable=False, tags=["none"]), []),
    ]


def group(report, name):
    return next(one for one in report["groups"] if one["name"] == name)


def test_groups_are_all_cases_each_corpus_and_each_tag():
    report = make_report(verdicts())
    names = [one["name"] for one in report["groups"]]
    assert names == ["all", "corpus: docs", "tag: en", "tag: none", "tag: zh"]
    overall = group(report, "all")
    assert (overall["cases"], overall["passed"], report["ok"]) == (4, 3, False)
    assert overall["hits"] == {
        "HIT_RETURNED": 1,
        "HIT_TOP1": 1,
        "NO_EVIDENCE_EXPECTED_OK": 1,
        "RECALLED_BUT_DROPPED": 1,
    }
    assert overall["evidence"] == {"NONE": 1, "SUFFICIENT": 3}


def test_a_measure_says_how_many_cases_it_rests_on():
    report = make_report(verdicts())
    assert group(report, "all")["measures"]["mrr@5"] == {"value": 0.5, "valid": 3, "of": 4}
    assert group(report, "tag: en")["measures"] == {
        "recall@5": {"value": 1.0, "valid": 2, "of": 2},
        "precision@5": {"value": 0.2, "valid": 2, "of": 2},
        "mrr@5": {"value": 0.75, "valid": 2, "of": 2},
        "ndcg@5": {"value": 0.8155, "valid": 2, "of": 2},
    }
    nothing = group(report, "tag: none")["measures"]
    assert set(map(str, nothing.values())) == {"{'value': None, 'valid': 0, 'of': 1}"}


def test_a_lost_case_names_stage_and_reason():
    lost = make_report(verdicts())["cases"][2]
    assert lost["hit"] == "RECALLED_BUT_DROPPED"
    assert lost["failures"] == [
        {
            "assertion": "expectedSources",
            "stage": "document_cap",
            "message": f"{A} was found and dropped at document_cap (document_cap).",
            "reason": "document_cap",
        }
    ]
    assert lost["path"]["dropped"] == {"document_cap": 1, "pack: budget": 1}


def test_what_is_compared_holds_no_time_and_no_score():
    slow = [
        verdict(one.case, [block(A, score=0.9, scores=block()["scores"] | {"dense": 0.9})],
                trace={"latencyMs": 900}, traceId="t-2", evidenceScore=0.7)
        for one in verdicts()[:1]
    ]  # fmt: skip
    fast = [verdict(one.case, [block(A)]) for one in verdicts()[:1]]
    first, second = make_report(slow), make_report(fast)
    assert to_json(compared(first)) == to_json(compared(second))
    assert first["observed"] != second["observed"]


def test_a_report_is_read_from_its_file_and_its_folder(tmp_path):
    report = make_report(verdicts())
    (tmp_path / "report.json").write_text(to_json(report), "utf-8")
    assert read_report(tmp_path) == read_report(tmp_path / "report.json") == report


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is no JSON document"),
        ("[]", "is no report"),
        ('{"kind": "another"}', "is no report"),
        ('{"kind": "pincite-evaluation", "version": 0}', "of version 0, this is version 1"),
    ],
)
def test_what_is_no_report_of_this_version_is_refused(tmp_path, text, words):
    path = tmp_path / "report.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ReportInvalid, match=words):
        read_report(path)


def test_a_report_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ReportInvalid, match="cannot be read"):
        read_report(tmp_path / "missing.json")


def test_no_case_makes_no_figure():
    report = make_report([verdict(golden_case(answerable=False), [])])
    assert json.loads(to_json(report))["groups"][0]["measures"]["recall@5"]["value"] is None


RANKED = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(st.sets(st.sampled_from("abcdefgh"), min_size=1), RANKED, st.integers(1, 8))
def test_measures_are_those_of_their_definitions(relevant, ranked, k):
    (values,) = per_query([dict.fromkeys(relevant, 1)], [ranked], standard(k))
    top = ranked[:k]
    hits = [at for at, name in enumerate(top, start=1) if name in relevant]
    assert values[f"recall@{k}"] == pytest.approx(len(hits) / len(relevant))
    assert values[f"precision@{k}"] == pytest.approx(len(hits) / k)
    assert values[f"mrr@{k}"] == pytest.approx(1 / hits[0] if hits else 0.0)
    assert 0 <= values[f"ndcg@{k}"] <= 1
    assert (values[f"ndcg@{k}"] == pytest.approx(1.0)) == (
        hits == list(range(1, min(k, len(relevant)) + 1))
    )
