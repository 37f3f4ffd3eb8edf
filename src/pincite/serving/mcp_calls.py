"""What the MCP tools do, each on behalf of somebody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pincite.errors import PinciteError
from pincite.scopes import corpus_scopes
from pincite.serving.access import WRITE, Principal
from pincite.serving.mcp_schemas import (
    CheckArguments,
    CiteArguments,
    LookupArguments,
    RememberArguments,
)
from pincite.serving.service import Ids, Service


class Explained(NamedTuple):
    """What somebody may be told of an error, and what they can do next."""

    message: str
    next_step: str


def in_full(error: PinciteError) -> Explained:
    """For whoever runs the server."""
    return Explained(error.message, error.next_step)


@dataclass(frozen=True)
class Caller:
    """On whose behalf a tool is called.

    ``ids`` are the scope ids of the connection, ``connection`` names it in the lookup log,
    ``advice`` says where its ids are configured, and ``explain`` what it may be told of errors.
    """

    principal: Principal
    connection: str
    advice: str
    ids: Ids = field(default_factory=dict)
    explain: Callable[[PinciteError], Explained] = in_full


class Tools:
    """What an agent can do with one service."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def lookup_knowledge(self, caller: Caller, given: LookupArguments) -> dict[str, Any]:
        """The results of a lookup, whether they are enough, and what it did without."""
        found = await self._service.lookup(
            caller.principal, given.query, caller.ids, connection=caller.connection
        )
        codes = dict.fromkeys(one.code for one in found.trace.degradations)
        return {
            "results": found.results,
            "evidenceStatus": found.evidence_status,
            "degradations": list(codes),
        }

    async def cite(self, caller: Caller, given: CiteArguments) -> dict[str, Any]:
        """The text of a key: as this connection was given it, else as it is now."""
        key = given.document_id
        returned = await self._service.returned(caller.connection)
        seen = next((block for block in returned if block.evidence_key == key), None)
        return await self._service.cite(
            caller.principal,
            key,
            caller.ids,
            corpus=None if seen is None else seen.corpus,
            sha256=None if seen is None else seen.content_sha256 or None,
        )

    async def check_citations(self, caller: Caller, given: CheckArguments) -> dict[str, Any]:
        """The keys of a text against what this connection's lookups returned."""
        return dict(
            await self._service.check_citations(caller.principal, given.text, caller.connection)
        )

    async def remember(self, caller: Caller, given: RememberArguments) -> dict[str, Any]:
        """Keep a memory item of the connection's user.

        Raises:
            ScopeRequired: The connection does not say whose it would be.
        """
        caller.principal.require(WRITE, ["memory"])
        corpus_scopes("memory", caller.principal.scope_ids(caller.ids))
        item = given.model_dump(exclude_none=True)
        receipt = await self._service.write(caller.principal, "memory", [item], caller.ids)
        outcome = receipt.items[0]
        return {
            "id": outcome.id,
            "state": outcome.state,
            "code": outcome.code,
            "degradations": [one["code"] for one in receipt.degradations],
        }
