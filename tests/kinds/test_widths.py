"""Where a narrower number would do harm: keys of bands, places of sets, counts of pairs, the arithmetic at the threshold, and vectors."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from math import sqrt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise import methods
from likewise.families import MinHash
from likewise.kernels.compare import EXACT, SetRule
from likewise.kernels.sets import odd_sketches
from likewise.runs import items as run_items
from likewise.stages.buckets import Buckets, group, no_splits
from likewise.stages.walk import Sets, walk

WIDTH = 24  # bits of the deliberately narrow keys: chance meetings are rare enough to count and many enough to tell


def meetings(keys: np.ndarray, shift: int) -> int:
    """Pairs of items that share ``WIDTH`` bits of a band's key, from bit ``shift`` on, over all bands."""
    narrow = keys >> np.uint64(shift) & np.uint64(2**WIDTH - 1)
    counts = [np.unique(band, return_counts=True)[1] for band in narrow]
    return sum(int((count * (count - 1) // 2).sum()) for count in counts)


@pytest.mark.parametrize("shift", [0, 20, 40], ids=["low", "middle", "high"])
@pytest.mark.parametrize("mode", ["oph", "classic"])
def test_sets_that_share_nothing_collide_as_probability_says(mode, shift):
    """n random sets make n^2 / 2^25 meetings in each band under keys of 24 bits. Real keys have 64, and so make one in a trillion of these."""
    n, bands, rows = 20_000, 16, 2
    elements = np.random.default_rng(1).integers(0, 2**64, 10 * n, np.uint64)
    keys = MinHash(bands * rows, mode).band_keys((elements, np.arange(n + 1) * 10), bands, rows)
    expected = bands * n * (n - 1) / 2 / 2**WIDTH
    assert abs(meetings(keys, shift) - expected) < 5 * sqrt(expected)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_each_bit_of_each_slot_moves_half_of_the_key(rows):
    slots = np.random.default_rng(2).integers(0, 2**32, rows, np.uint64).astype(np.uint32)
    flipped = slots ^ (np.uint32(1) << np.arange(32, dtype=np.uint32))[:, None, None] * np.eye(rows, dtype=np.uint32)
    family = MinHash(rows)
    changed = family.band_keys_of(flipped.reshape(-1, rows), 1, rows) ^ family.band_keys_of(slots, 1, rows)
    moved = np.bitwise_count(changed)
    assert moved.min() > 32 - 5 * 4  # the bits of a random word that are set: 32, standard deviation 4
    assert abs(moved.mean() - 32) < 5 * 4 / sqrt(moved.size)


def one_bucket(sets: Sets) -> list[int]:
    """The representatives that the walk finds when all items share one bucket."""
    n = len(sets.size)
    keys = np.zeros(n, np.uint64)
    return walk(sets, group(lambda band: keys, keys, 1, split=True)).representative.tolist()


@pytest.mark.parametrize(("threshold", "representative"), [("0.499999999", [-1, 0]), ("0.5", [-1, 0]), ("0.500000001", [-1, -1])])
def test_a_threshold_of_nine_digits(threshold, representative):
    """Two sets that share 200 of 400 elements: sizes times 10^9 need more than 32 bits."""
    values = np.concatenate([np.arange(300), np.arange(100, 400)]).astype(np.uint64)
    rule = SetRule(*Fraction(threshold).as_integer_ratio(), EXACT)
    odd = odd_sketches(values, np.array([0, 300, 600]))
    assert one_bucket(Sets(-1, values, np.array([0, 300]), np.array([300, 300], "u4"), rule, odd, np.arange(2))) == representative


def test_sets_beyond_four_gigabytes(tmp_path):
    """Two equal sets and a stranger in the work folder, with 4 GiB (of nothing, which takes no room) before the second set."""
    near, far = 16, 2**29 + 16  # elements of 8 bytes: in 32 bits these are one place
    ours, others = np.arange(5, 15, dtype=np.uint64), np.arange(100, 110, dtype=np.uint64)
    with open(tmp_path / "sets", "w+b") as file:
        for place, elements in ((0, ours), (near, others), (far, ours)):
            os.pwrite(file.fileno(), elements.tobytes(), 8 * place)
        where = np.array([0, far], np.int64)
        none = odd_sketches(ours[:0], np.zeros(1, np.int64))
        assert one_bucket(Sets(file.fileno(), ours[:0], where, np.array([10, 10], "u4"), SetRule(1, 1, EXACT), none, where)) == [-1, 0]


def test_more_elements_than_32_bits_can_number():
    """Where the sets of three items begin: the third after six billion elements of the first two."""
    size = np.array([3 * 10**9, 3 * 10**9, 5], "u4")
    items = SimpleNamespace(collection=SimpleNamespace(column=lambda name: size), member=np.arange(3))
    job = SimpleNamespace(compared=methods.parse("words").compared, threshold=Fraction(1, 2), verify="exact")
    work = SimpleNamespace(opened=lambda name, dtype: (-1, np.zeros(0, np.uint64)), column=lambda name, dtype: np.zeros((0, 8), np.uint64))
    run = SimpleNamespace(job=job, work=work)
    assert run_items.sets(items, run).offset.tolist() == [0, 3 * 10**9, 6 * 10**9]


def test_one_bucket_of_a_million_has_half_a_trillion_pairs():
    assert Buckets(np.zeros((1, 0), np.int32), np.array([10**6]), np.array([0]), no_splits(1)).pairs() == 499_999_500_000


#: Vectors of one collection whose float32 and float64 forms differ, in every form that says which it is.
VECTORS = np.random.default_rng(3).normal(size=(6, 4))


def vectors_in(folder: Path, form: str) -> Any:
    """The vectors in a form; that of digits, as JSON has them, is float64."""
    if form.startswith("array"):
        return VECTORS.astype(form[5:])
    path = folder / form
    if path.suffix == ".npy":
        np.save(path, VECTORS.astype(path.stem))
    elif path.suffix == ".parquet":
        pq.write_table(pa.table({"vector": pa.array(VECTORS.astype(path.stem).tolist(), pa.list_(getattr(pa, path.stem)()))}), path)
    else:
        path.write_text("".join(json.dumps({"vector": row}) + "\n" for row in VECTORS.tolist()))
    return path


@pytest.mark.parametrize("narrow", ["float32.npy", "float32.parquet", "arrayfloat32", "float16.npy"])
@pytest.mark.parametrize("wide", ["float64.npy", "float64.parquet", "digits.jsonl", "arrayfloat64"])
def test_vectors_of_two_widths_are_compared_as_float64(tmp_path, narrow, wide):
    """Across collections, either way; what was rounded to float32 is not rounded away in the other."""
    less, more = vectors_in(tmp_path, narrow), vectors_in(tmp_path, wide)
    rounded = VECTORS.astype("float16" if "16" in narrow else "float32").astype(np.float64)
    expected = lw.similarity(rounded, VECTORS, by="l2")
    assert expected.min() > 0
    for found in (lw.pairs(less, against=more, by="l2", within=0.01), lw.pairs(more, against=less, by="l2", within=0.01)):
        table = found.to_arrow()
        assert [row["id_a"] for row in table.to_pylist()] == [row["id_b"] for row in table.to_pylist()] == list(range(6))
        assert table["distance"].to_pylist() == expected.tolist()
    assert lw.neighbors(less, query=more, by="l2", k=1).to_arrow()["distance"].to_pylist() == expected.tolist()


def test_files_of_two_widths_in_one_collection(tmp_path):
    files = [vectors_in(tmp_path, name) for name in ("float32.npy", "float64.npy", "float32.parquet", "digits.jsonl")]
    expected = lw.similarity(VECTORS.astype(np.float32), VECTORS, by="l2")
    for order in (files, files[::-1]):
        values = lw.pairs(order, by="l2", within=0.01).to_arrow()["distance"].to_numpy()
        assert len(values) == 6 * 6  # four files, of which two and two hold the same
        assert np.sort(values[values > 0]).tolist() == np.sort(np.repeat(expected, 4)).tolist()
    result = lw.dedup(files, by="l2", within=0)
    assert (result.report["counts"]["kept"], result.report["counts"]["removed_exact"]) == (12, 12)
