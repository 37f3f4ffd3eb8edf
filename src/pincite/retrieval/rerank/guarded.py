"""A rerank call that cannot hurt a lookup: what goes wrong becomes a code."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.errors import (
    RerankerRefused,
    RerankerTimeout,
    RerankerUnreachable,
    RerankingInvalid,
)
from pincite.retrieval.in_time import in_time
from pincite.retrieval.rerank.port import Passage, Reranker
from pincite.retrieval.rerank.scores import MALFORMED, Unusable, followed, scores_of

logger = logging.getLogger(__name__)

TIMEOUT = "rerank_timeout"
UNREACHABLE = "rerank_unreachable"
REFUSED = "rerank_refused"
FAILED = "rerank_failed"

_REASONS: dict[type[BaseException], str] = {
    TimeoutError: TIMEOUT,
    RerankerTimeout: TIMEOUT,
    RerankerUnreachable: UNREACHABLE,
    RerankerRefused: REFUSED,
    RerankingInvalid: MALFORMED,
}


@dataclass(frozen=True)
class Verdict:
    """What came of a rerank call; latency in ms.

    ``scores`` has one finite score per passage, in the passages' order, higher is better, or is
    ``None`` where the ranking is not applied; ``reason`` is then the stable code that says why.
    """

    scores: tuple[float, ...] | None
    reason: str | None
    latency_ms: int


async def guarded(
    reranker: Reranker, query: str, passages: Sequence[Passage], top_k: int, timeout_s: float
) -> Verdict:
    """Rerank the first ``top_k`` passages (at least one) within ``timeout_s`` seconds.

    The passages behind them are not sent: their scores lie under the worst of the others, in the
    order in which they were given. Without time left nobody is asked.

    Raises:
        CancelledError: The caller is cancelled; nothing else is ever raised.
    """
    if not passages:
        return Verdict((), None, 0)
    started = time.monotonic()
    try:
        scores = await _scores(reranker, query, passages, max(1, top_k), timeout_s)
        return Verdict(scores, None, _ms_since(started))
    except Exception as error:
        return _not_applied(error, _ms_since(started))


async def _scores(
    reranker: Reranker, query: str, passages: Sequence[Passage], top_k: int, timeout_s: float
) -> tuple[float, ...]:
    if not timeout_s > 0:
        raise TimeoutError
    sent = tuple(passages[:top_k])
    ranked = await in_time(reranker.rerank(query, sent, len(sent), timeout_s), timeout_s)
    return followed(scores_of(ranked, len(sent)), len(passages))


def _not_applied(error: Exception, latency_ms: int) -> Verdict:
    reason = _reason(error)
    logger.warning(
        "rerank not applied: %s (%s)",
        reason,
        type(error).__name__,
        extra={"reason": reason, "latency_ms": latency_ms},
    )
    return Verdict(None, reason, latency_ms)


def _reason(error: Exception) -> str:
    if isinstance(error, Unusable):
        return error.code
    return next((_REASONS[kind] for kind in type(error).__mro__ if kind in _REASONS), FAILED)


def _ms_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
