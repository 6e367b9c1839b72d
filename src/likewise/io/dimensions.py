"""The dimension of sparse vectors: the first one stated by a vector is that of the whole run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from likewise.records import Records, Want


def first_dimension(records: Records) -> list[int]:
    """Return [dimension, row] of the first sparse vector of a chunk that states a dimension; [] if none does."""
    assert records.width is not None
    row = int(np.argmax(records.width > 0)) if len(records) else 0
    return [int(records.width[row]), row] if len(records) and records.width[row] else []


def has_other_dimension(records: Records, dimension: int) -> bool:
    """Return whether some vector of a chunk states another dimension."""
    assert records.width is not None
    return bool((records.width[records.width > 0] != dimension).any())


def with_dimension(want: Want, dimension: list[int], place: Callable[[int], tuple[str, int]]) -> Want:
    """Return ``want`` with a dimension from `first_dimension`; ``place`` returns the place of a row of its chunk."""
    width, row = dimension
    name, position = place(row)
    return want._replace(width=width, first=f"{name}, item {position + 1}")
