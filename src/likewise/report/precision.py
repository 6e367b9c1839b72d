"""Precision by people: the share of near-duplicates that are the same to those who read them, with an exact interval.

Pairs are read in a random order that is fixed by the output, so the first ones of that order are a random sample of all pairs, and of those in each
range of values. A verdict counts if the pair lies before the first one without a verdict: pairs that somebody picked are no random sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from likewise.kernels.hashing import derive
from likewise.report import verdicts
from likewise.report.own_files import whole

#: The stream of constants by which pairs are ordered, and the coverage of intervals.
ORDER, COVERED = np.uint64(0xA0D1_0003), 0.95
#: Ranges of values from the threshold to equality.
RANGES = 10
#: No rows.
NONE = np.zeros(0, np.int64)
#: Rows of a range in random order that are found at once, which takes as long as for one.
AHEAD = 1000


@dataclass(frozen=True)
class Judged:
    """Verdicts of people about the pairs in a range of values."""

    from_value: float
    to_value: float
    pairs: int  # all of the range
    same: int  # of the first ones in random order
    different: int
    skipped: int
    low: float  # 95% confidence interval of the share of pairs that are the same
    high: float

    @property
    def precision(self) -> float | None:
        """The share; None without verdicts."""
        return self.same / (self.same + self.different) if self.same + self.different else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        low, high = sorted((self.from_value, self.to_value))
        counts = {name: getattr(self, name) for name in ("pairs", "same", "different", "skipped", "precision", "low", "high")}
        return {"from": low, "to": high, **counts}


class Near:
    """The near-duplicates of removed.parquet, or the pairs of a list, whose value is known, in random order.

    value: the name of the column. threshold: the limit of the run.
    """

    def __init__(self, path: Path, value: str, threshold: float):
        self._path, self.value, self.distances = path, value, value == "distance"
        self._pairs: dict[int | None, int] = {}
        self._first: dict[int | None, np.ndarray] = {}
        self.edges = np.linspace(threshold, 0.0 if self.distances else 1.0, RANGES + 1)  # the first range is next to the threshold

    @cached_property
    def values(self) -> np.ndarray:
        """float64[n]: the value of each removal; NaN: not compared."""
        found = pc.cast(pq.ParquetFile(self._path, pre_buffer=False).read([self.value])[self.value], pa.float64())
        return (found.fill_null(math.nan) if found.null_count else found).to_numpy()

    @cached_property
    def near(self) -> np.ndarray:
        """bool[n]: the removals that are near-duplicates of known value; of a list of pairs, all of them."""
        known = ~np.isnan(self.values)
        if "reason" not in pq.read_schema(self._path).names:
            return known
        reasons = pq.ParquetFile(self._path, read_dictionary=["reason"]).read(["reason"])["reason"]
        return pc.is_in(reasons, pa.array(["near"])).to_numpy() & known

    @cached_property
    def _hash(self) -> np.ndarray:
        return derive(np.uint64(0), ORDER, len(self.values))

    def ends(self, number: int | None) -> tuple[float, float]:
        """The first and the last value of a range; None: of all."""
        first, last = (0, RANGES) if number is None else (number, number + 1)
        return float(self.edges[first]), float(self.edges[last])

    def rows(self, number: int | None) -> np.ndarray:
        """int64[m]: the rows of a range, or of all, ascending. A value on an edge belongs to the range that begins there."""
        if number is None:
            return np.flatnonzero(self.near)
        sign = -1.0 if self.distances else 1.0
        low, high = (sign * edge for edge in self.ends(number))
        values = sign * self.values
        inside = (values < high) if number < RANGES - 1 else np.True_
        return np.flatnonzero(self.near & (values >= low if number else np.True_) & inside)

    def pairs(self, number: int | None) -> int:
        """The number of rows of a range, or of all."""
        if number not in self._pairs:
            self._pairs[number] = len(self.rows(number))
        return self._pairs[number]

    def first(self, number: int | None, most: int) -> np.ndarray:
        """The first rows of a range in random order, at most so many: int64[k]. More than were asked for are remembered."""
        if len(self._first.get(number, ())) < min(most, self.pairs(number)):
            rows, ahead = self.rows(number), AHEAD + 2 * most
            hashes = self._hash[rows]
            if len(rows) > ahead:
                some = np.argpartition(hashes, ahead)[:ahead]
                rows, hashes = rows[some], hashes[some]
            self._first[number] = rows[np.argsort(hashes, kind="stable")]
        return self._first.get(number, NONE)[:most]

    def next(self, number: int | None, given: Mapping[int, str]) -> tuple[int | None, int]:
        """The first row of a range without a verdict, or None; and how many rows come before it."""
        order = self.first(number, len(given) + 1)
        place = next((place for place, row in enumerate(order.tolist()) if row not in given), len(order))
        return (int(order[place]) if place < len(order) else None), place

    def judged(self, number: int | None, given: Mapping[int, str]) -> Judged:
        """Count the verdicts about the pairs of a range, or about all pairs."""
        order = self.first(number, len(given) + 1).tolist()
        said = []
        for row in order:
            if row not in given:
                break
            said.append(given[row])
        same, different = said.count("same"), said.count("different")
        ends = self.ends(number)
        return Judged(*ends, self.pairs(number), same, different, said.count("skip"), *interval(same, same + different))

    def ranges(self, given: Mapping[int, str]) -> list[Judged]:
        """All pairs, then those of each range about which there are verdicts."""
        found = [self.judged(number, given) for number in (None, *range(RANGES))] if given else []
        return [one for one in found if one.same + one.different + one.skipped]


def of_people(out: Path, manifest: dict[str, Any], report: dict[str, Any]) -> tuple[list[Judged], list[str]]:
    """Return what people said about the near-duplicates of an output, [] if nobody judged this result; and remarks on lines that do not count."""
    file = verdicts.path_of(out)
    found = verdicts.read(file, verdicts.digest_of(manifest))
    if not found.of:
        return [], found.remarks(file)
    path = whole(out, manifest, "removed.parquet")
    return Near(path, report.get("value", "similarity"), float(report["threshold"])).ranges(found.of), found.remarks(file)


def interval(good: int, n: int) -> tuple[float, float]:
    """The exact 95% interval of a share of which ``good`` of ``n`` were found (Clopper and Pearson, Biometrika 1934). For samples of a finite number
    of pairs without repetition it covers at least as often.

    >>> [round(end, 4) for end in interval(9, 10)], [round(end, 4) for end in interval(10, 10)], interval(0, 0)
    ([0.555, 0.9975], [0.6915, 1.0], (0.0, 1.0))
    """
    tail = (1 - COVERED) / 2
    low = 0.0 if not good else bisected(lambda p: at_least(good, n, p) >= tail)
    high = 1.0 if good == n else bisected(lambda p: 1 - at_least(good + 1, n, p) <= tail)
    return low, high


def bisected(reached: Callable[[float], bool]) -> float:
    """The smallest probability at which a condition holds, which holds from there on."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def at_least(good: int, n: int, p: float) -> float:
    """The probability of ``good`` or more of ``n``, each with probability p, which is above 0 and below 1."""
    k = np.arange(good, n + 1)
    return min(1.0, float(np.exp(ways(n)[good:] + k * math.log(p) + (n - k) * math.log1p(-p)).sum()))


@lru_cache(1)
def ways(n: int) -> np.ndarray:
    """float64[n + 1]: the logarithms of the numbers of ways to choose k of n."""
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    return factorials[-1] - factorials - factorials[::-1]
