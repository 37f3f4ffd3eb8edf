"""The figures of one corpus or of all, read from the catalogue."""

from __future__ import annotations

from collections.abc import Sequence

from pincite.catalog.catalog import Catalog
from pincite.catalog.items import FAILED, INDEXED, PENDING
from pincite.figures.asked import Asked, asked_of
from pincite.figures.figures import Figures, figures_from

ITEM_STATES = (PENDING, INDEXED, FAILED)


def figures_of(catalog: Catalog, corpus: str, since: int = 0) -> Figures:
    """The figures of a corpus over the kept lookups, from ``since`` (epoch ms) on.

    Raises:
        CatalogUnreachable: The database does not answer.
    """
    return all_figures(catalog, [corpus], since)[corpus]


def all_figures(catalog: Catalog, corpora: Sequence[str], since: int = 0) -> dict[str, Figures]:
    """The figures of several corpora, by name; the log is read once.

    Raises:
        CatalogUnreachable: The database does not answer.
    """
    asked: dict[str, list[Asked]] = {name: [] for name in corpora}
    for facts in catalog.lookup_facts(corpora, since):
        for name in asked.keys() & facts.corpora:
            asked[name].append(asked_of(facts, name))
    return {
        name: figures_from(name, mine, since, items_of(catalog, name))
        for name, mine in asked.items()
    }


def items_of(catalog: Catalog, corpus: str) -> dict[str, int]:
    """Items of a corpus by state, every state of them; none for a corpus without items."""
    if corpus not in catalog.items:
        return {}
    return dict.fromkeys(ITEM_STATES, 0) | catalog.items[corpus].counts()


def corpora_with_figures(catalog: Catalog) -> list[str]:
    """Names of all corpora that have a generation or an item, sorted."""
    with_items = {name for name, items in catalog.items.items() if items.counts()}
    return sorted(with_items.union(catalog.generations.corpora()))
