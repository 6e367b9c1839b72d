"""The names of the parts of a sparse vector, and values that look like one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: Names of the parts of a sparse vector, as fields of one value or of the record itself. The last is optional.
SPARSE = ("indices", "values", "dim")
#: Messages for vectors of two forms in one input.
MIXED = "{} among {}; give all vectors in one form"
SPARSE_AMONG_LISTS = MIXED.format("a sparse vector", "lists of numbers")
LIST_AMONG_SPARSE = MIXED.format("a list of numbers", "sparse vectors")


def are_parts(parts: Sequence[str]) -> bool:
    """True if the names are those of the parts of a sparse vector, as in ``indices+values+dim``, in one place."""
    tops, ends = zip(*(part.rpartition(".")[::2] for part in parts), strict=True)
    return len(set(tops)) == 1 and ends in (SPARSE, SPARSE[:2])


def looks_sparse(value: Any, alone: bool = False) -> bool:
    """True if a JSON value is meant as a sparse vector, or, with ``alone``, as its indices."""
    return isinstance(value, list) if alone else isinstance(value, dict) and set(SPARSE[:2]) <= value.keys()
