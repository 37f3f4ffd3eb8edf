"""What went wrong or was odd, per document."""

import pyarrow as pa

from pincite.errors import PinciteError
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


def failure(doc_id: str, source: str, error: PinciteError) -> dict[str, str]:
    """The row of a document that fails with ``error``."""
    return _row(FAILURE, doc_id, source, error.code, f"{error.message} {error.next_step}")


def warning(doc_id: str, source: str, code: str, message: str) -> dict[str, str]:
    """The row of something odd that did not stop the document."""
    return _row(WARNING, doc_id, source, code, message)


def _row(severity: str, doc_id: str, source: str, code: str, message: str) -> dict[str, str]:
    return {
        "severity": severity,
        "doc_id": doc_id,
        "source": source,
        "code": code,
        "message": message,
    }
