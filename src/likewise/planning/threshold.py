"""Thresholds as exact fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from likewise.errors import UsageError
from likewise.messages import option

#: Maximum denominator of a threshold of sets, so that overlap * denominator fits in 64 bits.
MAX_DENOMINATOR = 10**9
#: Range of nonzero numbers: well within float64, and short when printed.
LEAST, GREATEST = Decimal("1e-300"), Decimal("1e300")


def parse_threshold(value: object, *, real: bool = False) -> Fraction:
    """Return a similarity above 0 and up to 1, as a fraction with a denominator up to 10^9, or exact if ``real``. Raises UsageError.

    >>> parse_threshold("0.8"), parse_threshold(2 / 3), parse_threshold("4/5")
    (Fraction(4, 5), Fraction(2, 3), Fraction(4, 5))
    """
    try:
        ratio = written(value)
        if not real:
            ratio = ratio.limit_denominator(MAX_DENOMINATOR)
        if not 0 < ratio <= 1:
            raise ValueError
    except (ValueError, ArithmeticError):
        raise UsageError(f"{option('threshold', value)}: give a similarity above 0 and up to 1, for example {share(value)}") from None
    return ratio


def share(value: object) -> str:
    """Return the share that a percentage probably means, for a message: 0.9 for 90 and 90%; 0.8 for all else.

    >>> share("90%"), share(92.5), share("1.01"), share("0,9")
    ('0.9', '0.925', '0.8', '0.8')
    """
    try:
        percent = Decimal(str(value).strip().removesuffix("%"))
        return f"{percent.normalize() / 100:f}" if 2 <= percent < 100 else "0.8"
    except (ArithmeticError, ValueError):  # ValueError: an integer of more than 4,300 digits
        return "0.8"


def parse_within(value: object) -> Fraction:
    """Return a distance of 0 or more, exact as it was written. Raises UsageError.

    >>> parse_within("3"), parse_within(0.5), parse_within(2e-11)
    (Fraction(3, 1), Fraction(1, 2), Fraction(1, 50000000000))
    """
    try:
        distance = written(value)
        if distance < 0:
            raise ValueError
    except (ValueError, ArithmeticError):
        raise UsageError(f"{option('within', value)}: give a distance from 0 to 1e300, for example 3 or 0.5") from None
    return distance


def parse_similarity_within(value: object, *, real: bool = False) -> Fraction:
    """Return the threshold for a distance, 1 - similarity. Raises UsageError."""
    try:
        distance = written(value)
        if not 0 <= distance < 1:
            raise ValueError
        return parse_threshold(1 - distance, real=real)
    except (ValueError, ArithmeticError):
        raise UsageError(f"{option('within', value)}: the distance is 1 - similarity; give a number from 0 to below 1, for example 0.2") from None


def written(value: object) -> Fraction:
    """Return the number printed by ``str``, to its last digit.

    Raises ValueError or ArithmeticError for other values, and for numbers beyond LEAST and GREATEST.
    """
    if isinstance(value, bool):
        raise ValueError
    text = str(value).strip(" \t\r\n")
    if not text.isprintable():
        raise ValueError
    if "/" in text:
        return Fraction(text)
    number = Decimal(text)  # which, unlike Fraction, does not expand 1e999999999 to all its digits
    if number and not LEAST <= abs(number) <= GREATEST:
        raise ValueError
    return Fraction(number) if number else Fraction(0)
