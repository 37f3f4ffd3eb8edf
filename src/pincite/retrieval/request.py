"""What a lookup asks for, checked once, before anything is searched."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

from pincite.errors import RequestInvalid
from pincite.scopes import CORPORA, DEFAULT_EXCLUDED, check_scope, corpus_scopes, pick_kb_scope
from pincite.settings.model import Settings
from pincite.store.port import Mode

MAX_RETRIEVE_K = 16_384
MAX_RETURN_N = 1_000
MAX_TIMEOUT_MS = 600_000
_COUNTS = (
    "retrieve_k",
    "return_n",
    "token_budget",
    "max_chunks_per_document",
    "timeout_ms",
    "rerank_top_k",
    "rerank_timeout_ms",
)
_LINES = ("threshold", "low_quality", "weak")
_SCOPE_IDS = ("user_id", "assistant_id", "conversation_id", "session_id", "query_id")


@dataclass(frozen=True)
class LookupRequest:
    """One lookup in one corpus, or in several: ``corpus`` holds their names between commas.

    ``kb_scope == ""`` sees everything but ``exclude_scopes``. ``retrieve_k`` is the recall width
    of each leg, ``return_n`` the number of blocks; lines are cosines in [-1, 1], ``None`` takes
    the embedding model's. ``timeout_ms`` bounds retrieval in all, ``token_budget`` the tokens
    of all blocks. The ids are those of the corpora with scopes of their own; other corpora
    ignore them. ``max_sensitivity`` is the highest level of a memory item that is seen, ``None``
    = any. ``trace_id == ""``: a new one is made. ``connection`` names who asks, for the log.

    Raises:
        RequestInvalid: The query is blank, or a number is out of its range.
        ScopeRequired: The corpus needs an id that is not given.
        ScopeInvalid: A scope is blank or too long.
    """

    query: str
    corpus: str = "docs"
    kb_scope: str = ""
    category: str = ""
    retrieve_k: int = 20
    return_n: int = 5
    mode: Mode = Mode.HYBRID
    threshold: float | None = None
    low_quality: float | None = None
    weak: float | None = None
    token_budget: int = 3_000
    max_chunks_per_document: int = 2
    exclude_scopes: tuple[str, ...] = DEFAULT_EXCLUDED
    timeout_ms: int = 1_500
    enabled: bool = True
    rerank: bool = True
    rerank_top_k: int = 50
    rerank_timeout_ms: int = 1_200
    user_id: str | None = None
    assistant_id: str | None = None
    conversation_id: str | None = None
    session_id: str | None = None
    query_id: str | None = None
    max_sensitivity: int | None = None
    trace_id: str = ""
    connection: str = ""

    def __post_init__(self) -> None:
        _check_text("query", self.query)
        _check_kinds(self)
        object.__setattr__(self, "corpus", ",".join(_corpora(self.corpus)))
        object.__setattr__(self, "mode", _mode(self.mode))
        for name in _COUNTS:
            _check_count(name, getattr(self, name))
        for name in _LINES:
            _check_line(name, getattr(self, name))
        if self.retrieve_k > MAX_RETRIEVE_K:
            raise RequestInvalid(f"retrieve_k is {self.retrieve_k}, at most {MAX_RETRIEVE_K}.")
        if self.return_n > MAX_RETURN_N:
            raise RequestInvalid(f"return_n is {self.return_n}, at most {MAX_RETURN_N}.")
        if self.timeout_ms > MAX_TIMEOUT_MS:
            raise RequestInvalid(f"timeout_ms is {self.timeout_ms}, at most {MAX_TIMEOUT_MS}.")
        _check_level(self.max_sensitivity)
        if self.category:
            _check_text("category", self.category)
        if self.kb_scope:
            check_scope("kb_scope", self.kb_scope)
        for one in self.each():
            one.scope_ids()

    @property
    def text(self) -> str:
        """The query as it is searched: without whitespace around it."""
        return self.query.strip()

    @property
    def corpora(self) -> tuple[str, ...]:
        """Names of the corpora asked, in the order given."""
        return tuple(self.corpus.split(","))

    def each(self) -> tuple[LookupRequest, ...]:
        """The same request for each corpus alone."""
        names = self.corpora
        return (self,) if len(names) == 1 else tuple(replace(self, corpus=name) for name in names)

    def scope_ids(self) -> dict[str, str]:
        """The corpus's own scope columns with their values; empty for ``docs``.

        Of one corpus: ask ``each``.
        """
        return corpus_scopes(self.corpus, {name: getattr(self, name) for name in _SCOPE_IDS})


def request_from_settings(settings: Settings, query: str, **overrides: Any) -> LookupRequest:
    """The request that the settings describe; an override of ``None`` is not given.

    Raises:
        RequestInvalid, ScopeRequired, ScopeInvalid: See ``LookupRequest``; an override that no
            request has is RequestInvalid too.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    unknown = sorted(set(given) - {field.name for field in fields(LookupRequest)})
    if unknown:
        raise RequestInvalid(f"A lookup has no {', '.join(map(repr, unknown))}.")
    rag, retrieval = settings.rag, settings.retrieval
    values: dict[str, Any] = {
        "corpus": ",".join(settings.lookup.corpora),
        "retrieve_k": rag.recall_width,
        "return_n": rag.block_count,
        "mode": rag.mode,
        "threshold": rag.threshold,
        "low_quality": rag.low_quality,
        "weak": rag.weak,
        "token_budget": rag.token_budget,
        "max_chunks_per_document": rag.max_chunks_per_document,
        "exclude_scopes": retrieval.exclude_scopes,
        "timeout_ms": rag.retrieve.timeout_ms,
        "enabled": rag.enabled,
        "rerank": rag.reranker.enabled,
        "rerank_top_k": rag.reranker.top_k,
        "rerank_timeout_ms": rag.reranker.timeout_ms,
    }
    scope = pick_kb_scope(retrieval.kb_scope, given.pop("kb_scope", None))
    cap = _lower(settings.memory.max_sensitivity, given.pop("max_sensitivity", None))
    return LookupRequest(query, **{**values, **given, "kb_scope": scope, "max_sensitivity": cap})


def _lower(cap: int | None, given: int | None) -> int | None:
    """The cap in force: a caller may lower the setting, never raise it."""
    return cap if given is None else given if cap is None else min(cap, given)


def _check_kinds(request: LookupRequest) -> None:
    """Values of another type than theirs, which would mean something else or nothing later on."""
    texts = ("corpus", "kb_scope", "category", "trace_id", "connection")
    wrong = [name for name in texts if not isinstance(getattr(request, name), str)]
    scopes = request.exclude_scopes
    if not isinstance(scopes, tuple) or not all(isinstance(one, str) for one in scopes):
        wrong.append("exclude_scopes")
    if wrong:
        raise RequestInvalid(f"{wrong[0]} is {getattr(request, wrong[0])!r}, of another type.")
    if not request.trace_id.isprintable():
        raise RequestInvalid(f"trace_id is {request.trace_id!r}, with signs that do not print.")


def _corpora(given: str) -> list[str]:
    """The names between commas; one named twice is asked once."""
    names = list(dict.fromkeys(name.strip() for name in given.split(",")))
    unknown = [name for name in names if name not in CORPORA]
    if unknown:
        known = ", ".join(CORPORA)
        raise RequestInvalid(f"There is no corpus {unknown[0]!r}.", f"Use one of: {known}.")
    return names


def _check_text(name: str, value: str) -> None:
    if not isinstance(value, str) or not value.strip():
        raise RequestInvalid(f"The {name} is blank.", f"Give a {name}.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise RequestInvalid(f"The {name} is not valid Unicode.") from exc


def _check_count(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise RequestInvalid(f"{name} is {value!r}, a whole number from 1 is wanted.")


def _check_level(value: int | None) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise RequestInvalid(f"max_sensitivity is {value!r}, a whole number from 0 is wanted.")


def _check_line(name: str, value: float | None) -> None:
    if value is not None and not (math.isfinite(value) and -1 <= value <= 1):
        raise RequestInvalid(f"{name} is {value!r}, a cosine in [-1, 1] is wanted.")


def _mode(value: str) -> Mode:
    try:
        return Mode(value)
    except ValueError as exc:
        known = ", ".join(repr(mode.value) for mode in Mode)
        raise RequestInvalid(f"Mode {value!r} is unknown; there are {known}.") from exc
