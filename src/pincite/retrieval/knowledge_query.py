"""What every layout shares: the filter of a request, the store's query, and reading a row."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any

from pincite.errors import RequestInvalid
from pincite.identity import ABSENT_INDEX, text_sha256
from pincite.retrieval.knowledge import KnowledgeSearchHit, KnowledgeSearchRequest
from pincite.scopes import label_visible
from pincite.store.filters import Eq, Filter, JsonKey, NotIn, Or, all_of, folded, render
from pincite.store.port import Hit, Mode, TextQuery, VectorQuery

Places = Callable[[str], Sequence[str | JsonKey]]
"""Where a layout keeps the value of this name: one column, or keys by which it may be spelled."""

Read = Callable[[str], Sequence[Any]]
"""What a row says under this name, one value per spelling."""

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


def request_filter(request: KnowledgeSearchRequest, places: Places) -> Filter | None:
    """What a row must satisfy; a scope that is set counts whatever is excluded."""
    excluded = tuple(scope for scope in request.exclude_scopes if scope)
    if request.kb_scope:
        labels = [_equal(places("kb_scope"), request.kb_scope)]
    else:
        labels = [NotIn(place, excluded) for place in places("kb_scope") if excluded]
    ids = [_equal(places(name), value) for name, value in request.scope_ids.items()]
    category = _equal(places("category"), request.category) if request.category else None
    return all_of([*labels, *ids, category])


def is_wanted(request: KnowledgeSearchRequest, read: Read) -> bool:
    """Whether a row passes by what it says, whatever the store made of the filter."""
    ids = request.scope_ids.items()
    return (
        label_visible(_text(read("kb_scope")), request.kb_scope, request.exclude_scopes)
        and all(_text(read(name)) == value for name, value in ids)
        and request.category in ("", _text(read("category")))
        and is_open(request, read)
    )


def is_open(request: KnowledgeSearchRequest, read: Read) -> bool:
    """Whether a row is still alive and not too sensitive, by what it says."""
    alive = not request.alive_at or (_expiry(read) or request.alive_at + 1) > request.alive_at
    level = _number(read("sensitivity_level")) or 0
    return alive and (request.max_sensitivity is None or level <= request.max_sensitivity)


def _expiry(read: Read) -> int:
    return _number(read("expires_at")) or 0


def _equal(places: Sequence[str | JsonKey], value: str) -> Filter:
    parts = tuple(Eq(place, value) for place in places)
    return parts[0] if len(parts) == 1 else Or(parts)


def expression_text(filter: Filter | None) -> str:
    """The filter as a reader of a trace sees it."""
    shown = folded(filter)
    return "" if isinstance(shown, bool) else render(shown)


def store_query(
    request: KnowledgeSearchRequest, filter: Filter | None, columns: tuple[str, ...]
) -> VectorQuery | TextQuery:
    """The store's query for one leg.

    Raises:
        RequestInvalid: The mode is no single leg, or a dense one has no vector.
    """
    limit, timeout_s = request.top_k, request.timeout_s
    if request.mode is Mode.LEXICAL:
        return TextQuery(request.terms, limit, filter, columns, timeout_s)
    if request.mode is not Mode.DENSE:
        raise RequestInvalid(f"A search runs one leg; {request.mode.value!r} is for the caller.")
    if request.vector is None:
        raise RequestInvalid("A dense search has no vector.")
    return VectorQuery(request.vector.tolist(), limit, filter, columns, timeout_s)


def to_hit(
    found: Hit, content: str, read: Read, metadata: Mapping[str, Any], terms: str = ""
) -> KnowledgeSearchHit:
    """The hit of a row whose other values ``read`` gives."""
    start, end = _span(read, content)
    return KnowledgeSearchHit(
        vector_id=found.vector_id or None,
        content=content,
        similarity=found.similarity,
        lexical=found.lexical,
        raw_score=found.raw_score,
        doc_id=_text(read("doc_id")) or None,
        chunk_index=_number(read("chunk_index")),
        doc_version=_number(read("doc_version")),
        source=_text(read("source")),
        title=_text(read("title")),
        heading=_text(read("heading")),
        kb_scope=_text(read("kb_scope")),
        category=_text(read("category")),
        content_sha256=_digest(read, content),
        char_start=start,
        char_end=end,
        metadata=metadata,
        terms=terms,
        expires_at=_expiry(read),
    )


def _span(read: Read, content: str) -> tuple[int, int] | tuple[None, None]:
    """Where the content stands in its kept text; a span of another length names another text."""
    start, end = _number(read("char_start")), _number(read("char_end"))
    if start is None or end is None or end - start != len(content):
        return None, None
    return start, end


def _digest(read: Read, content: str) -> str:
    given = _text(read("content_sha256"))
    return given if _SHA256.match(given) else text_sha256(content)


def _text(values: Sequence[Any]) -> str:
    return next((value for value in values if isinstance(value, str) and value), "")


def _number(values: Sequence[Any]) -> int | None:
    """A whole number from 0; anything else, ``-1`` of stores without nulls too, is absent."""
    for value in values:
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if whole and int(value) > ABSENT_INDEX:
            return int(value)
    return None


def json_object(value: Any) -> Mapping[str, Any]:
    """The JSON object in this text; empty for anything else."""
    try:
        held = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return {}
    return held if isinstance(held, dict) else {}
