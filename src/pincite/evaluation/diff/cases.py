"""Two judgements on one case: what is worse, and everything that is different."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from pincite.evaluation.report.figures import ended
from pincite.evaluation.report.shape import CaseShape, Expected
from pincite.evaluation.verdict import GOOD, Hit

FAILED = "failed"
HIT = "hit"
RANK = "rank"
PATH = "path"
EDITED = "edited"

_ORDER = {hit: at for at, hit in enumerate(Hit)}
# Failures that say in words what the hit class says.
_OF_THE_HIT = frozenset({"expectedSources", "expectedEvidenceKeys", "answerable"})


@dataclass(frozen=True)
class Change:
    """One thing that is different; ``None`` where it is not there."""

    what: str
    before: Any
    after: Any


def worse(old: CaseShape, now: CaseShape) -> list[str]:
    """The kinds of what got worse, the worst first.

    - ``failed``: it passed and fails now, or failed and does so in more places.
    - ``hit``: a worse hit class.
    - ``rank``: the best expected one ranks lower, or one that was returned is not any more.
    """
    checks = ((FAILED, _fails_more), (HIT, _worse_hit), (RANK, _ranks_lower))
    return [kind for kind, check in checks if check(old, now)]


def kind_of_change(old: CaseShape, now: CaseShape) -> str | None:
    """``path`` for another way to the same outcome, ``edited`` for another question alone."""
    if _path(old, now):
        return PATH
    return EDITED if any(_edits(old, now)) else None


def differences(old: CaseShape, now: CaseShape) -> Iterator[Change]:
    """All that is different beside the outcome: the question, its evidence, the way there."""
    yield from _edits(old, now)
    yield from _path(old, now)


def outcome(case: CaseShape) -> str:
    """``passed, HIT_RETURNED, rank 2``."""
    rank = f", rank {case.rank}" if case.rank is not None else ""
    return f"{'passed' if case.passed else 'failed'}, {case.hit.value}{rank}"


def _fails_more(old: CaseShape, now: CaseShape) -> bool:
    if now.passed or old.passed:
        return old.passed and not now.passed
    # Of a hit class that changed, its own kind speaks.
    told = _OF_THE_HIT if old.hit is now.hit else {*_OF_THE_HIT, "forbiddenSources"}
    return not _broken(now, told) <= _broken(old, told)


def _broken(case: CaseShape, but: Collection[str]) -> Counter[str]:
    """How often each assertion fails; the words may change where the fault does not."""
    return Counter(one.assertion for one in case.failures if one.assertion not in but)


def _worse_hit(old: CaseShape, now: CaseShape) -> bool:
    if now.hit in GOOD and old.hit in GOOD:
        # The others are right in their own way: a case that was edited is no worse for it.
        return (old.hit, now.hit) == (Hit.TOP1, Hit.RETURNED)
    return _ORDER[now.hit] > _ORDER[old.hit]


def _ranks_lower(old: CaseShape, now: CaseShape) -> bool:
    if old.rank is not None and (now.rank is None or now.rank > old.rank):
        return True
    after = _expected(now)
    return any(
        one.rank is not None and name in after and after[name].rank is None
        for name, one in _expected(old).items()
    )


def _expected(case: CaseShape) -> dict[str, Expected]:
    return {one.name: one for one in case.expected}


def _edits(old: CaseShape, now: CaseShape) -> Iterator[Change]:
    """What the case itself asks and expects."""
    yield from _change("query", old.query, now.query)
    yield from _change("corpus", old.corpus, now.corpus)
    yield from _change("kbScope", old.kb_scope, now.kb_scope)
    yield from _change("tags", old.tags, now.tags)
    yield from _change("expected", list(_expected(old)), list(_expected(now)))


def _path(old: CaseShape, now: CaseShape) -> list[Change]:
    """The way of the lookup, and what came of it; measures where nothing else tells of them."""
    found = [*_way(old, now), *_dropped(old, now), *_fates(old, now), *_returned(old, now)]
    if not old.passed and not now.passed:
        found += _change("failures", _failures(old), _failures(now))
    return found or list(_measures(old, now))


def _way(old: CaseShape, now: CaseShape) -> Iterator[Change]:
    before, after = old.path, now.path
    yield from _change("selectedAttempt", before.selected_attempt, after.selected_attempt)
    yield from _change("fallbackReason", before.fallback_reason, after.fallback_reason)
    yield from _change("evidenceStatus", before.evidence_status, after.evidence_status)
    yield from _change("attempts", _attempts(old), _attempts(now))
    yield from _change("degradations", before.degradations, after.degradations)
    yield from _change("rerankApplied", before.rerank_applied, after.rerank_applied)


def _dropped(old: CaseShape, now: CaseShape) -> Iterator[Change]:
    before, after = old.path.dropped, now.path.dropped
    for stage in sorted({*before, *after}):
        yield from _change(stage, before.get(stage, 0), after.get(stage, 0))


def _fates(old: CaseShape, now: CaseShape) -> Iterator[Change]:
    after = _expected(now)
    for name, one in _expected(old).items():
        if name in after:
            yield from _change(f"expected {name}", ended(one), ended(after[name]))


def _returned(old: CaseShape, now: CaseShape) -> Iterator[Change]:
    """The keys; where they are the same, corpora and sources."""
    keys = [[one.evidence_key for one in case.returned] for case in (old, now)]
    places = [[f"{one.corpus}: {one.source}" for one in case.returned] for case in (old, now)]
    yield from _change("returned", *(keys if keys[0] != keys[1] else places))


def _measures(old: CaseShape, now: CaseShape) -> Iterator[Change]:
    before, after = old.measures or {}, now.measures or {}
    for name in sorted({*before, *after}):
        yield from _change(name, before.get(name), after.get(name))


def _attempts(case: CaseShape) -> list[str]:
    return [f"{one.name} ({one.outcome})" for one in case.path.attempts]


def _failures(case: CaseShape) -> list[str]:
    return [f"{one.assertion} at {one.stage}: {one.message}" for one in case.failures]


def _change(what: str, before: Any, after: Any) -> Iterator[Change]:
    if before != after:
        yield Change(what, before, after)
