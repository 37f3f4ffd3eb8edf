"""Reads the answer of an embeddings endpoint, believing none of it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.embedding.port import Vectors
from pincite.embedding.vectors import unit
from pincite.errors import EmbeddingInvalid


def read_vectors(body: bytes, count: int, dim: int) -> Vectors:
    """``(count, dim) float32`` of unit length, ordered by ``index``.

    A vector that is zero or not finite comes back as a row of NaN.

    Raises:
        EmbeddingInvalid: The body is no such answer, an index is missing or there twice, or a
            vector has another length.
    """
    items = _items(body)
    if len(items) != count:
        raise EmbeddingInvalid(
            f"The embedding endpoint returns {len(items)} vectors for {count} texts."
        )
    rows = _array(_ordered(items))
    if rows.shape != (count, dim):
        raise EmbeddingInvalid(
            f"The embedding endpoint returns vectors of {rows.shape[-1]} values, not {dim}.",
            "Set [embedder] dim to what the model returns, and rebuild the corpus.",
            expected=dim,
        )
    return unit(rows)


def _items(body: bytes) -> list[Any]:
    try:
        data = json.loads(body)["data"]
    except (ValueError, KeyError, TypeError) as exc:
        raise EmbeddingInvalid("The embedding endpoint answers without a list 'data'.") from exc
    if not isinstance(data, list):
        raise EmbeddingInvalid("The embedding endpoint answers without a list 'data'.")
    return data


def _ordered(items: list[Any]) -> list[Any]:
    try:
        by_index = {item["index"]: item["embedding"] for item in items}
        return [by_index[index] for index in range(len(items))]
    except (KeyError, TypeError) as exc:
        raise EmbeddingInvalid(
            "The embedding endpoint does not return each index exactly once."
        ) from exc


def _array(rows: list[Any]) -> npt.NDArray[np.float64]:
    try:
        array = np.array(rows, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as exc:
        raise EmbeddingInvalid(
            "The embedding endpoint returns vectors of differing lengths, or no numbers."
        ) from exc
    if array.ndim != 2:
        raise EmbeddingInvalid("The embedding endpoint returns values that are no vectors.")
    return array
