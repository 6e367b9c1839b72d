"""Kernels that other kernels call, made callable for tests."""

from __future__ import annotations

from likewise.kernels.distinct import number_repeats, sort_distinct
from likewise.kernels.jit import kernel


@kernel
def distinct(values, count, places, out):
    return sort_distinct(values, count, places, out)


@kernel
def repeats(values, count, seen, times):
    number_repeats(values, count, seen, times)
