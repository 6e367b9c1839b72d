"""Steps that the driver reads in order, without Spark."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.engines.spark import ordered
from likewise.engines.spark.ordered import InTurn, Sorted
from likewise.stages.median import median


@pytest.fixture
def step(tmp_path: Path) -> list[Path]:
    """Three files of the even numbers below 20,000, and the odd numbers of other entries; the second one has no rows."""
    number = np.arange(20_000)
    table = pa.table({"rank": number, "what": (number % 2).astype(np.int32), "value": -number})
    paths = [tmp_path / f"part-{part}.parquet" for part in range(3)]
    for path, rows in zip(paths, (table[:6_000], table[:0], table[6_000:]), strict=True):
        with pq.ParquetWriter(path, table.schema) as file:
            for begin in range(0, len(rows), 1_500):
                file.write_table(rows[begin : begin + 1_500])
    return paths


def test_ranges_of_rows_come_from_the_row_groups_that_have_them(step, monkeypatch):
    some = Sorted(step, "rank", what=0)
    read: list[list[int]] = []
    groups = pq.ParquetFile.read_row_groups
    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", lambda file, numbers, columns: read.append(numbers) or groups(file, numbers, columns))
    for begin, end, from_groups in ((0, 1, [[0]]), (1_400, 1_501, [[0, 1]]), (5_999, 6_001, [[3], [0]]), (0, 0, []), (30_000, 40_000, [])):
        read.clear()
        assert some.between(begin, end, ["value"])["value"].to_pylist() == [-number for number in range(begin, min(end, 20_000)) if number % 2 == 0]
        assert read == from_groups
    assert Sorted(step, "rank").between(5_998, 6_002, ["rank", "what"]).to_pydict() == {"rank": [5998, 5999, 6000, 6001], "what": [0, 1, 0, 1]}


def test_row_groups_that_do_not_tell_their_ends_are_read(step):
    pq.write_table(pq.read_table(step[0]), step[0], row_group_size=1_500, write_statistics=False)
    assert Sorted(step, "rank").between(5_998, 6_002, ["rank"])["rank"].to_pylist() == [5998, 5999, 6000, 6001]


def test_blocks_have_all_rows_in_order(step, monkeypatch):
    monkeypatch.setattr(ordered, "BLOCK_ROWS", 1_000)
    blocks = [*Sorted(step, "rank", what=0).blocks(["value"])]
    assert [len(block) for block in blocks] == [0] + [500] * 20  # half of the rows of a block are other entries
    assert pa.concat_tables(blocks)["value"].to_pylist() == [-number for number in range(0, 20_000, 2)]
    empty = Sorted(step[1:2], "rank")
    assert [len(block) for block in empty.blocks(["rank"])] == [0] and len(empty.between(0, 9, ["rank"])) == 0


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.lists(st.integers(0, 60), max_size=6))
def test_slices_of_tables_of_any_sizes(sizes, cuts):
    """Consecutive slices have the rows between the cuts, also those from the first row again."""
    number, ends = pa.table({"number": np.arange(sum(sizes))}), np.cumsum([0, *sizes]).tolist()
    taken = InTurn(lambda: iter([number[begin:end] for begin, end in pairwise(ends)]))
    borders = sorted({0, 60, *cuts})
    for _ in range(2):
        for begin, end in pairwise(borders):
            assert taken(slice(begin, end))["number"].to_pylist() == [*range(begin, min(end, sum(sizes)))]


NUMBERS = st.one_of(st.floats(allow_nan=False, allow_infinity=False, width=32), st.sampled_from([0.7, 0.7000000000000001, -0.0, 0.0, 5e-324]))


@given(st.lists(st.lists(NUMBERS, max_size=30), max_size=4))
def test_the_median_of_blocks_is_that_of_all_values(blocks):
    values = [np.array(block, np.float64) for block in blocks]
    every = np.concatenate([np.zeros(0), *values])
    assert median(lambda: values) == (float(np.median(every)) if len(every) else None)
