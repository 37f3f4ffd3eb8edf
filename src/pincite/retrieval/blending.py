"""One ranking of several corpora."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa


def blend(tables: Sequence[pa.Table]) -> pa.Table:
    """The corpora's rankings (``schemas.candidates``) blended by rank.

    Their scores have no common scale: the first of each corpus come first, in the order in which
    the corpora were asked, then the second of each.
    """
    places = sorted(
        (rank, corpus) for corpus, table in enumerate(tables) for rank in range(len(table))
    )
    starts = [sum(len(table) for table in tables[:corpus]) for corpus in range(len(tables))]
    rows = [starts[corpus] + rank for rank, corpus in places]
    return pa.concat_tables(tables).take(pa.array(rows, pa.int64()))
