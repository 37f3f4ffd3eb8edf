import numpy as np
import pytest

from pincite.embedding.vectors import unit, usable

ROWS = [[3.0, 4.0], [0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], [1e-30, 0.0], [1e30, 1e30]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_only_rows_with_a_direction_are_usable(dtype: type) -> None:
    assert usable(np.array(ROWS, dtype=dtype)).tolist() == [True, False, False, False, True, True]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_come_to_unit_length_and_the_others_to_nan(dtype: type) -> None:
    rows = unit(np.array(ROWS, dtype=dtype))
    assert rows.dtype == np.float32
    assert np.allclose(rows[0], [0.6, 0.8])
    assert np.allclose(rows[[4, 5]], [[1, 0], [0.5**0.5, 0.5**0.5]])
    assert np.isnan(rows[1:4]).all()


def test_no_rows_are_no_trouble() -> None:
    assert unit(np.empty((0, 3))).shape == (0, 3)
    assert usable(np.empty((0, 3))).shape == (0,)
