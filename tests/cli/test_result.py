"""What a person sees of a lookup, from the JSON document and from the command itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from pincite.cli.result import EXCERPT_LINES, excerpt, print_result

TRACE_ID = "0123456789abcdef" * 2
LONG_KEY = "handbook/" + "a very long name of a document " * 9 + "旅行.md#chunk-12"
HOSTILE = "\x1b[31mred\x1b[0m [bold]x[/bold] \x07\r\b\x9b2J \u202egnp.exe\u2028 :smile: [link=x]"
HARMLESS = (
    "\\x1b[31mred\\x1b[0m [bold]x[/bold] \\x07\\r\\x08\\x9b2J"
    " \\u202egnp.exe\\u2028 :smile: [link=x]"
)


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def block(key: str = "notes/a.md#chunk-0", **changes: Any) -> dict[str, Any]:
    return {
        "evidenceKey": key,
        "corpus": "docs",
        "source": "notes/a.md",
        "title": "Leases",
        "heading": "Leases > Expiry",
        "content": "It runs out by itself.",
        "trimmed": False,
        "score": 0.8721,
    } | changes


def attempt(name: str = "UNFILTERED_VECTOR", **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "mode": "hybrid",
        "filter": 'kb_scope not in ["rag-eval"]',
        "hitCount": 20,
        "topScore": 0.9,
        "latencyMs": 1234,
        "outcome": "evidence",
    } | changes


def stage(name: str, entered: int, left: int, **changes: Any) -> dict[str, Any]:
    counts = {"name": name, "corpus": "docs", "in": entered, "out": left, "latencyMs": 1}
    return counts | changes


STAGES = {"below_threshold": "threshold", "duplicate": "merge", "budget": "pack"}


def dropped(reason: str, key: str = "b#chunk-0", corpus: str = "docs", score: Any = 0.5) -> Any:
    return {
        "evidenceKey": key,
        "corpus": corpus,
        "source": "docs/b.md",
        "stage": STAGES.get(reason, reason),
        "reason": reason,
        "score": score,
    }


def result(*blocks: dict[str, Any], **changes: Any) -> dict[str, Any]:
    trace = {
        "selectedAttempt": "UNFILTERED_VECTOR",
        "fallbackReason": None,
        "degradations": [],
        "attempts": [attempt()],
        "stages": [stage("search", 20, 20)],
        "dropped": [],
    }
    trace |= {name: changes.pop(name) for name in list(changes) if name in trace}
    rerank = {"enabled": False, "applied": False, "reranker": None, "topSource": None,
              "fallbackReason": None, "latencyMs": 0}  # fmt: skip
    return {
        "corpus": "docs",
        "traceId": TRACE_ID,
        "evidenceStatus": "SUFFICIENT" if blocks else "NONE",
        "context": {"blocks": list(blocks), "tokenBudget": 3_000, "tokensUsed": 9},
        "retrievalTrace": trace,
        "rerank": rerank,
    } | changes


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Any:
    """Prints a result and gives what came out."""

    def show(document: dict[str, Any], *, explain: bool = False) -> str:
        capsys.readouterr()
        print_result(document, explain=explain)
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    return show


def test_a_plain_lookup(shown: Any) -> None:
    second = block("b#chunk-2", title="漢字", heading="", source="https://h.example/b",
                   trimmed=True, score=None)  # fmt: skip
    assert shown(result(block(), second)) == (
        "1. notes/a.md#chunk-0  0.872\n"
        "   notes/a.md · Leases > Expiry\n"
        "   │ It runs out by itself.\n"
        "\n"
        "2. b#chunk-2  trimmed\n"
        "   https://h.example/b · 漢字\n"
        "   │ It runs out by itself.\n"
        "\n"
        f"evidence  SUFFICIENT  2 blocks  trace {TRACE_ID}\n"
        "attempt   UNFILTERED_VECTOR  hybrid  20 hits  evidence\n"
        "rerank    not applied: off\n"
        "dropped   none\n"
    )


def test_a_degraded_lookup_over_two_corpora(shown: Any) -> None:
    document = result(
        block(corpus="memory", title="", heading="", source=""),
        corpus="docs,memory",
        evidenceStatus="WEAK",
        evidenceScore=0.4312,
        selectedAttempt="UNFILTERED_VECTOR_RETRY",
        fallbackReason="filtered_vector_no_evidence",
        attempts=[
            attempt("FILTERED_VECTOR", corpus="docs", hitCount=0, outcome="no_evidence"),
            attempt("UNFILTERED_VECTOR_RETRY", corpus="docs", hitCount=1),
        ],
        degradations=[
            {
                "stage": "search",
                "corpus": "memory",
                "code": "hybrid_unsupported",
                "message": "This store has no full text; the dense leg answers alone.",
            }
        ],
        dropped=[dropped("return_n"), dropped("document_cap"), dropped("return_n")],
        rerank={
            "enabled": True,
            "applied": False,
            "reranker": "http",
            "topSource": None,
            "fallbackReason": "rerank_timeout",
            "latencyMs": 1200,
        },
    )
    assert shown(document) == (
        "1. notes/a.md#chunk-0  0.872\n"
        "   memory\n"
        "   │ It runs out by itself.\n"
        "\n"
        f"evidence  WEAK (0.43)  1 block  trace {TRACE_ID}\n"
        "attempt   docs: FILTERED_VECTOR  hybrid  0 hits  no_evidence\n"
        "attempt   docs: UNFILTERED_VECTOR_RETRY  hybrid  1 hit  evidence\n"
        "fallback  filtered_vector_no_evidence, used UNFILTERED_VECTOR_RETRY\n"
        "rerank    not applied: rerank_timeout\n"
        "degraded  memory: search hybrid_unsupported: This store has no full text; the\n"
        "          dense leg answers alone.\n"
        "dropped   2 return_n, 1 document_cap\n"
    )


def test_one_corpus_is_not_named_on_every_line(shown: Any) -> None:
    out = shown(result(block(), attempts=[attempt(corpus="docs")], dropped=[dropped("budget")]))
    assert "docs" not in out


def test_an_applied_rerank_names_the_reranker(shown: Any) -> None:
    rerank = {"enabled": True, "applied": True, "reranker": "words", "topSource": "a",
              "fallbackReason": None, "latencyMs": 7}  # fmt: skip
    assert "\nrerank    applied: words, 7 ms\n" in shown(result(block(), rerank=rerank))


def test_no_evidence_is_said(shown: Any) -> None:
    out = shown(result(attempts=[], selectedAttempt=None, stages=[]), explain=True)
    assert out.startswith("No evidence.\n\nevidence  NONE  0 blocks  trace ")


def test_the_funnel_names_what_each_stage_dropped(shown: Any) -> None:
    reasons = {"below_threshold": 1, "document_cap": 2, "duplicate": 2, "budget": 1}
    document = result(
        block(),
        stages=[
            stage("search", 1_040, 27, latencyMs=1_234),
            stage("threshold", 27, 26),
            stage("merge", 26, 24),
            stage("document_cap", 24, 22),
            stage("pack", 22, 20),
        ],
        dropped=[
            *(dropped(reason) for reason, number in reasons.items() for _ in range(number)),
            dropped("duplicate") | {"stage": "pack"},
        ],
    )
    assert rows(shown(document, explain=True)) == [
        ["stage", "in", "out", "ms", "dropped"],
        ["search", "1,040", "27", "1,234"],
        ["threshold", "27", "26", "1", "1 below_threshold"],
        ["merge", "26", "24", "1", "2 duplicate"],
        ["document_cap", "24", "22", "1", "2 document_cap"],
        ["pack", "22", "20", "1", "1 budget, 1 duplicate"],
    ]


def test_the_funnel_of_two_corpora_tells_them_apart(shown: Any) -> None:
    document = result(
        block(),
        corpus="docs,memory",
        stages=[
            stage("document_cap", 9, 8, corpus="docs"),
            stage("document_cap", 7, 5, corpus="memory"),
            stage("return_n", 13, 11, corpus="docs,memory"),
            stage("pack", 11, 10, corpus="docs,memory"),
        ],
        dropped=[
            dropped("document_cap", corpus="memory"),
            dropped("document_cap", corpus="docs"),
            dropped("document_cap", corpus="memory"),
            dropped("return_n", corpus="memory"),
            dropped("return_n", corpus="docs"),
            dropped("budget", "m#chunk-1", "memory", None),
        ],
    )
    out = shown(document, explain=True)
    assert rows(out) == [
        ["corpus", "stage", "in", "out", "ms", "dropped"],
        ["docs", "document_cap", "9", "8", "1", "1 document_cap"],
        ["memory", "document_cap", "7", "5", "1", "2 document_cap"],
        ["docs,memory", "return_n", "13", "11", "1", "2 return_n"],
        ["docs,memory", "pack", "11", "10", "1", "1 budget"],
    ]
    assert re.search(r"^budget +memory  m#chunk-1$", out, re.MULTILINE)


def rows(out: str) -> list[list[str]]:
    """The cells of the table; empty ones are left out."""
    lines = iter(out.splitlines())
    head = next(line for line in lines if re.match(r" (corpus|stage) ", line))
    assert set(next(lines).strip()) <= {"─", " "}
    return [cells(head), *(cells(line) for line in until_blank(lines))]


def cells(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def until_blank(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if not line.strip():
            return
        yield line


def test_explain_shows_attempts_with_filter_and_every_dropped_candidate(shown: Any) -> None:
    document = result(
        block(),
        attempts=[attempt(), attempt("LEGACY", filter="", topScore=None, outcome="failed")],
        dropped=[dropped("return_n", "a b#chunk-1"), dropped("document_cap", score=None)],
    )
    assert shown(document, explain=True).endswith(
        "UNFILTERED_VECTOR  hybrid  20 hits  top 0.900  1,234 ms  evidence\n"
        '  filter kb_scope not in ["rag-eval"]\n'
        "LEGACY  hybrid  20 hits  top none  1,234 ms  failed\n"
        "  filter none\n"
        "\n"
        "return_n       0.500  a b#chunk-1\n"
        "document_cap          b#chunk-0\n"
    )


@pytest.mark.parametrize("width", ["20", "40", "80", "300"])
def test_a_key_is_never_cut(shown: Any, monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    document = result(block(LONG_KEY), dropped=[dropped("budget", LONG_KEY)])
    assert shown(document, explain=True).count(LONG_KEY) == 2


def test_hostile_text_is_shown_harmless(shown: Any) -> None:
    hostile = block("k" + HOSTILE, title=HOSTILE, heading="", source=HOSTILE, content=HOSTILE)
    out = shown(
        result(
            hostile,
            attempts=[attempt(filter=HOSTILE)],
            degradations=[{"stage": "search", "code": "x", "message": HOSTILE}],
            stages=[stage(HOSTILE, 1, 1)],
            dropped=[dropped("budget", HOSTILE)],
        ),
        explain=True,
    )
    assert f"1. k{HARMLESS}  0.872\n" in out
    assert f"  filter {HARMLESS}\n" in out
    assert f"budget   0.500  {HARMLESS}\n" in out
    unfolded = re.sub(r"\s+", "", out)
    assert unfolded.count(re.sub(r"\s+", "", HARMLESS)) >= 6
    assert obeyed(out) == ""


hostile_texts = st.text(
    st.sampled_from("ab 漢😀[]\\/\n\t\r\x1b\x07\x00\x85\x9b\u202e\u2028\u200b\ud800\U000e0041")
    | st.characters()
)


@given(title=hostile_texts, content=hostile_texts, key=hostile_texts)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_nothing_that_a_terminal_obeys_comes_out(
    shown: Any, title: str, content: str, key: str
) -> None:
    hostile = block(key, title=title, heading=title, source=title, content=content)
    out = shown(result(hostile, dropped=[dropped("budget", key)]), explain=True)
    assert obeyed(out) == ""
    out.encode()


def obeyed(text: str) -> str:
    """Control and format characters but the line feed and the two joiners."""
    kinds = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    return "".join(
        char
        for char in text
        if unicodedata.category(char) in kinds and char not in "\n\u200c\u200d"
    )


@given(text=st.text(st.sampled_from("ab 漢字。，é\n\t-😀") | st.characters(), max_size=900),
       width=st.integers(20, 120))  # fmt: skip
def test_an_excerpt_has_at_most_six_lines_that_fit(text: str, width: int) -> None:
    lines = excerpt(text, width=width).split("\n")
    assert 1 <= len(lines) <= EXCERPT_LINES
    assert all(line.startswith("   │") for line in lines)
    assert max(cell_len(line) for line in lines) <= width


@given(st.text("ab 漢字。，", max_size=120))
def test_an_excerpt_that_fits_is_the_whole_text(text: str) -> None:
    kept = [line.removeprefix("   │") for line in excerpt(text, width=100).split("\n")]
    assert "".join("".join(kept).split()) == "".join(text.split())


def test_a_wide_character_counts_double() -> None:
    assert excerpt("字" * 40, width=25) == "\n".join(f"   │ {'字' * 10}" for _ in range(4))


def test_chinese_breaks_between_characters_and_not_before_punctuation() -> None:
    assert excerpt("使用 Milvus 存储向量，很快。", width=25) == (
        "   │ 使用 Milvus 存储向\n   │ 量，很快。"
    )


def test_a_long_passage_ends_with_a_mark() -> None:
    lines = excerpt("word " * 500, width=80).split("\n")
    assert len(lines) == EXCERPT_LINES
    assert lines[-1].endswith(" …")
    assert not any("…" in line for line in lines[:-1])


def test_a_line_end_of_windows_is_one_line_end() -> None:
    assert excerpt("a\r\nb") == "   │ a\n   │ b"


@pytest.fixture(scope="module")
def ingested(pincite: Any) -> None:
    assert pincite("ingest", "notes", "--direct").status == 0


def test_the_command_prints_evidence_then_how_it_was_found(ingested: None, pincite: Any) -> None:
    ran = pincite("lookup", "capital of France", "--explain", COLUMNS="80", FORCE_COLOR="1")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("1. notes/paris.md#chunk-0  ")
    labels = re.findall(r"^(evidence|attempt|rerank|dropped) ", ran.out, re.MULTILINE)
    assert labels == ["evidence", "attempt", "rerank", "dropped"]
    assert rows(ran.out)[0] == ["stage", "in", "out", "ms", "dropped"]
    assert obeyed(ran.out) == ""
    assert max(cell_len(line) for line in ran.out.splitlines()) <= 80


def test_the_command_accounts_for_every_dropped_candidate(ingested: None, pincite: Any) -> None:
    arguments = ("lookup", "capital of France", "--return-n", "1")
    trace = pincite(*arguments, "--json").json["retrievalTrace"]
    assert trace["dropped"]
    out = pincite(*arguments, "--explain").out
    told = sum(int(n) for row in rows(out)[1:] for n in re.findall(r"(\d+) [a-z_]+", row[-1]))
    assert told == len(trace["dropped"])
    assert all(out.count(one["evidenceKey"]) == 1 for one in trace["dropped"])


def test_a_title_of_a_document_cannot_steer_the_terminal(pincite: Any, place: Any) -> None:
    pages = place / "hostile"
    pages.mkdir()
    title = '"\\e[2J[bold red]Owned[/] \\u202e"'
    (pages / "a.md").write_text(f"---\ntitle: {title}\n---\nSteer the terminal.\n", "utf-8")
    home = place / "home-of-hostile"
    assert pincite("ingest", "hostile", "--direct", home=home).status == 0
    out = pincite("lookup", "steer the terminal", home=home).out
    assert "[bold red]Owned[/]" in out
    assert obeyed(out) == ""
