"""Candidates that fell out of a lookup, with the reason."""

import pyarrow as pa

from pincite.schemas.contract import Contract, Field

DROPPED = Contract(
    name="dropped",
    version=2,
    key=(),
    fields=(
        Field("evidence_key", pa.string(), "the candidate's key"),
        Field("corpus", pa.string(), "corpus that was searched"),
        Field("source", pa.string(), "location a person knows"),
        Field("reason", pa.string(), "below_threshold, duplicate, document_cap, return_n, ..."),
        Field("score", pa.float64(), "the score that sorted it", True),
    ),
)
