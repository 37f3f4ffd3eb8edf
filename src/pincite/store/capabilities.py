"""What each kind of store can do, as data."""

from __future__ import annotations

import re
from dataclasses import replace

from pincite.store.port import Capabilities

LITE_MARK = "milvus_lite"
MAX_LIMIT = 16_384

MEMORY = Capabilities(
    full_text=True,
    nullable_fields=False,
    partial_update=False,
    filter_templates=False,
    grouping=False,
    varchar_unit="bytes",
    missing_json_key_passes_not_equal=True,
    consistency_levels=("Strong",),
    max_limit=MAX_LIMIT,
    last_duplicate_wins=True,
)

# The same without full text, as on an old server.
MEMORY_DENSE = replace(MEMORY, full_text=False)

# What a server of any version can do, measured on 2.3.5; also assumed until the version is known.
SERVER = replace(
    MEMORY_DENSE,
    consistency_levels=("Strong", "Session", "Bounded", "Eventually"),
    last_duplicate_wins=False,
)

# Milvus 2.5 brought BM25 functions, nullable fields and templates; 2.6 partial updates.
SERVER_2_5 = replace(
    SERVER,
    full_text=True,
    nullable_fields=True,
    filter_templates=True,
    grouping=True,
    tokenizer="whitespace",
)
SERVER_2_6 = replace(SERVER_2_5, partial_update=True)

LITE = replace(
    MEMORY,
    full_text=True,
    nullable_fields=True,
    partial_update=True,
    grouping=True,
    tokenizer="standard",
    segment_scores=True,
    nested_index_params=True,
    varchar_unit="characters",
    missing_json_key_passes_not_equal=False,
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
    if number >= (2, 6):
        return SERVER_2_6
    return SERVER_2_5 if number >= (2, 5) else SERVER
