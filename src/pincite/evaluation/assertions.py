"""The assertions that a case may make beside its hits, one function each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pincite.evaluation.answer import Answer
from pincite.evaluation.cases import GoldenCase
from pincite.evaluation.fate import SEARCH, Fate, fates_of, names_it


@dataclass(frozen=True)
class Failure:
    """An assertion that does not hold: its key in the case, the stage at fault, and what was seen.

    ``reason`` is why that stage dropped what was expected, ``""`` where it is not about that. The
    message holds nothing that differs between equal runs.
    """

    assertion: str
    stage: str
    message: str
    reason: str = ""


def lost(assertion: str, fate: Fate) -> Failure:
    """The failure of something that was expected and not returned."""
    return Failure(assertion, fate.stage, fate.sentence, fate.reason)


# The stage that drops for a reason, where it has another name than the reason.
_DROPPING = {
    "below_threshold": "threshold",
    "duplicate": "merge",
    "stale": "current",
    "budget": "pack",
}

Assertion = Callable[[GoldenCase, Answer], Iterator[Failure]]


def failed_assertions(case: GoldenCase, answer: Answer) -> tuple[Failure, ...]:
    """What the case asserts and does not hold, in a fixed order."""
    return tuple(failure for check in _CHECKS for failure in check(case, answer))


def _searched(case: GoldenCase, answer: Answer) -> Iterator[Failure]:
    """Without a search nothing is shown, and nothing that may not come back has stayed away."""
    if not answer.trace.attempts:
        codes = ", ".join(dict.fromkeys(one.code for one in answer.trace.degradations)) or "no code"
        yield Failure("query", SEARCH, f"Nothing was searched ({codes}).")


def _answerable(case: GoldenCase, answer: Answer) -> Iterator[Failure]:
    if case.answerable and answer.evidence_status == "NONE":
        yield Failure("answerable", "evidence", "Evidence is expected, it is NONE.")


def _contains(case: GoldenCase, answer: Answer) -> Iterator[Failure]:
    for text in case.must_contain or ():
        if not any(text in block.content for block in answer.blocks):
            yield Failure("mustContain", "pack", f"{text!r} stands in no block.")


def _does_not_contain(case: GoldenCase, answer: Answer) -> Iterator[Failure]:
    for text in case.must_not_contain or ():
        for block in answer.blocks:
            if text in block.content:
                message = f"{text!r} stands in the chunk {block.evidence_key}."
                yield Failure("mustNotContain", "chunk", message)


def _attempt(case: GoldenCase, answer: Answer) -> Iterator[Failure]:
    wanted, seen = case.expected_selected_attempt, answer.trace.selected_attempt
    if wanted is not None and seen != wanted:
        made = ", ".join(f"{one.name} ({one.outcome})" for one in answer.trace.attempts) or "none"
        message = f"{wanted} was expected, {seen} was used; attempts: {made}."
        yield Failure("expectedSelectedAttempt", SEARCH, message)


def _fallback(case: GoldenCase, answer: Answer) -> Iterator[Failure]:
    wanted, seen = case.fallback_reasons, answer.trace.fallback_reason
    if wanted and seen not in wanted:
        one = len(wanted) == 1
        name = "expectedFallbackReason" if one else "expectedFallbackReasons"
        listed = wanted[0] if one else "one of " + ", ".join(wanted)
        yield Failure(name, SEARCH, f"{listed} was expected, it is {seen}.")


def _status(case: GoldenCase, answer: Answer) -> Iterator[Failure]:
    wanted, seen = case.expected_evidence_status, answer.evidence_status
    if wanted is not None and seen != wanted:
        yield Failure("expectedEvidenceStatus", "evidence", f"{wanted} was expected, it is {seen}.")


def _context(case: GoldenCase, answer: Answer) -> Iterator[Failure]:
    for fate in fates_of(case.expected_context_sources or (), answer):
        if fate.rank is None:
            yield lost("expectedContextSources", fate)


def _rerank(case: GoldenCase, answer: Answer) -> Iterator[Failure]:
    wanted, rerank = case.expected_rerank_top_source, answer.rerank
    if wanted is None or (rerank.applied and rerank.top_source == wanted):
        return
    seen = f"it put {rerank.top_source} first" if rerank.applied else "no reranker was applied"
    why = f" ({rerank.fallback_reason})" if rerank.fallback_reason else ""
    yield Failure("expectedRerankTopSource", "rerank", f"{wanted} was expected, {seen}{why}.")


def _hit_reasons(case: GoldenCase, answer: Answer) -> Iterator[Failure]:
    wanted = case.expected_hit_reasons
    if wanted is None:
        return
    relevant = (b for b in answer.blocks if any(names_it(name, b) for name in case.expected))
    best = next(relevant, None)
    if best is None:
        yield Failure("expectedHitReasons", SEARCH, "No expected block was returned.")
    elif lacking := [reason for reason in wanted if reason not in best.hit_reasons]:
        message = f"{best.evidence_key} was not found by {', '.join(lacking)}."
        yield Failure("expectedHitReasons", SEARCH, message)


def _dropped(case: GoldenCase, answer: Answer) -> Iterator[Failure]:
    for name, reason in (case.expected_dropped or {}).items():
        seen = [one.reason for one in answer.trace.dropped if names_it(name, one)]
        if reason not in seen:
            where = ", ".join(dict.fromkeys(seen)) or _where_else(name, answer)
            message = f"{name} was to be dropped by {reason}, but: {where}."
            yield Failure("expectedDropped", _DROPPING.get(reason, reason), message)


def _where_else(name: str, answer: Answer) -> str:
    (fate,) = fates_of([name], answer)
    return "returned" if fate.rank else "not found by the search"


def _latency(case: GoldenCase, answer: Answer) -> Iterator[Failure]:
    if case.max_latency_ms is not None and answer.trace.latency_ms > case.max_latency_ms:
        # Which stage was slow, and how slow, is another in each run.
        yield Failure("maxLatencyMs", "lookup", f"It took longer than {case.max_latency_ms} ms.")


_CHECKS: tuple[Assertion, ...] = (
    _searched,
    _answerable,
    _contains,
    _does_not_contain,
    _attempt,
    _fallback,
    _status,
    _context,
    _rerank,
    _hit_reasons,
    _dropped,
    _latency,
)
