"""Every command, one after the other, on one home."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

KEY = "notes/paris.md#chunk-0"

RECEIPT_KEYS = {
    "run_id",
    "flow_run_id",
    "corpus",
    "kb_scope",
    "documents",
    "chunks",
    "embeddings",
    "failures",
    "warnings",
    "duration_ms",
}


@pytest.fixture(scope="module")
def receipt(pincite):
    """The receipt of the first ingest; the tests of this module read what it wrote."""
    ran = pincite("ingest", "notes", "--direct", "--json")
    assert ran.status == 0, ran.err
    return ran.json


def test_ingest_prints_the_receipt_and_nothing_else(receipt):
    assert set(receipt) >= RECEIPT_KEYS
    assert receipt["documents"]["added"] == 2
    assert receipt["flow_run_id"] is None


def test_lookup_json_is_the_whole_contract(receipt, pincite):
    ran = pincite("lookup", "capital of France", "--json")
    assert ran.status == 0, ran.err
    assert ran.json["results"][0]["document_id"] == KEY
    assert ran.json["evidenceStatus"] == "SUFFICIENT"
    assert set(ran.json) == {
        "query",
        "transformedQuery",
        "corpus",
        "kbScope",
        "generation",
        "traceId",
        "evidenceStatus",
        "evidenceScore",
        "results",
        "context",
        "retrievalTrace",
        "rerank",
    }


def test_lookup_without_evidence_exits_0(receipt, pincite):
    ran = pincite("lookup", "capital", "--kb-scope", "nobody", "--json")
    assert ran.status == 0
    assert ran.json["evidenceStatus"] == "NONE"
    assert ran.json["results"] == []


def test_lookup_for_a_person_names_key_source_and_text(receipt, pincite):
    ran = pincite("lookup", "capital of France", "--explain")
    assert KEY in ran.out
    assert "The capital of France is Paris." in ran.out
    assert "UNFILTERED_VECTOR" in ran.out


def test_category_that_holds_no_evidence_falls_back(receipt, pincite):
    trace = pincite("lookup", "capital of France", "--category", "none", "--json").json[
        "retrievalTrace"
    ]
    assert trace["selectedAttempt"] == "UNFILTERED_VECTOR_RETRY"
    assert trace["fallbackReason"] == "filtered_vector_no_evidence"


def test_cite_resolves_to_the_text_that_was_given(receipt, pincite):
    given = pincite("lookup", "capital of France", "--json").json["results"][0]
    cited = pincite("cite", KEY, "--sha256", given["content_sha256"], "--json").json
    assert cited["text"] == given["excerpt"]
    assert cited["state"] == "current"
    assert cited["source_state"] == "unchanged"


def test_cite_of_an_unknown_key_exits_1_with_a_coded_error(receipt, pincite):
    ran = pincite("cite", "nope#chunk-0", "--json")
    assert ran.status == 1
    assert ran.json["error"]["code"] == "EVIDENCE_NOT_FOUND"
    assert set(ran.json["error"]) == {"code", "message", "next"}


def test_verify_is_clean(receipt, pincite):
    ran = pincite("verify", "--json")
    assert ran.status == 0
    assert ran.json["ok"] is True
    assert ran.json["corpora"]["docs"]["documents"] == 2


def test_status_shows_documents_and_runs(receipt, pincite):
    shown = pincite("status", "--json").json
    assert shown["corpora"]["docs"]["documents"] == {"INDEXED": 2}
    assert shown["runs"][-1]["run_id"] == receipt["run_id"]


def test_dry_run_changes_nothing(receipt, pincite, place):
    more = place / "more"
    more.mkdir()
    (more / "new.md").write_text("Something new.\n", "utf-8")
    ran = pincite("ingest", "more", "--dry-run", "--json")
    assert ran.json["documents"]["added"] == 1
    assert ran.json["previews"][0]["evidence_key"] == "more/new.md#chunk-0"
    assert pincite("status", "--json").json["corpora"]["docs"]["documents"] == {"INDEXED": 2}


def test_edit_then_cite_gives_the_old_text_as_superseded(pincite, place):
    home = place / "home-of-edits"
    pages = place / "pages"
    pages.mkdir()
    (pages / "a.md").write_text("The first text.\n", "utf-8")
    pincite("ingest", "pages", "--direct", home=home)
    old = pincite("cite", "pages/a.md#chunk-0", "--json", home=home).json
    (pages / "a.md").write_text("The second text.\n", "utf-8")
    pincite("ingest", "pages", "--direct", home=home)
    key, digest = old["evidence_key"], old["content_sha256"]
    cited = pincite("cite", key, "--sha256", digest, "--json", home=home).json
    assert cited["state"] == "superseded"
    assert cited["text"] == "The first text."
    assert cited["current"]["text"] == "The second text."
    removed = pincite("remove", "pages/a.md", "--json", home=home)
    assert removed.json == {"corpus": "docs", "removed": ["pages/a.md"], "chunks": 1}
    gone = pincite("cite", key, "--json", home=home).json
    assert (gone["state"], gone["current"]) == ("superseded", None)


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (("ingest", "nowhere", "--direct"), 2, "REQUEST_INVALID"),
        (("ingest", "notes", "--direct", "--corpus", "nope"), 2, "REQUEST_INVALID"),
        (("ingest", "notes", "--direct", "--kb-scope", " "), 2, "SCOPE_INVALID"),
        (("ingest", "notes", "--direct", "--kb-scope", ""), 2, "SCOPE_INVALID"),
        (("lookup", "  "), 2, "REQUEST_INVALID"),
        (("lookup", "x", "--corpus", "nope"), 2, "REQUEST_INVALID"),
        (("lookup", "x", "--return-n", "5000"), 2, "REQUEST_INVALID"),
        (("lookup", "x", "--kb-scope", "y" * 300), 2, "SCOPE_INVALID"),
        (("lookup", "x", "--corpus", "memory"), 2, "SCOPE_REQUIRED"),
        (("remove", "nope"), 1, "DOCUMENT_NOT_FOUND"),
        (("verify", "--corpus", "nope"), 1, "CORPUS_EMPTY"),
        (("lookup", "x", "--no-such-option"), 2, "REQUEST_INVALID"),
    ],
)
def test_errors_are_coded_in_text_and_json(receipt, pincite, arguments, status, code):
    ran = pincite(*arguments, "--json")
    assert (ran.status, json.loads(ran.out)["error"]["code"]) == (status, code)
    assert "Traceback" not in ran.err


def test_error_for_a_person_is_one_line_without_traceback(pincite):
    ran = pincite("cite", "nope#chunk-0")
    assert ran.out == ""
    assert ran.err.startswith("EVIDENCE_NOT_FOUND: ")
    assert ran.err.count("\n") == 1


def test_unknown_setting_names_the_nearest(pincite):
    ran = pincite("status", PINCITE_RAG__RETURM_N="3")
    assert ran.status == 2
    assert "'rag.return-n'" in ran.err


def test_unreachable_orchestrator_says_how_to_go_without(pincite):
    ran = pincite("ingest", "notes", "--json", PREFECT_API_URL="http://127.0.0.1:9/api")
    assert ran.status == 3
    assert ran.json["error"]["code"] == "ORCHESTRATOR_UNREACHABLE"
    assert "--direct" in ran.json["error"]["next"]


def test_address_of_the_orchestrator_is_shown_without_its_password(pincite):
    ran = pincite("ingest", "notes", PREFECT_API_URL="http://me:hunter2@127.0.0.1:9/api")
    assert ran.err.startswith("ORCHESTRATOR_UNREACHABLE")
    assert "hunter2" not in ran.err


def test_error_of_a_flow_is_one_line_without_traceback(pincite, place):
    ran = pincite("ingest", "nowhere", home=place / "home-of-flows")
    assert ran.status == 2
    note, error = ran.err.strip().splitlines()
    assert "temporary" in note
    assert error.startswith("REQUEST_INVALID: ")


def test_argument_that_is_no_unicode_is_a_coded_error(place):
    done = subprocess.run(
        [sys.executable, "-m", "pincite", "cite", b"\xff#chunk-0", "--json"],
        cwd=place,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "REQUEST_INVALID"


def test_home_that_cannot_be_made_is_a_coded_error(pincite, place):
    (place / "a-file").write_text("x", "utf-8")
    for command in (("up",), ("ingest", "notes")):
        ran = pincite(*command, home=place / "a-file" / "home")
        assert ran.status in (2, 3)
        assert ran.err.splitlines()[-1].startswith(("CONFIG_INVALID", "CATALOG_UNREACHABLE"))


def test_unreachable_store_exits_3(pincite, place):
    ran = pincite(
        "ingest",
        "notes",
        "--direct",
        "--json",
        home=place / "home-far",
        PINCITE_STORE__URI="http://127.0.0.1:9",
        PINCITE_STORE__TIMEOUT_MS="1500",
    )
    assert ran.status == 3
    assert ran.json["error"]["code"] == "STORE_UNREACHABLE"


def test_version_and_help_work_without_the_heavy_packages(pincite):
    assert pincite("--version").out.strip()
    assert "ingest" in pincite("--help").out
