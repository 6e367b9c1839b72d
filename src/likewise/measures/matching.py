"""Similarity of two histograms without pairing their features: one-to-one, one-to-many, and corrected for chance.

Dong, Wang, Charikar and Li 2008.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.given import refuse_masked
from likewise.items.sets import read_only
from likewise.kernels.matching import match_all, match_rows

#: Histograms [n, bins], or words of 64 bins of one bit each.
TYPES = ("uint8", "uint16", "uint64", "float32", "float64")
#: Relative variance below which all bins of a histogram are equal, up to rounding.
ROUNDING = 1e-12
#: Rows of the left side that a task processes.
ROWS_AT_ONCE = 64

Table = NDArray[Any]
Run = Callable[..., Any]


def one_to_one(a: Table, b: Table) -> Any:
    """Σ min(a_i, b_i): the number of features that the best one-to-one pairing could match (Dong, Wang, Charikar and Li 2008).

    a, b: histograms of one type, uint8, uint16, float32 or float64[n, bins], or bits, uint64[n, words], as `families.compact.occupied` makes them.
    One row each gives a number; rows give [n], the i-th with the i-th, or one with each: int64, and float64 for floats. Raises UsageError for
    histograms that do not match.

    >>> a, b = np.array([2, 4, 2, 3], np.uint8), np.array([1, 2, 2, 2], np.uint8)
    >>> one_to_one(a, b), one_to_many(a, b)
    (7, 20)
    """
    return row_by_row(a, b, False)


def one_to_many(a: Table, b: Table) -> Any:
    """Σ a_i b_i: the number of pairs of features that match, each with each. Parameters and result are those of `one_to_one`.

    For bits both sums are the number of bins that two sets share.
    """
    return row_by_row(a, b, True)


def correlation(a: Table, b: Table, bins: int | None = None) -> Any:
    """Pearson's correlation of the bins, one-to-many matches corrected for those by chance: float64, -1 to 1; 0 if all bins of a histogram are equal.

    Counts of dissimilar sets match by chance, the more the larger the sets are; with the correction, histograms of sets of different sizes rank far
    better. bins: the number of bins of bits, if it is not a multiple of 64.
    """
    left, right = checked(a, b)
    products = np.asarray(row_by_row(left, right, True), float)
    (mine, my_squares), (yours, your_squares) = map(moments, (left, right))
    value = corrected(products, mine, my_squares, yours, your_squares, bins_of(left, bins))
    return float(value[0]) if np.ndim(a) == np.ndim(b) == 1 else value


def every(function: Callable[..., Any], a: Table, b: Table, *, bins: int | None = None, run: Run = map) -> Table:
    """A measure of this module for each histogram of ``a`` with each of ``b``: [n, m], in blocks that stay in the cache.

    ``run`` maps over blocks of rows, on threads as well: ``ThreadPoolExecutor(2).map``. Raises UsageError for another function.
    """
    if function not in (one_to_one, one_to_many, correlation):
        raise UsageError(f"every({function!r:.60}): give one_to_one, one_to_many or correlation")
    left, right = checked(np.atleast_2d(a), np.atleast_2d(b))
    out = np.empty((len(left), len(right)), np.int64 if left.dtype.kind == "u" else float)
    rows = range(0, len(left), ROWS_AT_ONCE)
    product = function is not one_to_one
    list(run(lambda begin: match_all(left, right, product, begin, min(begin + ROWS_AT_ONCE, len(left)), out), rows))
    if function is not correlation:
        return out
    (mine, my_squares), (yours, your_squares) = map(moments, (left, right))
    return corrected(out, mine[:, None], my_squares[:, None], yours, your_squares, bins_of(left, bins))


def row_by_row(a: Table, b: Table, product: bool) -> Any:
    """Sums of products, or of minima, of the i-th rows. Raises UsageError for unequal numbers of rows."""
    left, right = checked(a, b)
    if 1 not in (len(left), len(right)) and len(left) != len(right):
        raise UsageError(f"{len(left)} histograms cannot be compared with {len(right)} row by row; `every` compares each with each")
    many = min(len(left), len(right)) and max(len(left), len(right))
    out = np.empty(many, np.int64 if left.dtype.kind == "u" else float)
    match_rows(left, right, product, out)
    return out[0].item() if np.ndim(a) == np.ndim(b) == 1 else out


def moments(table: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sum over the bins of each row, and the sum of squares."""
    if table.dtype == np.uint64:
        filled = np.bitwise_count(table).sum(axis=1, dtype=float)
        return filled, filled
    return table.sum(axis=1, dtype=float), np.asarray(row_by_row(table, table, True), float)


def bins_of(table: Table, bins: int | None) -> int:
    """The number of bins of a table."""
    return bins if bins is not None else table.shape[1] * (64 if table.dtype == np.uint64 else 1)


def corrected(products: Any, mine: Any, my_squares: Any, yours: Any, your_squares: Any, bins: int) -> Any:
    """Pearson's correlation from sums, sums of squares and sums of products."""
    above = products - mine * yours / bins
    spreads = (squares - total * total / bins for total, squares in ((mine, my_squares), (yours, your_squares)))
    below = [np.where(spread > ROUNDING * squares, spread, 0) for spread, squares in zip(spreads, (my_squares, your_squares), strict=True)]
    both = np.sqrt(below[0] * below[1])
    return np.divide(above, both, out=np.zeros_like(above), where=both > 0)


def checked(a: Any, b: Any) -> tuple[Table, Table]:
    """Two tables as rows of one type and width. Raises UsageError for anything else."""
    for side, name in ((a, "left"), (b, "right")):
        if not isinstance(side, np.ndarray) or side.dtype.name not in TYPES or side.ndim not in (1, 2):
            kind = f"{side.dtype} of shape {side.shape}" if isinstance(side, np.ndarray) else type(side).__name__
            raise UsageError(f"histograms must be an array of {', '.join(TYPES)}, one row per set; got {kind} on the {name}")
        refuse_masked(side, f"histograms on the {name}")
    if a.dtype != b.dtype or a.shape[-1] != b.shape[-1]:
        sides = f"{a.dtype} with {a.shape[-1]} columns on the left and {b.dtype} with {b.shape[-1]} on the right"
        raise UsageError(f"histograms of {sides} cannot be compared; use histograms of the same family")
    left, right = (read_only(np.ascontiguousarray(np.atleast_2d(side))) for side in (a, b))
    return left, right
