"""Memory items as clients send them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

OWNER = {"user_id": "u-1", "assistant_id": "a-1", "conversation_id": "c-1"}


def item(text: str, **fields: Any) -> dict[str, Any]:
    """An item of ``OWNER``, unless the fields say otherwise."""
    return {**OWNER, "text": text, **fields}


def from_now(**delta: float) -> str:
    """A time so far from now, as ISO 8601 with its zone."""
    return (datetime.now(UTC) + timedelta(**delta)).isoformat()
