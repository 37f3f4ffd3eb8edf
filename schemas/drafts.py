"""Document versions that are being written: what the journal gave and the stamp needs."""

import pyarrow as pa

from pincite.schemas.contract import Contract, Field

DRAFTS = Contract(
    name="drafts",
    version=1,
    key=("doc_id",),
    fields=(
        Field("doc_id", pa.string(), "document"),
        Field("doc_version", pa.int64(), "new version number, above every earlier one"),
        Field("previous_version", pa.int64(), "version that the generation holds, 0 = none"),
        Field("fingerprint", pa.string(), "covers body, kept metadata and recipe"),
        Field("text_digest", pa.string(), "hex SHA-256 of the kept text"),
        Field("kb_scope", pa.string(), "isolation label, '' = none"),
        Field("source_name", pa.string(), "name of the synced root, '' = none"),
        Field("source", pa.string(), "location a person knows"),
        Field("record", pa.string(), "document metadata as canonical JSON"),
    ),
)
