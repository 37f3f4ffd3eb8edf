"""What each kind of store can do, as data."""

from __future__ import annotations

import re
from dataclasses import replace

from pincite.store.port import Capabilities

LITE_MARK = "milvus_lite"
MAX_LIMIT = 16_384

MEMORY = Capabilities(full_text=True, max_limit=MAX_LIMIT)

# The same without full text, as on an old server.
MEMORY_DENSE = replace(MEMORY, full_text=False)

# What a server of any version can do, measured on 2.3.5; also assumed until the version is known.
SERVER = MEMORY_DENSE

# Milvus 2.5 brought BM25 functions.
SERVER_2_5 = replace(SERVER, full_text=True, tokenizer="whitespace")

LITE = replace(
    MEMORY,
    tokenizer="standard",
    segment_scores=True,
    nested_index_params=True,
    query_in_key_order=False,
    vector_index="FLAT",
    scalar_index="INVERTED",
)


def capabilities_of(version: str) -> Capabilities:
    """Capabilities by what the store says its version is, such as ``v2.3.5`` or ``milvus_lite-3``.

    A version that cannot be read counts as the oldest server.
    """
    if LITE_MARK in version:
        return LITE
    found = re.search(r"(\d+)\.(\d+)", version)
    number = (int(found[1]), int(found[2])) if found else (0, 0)
    return SERVER_2_5 if number >= (2, 5) else SERVER
