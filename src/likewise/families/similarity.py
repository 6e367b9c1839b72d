"""Families whose collision probability is the similarity itself, so that the fraction of agreeing slots estimates it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from likewise.families.family import Family, Signature
from likewise.kernels.minhash import EMPTY


class SimilarityFamily(Family):
    """MinHash of sets and of weighted sets: uint32 slots, all of them EMPTY for an empty set."""

    __slots__ = ()

    def estimate(self, a: Signature, b: Signature) -> Any:
        """The fraction of slots that agree, an unbiased estimate of the similarity; NaN for two empty sets.

        One row each gives a float, rows give float64[n]; one row against rows compares it with each.
        """
        share = np.asarray(self.agreement(a, b))
        both_empty = (a == EMPTY).all(axis=-1) & (b == EMPTY).all(axis=-1)
        share = np.where(both_empty, np.nan, share)
        return float(share) if share.ndim == 0 else share

    def standard_error(self, similarity: float) -> float:
        """sqrt(J(1-J)/slots), the standard error of the estimate for independent slots; an upper bound for MinHash's ``oph``."""
        p = self.collision.at(similarity)
        return math.sqrt(p * (1 - p) / self.slots)
