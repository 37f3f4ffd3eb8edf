"""The receipt: what a pipeline run did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pincite.errors import IdentityConflict, PinciteError
from pincite.schemas import outcomes
from pincite.schemas.notices import FAILURE, WARNING
from pincite.writing.pipeline import Written
from pincite.writing.tables import rows_of

_READ = (
    outcomes.ADDED,
    outcomes.UPDATED,
    outcomes.UNCHANGED,
    outcomes.EMPTY,
    outcomes.FAILED,
)


@dataclass(frozen=True)
class Receipt:
    """Counts, failures with codes, duration. ``error`` is what ended the run after its writes."""

    run_id: str
    corpus: str
    kb_scope: str
    documents: dict[str, int]
    chunks: dict[str, int]
    embeddings: dict[str, int]
    failures: tuple[dict[str, str], ...]
    warnings: tuple[dict[str, str], ...]
    quality: tuple[dict[str, Any], ...]
    duration_ms: int
    flow_run_id: str | None = None
    error: PinciteError | None = None

    @property
    def ok(self) -> bool:
        return not self.failures and self.error is None

    def as_dict(self) -> dict[str, Any]:
        """The JSON contract of a receipt; ``error`` only where one ended the run."""
        shown: dict[str, Any] = {
            "run_id": self.run_id,
            "flow_run_id": self.flow_run_id,
            "corpus": self.corpus,
            "kb_scope": self.kb_scope,
            "documents": self.documents,
            "chunks": self.chunks,
            "embeddings": self.embeddings,
            "failures": list(self.failures),
            "warnings": list(self.warnings),
            "duration_ms": self.duration_ms,
            "quality": list(self.quality),
        }
        if self.error is not None:
            shown["error"] = self.error.as_dict()
        return shown

    @classmethod
    def from_dict(cls, shown: dict[str, Any], error: PinciteError | None = None) -> Receipt:
        """The receipt that ``as_dict`` showed."""
        values = {name: value for name, value in shown.items() if name != "error"}
        for name in ("failures", "warnings", "quality"):
            values[name] = tuple(values[name])
        return cls(**values, error=error)


@dataclass
class Tally:
    """Adds up what the steps of a run report."""

    documents: Counter[str] = field(default_factory=Counter)
    chunks: Counter[str] = field(default_factory=Counter)
    embeddings: Counter[str] = field(default_factory=Counter)
    quality: dict[str, Counter[str]] = field(default_factory=dict)
    # By their content: batches may tell one thing about the whole run again and again.
    notices: dict[tuple[str, ...], dict[str, str]] = field(default_factory=dict)
    error: PinciteError | None = None

    def add_outcomes(self, table: pa.Table, *, counted: bool = True) -> None:
        """Count documents and chunks; ``counted=False`` leaves documents out of the counts."""
        for row in rows_of(table):
            if counted:
                self.documents[row["outcome"]] += 1
            for name in ("written", "unchanged", "deleted"):
                self.chunks[name] += row[name]

    def add_notices(self, table: pa.Table) -> None:
        """Keep the notices; a conflict of identities ends the run once it has written the rest."""
        rows = rows_of(table)
        self.notices.update((tuple(row.values()), row) for row in rows)
        conflicts = [row for row in rows if row["code"] == IdentityConflict.code]
        if conflicts and self.error is None:
            self.error = IdentityConflict(
                f"{len(conflicts)} files give an identity that is taken: {conflicts[0]['message']}",
                "See the failures for all of them.",
            )

    def add_failed(self, table: pa.Table) -> None:
        """Notices of documents that fail before anything is asked of the generation."""
        self.add_notices(table)
        self.documents[outcomes.FAILED] += table.num_rows

    def add(self, written: Written, *, counted: bool = True) -> None:
        """Add a batch of the write pipeline."""
        for table in written.outcomes:
            self.add_outcomes(table, counted=counted)
        for table in written.notices:
            self.add_notices(table)
        self.chunks["quarantined"] += written.checks.quarantined
        self.embeddings.update(written.checks.cost._asdict())
        for row in rows_of(written.checks.quality):
            found = self.quality.setdefault(row["rule"], Counter())
            found["rows"] += row["rows"]
            found["failed"] += row["failed"]

    def receipt(self, run_id: str, corpus: str, kb_scope: str, duration_ms: int) -> Receipt:
        """The receipt of everything added so far."""
        documents = {name: self.documents[name] for name in _READ}
        seen = sum(documents.values())
        order = (*_READ, "deleted", "skipped", "expired")
        return Receipt(
            run_id=run_id,
            corpus=corpus,
            kb_scope=kb_scope,
            documents={"seen": seen, **{name: self.documents[name] for name in order}},
            chunks={n: self.chunks[n] for n in ("written", "unchanged", "deleted", "quarantined")},
            embeddings={n: self.embeddings[n] for n in ("computed", "cached", "tokens")},
            failures=self._entries(FAILURE),
            warnings=self._entries(WARNING),
            quality=tuple({"rule": rule, **found} for rule, found in self.quality.items()),
            duration_ms=duration_ms,
            error=self.error,
        )

    def _entries(self, severity: str) -> tuple[dict[str, str], ...]:
        names = ("doc_id", "source", "code", "message")
        return tuple(
            {name: row[name] for name in names}
            for row in self.notices.values()
            if row["severity"] == severity
        )
