"""What is served, whatever the protocol: each call checks who asks and what that opens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from pincite.errors import RequestInvalid
from pincite.retrieval.citation import cite
from pincite.retrieval.pipeline import lookup_direct
from pincite.retrieval.references import guard_references
from pincite.retrieval.request import LookupRequest, request_from_settings
from pincite.retrieval.result import LookupResult
from pincite.retrieval.warm import warm_up
from pincite.scopes import CORPORA, pick_kb_scope, scope_columns
from pincite.serving.access import READ, WRITE, Principal
from pincite.wiring import Workspace
from pincite.writing.online import ItemReceipt, write_items

# How many of a connection's latest lookups its citations are held against.
RECENT_LOOKUPS = 50

Ids = Mapping[str, str | None]


class Service:
    """Lookups, citations and writes of one workspace, which must be the current one.

    ``ids`` are scope ids that the request names. Errors are those of the engine, and AccessDenied.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def warm(self) -> None:
        """Load the model and open the store before the first request."""
        corpora = await asyncio.to_thread(self._workspace.catalog.generations.corpora)
        if "docs" in corpora:
            request = request_from_settings(self._workspace.settings, "warm-up", corpus="docs")
            await warm_up(request, self._workspace.lookup_parts)

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

        Without ``corpus`` those of the settings are asked that the principal may read.
        """
        request = self.request(principal, query, ids, connection=connection, **options)
        return await lookup_direct(request, self._workspace.lookup_parts)

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
        corpus = options.pop("corpus", None) or self._usual_corpora(principal)
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

    def _usual_corpora(self, principal: Principal) -> str:
        usual = self._workspace.settings.lookup.corpora
        return ",".join([name for name in usual if name in principal.corpora] or usual)

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
        principal.require(READ, [corpus] if corpus else [])
        retrieval = self._workspace.settings.retrieval
        found = await asyncio.to_thread(
            cite,
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
        return found.as_dict()

    async def check_citations(
        self, principal: Principal, text: str, connection: str
    ) -> dict[str, list[str]]:
        """The evidence keys of a text against what the connection's recent lookups returned.

        Returns:
            ``cited``, ``valid``, ``unknown`` and ``unused``, as ``guard_references`` tells them.
        """
        principal.require(READ, [])
        lines = await asyncio.to_thread(
            self._workspace.catalog.activity.of_connection, connection, RECENT_LOOKUPS
        )
        returned = [{"document_id": b.evidence_key} for line in lines for b in line.blocks]
        found = await asyncio.to_thread(guard_references, text, returned)
        return {name: list(keys) for name, keys in vars(found).items()}

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
        scope = principal.scope(kb_scope) or ""
        return await write_items(
            corpus, [self._owned(principal, corpus, value, ids) for value in values], scope
        )

    def _owned(
        self, principal: Principal, corpus: str, value: Mapping[str, Any], ids: Ids
    ) -> dict[str, Any]:
        own = {name: given for name, given in value.items() if name in scope_columns(corpus)}
        in_force = principal.scope_ids({**ids, **own})
        wanted = {name: in_force[name] for name in scope_columns(corpus)}
        return {**value, **{name: given for name, given in wanted.items() if given is not None}}
