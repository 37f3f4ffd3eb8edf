"""What went wrong or was odd, per document."""

import pyarrow as pa

from pincite.schemas.contract import Contract, Field

WARNING = "warning"
FAILURE = "failure"

NOTICES = Contract(
    name="notices",
    version=1,
    key=("doc_id", "code", "message"),
    fields=(
        Field("severity", pa.string(), "'warning' or 'failure'"),
        Field("doc_id", pa.string(), "document concerned, '' where none could be named"),
        Field("source", pa.string(), "location a person knows"),
        Field("code", pa.string(), "stable code"),
        Field("message", pa.string(), "what happened and what to do next"),
    ),
)
