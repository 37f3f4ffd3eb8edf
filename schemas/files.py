"""Files that an ingest found, or parts of files that hold many documents."""

import pyarrow as pa

from pincite.schemas.contract import Contract, Field

FILES = Contract(
    name="files",
    version=2,
    key=("path", "start"),
    fields=(
        Field("path", pa.string(), "absolute path on this machine"),
        Field("source", pa.string(), "location a person knows: <source name>/<relative path>, NFC"),
        Field("source_name", pa.string(), "name of the synced root"),
        Field("kb_scope", pa.string(), "isolation label, '' = none"),
        Field("category", pa.string(), "category given by the caller, '' = take frontmatter's"),
        Field("start", pa.int64(), "first byte of the part of the file, 0 = from its beginning"),
        Field("size", pa.int64(), "bytes of the part"),
    ),
)
