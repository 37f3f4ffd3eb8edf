"""What is served, whatever the protocol: each call checks who asks and what that opens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from pincite.catalog.lookup_lines import Returned
from pincite.errors import RequestInvalid, ScopeRequired
from pincite.retrieval.citation import ERASED, Citation, cite
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.references import guard_references
from pincite.retrieval.request import LookupRequest, request_from_settings
from pincite.retrieval.result import LookupResult
from pincite.retrieval.trace import Degradation
from pincite.retrieval.warm import warm_up
from pincite.scopes import CORPORA, OWNER_IDS, corpus_scopes, pick_kb_scope, scope_columns
from pincite.serving.access import READ, WRITE, Principal
from pincite.settings import Settings
from pincite.wiring import Workspace, using
from pincite.writing.online import ItemReceipt, write_items

# How many of a connection's latest lookups its citations are held against.
RECENT_LOOKUPS = 50

Ids = Mapping[str, str | None]


class Service:
    """Lookups, citations and writes of one workspace.

    ``ids`` are scope ids that the request names. Errors are those of the engine, and AccessDenied.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._workspace.settings

    async def warm(self) -> None:
        """Load the model and open the store before the first request."""
        parts = await asyncio.to_thread(lambda: self._workspace.lookup_parts)
        live = await asyncio.to_thread(self._workspace.catalog.generations.corpora)
        usual = [name for name in self.settings.lookup.corpora if name in live]
        if usual:
            # Nobody has these ids; a collection is loaded whomever is asked about.
            nobody = dict.fromkeys(OWNER_IDS, "warm-up")
            request = request_from_settings(
                self.settings, "warm-up", corpus=",".join(usual), **nobody
            )
            await warm_up(request, parts)

    async def lookup(
        self,
        principal: Principal,
        query: str,
        ids: Ids,
        *,
        connection: str = "",
        **options: Any,
    ) -> LookupResult:
        """Evidence for a question; ``options`` are fields of ``LookupRequest``, ``None`` = unset.

        Without ``corpus`` those of the settings are asked that the principal may read and has the
        ids for; one that is left out for want of ids is a degradation of the answer.
        """
        without: list[Degradation] = []
        if not options.get("corpus"):
            options["corpus"], without = self._usual_corpora(principal, ids)
        request = self.request(principal, query, ids, connection=connection, **options)
        return await lookup_direct(request, self._workspace.lookup_parts, without)

    def request(
        self, principal: Principal, query: str, ids: Ids, *, connection: str = "", **options: Any
    ) -> LookupRequest:
        """The lookup that a principal's question is, checked."""
        settings = self._workspace.settings
        most = settings.serve.max_query_chars
        if len(query) > most:
            raise RequestInvalid(
                f"The query has {len(query)} characters, at most {most} may be.", "Shorten it."
            )
        corpus = options.pop("corpus", None) or self._usual_corpora(principal, ids)[0]
        request = request_from_settings(
            settings,
            query,
            corpus=corpus,
            kb_scope=principal.scope(options.pop("kb_scope", None)),
            connection=connection,
            **principal.scope_ids(ids),
            **options,
        )
        principal.require(READ, request.corpora)
        return request

    def _usual_corpora(self, principal: Principal, ids: Ids) -> tuple[str, list[Degradation]]:
        """Names of those to ask, between commas, and of the others why not.

        Raises:
            ScopeRequired: None is left.
        """
        usual = self.settings.lookup.corpora
        readable = [name for name in usual if name in principal.corpora] or list(usual)
        in_force = principal.scope_ids(ids)
        without = {name: error for name in readable if (error := _missing(name, in_force))}
        asked = [name for name in readable if name not in without]
        if not asked:
            raise without[readable[0]]
        return ",".join(asked), [_unasked(name, error) for name, error in without.items()]

    async def cite(
        self,
        principal: Principal,
        key: str,
        ids: Ids,
        *,
        corpus: str | None = None,
        sha256: str | None = None,
        kb_scope: str | None = None,
    ) -> dict[str, Any]:
        """The text that an evidence key names; a foreign one is EVIDENCE_NOT_FOUND."""
        found = await asyncio.to_thread(
            self._cited, principal, key, ids, corpus=corpus, sha256=sha256, kb_scope=kb_scope
        )
        return found.as_dict()

    async def cite_in_text(
        self,
        principal: Principal,
        key: str,
        ids: Ids,
        *,
        corpus: str | None = None,
        sha256: str | None = None,
        kb_scope: str | None = None,
    ) -> tuple[Citation, str]:
        """As ``cite``, with the whole kept text that its span is of; ``""`` if that is erased."""

        def both() -> tuple[Citation, str]:
            found = self._cited(
                principal, key, ids, corpus=corpus, sha256=sha256, kb_scope=kb_scope
            )
            return found, self._kept_text(found)

        return await asyncio.to_thread(both)

    def _cited(
        self,
        principal: Principal,
        key: str,
        ids: Ids,
        *,
        corpus: str | None,
        sha256: str | None,
        kb_scope: str | None,
    ) -> Citation:
        principal.require(READ, [corpus] if corpus else [])
        retrieval = self._workspace.settings.retrieval
        return cite(
            key,
            self._workspace.catalog,
            self._workspace.texts,
            corpus=corpus,
            corpora=principal.corpora,
            sha256=sha256,
            kb_scope=pick_kb_scope(retrieval.kb_scope, principal.scope(kb_scope)),
            scope_ids=principal.scope_ids(ids),
            exclude_scopes=retrieval.exclude_scopes,
        )

    def _kept_text(self, found: Citation) -> str:
        if found.state == ERASED:
            return ""
        return self._workspace.texts.of(found.corpus).get(found.text_digest)

    async def check_citations(
        self, principal: Principal, text: str, connection: str
    ) -> dict[str, list[str]]:
        """The evidence keys of a text against what the connection's recent lookups returned.

        Returns:
            ``cited``, ``valid``, ``unknown`` and ``unused``, as ``guard_references`` tells them.
        """
        principal.require(READ, [])
        blocks = await self.returned(connection)
        returned = [{"document_id": block.evidence_key} for block in blocks]
        found = await asyncio.to_thread(guard_references, text, returned)
        return {name: list(keys) for name, keys in vars(found).items()}

    async def returned(self, connection: str) -> list[Returned]:
        """What the connection's recent lookups returned, the newest lookup first."""
        lines = await asyncio.to_thread(
            self._workspace.catalog.activity.of_connection, connection, RECENT_LOOKUPS
        )
        return [block for line in lines for block in line.blocks]

    async def write(
        self,
        principal: Principal,
        corpus: str,
        values: Sequence[Mapping[str, Any]],
        ids: Ids,
        kb_scope: str | None = None,
    ) -> ItemReceipt:
        """Accept items and write them; the ids in force stand in for those an item lacks."""
        if corpus not in CORPORA:
            raise RequestInvalid(f"There is no corpus {corpus!r}.")
        principal.require(WRITE, [corpus])
        scope = pick_kb_scope("", principal.scope(kb_scope))
        owned = [self._owned(principal, corpus, value, ids) for value in values]
        with using(self._workspace):
            return await write_items(corpus, owned, scope)

    def _owned(
        self, principal: Principal, corpus: str, value: Mapping[str, Any], ids: Ids
    ) -> dict[str, Any]:
        own = {name: given for name, given in value.items() if name in scope_columns(corpus)}
        both = [name for name in own if ids.get(name) is not None and ids[name] != own[name]]
        if both:
            raise RequestInvalid(f"The request and an item name two values of {both[0]}.")
        in_force = principal.scope_ids({**ids, **own})
        wanted = {name: in_force[name] for name in scope_columns(corpus)}
        return {**value, **{name: given for name, given in wanted.items() if given is not None}}


def _missing(corpus: str, ids: Ids) -> ScopeRequired | None:
    try:
        corpus_scopes(corpus, ids)
    except ScopeRequired as error:
        return error
    return None


def _unasked(corpus: str, error: ScopeRequired) -> Degradation:
    return Degradation("lookup", corpus, error.code.lower(), f"It was not asked. {error.message}")
