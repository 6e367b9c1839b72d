"""Rows of text to the columns that all later steps work on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import xxhash

from likewise.families.minhash import MinHash
from likewise.items.documents import shingler
from likewise.options import Options
from likewise.records import TEXT, Records
from likewise.schema import ROW_COLUMNS

Columns = dict[str, np.ndarray]


def sketcher(options: Options) -> Callable[[Records], Columns]:
    """A function from the rows of one chunk to their columns: schema.ROW_COLUMNS, ``band_keys`` uint64[bands, n] and ``sets`` uint64[m].

    It may be called from several threads. What it gives for a row depends on the row alone.
    """
    shingle = shingler(options.method, options.seed)
    plan = options.plan
    family = MinHash(plan.slots, plan.sketch, options.seed)

    def stage(records: Records) -> Columns:
        shingled = shingle(records.text, records.kind == TEXT)
        values, offsets = shingled.values, shingled.offsets
        if options.verify == "estimate":
            signature = family.signature((values, offsets))
            keys = family.band_keys_of(signature, plan.bands, plan.rows)
            compared = tagged_slots(signature, shingled.tokens)
        else:
            keys = family.band_keys((values, offsets), plan.bands, plan.rows)
            compared = {"sets": values, "size": np.diff(offsets).astype("u4")}
        if options.verify == "none":
            compared = {"sets": values[:0], "size": np.zeros(len(records), "u4")}
        columns = {
            "kind": records.kind,
            "start": records.start,
            "length": records.length,
            "tokens": shingled.tokens,
            "chars": shingled.chars,
            "copy": shingled.copy,
            "per": group_hash(records.per, len(records)),
            "score": np.full(len(records), np.nan) if records.score is None else records.score,
            "band_keys": keys,
            **compared,
        }
        return columns | {name: np.ascontiguousarray(columns[name], dtype.base) for name, dtype in ROW_COLUMNS.items()}

    return stage


def tagged_slots(signature: np.ndarray, tokens: np.ndarray) -> Columns:
    """A signature as a set of (position, slot) pairs: two signatures agree in as many slots as these sets share."""
    slots = signature.shape[1]
    tagged = (np.arange(slots, dtype=np.uint64) << np.uint64(32)) | signature.astype(np.uint64)
    some = tokens > 0
    return {"sets": tagged[some].ravel(), "size": np.where(some, slots, 0).astype("u4")}


def group_hash(values: pa.LargeBinaryArray | None, n: int) -> np.ndarray:
    """64 bits that stand for the value of ``--per``; rows without one are a group of their own, 0."""
    if values is None:
        return np.zeros(n, np.uint64)
    encoded = values.dictionary_encode()
    hashes = np.array([xxhash.xxh3_64_intdigest(value.as_py()) for value in encoded.dictionary] + [0], np.uint64)
    return hashes[encoded.indices.fill_null(len(hashes) - 1).to_numpy(zero_copy_only=False)]
