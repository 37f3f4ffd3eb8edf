"""Whose a document is, how sensitive, and until when: columns of documents, chunks and rows.

Documents of files belong to nobody in particular and never expire: all their values are those of
``NOBODY``.
"""

from typing import Any

import pyarrow as pa

from pincite.schemas.contract import Field

OWNER = (
    Field("user_id", pa.string(), "memory: whose, '' = nobody's"),
    Field("assistant_id", pa.string(), "memory: of which assistant, '' = none"),
    Field("conversation_id", pa.string(), "memory: of which conversation, '' = none"),
    Field("session_id", pa.string(), "web: of which session, '' = none"),
    Field("query_id", pa.string(), "web: of which search, '' = none"),
    Field("sensitivity_level", pa.int64(), "memory: the higher the more sensitive, from 0"),
    Field("expires_at", pa.int64(), "epoch ms, UTC, from which it is gone; 0 = never"),
)
NOBODY: dict[str, Any] = {
    field.name: "" if pa.types.is_string(field.type) else 0 for field in OWNER
}
