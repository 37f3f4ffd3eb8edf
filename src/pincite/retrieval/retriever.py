"""The retriever: the legs of one pass of search, side by side, fused."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Protocol

import pyarrow as pa

from pincite.errors import (
    FullTextUnsupported,
    PinciteError,
    RequestInvalid,
    ServiceError,
    StoreRejected,
    StoreUnreachable,
)
from pincite.retrieval.candidates import to_table
from pincite.retrieval.fusion import Leg, fuse
from pincite.retrieval.knowledge import (
    KnowledgeSearchHit,
    KnowledgeSearchPort,
    KnowledgeSearchRequest,
)
from pincite.scopes import label_visible
from pincite.store.port import Mode

logger = logging.getLogger(__name__)

_TEXTS = ("content", "source", "title", "heading", "kb_scope", "category", "content_sha256")
_IDS = ("doc_id", "vector_id")
_NUMBERS = ("chunk_index", "doc_version", "char_start", "char_end")
_INT64 = range(-(2**63), 2**63)

LEGS = {
    Mode.DENSE: (Mode.DENSE,),
    Mode.LEXICAL: (Mode.LEXICAL,),
    Mode.HYBRID: (Mode.DENSE, Mode.LEXICAL),
}


@dataclass(frozen=True)
class RetrieveRequest:
    """One pass of search in one collection.

    ``query`` has the scopes, the category, the width of each leg, the vector and the terms; its
    mode is the one wished, ``HYBRID`` too. ``timeout_s`` bounds both legs together.
    """

    corpus: str
    generation: int | None
    collection: str
    query: KnowledgeSearchRequest


@dataclass(frozen=True)
class Failure:
    """What went wrong in a leg."""

    mode: Mode
    error: PinciteError


@dataclass(frozen=True)
class Found:
    """What a pass brought: candidates best first (``schemas.candidates``), and what failed.

    ``mode`` is the one that answered, ``hit_count`` the hits of all legs before they were fused.
    """

    mode: Mode
    filter: str
    hit_count: int
    candidates: pa.Table
    failures: tuple[Failure, ...] = ()


class Retriever(Protocol):
    """Finds scored candidates.

    Raises:
        ServiceError: No leg could answer; the error of the first one. A leg that fails beside
            another is a failure in the answer.
    """

    async def retrieve(self, request: RetrieveRequest) -> Found: ...


class LegsRetriever:
    """Runs the legs of the mode at the same time and fuses them by reciprocal rank."""

    def __init__(self, port: KnowledgeSearchPort) -> None:
        self._port = port

    async def retrieve(self, request: RetrieveRequest) -> Found:
        """See ``Retriever.retrieve``."""
        modes = LEGS[request.query.mode]
        answers = await asyncio.gather(*(self._leg(request, mode) for mode in modes))
        legs = [leg for leg, _ in answers if leg is not None]
        failures = tuple(failure for _, failure in answers if failure is not None)
        if not legs:
            raise _gravest(failures)
        fused = fuse(legs, request.corpus, request.generation)
        return Found(
            mode=legs[0].mode if len(legs) == 1 else request.query.mode,
            filter=self._port.filter_text(request.query),
            hit_count=sum(len(leg.hits) for leg in legs),
            candidates=to_table(fused),
            failures=failures,
        )

    async def _leg(self, request: RetrieveRequest, mode: Mode) -> tuple[Leg | None, Failure | None]:
        try:
            hits = _well_formed(await self._search(request, mode), mode)
        except RequestInvalid:
            raise
        except ServiceError as error:
            return None, Failure(mode, error)
        except Exception as exc:
            name = type(exc).__name__
            logger.warning("%s leg failed: %s", mode.value, name)
            return None, Failure(mode, StoreRejected(f"The {mode.value} search failed ({name})."))
        sound = [hit for hit in hits if _is_sound(hit)]
        seen = [hit for hit in sound if _is_visible(hit, request.query)]
        fault = _leak(mode, len(sound) - len(seen)) or _unsound(mode, len(hits) - len(sound))
        return Leg(mode, seen[: request.query.top_k]), fault

    async def _search(self, request: RetrieveRequest, mode: Mode) -> list[KnowledgeSearchHit]:
        query = leg_request(request.query, mode)
        try:
            async with asyncio.timeout(query.timeout_s):
                return await self._port.search(request.collection, query)
        except TimeoutError as exc:
            raise StoreUnreachable(
                f"The store did not answer the {mode.value} search in time.",
                "Check that the store runs; rag.retrieve.timeout-ms gives it more time.",
            ) from exc
        except asyncio.CancelledError as exc:
            # A connection that is closed meanwhile cancels its calls. Where the caller is
            # cancelled, gather raises that whatever becomes of the legs.
            raise StoreUnreachable(f"The {mode.value} search was cancelled by the store.") from exc


def leg_request(query: KnowledgeSearchRequest, mode: Mode) -> KnowledgeSearchRequest:
    """The request of one leg: a leg is not sent what only the other one needs."""
    if mode is Mode.DENSE:
        return replace(query, mode=mode, terms="")
    return replace(query, mode=mode, vector=None)


def _well_formed(hits: object, mode: Mode) -> list[KnowledgeSearchHit]:
    """The hits, if that is what they are: a port may be somebody else's."""
    if isinstance(hits, list) and all(isinstance(hit, KnowledgeSearchHit) for hit in hits):
        return hits
    raise StoreRejected(f"The {mode.value} search answered with something that is no hits.")


def _is_sound(hit: KnowledgeSearchHit) -> bool:
    """Whether a candidate can hold what the row says."""
    ids = (value for name in _IDS if (value := getattr(hit, name)) is not None)
    numbers = (value for name in _NUMBERS if (value := getattr(hit, name)) is not None)
    texts = (getattr(hit, name) for name in _TEXTS)
    return all(map(_is_text, (*texts, *ids))) and all(map(_is_number, numbers))


def _is_text(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_number(value: object) -> bool:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and value in _INT64


def _is_visible(hit: KnowledgeSearchHit, query: KnowledgeSearchRequest) -> bool:
    return label_visible(hit.kb_scope, query.kb_scope, query.exclude_scopes)


def _leak(mode: Mode, count: int) -> Failure | None:
    """Rows of another scope are left out, whatever the store made of the filter."""
    if not count:
        return None
    logger.error("%s leg gave %d rows of another scope", mode.value, count)
    return Failure(mode, StoreRejected("The store gave rows of another scope; they are left out."))


def _unsound(mode: Mode, count: int) -> Failure | None:
    """One row that cannot be read must not cost the others."""
    if not count:
        return None
    logger.warning("%s leg gave %d rows that cannot be read", mode.value, count)
    return Failure(
        mode, StoreRejected("The store gave rows that cannot be read; they are left out.")
    )


def _gravest(failures: Sequence[Failure]) -> PinciteError:
    """The error to raise: that full text is missing says less than what else went wrong."""
    others = [f.error for f in failures if not isinstance(f.error, FullTextUnsupported)]
    return others[0] if others else failures[0].error
