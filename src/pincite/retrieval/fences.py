"""The calls of a lookup that may fail, hang or lie: each ends in time, in an answer or a reason.

Adapters keep the deadline themselves; here is the fence behind theirs. What a service could not
say is an error of that service, whatever came out of it.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from pincite.embedding.port import Vectors
from pincite.errors import (
    CatalogUnreachable,
    ContractViolation,
    EmbedderUnreachable,
    EmbeddingInvalid,
    ServiceError,
    StoreRejected,
    StoreUnreachable,
    UsageError,
)
from pincite.retrieval.candidates import finite
from pincite.retrieval.hints import Hints
from pincite.retrieval.in_time import in_time
from pincite.retrieval.parts import Pinned
from pincite.retrieval.postprocess import Kept
from pincite.retrieval.retriever import Found
from pincite.retrieval.trace import Deadline, Stopwatch
from pincite.schemas.candidates import CANDIDATES

# What of the time left the catalogue may take where a lookup can do without its answer.
CATALOG_SHARE = 0.5
# What such a stage, or a rule of this process, may take even after the deadline.
LEAST_S = 0.25

T = TypeVar("T")


@dataclass(frozen=True)
class Hinted:
    """Hints, and why there are none where there are none."""

    hints: Hints
    latency_ms: int = 0
    code: str | None = None
    why: str = ""


@dataclass(frozen=True)
class Embedded:
    """The query's vector, or the error in its place."""

    vector: Vectors | None
    latency_ms: int
    error: ServiceError | None = None


def short_s(deadline: Deadline) -> float:
    """Seconds for a stage that leaves time for those behind it."""
    return max(LEAST_S, deadline.left_s() * CATALOG_SHARE)


async def pinned(work: Awaitable[Pinned | None], deadline: Deadline) -> Pinned | None:
    """What is live in a corpus.

    Raises:
        CatalogUnreachable: There is no telling.
        EmbedderChanged: Its embedder is not at hand.
    """
    try:
        return await in_time(work, deadline.left_s())
    except (UsageError, ServiceError):
        raise
    except Exception as exc:
        raise _catalog_failed(exc) from exc


async def hinted(work: Awaitable[Hints | None], deadline: Deadline) -> Hinted:
    """The hints of a query; none where they cannot be had."""
    watch = Stopwatch()
    try:
        hints = await in_time(work, short_s(deadline))
    except Exception as error:
        return Hinted(Hints(), watch.ms, "l0_unavailable", type(error).__name__)
    if hints is None:
        return Hinted(Hints(), watch.ms, "l0_empty", "no document has keywords or a category")
    return Hinted(hints, watch.ms)


async def embedded(work: Awaitable[Vectors], deadline: Deadline) -> Embedded:
    """The query's vector, or why there is none.

    Raises:
        RequestInvalid: The embedder refuses the query.
    """
    watch = Stopwatch()
    try:
        return Embedded(await in_time(work, deadline.left_s()), watch.ms)
    except UsageError:
        raise
    except ServiceError as error:
        return Embedded(None, watch.ms, error)
    except TimeoutError:
        late = EmbedderUnreachable("The embedder did not answer in time.")
        return Embedded(None, watch.ms, late)
    except Exception as error:
        odd = EmbeddingInvalid(f"The embedder failed ({type(error).__name__}).")
        return Embedded(None, watch.ms, odd)


async def searched(work: Awaitable[Found], deadline: Deadline) -> Found:
    """What an attempt found.

    Raises:
        ServiceError: No leg could answer.
        RequestInvalid: The request is refused.
    """
    try:
        # The legs end at the deadline; what they bring there must still come through.
        found = await in_time(work, deadline.left_s() + LEAST_S)
    except (UsageError, ServiceError):
        raise
    except TimeoutError as exc:
        raise StoreUnreachable("The search did not end in time.") from exc
    except Exception as exc:
        raise StoreRejected(f"The search failed ({type(exc).__name__}).") from exc
    if not isinstance(found, Found):
        raise StoreRejected("The search answered with something that is no result.")
    return found


async def compared(work: Awaitable[Kept], deadline: Deadline) -> Kept:
    """The candidates that are current.

    Raises:
        CatalogUnreachable: There is no telling.
    """
    try:
        return await in_time(work, short_s(deadline))
    except ServiceError:
        raise
    except Exception as exc:
        raise _catalog_failed(exc) from exc


async def adjusted(work: Awaitable[pa.Table], candidates: pa.Table, deadline: Deadline) -> pa.Table:
    """The candidates as their corpus wants them sorted.

    Raises:
        ContractViolation: What came back are not these candidates.
        TimeoutError: Nothing came back.
        Exception: Whatever else the corpus's rules raise.
    """
    table = finite(CANDIDATES.conform(await in_time(work, short_s(deadline))))
    keys = (sorted(one["evidence_key"].to_pylist()) for one in (table, candidates))
    if next(keys) != next(keys):
        raise ContractViolation("A corpus's rules must give back the candidates that they got.")
    return table


async def by_legacy(work: Awaitable[pa.Table], deadline: Deadline) -> pa.Table:
    """The candidates of the legacy path; the catalogue is near, so it has a moment in any case.

    Raises:
        ServiceError: They could not be had.
    """
    try:
        return finite(CANDIDATES.conform(await in_time(work, short_s(deadline))))
    except ServiceError:
        raise
    except Exception as exc:
        raise _catalog_failed(exc) from exc


def _catalog_failed(error: Exception) -> CatalogUnreachable:
    if isinstance(error, TimeoutError):
        return CatalogUnreachable("The catalogue did not answer in time.")
    return CatalogUnreachable(f"The catalogue failed ({type(error).__name__}).")
