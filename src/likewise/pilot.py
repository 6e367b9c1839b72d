"""A small sample of a collection, and what it says of the similarities to expect: for plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import xxhash

from likewise.curves import Curve
from likewise.errors import UsageError
from likewise.io.inputs import Source
from likewise.items.codes import codes
from likewise.items.documents import shingler
from likewise.items.vectors import vectors
from likewise.kernels.sets import overlaps_of_all
from likewise.methods import Measure, Text
from likewise.planning import Density, Facts
from likewise.planning.density import measured
from likewise.records import TEXT, Want

#: Texts whose pairs are all compared, and where they may come from: so many sources, and bytes of them in all.
TEXTS, SOURCES, BYTES = 1000, 64, 64 * 2**20
#: Other items whose pairs are all compared, and how many pairs at a time.
ITEMS, AT_ONCE = 500, 1 << 14


@dataclass(frozen=True)
class Pilot:
    """A sample of a collection."""

    values: np.ndarray  # float64: the measure of all pairs of the sample
    sample: int  # items in it
    items: int  # in the collection; estimated where it was not read whole
    facts: Facts | None = None
    shingles: float | None = None  # the mean number of distinct shingles of a text

    def density(self, curve: Curve, threshold: Fraction) -> Density:
        """The pairs to expect."""
        return measured(self.values.tolist(), curve, threshold, self.sample)


def of_texts(sources: Sequence[Source], method: Text, want: Want, seed: int) -> Pilot:
    """Up to TEXTS different texts, drawn by their hash from the beginnings of up to SOURCES sources that lie evenly among all."""
    count = min(len(sources), SOURCES)
    drawn: set[tuple[int, bytes]] = set()
    rows = read = 0
    for source in (sources[i * len(sources) // count] for i in range(count)):
        for texts, size, found in beginning(source, want, BYTES // count):
            rows, read = rows + found, read + size
            drawn = set(sorted(drawn | {(xxhash.xxh3_64_intdigest(text, seed), text) for text in texts})[:TEXTS])
    if len(drawn) < 2:
        raise UsageError("a sample takes two different texts or more; leave INPUT out to plan without one")
    shingled = shingler(method, seed)(pa.array([text for _, text in sorted(drawn)], pa.large_binary()), np.ones(len(drawn), bool))
    sizes = np.diff(shingled.offsets)
    common = overlaps_of_all(shingled.values, shingled.offsets)
    left, right = np.triu_indices(len(sizes), 1)
    union = sizes[left] + sizes[right] - common
    total = sum(source.size for source in sources)
    return Pilot(common[union > 0] / union[union > 0], len(sizes), max(rows, round(rows * total / max(read, 1))), shingles=float(sizes.mean()))


def beginning(source: Source, want: Want, most: int) -> Iterator[tuple[list[bytes], int, int]]:
    """The texts of each chunk of a source, with the bytes and rows of the chunk, until so many bytes are read."""
    read = 0
    for chunk in source.format.chunks(source.path, want, 0):
        records = source.format.parse(chunk, want, source.name)
        texts = [text for text, kind in zip(records.text.to_pylist(), records.kind, strict=True) if kind == TEXT and text]
        yield texts, chunk.data.nbytes, len(records)
        read += chunk.data.nbytes
        if read >= most:
            return


def of_items(data: Any, method: Measure, compare: Callable[[Any, Any], np.ndarray], seed: int) -> Pilot:
    """Up to ITEMS random items of data in memory. ``compare`` measures two equally long batches, item by item."""
    facts, whole = known(data, method)
    rows = np.random.default_rng(seed).permutation(whole)[:ITEMS]
    if len(rows) < 2:
        raise UsageError("a sample takes two items or more; leave the data out to plan without one")
    left, right = (rows[side] for side in np.triu_indices(len(rows), 1))
    parts = [compare(take(data, left[at : at + AT_ONCE]), take(data, right[at : at + AT_ONCE])) for at in range(0, len(left), AT_ONCE)]
    values = np.concatenate(parts).astype(float)
    return Pilot(values[~np.isnan(values)], len(rows), size(data), facts)


def known(data: Any, method: Measure) -> tuple[Facts, np.ndarray]:
    """What a plan must know of the items, and the rows that may be compared: a zero vector has no angle."""
    if method.name == "hamming":
        return Facts(codes(data)[1]), np.arange(size(data))
    if method.name in ("elements", "weighted"):
        return Facts(), np.arange(size(data))
    numbers = vectors(data)
    some = np.flatnonzero(numbers.any(axis=1)) if method.name in ("cosine", "angle") else np.arange(len(numbers))
    return Facts(numbers.shape[1], float(numbers.min()), float(numbers.max())), some


def size(data: Any) -> int:
    """How many items there are."""
    return len(data[-1]) - 1 if isinstance(data, tuple) else len(data)


def take(data: Any, rows: np.ndarray) -> Any:
    """The items of these rows, as a batch like the whole."""
    return data[rows] if isinstance(data, np.ndarray) else [data[row] for row in rows.tolist()]
