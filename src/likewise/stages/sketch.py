"""Rows as they were read to the columns that all later steps work on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from likewise.families.minhash import MinHash
from likewise.items.documents import shingler
from likewise.items.words import Hasher, without_fractions
from likewise.kernels.sets import odd_sketches
from likewise.methods import Text
from likewise.records import TEXT, Records
from likewise.runs.job import Job
from likewise.schema import ROW_COLUMNS
from likewise.stages.kinds import copies_of, kind_of, payload

Columns = dict[str, np.ndarray]
Stage = Callable[[Records], Columns]


def sketcher(job: Job, *, bands: bool = True) -> Stage:
    """A function from the rows of one chunk to their columns: schema.ROW_COLUMNS, ``band_keys`` uint64[bands, n], ``sets`` uint64[m]
    and, where pairs of them will be compared, ``odd``.

    ``bands``: whether band keys are wanted. It may be called from several threads. What it gives for a row depends on the row alone.
    """
    bands = bands and job.plan is not None
    sketch = texts(job, bands) if isinstance(job.method, Text) else others(job, bands)
    compared = bands and job.verify == "exact" and job.items in ("texts", "sets")

    def stage(records: Records) -> Columns:
        columns = {
            "kind": records.kind,
            "start": records.start,
            "length": records.length,
            "per": group_words(records.per, len(records), job.seed),
            "score": np.full(len(records), np.nan) if records.score is None else records.score,
            **sketch(records),
        }
        if compared:
            columns["odd"] = odd_sketches(columns["sets"], np.concatenate(([0], np.cumsum(columns["size"], dtype=np.int64))))
        if job.verify == "none":
            columns |= {"sets": columns["sets"][:0], "size": np.zeros(len(records), "u4")}
        return columns | {name: np.ascontiguousarray(columns[name], dtype.base) for name, dtype in ROW_COLUMNS.items()}

    return stage


def texts(job: Job, bands: bool) -> Stage:
    """Texts are cut into shingles; what is compared is the set of them, or the signature where estimates will do."""
    shingle = shingler(job.method, job.seed)  # type: ignore[arg-type]
    estimates = job.verify == "estimate"

    def sketch(records: Records) -> Columns:
        shingled = shingle(records.text, records.kind == TEXT)
        compared = {"sets": shingled.values, "size": np.diff(shingled.offsets).astype("u4")}
        if bands and job.plan:
            plan = job.plan
            family, sets = MinHash(plan.slots, plan.sketch, job.seed), (shingled.values, shingled.offsets)
            if estimates:
                signature = family.signature(sets)
                compared = tagged_slots(signature, shingled.tokens) | {"band_keys": family.band_keys_of(signature, plan.bands, plan.rows)}
            else:
                compared["band_keys"] = family.band_keys(sets, plan.bands, plan.rows)
        else:
            compared["band_keys"] = np.zeros((0, len(records)), np.uint64)
        return {"tokens": shingled.tokens, "chars": shingled.chars, "copy": shingled.copy, **compared}

    return sketch


def others(job: Job, bands: bool) -> Stage:
    """Sets, vectors, codes and strings are compared as they are."""
    kind = kind_of(job)

    def sketch(records: Records) -> Columns:
        found = kind.sketch(payload(records), job, bands)
        words, size = found.given or (found.words, found.size)
        copy = copies_of(words, size, job.seed)
        return {"tokens": found.tokens, "chars": found.tokens, "copy": copy, "sets": found.words, "size": found.size, "band_keys": found.keys}

    return sketch


def tagged_slots(signature: np.ndarray, tokens: np.ndarray) -> Columns:
    """A signature as a set of (position, slot) pairs: two signatures agree in as many slots as these sets share."""
    slots = signature.shape[1]
    tagged = (np.arange(slots, dtype=np.uint64) << np.uint64(32)) | signature.astype(np.uint64)
    some = tokens > 0
    return {"sets": tagged[some].ravel(), "size": np.where(some, slots, 0).astype("u4")}


def group_words(values: pa.LargeBinaryArray | None, n: int, seed: int) -> np.ndarray:
    """64 bits that stand for the value of ``--per``, keyed: a group must not be entered by a value that was made to look like another. Rows
    without one are a group of their own, 0."""
    if values is None:
        return np.zeros(n, np.uint64)
    words = Hasher(seed).strings(without_fractions(values))
    words[values.is_null().to_numpy(zero_copy_only=False)] = 0
    return words
