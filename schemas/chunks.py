"""Chunks of documents, before they are embedded."""

import pyarrow as pa

from pincite.schemas.contract import Contract, Field
from pincite.schemas.owner import OWNER

CHUNKS = Contract(
    name="chunks",
    version=3,
    key=("evidence_key",),
    fields=(
        Field("evidence_key", pa.string(), "<doc_id>#chunk-<chunk_index>"),
        Field("doc_id", pa.string(), "document the chunk belongs to"),
        Field("doc_version", pa.int64(), "version of the document, 0 until it is journalled"),
        Field("chunk_index", pa.int64(), "position in the document, from 0, without gaps"),
        Field("kb_scope", pa.string(), "isolation label, '' = none"),
        Field("category", pa.string(), "coarse label, '' = none"),
        Field("source", pa.string(), "location a person knows"),
        Field("title", pa.string(), "document title"),
        Field("heading", pa.string(), "heading path above the chunk's start, ' > ' between levels"),
        Field("content", pa.large_string(), "kept_text[char_start:char_end]"),
        Field("content_sha256", pa.string(), "hex SHA-256 of content's UTF-8 bytes"),
        Field("terms", pa.large_string(), "analysed words of title, heading and content"),
        Field("char_start", pa.int64(), "first character (Unicode code points) in the kept text"),
        Field("char_end", pa.int64(), "one past the last character"),
        Field("tokens", pa.int64(), "tokens by the embedder's tokenizer"),
        Field("metadata", pa.string(), "JSON object that travels with the row"),
        *OWNER,
    ),
)
