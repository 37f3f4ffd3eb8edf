"""Who is told of the lookups of a process."""

from __future__ import annotations

from typing import Protocol

from pincite.catalog.lookup_lines import LookupLine


class Observer(Protocol):
    """Is told of every lookup of this process; what it raises must be nothing."""

    def answered(self, line: LookupLine) -> None: ...

    def failed(self, corpus: str, code: str, latency_ms: int) -> None: ...
