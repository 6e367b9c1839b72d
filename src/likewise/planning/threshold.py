"""Thresholds as exact ratios of whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction

from likewise.errors import UsageError

#: A threshold is a ratio of whole numbers up to this, so that overlap * denominator fits 64 bits.
MAX_DENOMINATOR = 10**9


def parse_threshold(value: object) -> Fraction:
    """A similarity above 0 and up to 1, as an exact ratio of whole numbers up to 10^9. Raises UsageError.

    >>> parse_threshold("0.8"), parse_threshold(2 / 3), parse_threshold("4/5")
    (Fraction(4, 5), Fraction(2, 3), Fraction(4, 5))
    """
    try:
        if isinstance(value, bool) or ("/" not in str(value) and not 0 < float(str(value)) <= 1):
            raise ValueError  # before Fraction sees it, which would write out 1e999999999 digit by digit
        ratio = Fraction(str(value)).limit_denominator(MAX_DENOMINATOR)
        if not 0 < ratio <= 1:
            raise ValueError
    except (ValueError, ZeroDivisionError, OverflowError):
        raise UsageError(f"--threshold {str(value)!r}: give a similarity above 0 and up to 1, as in 0.8") from None
    return ratio


def parse_within(value: object, most: float = math.inf) -> Fraction:
    """A distance from 0 to ``most``, as an exact ratio whose denominator is up to 10^9. Raises UsageError.

    >>> parse_within("3"), parse_within(0.5)
    (Fraction(3, 1), Fraction(1, 2))
    """
    try:
        if isinstance(value, bool) or not 0 <= float(str(value)) < 1e300:
            raise ValueError
        ratio = Fraction(str(value)).limit_denominator(MAX_DENOMINATOR)
        if ratio > most:
            raise ValueError
    except (ValueError, OverflowError):
        span = f"from 0 to {most:g}" if math.isfinite(most) else "of 0 or more"
        raise UsageError(f"--within {str(value)!r}: give a distance {span}, as in 3 or 0.5") from None
    return ratio
