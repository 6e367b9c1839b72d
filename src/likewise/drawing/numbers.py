"""Numbers as reports, pages, charts and messages show them."""

from __future__ import annotations

import math
import re


def count(number: object) -> str:
    """A number for a reader: 1234 is 1,234; fractions have four significant digits.

    >>> count(1234), count(0.25), count(float("nan"))
    ('1,234', '0.25', 'not known')
    """
    if isinstance(number, float):
        return f"{number:,.4g}" if math.isfinite(number) else "not known"
    return f"{number:,}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, in the singular or plural.

    >>> counted(1, "pair"), counted(1200, "copy", "copies")
    ('1 pair', '1,200 copies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def few(number: float) -> str:
    """Return a prediction, rounded to two digits.

    >>> few(12345.6), few(3.14159), few(0.00123)
    ('12,000', '3.1', '0.0012')
    """
    return f"{number:.2g}" if number < 99.5 else f"{float(f'{number:.2g}'):,.0f}"


def share(part: float, whole: float) -> str:
    """A fraction in per cent; 0 and 100 only if they are exact.

    >>> share(1, 8), share(99999, 100000), share(1, 100000), share(0, 0)
    ('12.5%', 'over 99.9%', 'under 0.1%', '0%')
    """
    if not part or not whole:
        return "0%"
    if part == whole:
        return "100%"
    per_cent = 100 * part / whole
    return "under 0.1%" if per_cent < 0.1 else "over 99.9%" if per_cent > 99.9 else f"{per_cent:.1f}%"


def percent(probability: float, *, down: bool = False) -> str:
    """A probability in per cent, with enough digits to show its distance from 0 and 1. ``down`` never rounds up, for guaranteed probabilities.

    >>> percent(0.99964), percent(0.0064), percent(0.4701), percent(1.0), percent(0.9929, down=True)
    ('99.96%', '0.64%', '47.0%', '100%', '99.2%')
    """
    if probability in (0.0, 1.0):
        return f"{probability * 100:.0f}%"
    room = min(probability, 1 - probability)
    if room < 1e-7:
        return "< 0.00001%" if probability < 0.5 else "> 99.99999%"
    places = max(1, -math.floor(math.log10(room * 100)) + (probability < 0.5))
    value = math.floor(probability * 100 * 10**places + 1e-6) / 10**places if down else probability * 100
    return f"{value:.{places}f}%"


def shown(threshold: float) -> str:
    """A threshold in few digits, but enough that it does not look like another, or like 1.

    >>> shown(0.8), shown(3.0), shown(1 / 3), shown(1 - 1e-10)
    ('0.8', '3', '0.333333', '0.9999999999')
    """
    for digits in range(6, 18):
        short = f"{threshold:.{digits}g}"
        if abs(float(short) - threshold) <= 1e-4 * min(abs(threshold), abs(1 - threshold)):
            return short
    return repr(threshold)


def size(number: float) -> str:
    """Bytes for people, in powers of 1000.

    >>> size(999), size(24_100_000)
    ('999 B', '24.1 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if number < 999.5 or (unit == "B" and number < 1000):
            break
        number /= 1000
    else:
        unit = "TB"
    return f"{number:.0f} {unit}" if unit == "B" or number >= 99.95 else f"{number:.3g} {unit}"


def figure(value: float, name: str) -> str:
    """A similarity, or a distance, in a column of them.

    >>> figure(0.625, "similarity"), figure(0.99999994, "similarity"), figure(3.0, "distance"), figure(0.674526, "distance")
    ('0.6250', '> 0.9999', '3', '0.67453')
    """
    if name == "similarity":
        return "> 0.9999" if 0.99995 <= value < 1 else f"{value:.4f}"
    return f"{value:,.0f}" if float(value).is_integer() and value < 1e15 else f"{value:.5g}"


def ranged(first: float, last: float) -> str:
    """A range of values.

    >>> ranged(0.8, 0.82), ranged(3, 3), ranged(0.0, 12.5)
    ('0.8-0.82', '3', '0-12.5')
    """
    return f"{first:.4g}" if first == last else f"{first:.4g}-{last:.4g}"


def spaced(text: str) -> str:
    """Ranges of numbers with the dash that pages have between them.

    >>> spaced("5 removals at -0.8-0.82"), spaced("3-4")
    ('5 removals at -0.8–0.82', '3–4')
    """
    return re.sub("(?<=[0-9])-(?=[0-9])", "–", text)


def by_reason(counts: dict[str, int]) -> list[str]:
    """Return the numbers of removed items by reason; ``counts`` as in report.json."""
    if "removed_passage" in counts:
        return [counted(counts["removed_passage"], "passage"), counted(counts["removed_rest"], "short rest between", "short rests between")]
    equal = counts.get("removed_equal", 0)  # earlier versions counted these as near-duplicates
    exact, near = counted(counts["removed_exact"], "exact copy", "exact copies"), counted(counts["removed_near"], "near-duplicate")
    return [exact, *([f"{equal:,} with the same shingles"] if equal else []), near]
