"""Bands of a signature matrix, their buckets, the candidates, and the S-curve."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from typing import Any, NamedTuple

from likewise.drawing.markup import Html, tag
from likewise.drawing.svg import standalone, svg
from likewise.errors import UsageError
from likewise.lecture.sheet import Sheet, written

Key = tuple[Any, ...]


class Bucket(NamedTuple):
    """The columns with one key in one band, which is numbered from 1."""

    band: int
    key: Key
    columns: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Banding:
    """A signature matrix cut into bands. It prints as a table of buckets, and a notebook draws them.

    >>> from likewise.lecture import Signatures
    >>> banding = Signatures.of([(1, 1, 2), (3, 3, 4), (5, 6, 6), (0, 7, 7)]).banded(2, 2)
    >>> banding
    band  key     columns
    1     (1, 3)  C1, C2
    1     (2, 4)  C3
    2     (5, 0)  C1
    2     (6, 7)  C2, C3
    >>> banding.candidates
    {('C1', 'C2'): [1], ('C2', 'C3'): [2]}
    """

    rows: int
    keys: tuple[dict[str, Key], ...]  #: for each band the key of each column

    @property
    def buckets(self) -> list[Bucket]:
        """All buckets, band by band, in the order of their first columns."""
        found = []
        for band, keys in enumerate(self.keys, 1):
            members: dict[Key, list[str]] = defaultdict(list)
            for name, key in keys.items():
                members[key].append(name)
            found += [Bucket(band, key, tuple(names)) for key, names in members.items()]
        return found

    @property
    def candidates(self) -> dict[tuple[str, str], list[int]]:
        """The pairs of columns that share a bucket in one band or more, each with the numbers of these bands."""
        found: dict[tuple[str, str], list[int]] = defaultdict(list)
        for bucket in self.buckets:
            for pair in combinations(bucket.columns, 2):
                found[pair].append(bucket.band)
        return dict(sorted(found.items()))

    @property
    def sheet(self) -> Sheet:
        """The buckets as a table."""
        return Sheet(("band", "key", "columns"), tuple((b.band, written(b.key), ", ".join(b.columns)) for b in self.buckets))

    def __repr__(self) -> str:
        return repr(self.sheet)

    def svg(self) -> str:
        """The buckets as an SVG picture: a row of boxes for each band. Boxes of two or more columns hold candidates."""
        wide, high, gap, left = 118, 52, 12, 70
        bands = [[bucket for bucket in self.buckets if bucket.band == band] for band in range(1, len(self.keys) + 1)]
        drawn: list[Html] = []
        for line, row in enumerate(bands):
            y = line * (high + gap) + gap
            drawn.append(tag("text", f"band {line + 1}", x=left - 12, y=y + high / 2 + 5, text_anchor="end", class_="strong"))
            for place, bucket in enumerate(row):
                x = left + place * (wide + gap)
                box = "marker second" if len(bucket.columns) > 1 else "marker"
                drawn.append(tag("rect", x=x, y=y, width=wide, height=high, rx=5, class_=box))
                drawn.append(tag("text", ", ".join(bucket.columns), x=x + wide / 2, y=y + 23, text_anchor="middle", class_="strong"))
                drawn.append(tag("text", written(bucket.key), x=x + wide / 2, y=y + 41, text_anchor="middle"))
        width = left + max((len(row) for row in bands), default=0) * (wide + gap) + gap
        pairs = ", ".join(f"{a} and {b}" for a, b in self.candidates) or "none"
        label = f"The buckets of {len(bands)} bands of {self.rows} rows. Candidates: {pairs}"
        return standalone(svg(width, len(bands) * (high + gap) + gap, label, *drawn), "Buckets")

    _repr_svg_ = svg


def chance(similarity: float, bands: int, rows: int) -> float:
    """The probability that a pair of this similarity is a candidate: 1 - (1 - s^r)^b (Mining of Massive Datasets 3.4.2).

    Raises UsageError for anything but whole numbers from 1 as bands and rows.
    """
    if not all(isinstance(count, Integral) and count >= 1 for count in (bands, rows)):
        raise UsageError(f"{bands} bands of {rows} rows: give whole numbers from 1")
    return 1 - (1 - similarity**rows) ** bands


def similarities(given: Iterable[float]) -> list[float]:
    """Similarities as a list. Raises UsageError for those outside 0 to 1."""
    found = list(given)
    if wrong := [s for s in found if not 0 <= s <= 1]:
        raise UsageError(f"similarity {wrong[0]}: give numbers from 0 to 1")
    return found


def s_curve(bands: int, rows: int, at: Iterable[float] = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)) -> Sheet:
    """The probability of each event on the way to a candidate, by similarity.

    >>> s_curve(20, 5)
    s    one band agrees  no band agrees  candidate
    0.2          0.00032         0.99362    0.00638
    0.3          0.00243         0.95251    0.04749
    0.4          0.01024         0.81395    0.18605
    0.5          0.03125         0.52995    0.47005
    0.6          0.07776         0.19810    0.80190
    0.7          0.16807         0.02522    0.97478
    0.8          0.32768         0.00036    0.99964
    """
    each = [(s, s**rows, (1 - s**rows) ** bands, chance(s, bands, rows)) for s in similarities(at)]
    return Sheet(("s", "one band agrees", "no band agrees", "candidate"), tuple(each))


def s_curves(layouts: Iterable[tuple[int, int]], at: Iterable[float] = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)) -> Sheet:
    """The probability of a candidate by similarity, with a column for each layout of (bands, rows).

    >>> s_curves([(20, 5), (15, 5), (10, 10)], at=[0.3, 0.8])
    s     20 x 5   15 x 5  10 x 10
    0.3  0.04749  0.03584  0.00006
    0.8  0.99964  0.99741  0.67886
    """
    layouts = list(layouts)
    rows = ((s, *(chance(s, bands, height) for bands, height in layouts)) for s in similarities(at))
    return Sheet(("s", *(f"{bands} x {height}" for bands, height in layouts)), tuple(rows))


class Errors(NamedTuple):
    """Expected numbers of pairs: similar ones and those of them that are missed, dissimilar ones and those of them that are candidates."""

    similar: int
    false_negatives: float
    dissimilar: int
    false_positives: float


def errors_of(pairs: Iterable[float] | Mapping[Any, float], bands: int, rows: int, threshold: float) -> Errors:
    """The expected false negatives and false positives among pairs, given by their similarities. A pair at the threshold is similar.

    pairs: similarities, or pairs with their similarities, such as `Matrix.similarities` returns. Raises UsageError for similarities and thresholds
    outside 0 to 1, and for anything but whole numbers from 1 as bands and rows.

    >>> found = errors_of([0.8] * 28_000 + [0.3] * 1_000, 20, 5, threshold=0.8)
    >>> round(found.false_negatives, 1), round(found.false_positives, 1)
    (10.0, 47.5)
    """
    (least,), given = similarities([threshold]), similarities(pairs.values() if isinstance(pairs, Mapping) else pairs)
    similar, others = [s for s in given if s >= least], [s for s in given if s < least]
    missed = math.fsum(1 - chance(s, bands, rows) for s in similar)
    return Errors(len(similar), missed, len(others), math.fsum(chance(s, bands, rows) for s in others))
