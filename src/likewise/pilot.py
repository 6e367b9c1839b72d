"""A small sample of a collection, and what it says of the similarities to expect: for plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import xxhash

from likewise.curves import Curve
from likewise.errors import DataError, UsageError
from likewise.io.inputs import Source, printable
from likewise.items.documents import shingler
from likewise.kernels.sets import overlaps_of_all
from likewise.measures.sides import batch_of, function_of
from likewise.methods import Measure, Text
from likewise.planning import Density, Facts
from likewise.planning.density import measured
from likewise.records import TEXT, Records, Want

#: Texts whose pairs are all compared, and where they may come from: so many sources, and bytes of them in all.
TEXTS, SOURCES, BYTES = 1000, 64, 64 * 2**20
#: Other items whose pairs are all compared, and how many numbers or elements of them at a time.
ITEMS, AT_ONCE = 500, 1 << 22


@dataclass(frozen=True)
class Pilot:
    """A sample of a collection."""

    values: np.ndarray  # float64: the measure of all pairs of the sample
    sample: int  # items in it
    items: int  # in the collection, equal texts counted once; estimated where it was not read whole
    facts: Facts | None = None
    shingles: float | None = None  # the mean number of distinct shingles of a text, or elements of a set

    def density(self, curve: Curve, threshold: Fraction) -> Density:
        """The pairs to expect."""
        return measured(self.values.tolist(), curve, threshold, self.sample)


def of_texts(sources: Sequence[Source], method: Text, want: Want, seed: int) -> Pilot:
    """Up to TEXTS different texts, drawn by their hash from the beginnings of up to SOURCES sources that lie evenly among all.

    ``items`` counts different texts, for equal ones are not compared: as many, in proportion, as the beginnings hold. Raises UsageError where
    there are too few, with the fields that were seen where none has the wanted name, and DataError where they could not be read.
    """
    count = min(len(sources), SOURCES)
    drawn: set[tuple[int, bytes]] = set()
    different: set[int] = set()
    seen = Seen()
    for source in (sources[i * len(sources) // count] for i in range(count)):
        for texts, size, records in beginning(source, want, BYTES // count):
            seen.note(source, size, records)
            hashed = [(xxhash.xxh3_64_intdigest(text, seed), text) for text in texts]
            different.update(number for number, _ in hashed)
            drawn = set(sorted(drawn.union(hashed))[:TEXTS])
    if len(drawn) < 2:
        seen.explain(want)
        raise UsageError("a sample takes two different texts or more; leave INPUT out to plan without one")
    shingled = shingler(method, seed)(pa.array([text for _, text in sorted(drawn)], pa.large_binary()), np.ones(len(drawn), bool))
    whole = max(1.0, sum(source.size for source in sources) / max(seen.bytes, 1))
    values = of_all_pairs(shingled.values, shingled.offsets)
    if not len(values):
        raise UsageError(
            f"no text of the sample holds a shingle of {method}; name a shorter one with --by, or leave INPUT out to plan without a sample"
        )
    return Pilot(values, len(drawn), round(len(different) * whole), shingles=float(np.diff(shingled.offsets).mean()))


@dataclass
class Seen:
    """What the beginnings of sources held."""

    bytes: int = 0
    found: bool = False  # some row has the wanted field
    fields: dict[str, None] = field(default_factory=dict)  # names of others, in their order
    names: list[str] = field(default_factory=list)  # of sources
    fault: str = ""  # of the first row that could not be read

    def note(self, source: Source, size: int, records: Records) -> None:
        name = printable(source.name)
        if name not in self.names:
            self.names.append(name)
        self.bytes += size
        self.found = self.found or records.found
        self.fields.update(dict.fromkeys(records.fields))
        if records.rejected and not self.fault:
            self.fault = f"{name}, {records.rejected[0].reason}"

    def explain(self, want: Want) -> None:
        """Raises what kept texts from being found, where that is known."""
        if self.fault:
            raise DataError(self.fault)
        if self.names and not self.found:
            where, there = ", ".join(self.names[:3]), ", ".join([*self.fields][:20]) or "none"
            raise UsageError(f"no row of {where} has the field {want.text!r}; fields seen: {there}; name the right one with --field")


def beginning(source: Source, want: Want, most: int) -> Iterator[tuple[list[bytes], int, Records]]:
    """The texts of each chunk of a source, with the bytes of the chunk and all that was in it, until so many bytes are read."""
    read = 0
    for chunk in source.format.chunks(source.path, want, 0):
        records = source.format.parse(chunk, want, source.name)
        texts = [text for text, kind in zip(records.text.to_pylist(), records.kind, strict=True) if kind == TEXT and text]
        yield texts, chunk.data.nbytes, records
        read += chunk.data.nbytes
        if read >= most:
            return


def of_all_pairs(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The Jaccard similarities of all pairs of sets; those of two empty ones are left out."""
    sizes = np.diff(offsets)
    common = overlaps_of_all(values, offsets)
    left, right = np.triu_indices(len(sizes), 1)
    union = sizes[left] + sizes[right] - common
    return common[union > 0] / union[union > 0]


def of_items(data: Any, method: Measure, seed: int) -> Pilot:
    """Up to ITEMS random items of a batch, as `similarity` takes them. Raises UsageError for what is no batch, and with the row for a bad item."""
    items = batch_of(method, data)
    if method.name == "hamming" and isinstance(items, list):
        raise UsageError("strings have no hash family by hamming: give codes, or leave the data out to plan without a sample")
    rows = np.random.default_rng(seed).permutation(comparable(items, method))[:ITEMS]
    if len(rows) < 2:
        raise UsageError("a sample takes two items or more; leave the data out to plan without one")
    left, right = np.triu_indices(len(rows), 1)
    sample = take(items, rows)
    step = max(1, AT_ONCE // max(1, numbers(sample) // len(rows)))
    parts = [function_of(method)(take(sample, left[at : at + step]), take(sample, right[at : at + step])) for at in range(0, len(left), step)]
    values = np.concatenate(parts).astype(float)
    values = values[~np.isnan(values)]
    if not len(values):
        raise UsageError(f"no two items of the sample can be compared by {method}: all are empty; leave the data out to plan without a sample")
    return Pilot(values, len(rows), size(items), facts_of(items), elements(items))


def comparable(items: Any, method: Measure) -> np.ndarray:
    """The rows that may be compared: a zero vector has no angle."""
    return np.flatnonzero(items.any(axis=1)) if method.name in ("cosine", "angle") else np.arange(size(items))


def facts_of(items: Any) -> Facts:
    """What a plan must know of the items."""
    if isinstance(items, np.ndarray):
        return Facts(items.shape[1], float(items.min()), float(items.max()), wide=items.dtype == np.float64)
    return Facts(items[1]) if is_codes(items) else Facts()


# Items as `measures.sides.batch_of` makes them: vectors, one a row; codes as (words, bits); sets as (values, offsets), weights between the two.


def is_codes(items: Any) -> bool:
    return isinstance(items, tuple) and isinstance(items[1], int)


def size(items: Any) -> int:
    """How many items there are."""
    return len(items) if isinstance(items, np.ndarray) else len(items[0]) if is_codes(items) else len(items[-1]) - 1


def numbers(items: Any) -> int:
    """How many numbers the items take in all."""
    return items.size if isinstance(items, np.ndarray) else items[0].size


def elements(items: Any) -> float | None:
    """The mean number of elements of a set; None for what is no set."""
    return None if isinstance(items, np.ndarray) or is_codes(items) else float(np.diff(items[-1]).mean())


def take(items: Any, rows: np.ndarray) -> Any:
    """The items of these rows, in the same form."""
    if isinstance(items, np.ndarray):
        return items[rows]
    if is_codes(items):
        return items[0][rows], items[1]
    *parts, offsets = items
    sizes = np.diff(offsets)[rows]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(offsets[rows] - ends[:-1], sizes) + np.arange(ends[-1])
    return *(part[places] for part in parts), ends
