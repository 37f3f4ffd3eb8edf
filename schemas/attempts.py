"""Documents that a step tried to bring in: what the record of a failure needs."""

import pyarrow as pa

from pincite.schemas.contract import Contract, Field

ATTEMPTS = Contract(
    name="attempts",
    version=1,
    key=("doc_id",),
    fields=(
        Field("doc_id", pa.string(), "document"),
        Field("kb_scope", pa.string(), "isolation label, '' = none"),
        Field("source_name", pa.string(), "name of the synced root, '' = none"),
        Field("journalled", pa.bool_(), "its journal row is open"),
    ),
)
