"""Small operations on arrays of vectors that every adapter shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.embedding.port import Vectors


def norms(rows: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """Euclidean length of each row, ``(n,) float64``; NaN where a row holds one."""
    wide = rows.astype(np.float64, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", wide, wide)))


def usable(rows: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.bool_]:
    """``(n,) bool``: which rows are finite and not zero."""
    lengths = norms(rows)
    return np.isfinite(lengths) & (lengths > 0)


def unit(rows: npt.NDArray[np.floating[Any]]) -> Vectors:
    """The rows at length 1 as ``(n, dim) float32``; a row that has no direction becomes NaN."""
    lengths = norms(rows)
    good = np.isfinite(lengths) & (lengths > 0)
    scaled = rows / np.where(good, lengths, 1.0)[:, None]
    scaled[~good] = np.nan
    return np.ascontiguousarray(scaled, dtype=np.float32)
