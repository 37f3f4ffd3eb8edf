"""The corpus of the web: what searches brought."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pydantic import Field

from pincite.corpora.item_fields import (
    SUFFIXES,
    Input,
    Time,
    canonical_json,
    checked,
    clean_text,
    epoch_ms,
    hashed_id,
    require_encodable,
)
from pincite.corpora.port import Item, Ranked
from pincite.corpora.web_domains import DomainTrust, registrable_domain
from pincite.corpora.web_scores import blended, fits, rank_part
from pincite.corpora.web_urls import MAX_URL_CHARS, read_url
from pincite.errors import ItemInvalid
from pincite.identity import text_sha256
from pincite.schemas.candidates import CANDIDATES
from pincite.schemas.owner import NOBODY
from pincite.scopes import ANY, corpus_scopes
from pincite.settings.model import WebSettings

MAX_TITLE_CHARS = 1_000
MAX_SNIPPET_CHARS = 10_000
MAX_CONTENT_BYTES = 5 * 2**20
MAX_LANGUAGE_CHARS = 64
MAX_RANK = 1_000_000
READER = "web/1"
_HOUR_MS = 3_600_000
# The end of the year 9999; a longer time to live is as good as none.
_LAST_MS = 253_402_300_799_999


class WebInput(Input):
    """A search result as a client sends it; ``session_id`` or ``query_id`` says whose it is."""

    session_id: str | None = Field(None, description="the session that it was fetched in")
    query_id: str | None = Field(None, description="the search that brought it")
    url: str = Field(max_length=MAX_URL_CHARS, description="http or https address of the page")
    title: str | None = Field(None, max_length=MAX_TITLE_CHARS, description="title of the page")
    snippet: str | None = Field(
        None, max_length=MAX_SNIPPET_CHARS, description="what the search engine shows of it"
    )
    content: str | None = Field(
        None, max_length=MAX_CONTENT_BYTES, description="the page as HTML or text, 5 MB at most"
    )
    published_at: Time | None = Field(None, description="when it appeared; ISO 8601, zone")
    fetched_at: Time | None = Field(None, description="when it was fetched; default: now")
    language: str | None = Field(
        None, max_length=MAX_LANGUAGE_CHARS, description="language of the page, such as en"
    )
    source_rank: int | None = Field(
        None, ge=1, le=MAX_RANK, strict=True, description="the search engine's rank, from 1"
    )


class WebCorpus:
    """Search results; each belongs to a session, a search, or both.

    Raises:
        ConfigInvalid: A rule of ``web.trust`` is no domain name.
    """

    name = "web"
    suffixes = SUFFIXES
    legacy_order = ("+source_rank", "-fetched_at", "doc_id")

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._trust = DomainTrust(settings.trust, settings.default_trust)

    def parse(self, value: Mapping[str, Any], kb_scope: str, now_ms: int) -> Item:
        """See ``ItemCorpus.parse``; one address of one session and search is one item."""
        given = checked(WebInput, value)
        scopes = corpus_scopes(self.name, {one: getattr(given, one) for one in ANY[self.name]})
        owner = {one: scopes.get(one, "") for one in ANY[self.name]}
        address = read_url(require_encodable("url", given.url))
        title = _line("title", given.title)
        text = _text(given, title)
        fetched_at = min(epoch_ms(given.fetched_at), now_ms) if given.fetched_at else now_ms
        row = {
            "doc_id": hashed_id(self.name, [kb_scope, *owner.values(), address.canonical]),
            "kb_scope": kb_scope,
            "text_digest": text_sha256(text),
            "created_at": 0,
            "expires_at": self._expires_at(fetched_at),
            **owner,
            "url": address.given,
            "domain": address.domain,
            "title": title,
            "language": _line("language", given.language),
            "published_at": epoch_ms(given.published_at),
            "fetched_at": fetched_at,
            "source_rank": given.source_rank or 0,
        }
        return Item(row, text)

    def _expires_at(self, fetched_at: int) -> int:
        # Never 0, which would mean never.
        return max(1, min(_LAST_MS, fetched_at + int(self._settings.ttl_hours * _HOUR_MS)))

    def build_ingest_document(self, item: Item) -> dict[str, Any]:
        """See ``ItemCorpus.build_ingest_document``; the source is the canonical address."""
        row = item.row
        kept = ("url", "domain", "language", "published_at", "fetched_at", "source_rank")
        about = {name: row[name] for name in kept}
        return {
            **NOBODY,
            **{name: row[name] for name in (*ANY[self.name], "expires_at")},
            "doc_id": row["doc_id"],
            "source": read_url(row["url"]).canonical,
            "source_name": "",
            "kb_scope": row["kb_scope"],
            "category": "",
            "title": row["title"],
            "summary": "",
            "keywords": [],
            "tags": [],
            "aliases": [],
            "metadata": canonical_json(
                {**about, "registrable_domain": registrable_domain(row["domain"])}
            ),
            "text": item.text,
            "text_digest": row["text_digest"],
            "raw_sha256": row["text_digest"],
            "reader": READER,
        }

    def adjust(self, candidates: pa.Table) -> pa.Table:
        """Blend the score with the domain's trust and the search engine's rank.

        Both parts are filled in for each candidate; one without a score stays without.
        """
        weights = (self._settings.trust_weight, self._settings.rank_weight)
        about = [_domain_and_rank(one) for one in candidates["metadata"].to_pylist()]
        trusts = [self._trust.of(domain) for domain, _ in about]
        ranks = [rank_part(rank) for _, rank in about]
        parts = zip(fits(candidates["score"].to_pylist()), trusts, ranks, strict=True)
        scores = [
            None if fit is None else blended(fit, trust, rank, weights)
            for fit, trust, rank in parts
        ]
        for name, values in (("score", scores), ("trust", trusts), ("source_rank", ranks)):
            at = candidates.column_names.index(name)
            field = CANDIDATES.schema.field(name)
            candidates = candidates.set_column(at, field, pa.array(values, field.type))
        return candidates

    def legacy_rank(self, query: str, items: Sequence[Item]) -> list[Ranked]:
        """By the search engine's rank, those without one last; then the newest first."""
        ordered = sorted(items, key=lambda item: _legacy_place(item.row))
        return [Ranked(item.row, 1 / (1 + place)) for place, item in enumerate(ordered)]


def _text(given: WebInput, title: str) -> str:
    """What is kept of a result: its content, else title and snippet.

    Raises:
        ItemInvalid: There is nothing of it, or too much.
    """
    from pincite.corpora.web_pages import page_text

    content = require_encodable("content", given.content or "")
    size = len(content.encode("utf-8"))
    if size > MAX_CONTENT_BYTES:
        raise ItemInvalid(f"content has {size} bytes, at most {MAX_CONTENT_BYTES} may be.")
    snippet = clean_text(require_encodable("snippet", given.snippet or ""))
    text = page_text(content) or "\n\n".join(filter(None, (title, snippet)))
    if not text:
        raise ItemInvalid("content, title and snippet hold no text.")
    return text


def _line(name: str, text: str | None) -> str:
    return " ".join(clean_text(require_encodable(name, text or "")).split())


def _domain_and_rank(metadata: str) -> tuple[str, int]:
    """What a row says of itself; ``""`` and 0 where it says nothing that can be used."""
    try:
        about = json.loads(metadata or "{}")
    except ValueError:
        return "", 0
    if not isinstance(about, dict):
        return "", 0
    domain, rank = about.get("domain"), about.get("source_rank")
    known = isinstance(rank, int) and not isinstance(rank, bool) and rank > 0
    return domain if isinstance(domain, str) else "", int(rank) if known and rank else 0


def _legacy_place(row: Mapping[str, Any]) -> tuple[bool, int, int, str]:
    rank = row["source_rank"]
    return rank == 0, rank, -row["fetched_at"], row["doc_id"]
