"""A filter before the exact comparison: rules pairs out by sizes and odd sketches, without the items' words, and loses no similar pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.kernels.walk import may_match


def near(size_a: np.ndarray, odd_a: np.ndarray, size_b: np.ndarray, odd_b: np.ndarray, rule: Any) -> np.ndarray:
    """True where the i-th items of two batches may be similar by ``rule``, one of kernels.compare: bool[m].

    size_a, size_b: uint32[m], the number of words of the items. odd_a, odd_b: uint64[m, kernels.sets.ODD_WORDS], their odd sketches, or no rows. Two
    sets are ruled out by their sizes, or if their odd sketches differ in more bits than the sets may in elements (Mitzenmacher, Pagh and Pham,
    Efficient Estimation for High Similarities using Odd Sketches, WWW 2014, section 3: an element changes one bit). All pairs of other items pass.
    """
    out = np.empty(len(size_a), np.bool_)
    may_match(size_a, odd_a, size_b, odd_b, rule, out)
    return out
