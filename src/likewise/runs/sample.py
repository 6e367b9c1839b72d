"""A small sample of a collection, and what it says of the similarities to expect: for plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from likewise.errors import DataError, UsageError
from likewise.families.weighted import check_totals
from likewise.io import presence
from likewise.io.inputs import Source, printable
from likewise.io.presence import Lack
from likewise.items import unusable
from likewise.items.sparse import Sparse
from likewise.kernels.sets import overlaps_of_all
from likewise.measures.similarity import batch_of, function_of
from likewise.methods import Measure, Text
from likewise.planning import Density, Facts
from likewise.planning.curves import Curve
from likewise.planning.expected import measured
from likewise.records import TEXT, Records, Want
from likewise.runs.job import Job
from likewise.stages.sketch import sketcher

#: Texts, and other items, whose pairs are all compared.
TEXTS, ITEMS = 1000, 500
#: Where they may come from: so many sources, and bytes of them in all.
SOURCES, BYTES = 64, 32 * 2**20
#: How many numbers or elements are compared at a time.
AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Pilot:
    """A sample of a collection."""

    values: np.ndarray  # float64: the measure of all pairs of the sample
    sample: int  # items in it
    items: int  # in the collection; copies counted once, and estimated, where it was read from sources
    facts: Facts | None = None
    shingles: float | None = None  # the mean number of distinct shingles of a text, or elements of a set

    def density(self, curve: Curve, threshold: Fraction) -> Density:
        """The pairs to expect."""
        return measured(self.values.tolist(), curve, threshold, self.sample)


def of_sources(sources: Sequence[Source], job: Job) -> Pilot:
    """Up to TEXTS different texts, or ITEMS other items, drawn by their hash from the beginnings of up to SOURCES sources that lie evenly among all.

    ``items`` counts different ones, for copies are not compared: as many, in proportion, as the beginnings hold. Raises UsageError where
    there are too few, with the fields that were seen where none has the wanted name, and DataError where they could not be read.
    """
    texts, want = isinstance(job.method, Text), job.want._replace(id=None)
    most = TEXTS if texts else ITEMS
    count = min(len(sources), SOURCES)
    drawn: dict[int, np.ndarray] = {}
    different: set[int] = set()
    seen = Seen()
    for source in (sources[i * len(sources) // count] for i in range(count)):
        for copies, words in beginning(source, job, want, BYTES // count, seen):
            different.update(copies.tolist())
            lowest = np.argsort(copies, kind="stable")[:most].tolist()
            drawn |= {int(copies[place]): words(place) for place in lowest}
            drawn = dict(sorted(drawn.items())[:most])
    if seen.matrix:
        raise DataError(unusable.matrix(", ".join(seen.names[:3]), want))
    if len(drawn) < 2:
        seen.explain(want, str(job.method))
        if texts and seen.texts and not drawn:
            few = f"no text of the sample holds a shingle of {job.method}; name a shorter one with --by, or"
        else:
            few = f"a sample takes two different {job.method.kind.name} or more;"
        raise UsageError(f"{few} leave INPUT out to plan without one")
    offsets = np.cumsum([0, *map(len, drawn.values())])
    items = job.compared.batch((np.concatenate([*drawn.values()]), offsets), job)
    whole = max(1.0, sum(source.size for source in sources) / max(seen.bytes, 1))
    return Pilot(of_all_pairs(items, compared_by(job.method)), len(drawn), round(len(different) * whole), job.facts, elements(items))


def compared_by(method: Text | Measure) -> Text | Measure:
    """The measure of what is made of items beforehand, or their own."""
    return method if isinstance(method, Text) or method.facts.becomes is None else Measure(method.base.name)


@dataclass
class Seen:
    """What the beginnings of sources held."""

    bytes: int = 0  # of the sources, as they lie
    texts: bool = False  # some row has a value
    found: bool = False  # some row has the wanted field
    fields: dict[str, None] = field(default_factory=dict)  # names of others, in their order
    names: list[str] = field(default_factory=list)  # of sources
    fault: str = ""  # of the first row that could not be read
    other: str = ""  # description of the first value of another kind than wanted
    matrix: bool | None = None  # all rows look like those of a matrix of 0 and 1; None: no such rows

    def note(self, name: str, records: Records) -> None:
        if name not in self.names:
            self.names.append(name)
        self.texts = self.texts or bool((records.kind == TEXT).any())
        self.found = self.found or records.found
        self.other = self.other or records.other
        if (records.kind == TEXT).any():
            self.matrix = self.matrix is not False and records.matrix > 0
        self.fields.update(dict.fromkeys(records.fields))
        if records.rejected and not self.fault:
            self.fault = f"{name}, {records.rejected[0].reason}"

    def explain(self, want: Want, by: str) -> None:
        """Raises what kept items from being found, where that is known."""
        if self.fault:
            raise DataError(self.fault)
        if self.other and not self.texts:
            raise DataError(unusable.message(self.names[0], self.other, want, by))
        if self.names and not self.found:
            raise DataError(presence.message([Lack(name, [*self.fields]) for name in self.names], self.names, want))


def beginning(source: Source, job: Job, want: Want, most: int, seen: Seen) -> Iterator[tuple[np.ndarray, Callable[[int], np.ndarray]]]:
    """Of each chunk of a source, until so many bytes are read, the items that are not empty: a hash of each, uint64[n], the same for copies, and
    what gives the words of one. A source that is read to its end counts with all of its bytes, in whatever form they lie there."""
    name, stage, read = printable(source.name), sketcher(job), 0
    for chunk in source.chunks(want):
        if read and read >= most:
            seen.bytes += min(read, source.size)
            return
        records = source.parse(chunk, want)
        seen.note(name, records)
        columns = stage(records)
        held = columns["size"] if isinstance(job.method, Text) else columns["tokens"]  # a text of tokens may have no shingle
        some = np.flatnonzero((records.kind == TEXT) & (held > 0))
        yield columns["copy"][some, 0], partial(words_of_row, columns["sets"], np.cumsum(columns["size"], dtype=np.int64), some)
        read += chunk.data.nbytes
    seen.bytes += source.size


def words_of_row(words: np.ndarray, ends: np.ndarray, some: np.ndarray, place: int) -> np.ndarray:
    """A copy of the words of row ``some[place]``."""
    row = some[place]
    return words[ends[row - 1] if row else 0 : ends[row]].copy()


def of_all_pairs(items: Any, method: Text | Measure) -> np.ndarray:
    """The measure of all pairs of a sample; float64. Pairs that have none, such as two empty sets, are left out."""
    if isinstance(method, Text) or (method.kind.sets and not is_codes(items)):
        return of_all_sets(*items)
    left, right = np.triu_indices(size(items), 1)
    step = max(1, AT_ONCE // max(1, numbers(items) // size(items)))
    parts = [function_of(method)(take(items, left[at : at + step]), take(items, right[at : at + step])) for at in range(0, len(left), step)]
    values = np.concatenate(parts).astype(float)
    return values[~np.isnan(values)]


def of_all_sets(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The Jaccard similarities of all pairs of sets; those of two empty ones are left out."""
    sizes = np.diff(offsets)
    common = overlaps_of_all(values, offsets)
    left, right = np.triu_indices(len(sizes), 1)
    union = sizes[left] + sizes[right] - common
    return common[union > 0] / union[union > 0]


def of_items(data: Any, method: Measure, seed: int) -> Pilot:
    """Up to ITEMS random items of a batch, as `similarity` takes them. Raises UsageError for what is no batch, and with the row for a bad item."""
    items = batch_of(method, data)
    if method.name == "weighted":
        check_totals(items[1], items[2])
    if method.facts.becomes:
        items, method = method.kind.become(items, method.facts), Measure(method.base.name)
    rows = np.random.default_rng(seed).permutation(comparable(items, method))[:ITEMS]
    if len(rows) < 2:
        raise UsageError("a sample takes two items or more; leave the data out to plan without one")
    values = of_all_pairs(take(items, rows), method)
    if not len(values):
        raise UsageError(f"no two items of the sample can be compared by {method}: all are empty; leave the data out to plan without a sample")
    return Pilot(values, len(rows), size(items), facts_of(items), elements(items))


def comparable(items: Any, method: Measure) -> np.ndarray:
    """The rows that may be compared: a zero vector has no angle."""
    if not method.facts.directed:
        return np.arange(size(items))
    return np.flatnonzero(items.sizes if isinstance(items, Sparse) else items.any(axis=1))


def facts_of(items: Any) -> Facts:
    """What a plan must know of the items."""
    if isinstance(items, Sparse):
        return Facts(sparse=True)
    if isinstance(items, np.ndarray):
        return Facts(items.shape[1], float(items.min()), float(items.max()), wide=items.dtype == np.float64)
    return Facts(items[1]) if is_codes(items) else Facts()


# Items as `measures.similarity.batch_of` makes them: vectors, one a row, or sparse; codes as (words, bits); sets as (values, offsets), with weights
# between.


def is_codes(items: Any) -> bool:
    return isinstance(items, tuple) and isinstance(items[1], int)


def size(items: Any) -> int:
    """How many items there are."""
    return len(items) if isinstance(items, np.ndarray | Sparse) else len(items[0]) if is_codes(items) else len(items[-1]) - 1


def numbers(items: Any) -> int:
    """How many numbers the items take in all."""
    return items.size if isinstance(items, np.ndarray) else items.values.size if isinstance(items, Sparse) else items[0].size


def elements(items: Any) -> float | None:
    """The mean number of elements of a set; None for what is no set."""
    return None if isinstance(items, np.ndarray | Sparse) or is_codes(items) else float(np.diff(items[-1]).mean())


def take(items: Any, rows: np.ndarray) -> Any:
    """The items of these rows, in the same form."""
    if isinstance(items, np.ndarray | Sparse):
        return items[rows]
    if is_codes(items):
        return items[0][rows], items[1]
    *parts, offsets = items
    sizes = np.diff(offsets)[rows]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(offsets[rows] - ends[:-1], sizes) + np.arange(ends[-1])
    return *(part[places] for part in parts), ends
