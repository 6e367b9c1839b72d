"""Kernels that other kernels call, made callable for tests."""

from __future__ import annotations

from collections.abc import Callable

import numba

from likewise.compiled.jit import kernel
from likewise.kernels.distinct import number_repeats, sort_distinct


def alone(function) -> Callable:
    """A callable copy, compiled from the same source, of a kernel that only other kernels can call."""
    return numba.njit(function.py_func)


@kernel
def distinct(values, count, places, out):
    return sort_distinct(values, count, places, out)


@kernel
def repeats(values, count, seen, times):
    number_repeats(values, count, seen, times)
