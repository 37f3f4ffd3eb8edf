"""What of a document's metadata travels with each row of the store."""

from __future__ import annotations

import json

LABEL_BYTES = 1_000
ROW_METADATA_BYTES = 8_000


def shortened(text: str, limit: int) -> str:
    """The text cut to at most ``limit`` UTF-8 bytes, with an ellipsis where it was cut."""
    data = text.encode("utf-8")
    if len(data) <= limit:
        return text
    return data[: limit - 3].decode("utf-8", "ignore") + "…"


def row_metadata(metadata: str) -> tuple[str, tuple[str, ...]]:
    """The metadata that fits a row, and the keys that stay in the catalogue only.

    Stores bound a JSON value (65,536 bytes in Milvus) and every chunk repeats it, so the largest
    values go first once all together exceed ``ROW_METADATA_BYTES``.
    """
    if len(metadata.encode("utf-8")) <= ROW_METADATA_BYTES:
        return metadata, ()
    values = json.loads(metadata)
    by_size = sorted(values, key=lambda key: (len(_dump(values[key]).encode()), key))
    kept: dict[str, object] = {}
    for key in by_size:
        if len(_dump({**kept, key: values[key]}).encode()) > ROW_METADATA_BYTES:
            break
        kept[key] = values[key]
    return _dump(kept), tuple(key for key in by_size if key not in kept)


def _dump(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
