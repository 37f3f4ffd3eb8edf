"""Memory items as clients send them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

OWNER = {"user_id": "u-1", "assistant_id": "a-1", "conversation_id": "c-1"}


def item(text: str, **fields: Any) -> dict[str, Any]:
    """An item of ``OWNER``, unless the fields say otherwise."""
    return {**OWNER, "text": text, **fields}


def let_expire(home: Path, *item_ids: str) -> None:
    """Say in the catalogue of a home that the time of these items is over."""
    with closing(sqlite3.connect(home / "catalog.sqlite")) as raw, raw:
        for item_id in item_ids:
            raw.execute("UPDATE memory_items SET expires_at = 1 WHERE item_id = ?", (item_id,))


def from_now(**delta: float) -> str:
    """A time so far from now, as ISO 8601 with its zone."""
    return (datetime.now(UTC) + timedelta(**delta)).isoformat()
