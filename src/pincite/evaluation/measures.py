"""Measures of a ranking as trec_eval computes them, through ``ir-measures``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ir_measures
from ir_measures import RR, Measure, P, Qrel, R, ScoredDoc, nDCG

Grades = Mapping[str, int]
Values = dict[str, float]


def standard(k: int) -> dict[str, Measure]:
    """The measures of a report, by the name under which they are shown."""
    return {
        f"recall@{k}": R @ k,
        f"precision@{k}": P @ k,
        f"mrr@{k}": RR @ k,
        f"ndcg@{k}": nDCG @ k,
    }


def per_query(
    relevant: Sequence[Grades], ranked: Sequence[Sequence[str]], measures: Mapping[str, Measure]
) -> list[Values]:
    """For each query the value of each measure.

    Args:
        relevant: For each query its relevant documents with their grades; at least one each.
        ranked: For each query the documents found, best first, each once.
        measures: By the name of the value.
    """
    judged = [Qrel(str(at), *one) for at, grades in enumerate(relevant) for one in grades.items()]
    # trec_eval sorts by score and breaks ties by name: a score of its own for each rank.
    run = [
        ScoredDoc(str(at), document, float(-rank))
        for at, documents in enumerate(ranked)
        for rank, document in enumerate(documents)
    ]
    names = {measure: name for name, measure in measures.items()}
    # A query without a single hit is in no run, and is worth nothing.
    values = [dict.fromkeys(measures, 0.0) for _ in relevant]
    for found in ir_measures.iter_calc(list(names), judged, run):
        values[int(found.query_id)][names[found.measure]] = float(found.value)
    return values
