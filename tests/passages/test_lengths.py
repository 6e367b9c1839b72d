"""Lengths of common runs by hashes, against comparing token by token."""

from __future__ import annotations

import numpy as np
import pytest

from compiled import alone
from likewise.kernels import lengths

SUMS, AFTER, BEFORE, TIMES = (alone(function) for function in (lengths.sums, lengths.after, lengths.before, lengths.times))


def test_products_are_those_of_python() -> None:
    prime = int(lengths.PRIME)
    some = [0, 1, 2, 2**30, 2**31 - 1, 2**31, 2**60 + 12345, prime - 2, prime - 1, int(lengths.BASE)]
    assert [int(TIMES(np.uint64(x), np.uint64(y))) for x in some for y in some] == [x * y % prime for x in some for y in some]


@pytest.mark.parametrize("period", [1, 3, 32, 100])
def test_lengths_are_those_of_a_comparison(period: int) -> None:
    rng = np.random.default_rng(period)
    unit = rng.integers(0, 2**64, period, dtype=np.uint64)
    a, b = np.tile(unit, 1000 // period), np.tile(unit, 700 // period)
    a[[333, 800]] += np.uint64(1)
    b[500] += np.uint64(1)
    of_a, of_b = SUMS(a), SUMS(b)
    for x, y in zip(rng.integers(0, len(a) + 1, 300).tolist(), rng.integers(0, len(b) + 1, 300).tolist(), strict=True):
        on = next((i for i in range(min(len(a) - x, len(b) - y)) if a[x + i] != b[y + i]), min(len(a) - x, len(b) - y))
        back = next((i for i in range(min(x, y)) if a[x - 1 - i] != b[y - 1 - i]), min(x, y))
        assert (AFTER(a, b, x, y, of_a, of_b), BEFORE(a, b, x, y, of_a, of_b)) == (on, back)
