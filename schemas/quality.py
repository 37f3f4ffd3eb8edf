"""What the identity gate found, per rule."""

import pyarrow as pa

from pincite.schemas.contract import Contract, Field

QUALITY = Contract(
    name="quality",
    version=1,
    key=("rule",),
    fields=(
        Field("rule", pa.string(), "name of the rule"),
        Field("rows", pa.int64(), "rows it was asked about"),
        Field("failed", pa.int64(), "rows that broke it"),
    ),
)
