"""Sketch rows: from the values that were read to the columns that all later steps work on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from likewise import families
from likewise.items.documents import TEXT_COPIES, memory_of
from likewise.items.units import split
from likewise.items.words import Hasher, without_fractions
from likewise.job import Job
from likewise.kernels.digest import KEYS
from likewise.kernels.hashing import derive
from likewise.kernels.rows import digests
from likewise.kernels.sets import odd_sketches
from likewise.methods import Measure, Text
from likewise.records import TEXT, Records
from likewise.schema import IGNORED, ROW_COLUMNS, UNIT_COLUMNS
from likewise.stages.kept import copies_kept, keys_kept, words_kept

Columns = dict[str, np.ndarray]
Stage = Callable[[Records], Columns]
#: Stream of constants derived from the seed (kernels.hashing.derive).
COPY_KEYS = np.uint64(0x4B1D_0001)


class Sketched(NamedTuple):
    """Sketched rows."""

    tokens: np.ndarray  # uint32[n]: elements of a set, dimensions of a vector (nonzero ones if sparse), bits, code points of a string; 0: empty
    words: np.ndarray  # uint64[m]: the words that are compared, row after row
    size: np.ndarray  # uint32[n]: the number of words of each row
    keys: np.ndarray  # uint64[bands, n]; [0, n] without bands
    given: tuple[np.ndarray, np.ndarray] | None = None  # words and sizes of the items it was derived from, which identify copies
    ignored: np.ndarray | None = None  # numbers of elements, all and ignored ones, int64[n, 2]


class Payload(NamedTuple):
    """The bytes of rows: row i is data[offsets[i] : offsets[i + 1]], empty if the row has no value."""

    data: np.ndarray  # uint8[m]
    offsets: np.ndarray  # int64[n + 1]
    width: np.ndarray  # int64[n]: dimensions of a vector, bits of a code; 0 for other kinds
    there: np.ndarray  # bool[n]: the row has a value

    def words(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows as whole words: values uint64[m / 8] and offsets int64[n + 1]."""
        begin = int(self.offsets[0])
        data = np.ascontiguousarray(self.data[begin : int(self.offsets[-1])]).view(np.uint64)
        return data, (self.offsets - begin) // 8


def payload_of(records: Records) -> Payload:
    """The payloads of records; rows that are skipped are empty."""
    text = records.text
    _, ends, data = text.buffers()
    offsets = np.frombuffer(ends, np.int64, len(text) + 1, text.offset * 8) if len(text) else np.zeros(1, np.int64)
    width = np.zeros(len(text), np.int64) if records.width is None else records.width
    return Payload(np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8), offsets, width, records.kind == TEXT)


def sketcher(job: Job) -> Stage:
    """The function from the rows of a chunk to their columns.

    Columns: schema.ROW_COLUMNS; ``band_keys`` uint64[bands, n], of 0 bands if the job has none; ``sets`` uint64[m]; ``odd`` where candidate pairs of
    sets will be compared; and ``ignored`` (schema.IGNORED) if the job ignores shingles. The function may be called from several threads. The columns
    of a row depend on that row only. With a ``level`` these columns describe documents, without their content; see `in_units`.
    """
    sketch = compared(job)
    level = job.options.level

    def stage(records: Records) -> Columns:
        columns = of_rows(records, job) | (sketch(records) if level is None else in_units(records, level, sketch))
        if job.kept is not None and records.sketched is None:
            columns |= as_in_index(columns, job)
        return columns | {name: np.ascontiguousarray(columns[name], dtype.base) for name, dtype in ROW_COLUMNS.items()}

    return stage


def compared(job: Job) -> Stage:
    """The function from compared items to the columns that describe their content: those of the kind, and those derived from them."""
    sketch = job.kind.sketcher(job)
    with_odd = job.plan is not None and job.verify == "exact" and job.compared.sets
    bits = job.kept or 64

    def stage(records: Records) -> Columns:
        columns = sketch(records) if records.sketched is None else {**records.sketched}
        columns["sets"] = words_kept(columns["sets"], bits)
        if with_odd:
            columns["odd"] = odd_sketches(columns["sets"], np.concatenate(([0], np.cumsum(columns["size"], dtype=np.int64))))
        if job.verify == "none":
            columns |= {"sets": columns["sets"][:0], "size": np.zeros(len(records), "u4")}
        if job.ignored:
            columns["ignored"] = np.ascontiguousarray(columns["ignored"], IGNORED.base)
        return columns

    return stage


def as_in_index(columns: Columns, job: Job) -> Columns:
    """The columns that differ in an index: band keys and copies have fewer bits, and groups are in them, not in a column."""
    per = columns["per"] if job.options.per else None
    keys, copy = keys_kept(columns["band_keys"], per), copies_kept(columns["copy"], per)
    return {"band_keys": keys, "copy": copy, "per": np.zeros(len(copy), np.uint64)}


def in_units(records: Records, level: str, sketch: Stage) -> Columns:
    """The columns of documents and, with "unit-" before their names, of their units, which are compared; ``sketch`` describes these."""
    found = split(records.text, level)
    n, ends = len(records), np.cumsum(found.number, dtype=np.int64)
    nothing = np.zeros(len(found.size), np.int64)
    columns = sketch(Records(np.full(len(found.size), TEXT, np.uint8), nothing, nothing, found.text))
    columns |= {"bytes": found.size, "chars": found.chars}
    of_units = {name: np.ascontiguousarray(columns.pop(name), dtype.base) for name, dtype in UNIT_COLUMNS.items()}
    tokens, chars = (np.diff(np.concatenate(([0], np.cumsum(of_units[name], dtype=np.int64)))[np.append(0, ends)]) for name in ("tokens", "chars"))
    return {
        **columns,
        **{f"unit-{name}": values for name, values in of_units.items()},
        "units": found.number,
        "tokens": tokens,
        "chars": chars,
        "size": np.zeros(n, np.uint32),
        "copy": np.zeros((n, 2), np.uint64),
    }


def of_rows(records: Records, job: Job) -> Columns:
    """The columns of rows that every stage has, schema.ROW_COLUMNS without ``tokens`` and ``chars``, and no sets, bands or copies."""
    n = len(records)
    return {
        "kind": records.kind,
        "start": records.start,
        "length": records.length,
        "per": group_words(records.per, n, job.seed),
        "score": np.full(n, np.nan) if records.score is None else records.score,
        "copy": np.zeros((n, 2), np.uint64),
        "size": np.zeros(n, np.uint32),
        "sets": np.zeros(0, np.uint64),
        "band_keys": np.zeros((0, n), np.uint64),
    }


def sketched(tokens: np.ndarray, words: np.ndarray, size: np.ndarray, keys: np.ndarray) -> Sketched:
    """A Sketched with tokens and sizes converted to uint32."""
    return Sketched(tokens.astype(np.uint32), words, size.astype(np.uint32), keys)


def keys_of(job: Job, batch: Any) -> np.ndarray:
    """The band keys of a batch, uint64[bands, n]; of 0 bands without a plan."""
    plan = job.plan
    if plan is None:
        return np.zeros((0, len(batch[-1]) - 1 if isinstance(batch, tuple) else len(batch)), np.uint64)
    family = families.from_plan(plan, job.seed)
    if hasattr(family, "band_keys"):
        return family.band_keys(batch, plan.bands, plan.rows)
    return family.band_keys_of(family.signature(batch), plan.bands, plan.rows)


def columns_of(found: Sketched, job: Job) -> Columns:
    """The columns of sketched rows, without those that `sketcher` adds."""
    words, size = found.given or (found.words, found.size)
    copy = copies_of(words, size, job.seed)
    columns = {"tokens": found.tokens, "chars": found.tokens, "copy": copy, "sets": found.words, "size": found.size, "band_keys": found.keys}
    return columns if found.ignored is None else columns | {"ignored": found.ignored}


def copies_of(words: np.ndarray, size: np.ndarray, seed: int) -> np.ndarray:
    """128 bits that identify the words of each row, uint64[n, 2]: rows with equal bits are copies of each other."""
    return digests(words, np.concatenate(([0], np.cumsum(size, dtype=np.int64))), derive(np.uint64(seed), COPY_KEYS, KEYS))


def tagged_slots(signature: np.ndarray, sizes: np.ndarray) -> Columns:
    """A signature as a set of (position, slot) pairs: two such sets share as many elements as the signatures have equal slots.

    sizes: int64[n], the sizes of the signed sets; an empty one has no slots.
    """
    slots = signature.shape[1]
    tagged = (np.arange(slots, dtype=np.uint64) << np.uint64(32)) | signature.astype(np.uint64)
    some = sizes > 0
    return {"sets": tagged[some].ravel(), "size": np.where(some, slots, 0).astype("u4")}


def group_words(values: pa.LargeBinaryArray | None, n: int, seed: int) -> np.ndarray:
    """64 bits that identify the value of ``per``, uint64[n]; 0 for rows without one, which form a group.

    Hashing is keyed, so that nobody can craft a value that falls into another group.
    """
    if values is None:
        return np.zeros(n, np.uint64)
    words = Hasher(seed).strings(without_fractions(values))
    words[values.is_null().to_numpy(zero_copy_only=False)] = 0
    return words


def takes(method: Text | Measure) -> Callable[[np.ndarray], int]:
    """The function that estimates the bytes of memory needed to sketch a row from its content, uint8[n]."""
    if isinstance(method, Text):
        return partial(memory_of, method=method)
    return lambda held: TEXT_COPIES * len(held)
