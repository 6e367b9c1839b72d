"""Lengths of vectors of any scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.items.vectors import Vectors
from likewise.kernels.distances import LEAST, MOST
from likewise.kernels.signs import squares

#: Vectors that a task processes.
ROWS_AT_ONCE = 2**13

Run = Callable[..., Any]
Numbers = NDArray[np.float64]


def blocks(count: int) -> list[tuple[int, int]]:
    """(begin, end) of each block of rows."""
    return [(begin, min(begin + ROWS_AT_ONCE, count)) for begin in range(0, count, ROWS_AT_ONCE)]


def squared_lengths(vectors: Vectors, center: Vectors, run: Run = map) -> Numbers:
    """Σ (x - c)² of each vector, as kernels.lanes adds it: float64[n]. center: [d], of the vectors' type. ``run`` maps over blocks of rows."""
    out = np.empty(len(vectors))
    list(run(lambda rows: squares(vectors, center, *rows, out), blocks(len(vectors))))
    return out


def lengths_of(vectors: Vectors, center: Vectors, squared: Numbers) -> Numbers:
    """Distances of vectors from the center, also if their squares exceed float64: float64[n], 0 only for the center itself."""
    lengths: Numbers = np.sqrt(squared)
    odd = np.flatnonzero(~((squared > LEAST) & (squared < MOST)))
    for begin, end in blocks(len(odd)):
        with np.errstate(over="ignore"):
            apart = np.minimum(abs(vectors[odd[begin:end]].astype(float) - center), np.finfo(float).max)
        most = np.maximum(apart.max(axis=1, initial=0.0), np.finfo(float).smallest_subnormal)
        whole = np.sqrt(((apart / most[:, None]) ** 2).sum(axis=1))
        with np.errstate(over="ignore"):
            lengths[odd[begin:end]] = np.minimum(most * whole, np.finfo(float).max)
    return lengths


def to_one(lengths: Numbers) -> Numbers:
    """The power of two that scales each length to 1/2 up to 1, exactly: float64[n]."""
    return np.ldexp(1.0, -np.frexp(lengths)[1].clip(min=-1023))


def to_unit(lengths: Numbers) -> Numbers:
    """Two factors that, applied one after the other, scale each length to 1: float64[2, n]. 1/length alone may exceed float64."""
    powers = to_one(lengths)
    return np.stack([powers, 1 / np.where(lengths > 0, lengths * powers, 1.0)])
