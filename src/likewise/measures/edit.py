"""Edit distances of strings, by RapidFuzz (bit-parallel; Hyyrö 2004). No other module imports it."""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from likewise.errors import missing_part
from likewise.measures.checks import same_size


def edit(a: list[str], b: list[str]) -> NDArray[np.int64]:
    """The minimum number of inserted and deleted code points between the i-th strings of two batches: |a| + |b| - 2 |LCS|. int64[n]

    Raises MissingPartError without RapidFuzz.
    """
    return distances("Indel", a, b)


def levenshtein(a: list[str], b: list[str]) -> NDArray[np.int64]:
    """The minimum number of inserted, deleted and substituted code points between the i-th strings of two batches. int64[n]

    Raises MissingPartError without RapidFuzz.
    """
    return distances("Levenshtein", a, b)


def distances(name: str, a: list[str], b: list[str]) -> NDArray[np.int64]:
    """The distances of RapidFuzz's module of this name: int64[n]."""
    same_size(len(a), len(b))
    if not a:
        return np.empty(0, np.int64)
    rapidfuzz = library()
    scorer = getattr(rapidfuzz.distance, name).distance
    values: NDArray[np.int64] = rapidfuzz.process.cpdist(a, b, scorer=scorer, dtype=np.int64).view(np.int64)  # RapidFuzz's type is long long
    return values


def library() -> ModuleType:
    """The RapidFuzz module. Raises MissingPartError if it is not installed."""
    try:
        import rapidfuzz.distance
        import rapidfuzz.process
    except ImportError as error:
        raise missing_part("edit distances are computed with", "RapidFuzz", "rapidfuzz") from error
    return rapidfuzz
