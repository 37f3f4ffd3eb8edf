"""Documents as read: kept text plus document-level metadata (L0)."""

import pyarrow as pa

from pincite.schemas.contract import Contract, Field
from pincite.schemas.owner import OWNER

DOCUMENTS = Contract(
    name="documents",
    version=2,
    key=("doc_id",),
    fields=(
        Field("doc_id", pa.string(), "unit of replacement, unique in its corpus"),
        Field("source", pa.string(), "location a person knows: <source name>/<path> or the URL"),
        Field("source_name", pa.string(), "name of the synced root, '' = none"),
        Field("kb_scope", pa.string(), "isolation label, '' = none"),
        Field("category", pa.string(), "coarse label, '' = none; only ever a search hint"),
        Field("title", pa.string(), "title, '' = none"),
        Field("summary", pa.string(), "summary, '' = none"),
        Field("keywords", pa.list_(pa.string()), "keywords, in order"),
        Field("tags", pa.list_(pa.string()), "tags, in order"),
        Field("aliases", pa.list_(pa.string()), "other names of the document, in order"),
        Field("metadata", pa.string(), "JSON object of the remaining kept metadata, sorted keys"),
        Field("text", pa.large_string(), "kept text: what chunks are cut from and cited against"),
        Field("text_digest", pa.string(), "hex SHA-256 of the kept text's UTF-8 bytes"),
        Field("raw_sha256", pa.string(), "hex SHA-256 of the bytes that were read"),
        Field("reader", pa.string(), "<reader name>/<version> that made the kept text"),
        *OWNER,
    ),
)
