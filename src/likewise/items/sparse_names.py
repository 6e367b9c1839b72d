"""The names of the parts of a sparse vector, and what is meant as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: What the parts of a sparse vector are called, where they are fields of one value or of the record itself. The last may be missing.
SPARSE = ("indices", "values", "dim")
#: Why vectors of two forms are refused.
MIXED = "{} among {}; give all vectors in one form"
SPARSE_AMONG_LISTS = MIXED.format("a sparse vector", "lists of numbers")
LIST_AMONG_SPARSE = MIXED.format("a list of numbers", "sparse vectors")


def are_parts(parts: Sequence[str]) -> bool:
    """Whether the names are those of the parts of a sparse vector, as in ``indices+values+dim``, all in one place."""
    tops, ends = zip(*(part.rpartition(".")[::2] for part in parts), strict=True)
    return len(set(tops)) == 1 and ends in (SPARSE, SPARSE[:2])


def looks_sparse(value: Any, alone: bool = False) -> bool:
    """Whether a JSON value is meant as a sparse vector, or, ``alone``, as its indices."""
    return isinstance(value, list) if alone else isinstance(value, dict) and set(SPARSE[:2]) <= value.keys()
