"""A small sample of a collection, from which plans estimate the similarities to expect."""

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
from likewise.io.inputs import Source
from likewise.io.presence import Lack
from likewise.io.source_names import printable
from likewise.items import unusable
from likewise.items.sparse import Sparse
from likewise.job import Job
from likewise.kernels.sets import overlaps_of_all
from likewise.measures.similarity import batch_of, function_of
from likewise.messages import either, option
from likewise.methods import Measure, Text
from likewise.planning import Density, Facts
from likewise.planning.advice import Advice
from likewise.planning.curves import Curve
from likewise.planning.expected import measured
from likewise.records import TEXT, Records, Want
from likewise.runs.advice import SAMPLED, advice, jaccard, limits
from likewise.stages.sketch import copies_of, sketcher

#: The most texts, or other items, of a sample; all pairs of them are compared.
TEXTS, ITEMS = 1000, 500
#: The most sources to sample from, and the most bytes of them in all.
SOURCES, BYTES = 64, 32 * 2**20
#: Numbers or elements compared at once.
AT_ONCE = 1 << 22
#: The most numbers that each item of the advice is compared with: of vectors and codes, and of items whose elements are merged.
COMPARED, MERGED = 1 << 21, 1 << 17


@dataclass(frozen=True)
class Pilot:
    """A sample of a collection."""

    values: np.ndarray  # float64: the values of all pairs of the sample
    sample: int  # items in the sample
    items: int  # items in the collection, copies counted once; an estimate if it was read from sources
    facts: Facts | None = None
    shingles: float | None = None  # the mean number of distinct shingles of a text, or elements of a set
    advice: Advice | None = None  # how similar some of the sample are to others

    def density(self, curve: Curve, threshold: Fraction) -> Density:
        """The pairs to expect."""
        return measured(self.values.tolist(), curve, threshold, self.sample)


def of_sources(sources: Sequence[Source], job: Job) -> Pilot:
    """Up to TEXTS distinct texts, or ITEMS other items, chosen by hash from the first rows of up to SOURCES evenly spaced sources.

    ``items`` estimates the distinct items of all sources, from those in the first rows. Raises UsageError for fewer than two items, and DataError if
    rows could not be read, or if no source has the wanted field, naming the fields that they have.
    """
    texts, want = isinstance(job.method, Text), job.want._replace(id=None)
    count = min(len(sources), SOURCES)
    every: dict[int, np.ndarray] = {}  # the words of each different item
    seen = Seen()
    for source in (sources[i * len(sources) // count] for i in range(count)):
        for copies, words in beginning(source, job, want, BYTES // count, seen):
            _, first = np.unique(copies, return_index=True)
            every |= {copy: words(place) for place in first.tolist() if (copy := int(copies[place])) not in every}
    if seen.matrix:
        raise DataError(unusable.matrix(", ".join(seen.names[:3]), want))
    if len(every) < 2:
        seen.explain(want, str(job.method))
        if isinstance(job.method, Text) and seen.texts and not every:
            few = f"no document of the sample has a shingle of {job.method}; use shorter shingles, such as {option('by', shorter(job.method))}, or"
        else:
            few = f"a sample needs at least two different {job.method.kind.name};"
        raise UsageError(f"{few} leave {either('the data', 'INPUT')} out to plan without a sample")
    by_hash = [every[copy] for copy in sorted(every)]
    items = job.compared.batch((np.concatenate(by_hash), np.cumsum([0, *map(len, by_hash)])), job)
    whole = max(1.0, sum(source.size for source in sources) / max(seen.bytes, 1))
    return pilot(items, TEXTS if texts else ITEMS, round(len(every) * whole), job.facts, job.method, job.options.bound)


def pilot(items: Any, most: int, number: int, facts: Facts | None, method: Text | Measure, bound: Fraction | None) -> Pilot:
    """The Pilot of a collection, from different items of it in random order: all pairs of the first ``most`` of them, and the advice.

    items: those that are compared. number: of items in the collection. bound: the threshold or maximum distance of the plan, if it is known.
    """
    measure, sample = compared_by(method), take(items, np.arange(min(most, size(items))))
    return Pilot(of_all_pairs(sample, measure), size(sample), number, facts, elements(sample), advised(items, measure, bound))


def advised(items: Any, measure: Text | Measure, bound: Fraction | None) -> Advice:
    """The values of the first SAMPLED items and the others, as many as can be compared with them in a few seconds."""
    sampled = min(SAMPLED, size(items))
    if isinstance(measure, Text) or (measure.kind.sets and not is_codes(items)):
        found = jaccard(items[0], items[1], sampled)
    else:
        most = COMPARED if isinstance(items, np.ndarray) or is_codes(items) else MERGED
        items = part_of(items, 0, min(size(items), max(SAMPLED, most * size(items) // max(1, numbers(items)))))
        found = (of_one(items, place, measure) for place in range(sampled))
    distances, whole = measure.facts.distance, measure.facts.whole
    return advice(found, size(items), limits(None if bound is None else float(bound), distances=distances, whole=whole), distances=distances)


def of_one(items: Any, place: int, method: Measure) -> np.ndarray:
    """The values of one item and all items, float64[n]."""
    step = max(1, AT_ONCE // max(1, numbers(items) // size(items)))
    parts = (part_of(items, at, min(at + step, size(items))) for at in range(0, size(items), step))
    return np.concatenate([function_of(method)(take(items, np.full(size(part), place)), part) for part in parts]).astype(float)


def shorter(method: Text) -> str:
    """The unit with half the tokens in a shingle, for a message."""
    return f"{method.unit}:{max(1, method.k // 2)}"


def compared_by(method: Text | Measure) -> Text | Measure:
    """The measure of the items that are compared: of derived ones, if the method derives some."""
    return method if isinstance(method, Text) or method.facts.converted_to is None else Measure(method.base.name)


@dataclass
class Seen:
    """The findings while reading the first rows of sources."""

    bytes: int = 0  # of the sources, as stored
    texts: bool = False  # a row has a value
    found: bool = False  # a row has the wanted field
    fields: dict[str, None] = field(default_factory=dict)  # names of other fields, in order
    names: list[str] = field(default_factory=list)  # of sources
    tables: set[str] = field(default_factory=set)  # the sources in memory
    fault: str = ""  # the reason why the first row could not be read
    other: str = ""  # description of the first value of an unsuitable type
    matrix: bool | None = None  # all rows look like those of a matrix of 0 and 1; None: no such rows

    def note(self, name: str, records: Records) -> None:
        """Record the findings in these records of a source."""
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
        """Raises DataError with the reason why no items were found, if it is known."""
        if self.fault:
            raise DataError(self.fault)
        if self.other and not self.texts:
            raise DataError(unusable.message(self.names[0], self.other, want, by))
        if self.names and not self.found:
            raise DataError(presence.message([Lack(name, [*self.fields], table=name in self.tables) for name in self.names], self.names, want))


def beginning(source: Source, job: Job, want: Want, most: int, seen: Seen) -> Iterator[tuple[np.ndarray, Callable[[int], np.ndarray]]]:
    """Yield the nonempty items of each chunk of a source, until ``most`` bytes are read: their hashes, uint64[n], and a function to their words.

    Copies have equal hashes. A source that is read to its end counts with all its stored bytes, compressed or not.
    """
    name, stage, read = printable(source.name), sketcher(job), 0
    if not source.files:
        seen.tables.add(name)
    for chunk in source.chunks(want):
        if read and read >= most:
            seen.bytes += min(read, source.size)
            return
        records = source.parse(chunk, want)
        seen.note(name, records)
        columns = stage(records)
        held = columns["size"] if isinstance(job.method, Text) else columns["tokens"]  # a text with tokens may have no shingle
        some = np.flatnonzero((records.kind == TEXT) & (held > 0))
        yield columns["copy"][some, 0], partial(words_of_row, columns["sets"], np.cumsum(columns["size"], dtype=np.int64), some)
        read += chunk.data.nbytes
    seen.bytes += source.size


def words_of_row(words: np.ndarray, ends: np.ndarray, some: np.ndarray, place: int) -> np.ndarray:
    """A copy of the words of row ``some[place]``."""
    row = some[place]
    return words[ends[row - 1] if row else 0 : ends[row]].copy()


def of_all_pairs(items: Any, method: Text | Measure) -> np.ndarray:
    """The values of all pairs of a sample, float64[m], without pairs that have none, such as two empty sets."""
    if isinstance(method, Text) or (method.kind.sets and not is_codes(items)):
        return of_all_sets(*items)
    left, right = np.triu_indices(size(items), 1)
    step = max(1, AT_ONCE // max(1, numbers(items) // size(items)))
    parts = [function_of(method)(take(items, left[at : at + step]), take(items, right[at : at + step])) for at in range(0, len(left), step)]
    values = np.concatenate(parts).astype(float)
    return values[~np.isnan(values)]


def of_all_sets(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The Jaccard similarities of all pairs of sets, float64[m], without pairs of two empty sets."""
    sizes = np.diff(offsets)
    common = overlaps_of_all(values, offsets)
    left, right = np.triu_indices(len(sizes), 1)
    union = sizes[left] + sizes[right] - common
    return common[union > 0] / union[union > 0]


def of_items(data: Any, method: Measure, seed: int, bound: Fraction | None) -> Pilot:
    """A sample of up to ITEMS random items of a batch, as `similarity` takes them. Raises UsageError for invalid data, with the row of a bad item."""
    items = batch_of(method, data)
    if method.name == "weighted":
        check_totals(items[1], items[2])
    measure = compared_by(method)
    if method.facts.converted_to:
        items = method.kind.become(items, method.facts)
    rows = np.random.default_rng(seed).permutation(comparable(items, directed=method.base.directed))
    if len(rows) < 2:
        raise UsageError("a sample needs at least two items; leave the data out to plan without a sample")
    drawn = take(items, rows[: max(ITEMS, COMPARED * size(items) // max(1, numbers(items)))])
    different = take(drawn, np.sort(np.unique(digests_of(drawn), return_index=True)[1]))
    if size(different) < 2:
        empty, some = f"no two items of the sample can be compared by {measure}: all are empty", f"at least two different {method.kind.name}"
        raise UsageError(f"{f'a sample needs {some}' if numbers(different) else empty}; leave the data out to plan without a sample")
    return pilot(different, ITEMS, round(size(items) * size(different) / size(drawn)), facts_of(items), method, bound)


def digests_of(items: Any) -> np.ndarray:
    """64 bits that copies have in common, uint64[n]."""
    if isinstance(items, np.ndarray) or is_codes(items):
        rows = (items + 0.0).astype(np.float64).view(np.uint64) if isinstance(items, np.ndarray) else items[0]
        words, number = rows.ravel(), np.full(len(rows), rows.size // max(1, len(rows)))
    else:
        *parts, offsets = items.arrays if isinstance(items, Sparse) else items
        words, number = np.stack([part.view(np.uint64) for part in parts], axis=1).ravel(), np.diff(offsets) * len(parts)
    return copies_of(np.ascontiguousarray(words), number, 0)[:, 0]


def comparable(items: Any, *, directed: bool) -> np.ndarray:
    """The rows that can be compared, int64[m]: without zero vectors if only directions count."""
    if not directed:
        return np.arange(size(items))
    return np.flatnonzero(items.sizes if isinstance(items, Sparse) else items.any(axis=1))


def facts_of(items: Any) -> Facts:
    """The facts about the items that a plan needs."""
    if isinstance(items, Sparse):
        return Facts(sparse=True)
    if isinstance(items, np.ndarray):
        return Facts(items.shape[1], float(items.min()), float(items.max()), wide=items.dtype == np.float64)
    return Facts(items[1]) if is_codes(items) else Facts()


# The items below have the forms that `measures.similarity.batch_of` returns: vectors, one a row, or sparse; codes as (words, bits); sets as (values,
# offsets), or (values, weights, offsets).


def is_codes(items: Any) -> bool:
    """True if the items are codes: (words, bits)."""
    return isinstance(items, tuple) and isinstance(items[1], int)


def size(items: Any) -> int:
    """The number of items."""
    return len(items) if isinstance(items, np.ndarray | Sparse) else len(items[0]) if is_codes(items) else len(items[-1]) - 1


def numbers(items: Any) -> int:
    """The total number of numbers in the items."""
    return items.size if isinstance(items, np.ndarray) else items.values.size if isinstance(items, Sparse) else items[0].size


def elements(items: Any) -> float | None:
    """The mean number of elements of a set; None for items that are not sets."""
    return None if isinstance(items, np.ndarray | Sparse) or is_codes(items) else float(np.diff(items[-1]).mean())


def part_of(items: Any, begin: int, end: int) -> Any:
    """Consecutive items, in the form of the batch; without a copy of vectors and codes."""
    if isinstance(items, np.ndarray):
        return items[begin:end]
    return (items[0][begin:end], items[1]) if is_codes(items) else take(items, np.arange(begin, end))


def take(items: Any, rows: np.ndarray) -> Any:
    """The items of these rows, int64[m], in the form of the batch."""
    if isinstance(items, np.ndarray | Sparse):
        return items[rows]
    if is_codes(items):
        return items[0][rows], items[1]
    *parts, offsets = items
    sizes = np.diff(offsets)[rows]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(offsets[rows] - ends[:-1], sizes) + np.arange(ends[-1])
    return *(part[places] for part in parts), ends
