"""Measured recall: compares the pairs that a run finds with those of an exact search, for a random sample of items."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from likewise.drawing.charts import stacked_bar
from likewise.drawing.controls import in_line
from likewise.drawing.markup import tag
from likewise.drawing.numbers import counted, percent
from likewise.drawing.preview import Preview, as_text, grid, listed, output
from likewise.errors import UsageError
from likewise.items.sparse import of_words
from likewise.joins.pairs import PairBlock
from likewise.kernels.hashing import derive
from likewise.measures import measure
from likewise.messages import option
from likewise.nearest.sparse import close
from likewise.runs.items import Items, Run, words
from likewise.runs.pair_search import in_buckets, joined_pairs

#: Streams of constants derived from the seed: for the sample, and for resampling it.
SAMPLING, RESAMPLING = np.uint64(0xA0D1_0001), np.uint64(0xA0D1_0002)
#: Number of resamples for the interval, and its coverage.
RESAMPLED, COVERED = 1000, 0.95
#: Bins between the threshold and equality in which pairs are counted, and the number of missed pairs given as examples.
BINS, EXAMPLES = 10, 5
#: Up to this threshold each integer distance is a bin.
WHOLE = 20


@dataclass(repr=False)
class Audit:
    """The result of `audit`: the recall on a sample, and the pairs that were missed."""

    items: int  #: compared items
    sampled: int  #: items in the sample
    pairs: int  #: similar pairs with a sampled item
    found: int  #: the pairs that the run finds
    expected_recall: float | None  #: the expected recall at the threshold; None: unknown
    low: float  #: of the 95% confidence interval of the recall; items are resampled, because pairs of one item are not independent
    high: float  #: of this interval
    threshold: float  #: minimum similarity, or maximum distance
    value: str  #: similarity or distance
    by_value: list[tuple[float, float, int, int]] = field(default_factory=list)  #: from, to, pairs, found
    missed: list[dict[str, Any]] = field(default_factory=list)  #: examples
    warnings: list[str] = field(default_factory=list)  #: remarks about the items
    precision: float = 1.0  #: NaN: the output was not compared exactly
    people: list[dict[str, Any]] = field(default_factory=list)  #: their verdicts about near-duplicates: of all, and by value

    @property
    def recall(self) -> float:
        """The share of the pairs that the run finds; NaN without pairs."""
        return self.found / self.pairs if self.pairs else float("nan")

    @property
    def headline(self) -> str:
        """The recall in one line."""
        if not self.pairs:
            return f"no similar pair of the {counted(self.sampled, 'sampled item')} out of {self.items:,}"
        found = f"{self.found:,} of {counted(self.pairs, 'pair')} of {counted(self.sampled, 'sampled item')} out of {self.items:,}"
        expected = "" if self.expected_recall is None else f"; expected at least {percent(self.expected_recall, down=True)} at {self.threshold:g}"
        return f"recall {percent(self.recall)} ({percent(self.low)} to {percent(self.high)} with 95% confidence): {found}{expected}"

    def _previews(self) -> Iterator[Preview]:
        """The pairs by value, and examples of missed ones."""
        if self.by_value:
            yield Preview(f"Pairs by {self.value}", [f"{self.value}_from", f"{self.value}_to", "pairs", "found"], self.by_value, len(self.by_value))
        if self.people:
            names = ["from", "to", "pairs", "same", "different", "skipped", "precision", "low", "high"]
            yield Preview("Precision from verdicts", names, [[one[name] for name in names] for one in self.people], len(self.people))
        if self.missed:
            rows = [[pair["id_a"], pair["id_b"], pair["value"]] for pair in self.missed]
            yield Preview("Missed pairs", ["id_a", "id_b", self.value], rows, self.pairs - self.found)

    def __repr__(self) -> str:
        lines = [f"Audit: {self.headline}", *(f"warning: {in_line(said)}" for said in self.warnings)]
        return "\n".join([*lines, *map(as_text, self._previews())])

    def _repr_html_(self) -> str:
        heading = tag("p", tag("b", "Audit"), f": {self.headline}")
        parts = [("found", self.found, "kept"), ("missed", self.pairs - self.found, "exact")]
        bar = tag("div", stacked_bar(parts, "Similar pairs"), style="max-width: 46em") if self.pairs else None
        tables = map(grid, self._previews())
        return output("Audit", heading, bar, listed(self.warnings), *tables)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        precision = None if math.isnan(self.precision) else self.precision
        return {**asdict(self), "precision": precision, "recall": None if not self.pairs else self.recall}


def audit(items: Items, run: Run, sample: int, *, walk: bool = False) -> Audit:
    """Compare a sample of items with all items, exactly and as the run does. walk: as a run that removes items. Items that stay are not sampled.

    Raises UsageError for kinds without an exact search.
    """
    job, n, (fixed, inside) = run.job, len(items.member), items.scope
    order = fixed + np.argsort(derive(np.uint64(job.seed), SAMPLING, max(n, 1))[fixed:n], kind="stable")
    drawn = np.sort(order[:sample])
    side = np.full(n, inside, np.uint8)
    side[:fixed] = 1
    side[drawn] = 3 if inside else 2  # so pairs of the sample with all items that a run compares them with are wanted
    truth = gathered(exactly(items, run, side, drawn), n)
    search = partial(in_buckets, plan=job.plan) if job.plan else partial(joined_pairs, walk=walk and inside)
    found = np.isin(truth[0], gathered(search(items, run, side), n)[0])
    rows = items.member[np.stack([truth[0] // n, truth[0] % n])] if n else np.zeros((2, 0), np.int64)
    low, high = interval(truth[0], found, drawn, n, job.seed)
    return Audit(
        items=n - fixed,
        sampled=len(drawn),
        pairs=len(found),
        found=int(found.sum()),
        expected_recall=job.recall,
        low=low,
        high=high,
        threshold=float(job.threshold),
        value="distance" if job.distances else "similarity",
        by_value=by_value(truth[1], found, float(job.threshold), job.distances),
        missed=[example(items, rows[:, place], float(truth[1][place])) for place in np.flatnonzero(~found)[:EXAMPLES]],
    )


def gathered(blocks: Iterator[PairBlock], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs as numbers left * n + right, int64[m], ascending, and their values, float64[m]."""
    found = list(blocks)
    if not found:
        return np.zeros(0, np.int64), np.zeros(0)
    left, right, value = (np.concatenate(parts) for parts in zip(*found, strict=True))
    pair = np.minimum(left, right) * np.int64(n) + np.maximum(left, right)
    order = np.argsort(pair, kind="stable")
    return pair[order], value[order]


def exactly(items: Items, run: Run, side: np.ndarray, drawn: np.ndarray) -> Iterator[PairBlock]:
    """Yield all similar pairs with a sampled item, by an exact search. Raises UsageError if the kind has none."""
    job, kind = run.job, run.job.compared
    if not kind.audited:
        raise UsageError(f"{option('by', str(job.method))}: {kind.name} are always joined exactly, so there is no recall to measure")
    if kind.sparse and not job.base.bandless:
        return scanned(items, run, drawn)
    return joined_pairs(items, replace(run, job=replace(job, exact=True, plan=None)), side)


def scanned(items: Items, run: Run, drawn: np.ndarray) -> Iterator[PairBlock]:
    """Yield the similar pairs of sampled sparse vectors with all vectors.

    Costs that are exact but for rounding select the pairs near the threshold, which are then compared exactly.
    """
    job = run.job
    if len(items.member) < 2:
        return
    vectors = of_words(*words(items, run))
    limit, name = float(job.threshold), job.base.name
    compare = measure(name)
    run.begin("scanning", len(drawn), "items")
    for query, other, done in close(vectors, drawn, name, limit):
        inside = np.isin(other, drawn)
        keep = (query != other) & (~inside | (query < other)) & (items.per[query] == items.per[other])
        keep &= items.scope.inside | (other < items.scope.fixed)
        left, right = query[keep], other[keep]
        value = np.asarray(compare(vectors[left], vectors[right]), float)
        good = value <= limit if job.distances else value >= limit
        run.advance(done)
        yield PairBlock(left[good], right[good], value[good])


def interval(pair: np.ndarray, found: np.ndarray, drawn: np.ndarray, n: int, seed: int) -> tuple[float, float]:
    """A bootstrap interval of the recall: resamples the sampled items, each with its pairs.

    A pair of two sampled items is one observation, not two: it belongs to the item with more pairs, so that the pairs of a hub stay together. If all
    pairs, or no pairs, are found, resampling has no variance: the other end is then the exact bound for that many items with pairs (Clopper and
    Pearson, The Use of Confidence or Fiducial Limits, Biometrika 1934).
    """
    if not len(pair):
        return 0.0, 1.0
    ends = np.stack([pair // n, pair % n])
    degree = np.full(n, -1)  # -1: not drawn
    degree[drawn] = np.bincount(ends.ravel(), minlength=n)[drawn]
    owner = ends[(degree[ends[1]] > degree[ends[0]]).astype(np.int64), np.arange(len(pair))]
    total, hits = (np.bincount(owner, weights=each, minlength=n)[drawn] for each in (np.ones(len(pair)), found))
    tail = (1 - COVERED) / 2
    if found.all() or not found.any():
        room = tail ** (1 / np.count_nonzero(total))
        return (float(room), 1.0) if found.all() else (0.0, float(1 - room))
    recalls = []
    for turn in range(RESAMPLED):
        draws = derive(np.uint64(seed), RESAMPLING ^ np.uint64(turn << 32), len(drawn))
        again = (draws >> np.uint64(1)) % np.uint64(len(drawn))
        if (pairs := total[again].sum()) > 0:
            recalls.append(hits[again].sum() / pairs)
    return float(np.quantile(recalls, tail)), float(np.quantile(recalls, 1 - tail))


def by_value(value: np.ndarray, found: np.ndarray, threshold: float, distances: bool) -> list[tuple[float, float, int, int]]:
    """(from, to, pairs, found) for bins from the threshold to equality, or for each distance if they are few integers."""
    if distances and threshold < WHOLE and (value == np.floor(value)).all():
        each = [(distance, value == distance) for distance in range(int(threshold), -1, -1)]
        return [(float(distance), float(distance), int(here.sum()), int(found[here].sum())) for distance, here in each if here.any()]
    edges = np.linspace(threshold, 0.0 if distances else 1.0, BINS + 1)
    place = np.clip(np.digitize(value, edges) - 1, 0, BINS - 1) if not distances else np.clip(BINS - np.digitize(value, edges[::-1]), 0, BINS - 1)
    pairs, hits = np.bincount(place, minlength=BINS), np.bincount(place, weights=found, minlength=BINS).astype(int)
    return [(float(a), float(b), int(p), int(h)) for a, b, p, h in zip(edges[:-1], edges[1:], pairs, hits, strict=True) if p]


def example(items: Items, rows: np.ndarray, value: float) -> dict[str, Any]:
    """A missed pair, with the locations of its items."""
    source, position = items.collection.places(rows)
    ids = items.collection.names(rows)
    names = source.to_pylist()
    return {"value": value} | {
        f"{what}_{side}": part
        for side, i in (("a", 0), ("b", 1))
        for what, part in (("id", ids[i]), ("source", names[i]), ("position", int(position[i])))
    }
