"""What the catalogue holds, as gauges that are read when somebody looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from prometheus_client.core import GaugeMetricFamily

from pincite.catalog.catalog import Catalog
from pincite.serving.latest import Latest
from pincite.serving.metric_labels import CORPORA, DOCUMENT_STATES, ITEM_STATES, known

TTL_S = 5.0
PATIENCE_S = 1.0

States = Mapping[str, Mapping[str, int]]
"""How many by state, of each corpus."""


@dataclass(frozen=True)
class Held:
    """What the catalogue holds."""

    items: States
    documents: States


def held_by(catalog: Catalog) -> Held:
    """Items, and documents of the live generations.

    Raises:
        CatalogUnreachable: The database does not answer.
    """
    return Held(
        {
            name: _known(catalog.items[name].counts(), ITEM_STATES)
            for name in CORPORA
            if name in catalog.items
        },
        {
            name: _known(catalog.documents.count_states(name, live.number), DOCUMENT_STATES)
            for name in CORPORA
            if (live := catalog.generations.live(name))
        },
    )


def _known(counts: Mapping[str, int], states: Sequence[str]) -> dict[str, int]:
    """Every state has its number, so that a series does not come and go."""
    found = Counter(dict.fromkeys(states, 0))
    for state, number in counts.items():
        if state != "chunks":
            found[known(state, states)] += number
    return found


class CatalogGauges:
    """A collector; what the catalogue does not tell in time is left out of the page."""

    def __init__(self, catalog: Catalog, clock: Callable[[], float] = monotonic) -> None:
        self._held = Latest(lambda: held_by(catalog), TTL_S, PATIENCE_S, clock)

    def describe(self) -> list[GaugeMetricFamily]:
        """The metrics without values, so that none is registered twice."""
        return [*_families(Held({}, {}))]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The metrics with their values."""
        held = self._held.get()
        if held is not None:
            yield from _families(held)


def _families(held: Held) -> Iterator[GaugeMetricFamily]:
    for name, what, counts in (
        ("pincite_items", "Items of a corpus by state.", held.items),
        ("pincite_documents", "Documents of a live generation by state.", held.documents),
    ):
        family = GaugeMetricFamily(name, what, labels=("corpus", "state"))
        for corpus, states in counts.items():
            for state, number in states.items():
                family.add_metric((corpus, state), number)
        yield family
