"""Arrays in the blocks of a shuffle, without Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from likewise.engines.spark.blocks import BLOCK, binary, flat, gathered, lists, packed, part_of, places, spark_hash, whole

#: ``SELECT hash(value)`` by Spark 4.3 for values of type bigint.
HASHES = {0: -1670924195, 1: -1712319331, -1: -939490007, 42: 1316951768, 2**40 + 7: 995648648, -(2**63): -853646085}


def test_hashes_of_numbers_are_those_of_spark():
    assert spark_hash(np.array([*HASHES])).tolist() == [*HASHES.values()]


@pytest.mark.parametrize("parts", [1, 2, 7, 200, 5000])
def test_each_place_has_a_partition_of_its_own(parts):
    assert (spark_hash(places(parts)) % parts).tolist() == list(range(parts))


def test_a_block_that_is_too_large_for_arrow_is_an_error():
    """Its places would be counted in 32 bits."""
    with pytest.raises(OverflowError, match=r"^a batch of 268,435,456 entries of 8 bytes is too large for Arrow$"):
        binary(np.zeros(0, np.uint64), np.array([0, 1 << 28]))


@pytest.mark.parametrize("parts", [1, 3, 70_000])
def test_packed_entries_arrive_whole_at_their_partition(parts):
    rng = np.random.default_rng(1)
    n = 5 * BLOCK + 3
    key, odd = rng.integers(0, 2**64, n, np.uint64), rng.integers(0, 2**64, (n, 8), np.uint64)
    part, at = part_of(key, parts), np.arange(parts) * 10
    table = pa.Table.from_batches([packed(part, at, ["key", "odd", "none"], key=key, odd=odd)])
    assert table["none"].null_count == len(table)
    arrived = np.zeros(n, bool)
    for place in np.unique(table["place"].to_numpy()).tolist():
        here = table.filter(pa.array(table["place"].to_numpy() == place))
        mine = np.flatnonzero(part == place // 10)
        arrived[mine] = True
        assert flat(here["key"], np.uint64).tolist() == key[mine].tolist()
        assert (flat(here["odd"], (np.uint64, (8,))) == odd[mine]).all()
        assert len(here) == -(-len(mine) // BLOCK)
    assert arrived.all()


def test_lists_of_chunks_and_slices():
    rows = [b"", b"12345678", b"abcdefgh87654321", b""]
    column = pa.chunked_array([pa.array([b"xxxxxxxx", *rows[:2]], pa.binary()).slice(1), pa.array(rows[2:], pa.binary())])
    values, offsets = lists(column)
    assert offsets.tolist() == [0, 0, 1, 3, 3] and values.tobytes() == b"12345678abcdefgh87654321"


def test_batches_are_joined():
    batches = [pa.record_batch({"a": pa.array(range(n), pa.int64())}) for n in (2, 0, 3, 4)]
    assert [len(table) for table in gathered(batches, 5)] == [5, 4]
    assert len(whole(batches)) == 9 and whole(batches[1:2]) is None
