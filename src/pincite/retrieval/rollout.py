"""Which path answers in a corpus that has two: the legacy one, the core, or both beside."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum

from pincite.retrieval.request import LookupRequest
from pincite.settings.model import CorpusRagSettings, Settings

# By whom a canary is parted: the same person, session or search stays on one side.
_BY = {"memory": ("user_id",), "web": ("session_id", "query_id")}


class Route(StrEnum):
    """How one lookup in one corpus is answered."""

    CORE = "core"
    LEGACY = "legacy"
    SHADOW = "shadow"


Rollouts = Mapping[str, CorpusRagSettings]


def rollouts_of(settings: Settings) -> Rollouts:
    """The roll-out of each corpus that has a legacy path."""
    return {"memory": settings.memory.rag, "web": settings.web.rag}


def path_of(request: LookupRequest, rollouts: Rollouts) -> Route:
    """The path of a lookup in one corpus; one without a legacy path has the core only."""
    rollout = rollouts.get(request.corpus)
    if rollout is None:
        return Route.CORE
    if not request.enabled or not rollout.enabled or rollout.rollout == "off":
        return Route.LEGACY
    if rollout.rollout == "shadow":
        return Route.SHADOW
    if rollout.rollout == "canary" and bucket(request) >= rollout.canary_percent:
        return Route.LEGACY
    return Route.CORE


def bucket(request: LookupRequest) -> int:
    """A number in [0, 100), always the same for one person, session or search."""
    ids = request.scope_ids()
    who = next(ids[name] for name in _BY[request.corpus] if name in ids)
    digest = hashlib.sha256(f"{request.corpus}\0{who}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % 100
