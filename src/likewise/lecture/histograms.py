"""Random histograms of sets of features, and their two ways to match (Dong, Wang, Charikar and Li 2008)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from likewise.errors import UsageError


def histogram(features: Iterable[Any], functions: Sequence[Callable[[Any], int]]) -> list[int]:
    """How many features fall on each of the 2^B codes of B one-bit functions, the first function as the highest bit.

    Raises UsageError for a function with a value other than 0 and 1.

    >>> histogram([1, 2, 3, 5, 7, 8], [lambda x: int(x > 4), lambda x: x % 2])
    [1, 2, 1, 2]
    """
    counts = [0] * 2 ** len(functions)
    for feature in features:
        bits = [function(feature) for function in functions]
        if not set(bits) <= {0, 1}:
            raise UsageError(f"a one-bit function gave {max(bits)}; give functions with the values 0 and 1")
        counts[int("".join(map(str, map(int, bits))) or "0", 2)] += 1
    return counts


def bins(x: Sequence[int], y: Sequence[int]) -> list[tuple[int, int]]:
    """The counts of both histograms, bin by bin. Raises UsageError for different numbers of bins."""
    if len(x) != len(y):
        raise UsageError(f"histograms of {len(x)} and {len(y)} bins; give histograms by the same functions")
    return list(zip(x, y, strict=True))


def one_to_one(x: Sequence[int], y: Sequence[int]) -> int:
    """The sum of the smaller counts: each feature is matched once.

    >>> one_to_one([2, 4, 2, 3], [1, 2, 2, 2])
    7
    """
    return sum(min(a, b) for a, b in bins(x, y))


def one_to_many(x: Sequence[int], y: Sequence[int]) -> int:
    """The sum of the products of counts: a feature matches all those with its code.

    >>> one_to_many([2, 4, 2, 3], [1, 2, 2, 2])
    20
    """
    return sum(a * b for a, b in bins(x, y))
