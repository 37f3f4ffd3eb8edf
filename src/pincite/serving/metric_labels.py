"""The values that labels of metrics may have; everything else is ``other``.

A label with an id, a query or any word from outside would make a series of its own each time, and
show on a page that anybody with the monitoring may read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pincite.catalog import documents, items
from pincite.errors import PinciteError
from pincite.figures.asked import STAGES as STAGES
from pincite.figures.figures import EVIDENCE as EVIDENCE
from pincite.scopes import CORPORA as CORPORA

OTHER = "other"
ITEM_STATES = (items.PENDING, items.INDEXED, items.FAILED)
DOCUMENT_STATES = (documents.INDEXED, documents.EMPTY, documents.FAILED)


def _error_codes(kind: type[PinciteError] = PinciteError) -> Iterator[str]:
    yield kind.code
    for below in kind.__subclasses__():
        yield from _error_codes(below)


FAILURES = frozenset(_error_codes())
# Codes that a lookup writes down, beside those of the errors that it went on after.
DEGRADATIONS = frozenset(code.lower() for code in FAILURES) | {
    "adjust_failed",
    "cache_failed",
    "hybrid_unsupported",
    "l0_empty",
    "l0_unavailable",
    "legacy_failed",
    "lexical_unsupported",
    "lookup_not_recorded",
    "rag_disabled",
    "rerank_failed",
    "rerank_index_out_of_range",
    "rerank_index_repeated",
    "rerank_malformed",
    "rerank_no_candidates",
    "rerank_not_finite",
    "rerank_refused",
    "rerank_timeout",
    "rerank_too_few",
    "rerank_too_many",
    "rerank_unreachable",
    "tokens_estimated",
}


def known(value: str, among: Collection[str]) -> str:
    """The value where it is one of these."""
    return value if value in among else OTHER
