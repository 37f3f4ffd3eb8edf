import asyncio
from collections.abc import Callable

import pyarrow as pa

from pincite.retrieval.candidates import Candidate, to_table
from pincite.retrieval.postprocess import Kept, cut
from pincite.retrieval.trace import Attempt, Deadline, Dropped, Trace

Make = Callable[..., Candidate]


def _full(corpus: str = "docs") -> Trace:
    trace = Trace(corpus)
    trace.selected_attempt, trace.fallback_reason = f"of {corpus}", f"why {corpus}"
    trace.degrade("l0", "l0_empty", "No hints.")
    trace.attempts.append(Attempt("FILTERED_VECTOR", corpus, "dense", "", 1, 0.5, 7, "evidence"))
    trace.stage("search", 2, 1, 9)
    trace.dropped.append(Dropped("return_n", "a#chunk-0", corpus, "a.md", "return_n", 1.0))
    return trace


def test_the_same_degradation_is_told_once() -> None:
    trace = Trace("docs")
    for stage, code in (("l0", "l0_empty"), ("l0", "l0_empty"), ("search", "l0_empty")):
        trace.degrade(stage, code, "No hints.")
    told = [(one["stage"], one["code"]) for one in trace.as_dict()["degradations"]]
    assert told == [("l0", "l0_empty"), ("search", "l0_empty")]


def test_a_rule_that_is_applied_is_a_stage_with_what_it_dropped(make: Make) -> None:
    trace = Trace("web")
    table = to_table([make("a", corpus="web", score=0.5), make("b", corpus="web", score=0.25)])

    async def rule(candidates: pa.Table) -> Kept:
        return cut(candidates, 1)

    kept = asyncio.run(trace.apply("return_n", rule, table))
    assert kept["doc_id"].to_pylist() == ["a"]
    (stage,) = trace.as_dict()["stages"]
    assert (stage["name"], stage["corpus"], stage["in"], stage["out"]) == ("return_n", "web", 2, 1)
    assert trace.as_dict()["dropped"] == [
        {
            "evidenceKey": "b#chunk-0",
            "corpus": "web",
            "source": "",
            "stage": "return_n",
            "reason": "return_n",
            "score": 0.25,
        }
    ]


def test_the_trace_of_several_corpora_has_all_entries_and_the_first_attempt() -> None:
    trace = Trace("docs,web")
    trace.add(Trace("memory"))
    trace.add(_full("docs"))
    trace.add(_full("web"))
    told = trace.as_dict()
    assert (told["selectedAttempt"], told["fallbackReason"]) == ("of docs", "why docs")
    for name in ("degradations", "attempts", "stages", "dropped"):
        assert [one["corpus"] for one in told[name]] == ["docs", "web"], name


def test_without_latencies_nothing_else_is_other() -> None:
    trace = _full()
    told, bare = trace.as_dict(), trace.without_latencies().as_dict()
    for one in (*told["attempts"], *told["stages"]):
        assert one["latencyMs"] > 0
        one["latencyMs"] = 0
    assert bare == told


def test_what_is_added_to_the_copy_is_not_added_to_the_trace() -> None:
    """Answers are kept: what one lookup could not do is no news of the next one."""
    trace = _full()
    before = trace.as_dict()
    copy = trace.without_latencies()
    copy.degrade("record", "lookup_not_recorded", "The catalogue did not take it.")
    copy.stage("pack", 1, 1)
    copy.attempts.append(copy.attempts[0])
    copy.dropped.append(copy.dropped[0])
    assert trace.as_dict() == before


def test_a_deadline_runs_down_to_zero_and_never_under_it() -> None:
    assert 0 < Deadline(60_000).left_s() <= 60
    late = Deadline(1)
    while late.left_s():
        pass
    assert late.left_s() == 0.0
