"""Edit distances of strings, by RapidFuzz (bit-parallel; Hyyrö 2004). The one module that imports it."""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from likewise.errors import missing_part
from likewise.measures.checks import same_size


def edit(a: list[str], b: list[str]) -> NDArray[np.int64]:
    """The fewest inserted and deleted code points that make the i-th string of ``a`` the i-th of ``b``: |a| + |b| - 2 |LCS|. int64[n]"""
    return distances("Indel", a, b)


def levenshtein(a: list[str], b: list[str]) -> NDArray[np.int64]:
    """The same with substitutions, each counted as one. int64[n]"""
    return distances("Levenshtein", a, b)


def distances(name: str, a: list[str], b: list[str]) -> NDArray[np.int64]:
    same_size(len(a), len(b))
    if not a:
        return np.empty(0, np.int64)
    rapidfuzz = library()
    scorer = getattr(rapidfuzz.distance, name).distance
    values: NDArray[np.int64] = rapidfuzz.process.cpdist(a, b, scorer=scorer, dtype=np.int64).view(np.int64)  # which it calls long long
    return values


def library() -> ModuleType:
    """RapidFuzz. Raises MissingPartError where it is not installed."""
    try:
        import rapidfuzz.distance
        import rapidfuzz.process
    except ImportError as error:
        raise missing_part("edit distances are computed by", "RapidFuzz", "rapidfuzz") from error
    return rapidfuzz
