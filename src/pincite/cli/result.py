"""What a person sees of a lookup. It reads the LookupResult's JSON document and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from rich.cells import chop_cells

from pincite.cli.explain import explanation
from pincite.cli.output import counted, say
from pincite.cli.wrapping import hanging, harmless, terminal_width, wrapped

EXCERPT_LINES = 6
_INDENT = "   "
_BAR = f"{_INDENT}│ "
_LABEL = 10

Shown = Mapping[str, Any]


def print_result(shown: Shown, *, explain: bool) -> None:
    """Print the evidence with its citations, then how it was found.

    Args:
        shown: A LookupResult as its JSON document.
        explain: Print the whole funnel too.
    """
    width = terminal_width()
    blocks = shown["context"]["blocks"]
    if not blocks:
        say("No evidence.\n")
    for rank, block in enumerate(blocks, start=1):
        say(_block(rank, block, width, of_many=of_many(shown)))
        say()
    for line in _summary(shown, width):
        say(line)
    if explain:
        for line in explanation(shown, width, of_many=of_many(shown)):
            say(line)


def of_many(shown: Shown) -> bool:
    """Whether several corpora were asked."""
    return "," in shown["corpus"]


def excerpt(text: str, lines: int = EXCERPT_LINES, width: int | None = None) -> str:
    """The beginning of a passage behind a bar: at most so many lines of ``width`` cells."""
    room = (width or terminal_width()) - len(_BAR)
    shown = list(islice(wrapped(text, room), lines + 1))
    if len(shown) > lines:
        last = (chop_cells(shown[lines - 1], room - 2) or [""])[0]
        shown = [*shown[: lines - 1], f"{last} …".lstrip()]
    return "\n".join(f"{_BAR}{line}".rstrip() for line in shown)


def _block(rank: int, block: Shown, width: int, *, of_many: bool) -> str:
    # The key stays in one piece, so that it can be copied: the terminal wraps it.
    head = f"{rank}. {harmless(block['evidenceKey'])}{_score(block['score'])}"
    trimmed = "  trimmed" if block["trimmed"] else ""
    where = hanging(_INDENT, _where(block, of_many=of_many), width)
    lines = (f"{head}{trimmed}", where.rstrip(), excerpt(block["content"], width=width))
    return "\n".join(line for line in lines if line)


def _score(score: float | None) -> str:
    return "" if score is None else f"  {score:.3f}"


def _where(block: Shown, *, of_many: bool) -> str:
    title, heading = block["title"], block["heading"]
    parts = (
        block["corpus"] if of_many else "",
        block["source"],
        "" if heading.startswith(title) else title,
        heading,
    )
    return harmless(" · ".join(part for part in parts if part))


def _summary(shown: Shown, width: int) -> Iterator[str]:
    """One line each for the evidence, the attempts and everything that was done without."""
    trace = shown["retrievalTrace"]
    yield _line("evidence", _status(shown), width)
    for one in trace["attempts"]:
        yield _line("attempt", _attempt(one, of_many=of_many(shown)), width)
    if trace["fallbackReason"]:
        used = trace["selectedAttempt"] or "none"
        yield _line("fallback", f"{trace['fallbackReason']}, used {used}", width)
    yield _line("rerank", _rerank(shown["rerank"]), width)
    for one in trace["degradations"]:
        yield _line("degraded", _degradation(one, of_many=of_many(shown)), width)
    reasons = Counter(one["reason"] for one in trace["dropped"]).most_common()
    dropped = ", ".join(f"{number:,} {reason}" for reason, number in reasons)
    yield _line("dropped", dropped or "none", width)


def _line(label: str, text: str, width: int) -> str:
    return hanging(f"{label:<{_LABEL}}", harmless(text), width)


def _status(shown: Shown) -> str:
    score = shown.get("evidenceScore")
    judged = "" if score is None else f" ({score:.2f})"
    blocks = counted(len(shown["context"]["blocks"]), "block")
    return f"{shown['evidenceStatus']}{judged}  {blocks}  trace {shown['traceId']}"


def _attempt(one: Shown, *, of_many: bool) -> str:
    hits = counted(one["hitCount"], "hit")
    return f"{_corpus(one, of_many)}{one['name']}  {one['mode']}  {hits}  {one['outcome']}"


def _degradation(one: Shown, *, of_many: bool) -> str:
    return f"{_corpus(one, of_many)}{one['stage']} {one['code']}: {one['message']}"


def _corpus(one: Shown, of_many: bool) -> str:
    return f"{one['corpus']}: " if of_many and one.get("corpus") else ""


def _rerank(one: Shown) -> str:
    if one["applied"]:
        return f"applied: {one['reranker']}, {one['latencyMs']:,} ms"
    return f"not applied: {one['fallbackReason'] or 'off'}"
