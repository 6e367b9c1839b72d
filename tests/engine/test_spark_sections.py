"""Sections of the rows, which tasks read from the files of a step, and partitions of clusters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from likewise.engines.spark import clustered, sections
from likewise.engines.spark.blocks import flat, packed, part_of, places, texts
from likewise.engines.spark.sections import NUMBERS, Files, Numbered, Sections
from likewise.engines.spark.sketching import PART, ROW
from likewise.engines.spark.steps import Steps

NOWHERE = Files(Path(), "", np.zeros(0, bool), {})


def about(rank: int, rows: int, nbytes: int) -> dict[str, object]:
    return {"rank": rank, "rows": rows, "rank_of_parts": rank, "parts": 2 * rows, "place": (0, nbytes, nbytes)}


def files(folder: Path, *tables: pa.Table) -> Files:
    """The files of a step, with row groups of three rows."""
    folder.mkdir(parents=True)
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"part-{number:05}.parquet", row_group_size=3)
    return Files.of(Steps(None, folder.parent), folder.name)  # type: ignore[arg-type]


def test_sections_end_where_they_are_full(monkeypatch) -> None:
    monkeypatch.setattr(sections, "SECTION_BYTES", 10)
    monkeypatch.setattr(sections, "SECTION_ROWS", 8)
    second, third = 1 << 32, 3 << 32  # the task between read nothing
    chunks = [
        about(0, 3, 4),
        about(3, 3, 6),
        about(6, 1, 1),
        about(second, 1, 1),
        about(second + 1, 0, 1),
        about(third, 7, 1),
        about(third + 7, 2, 1),
    ]
    found = Sections.of(chunks, ROW, NOWHERE, of_parts=False)
    assert found.ends.tolist() == [0, 6, third, third + 7, third + 9]
    assert found.of_ranks(np.array([0, 5, 6, second, third, third + 6, third + 8])).tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert Sections.of([], ROW, NOWHERE, of_parts=False).ends.tolist() == [0, 1]


def test_a_section_has_the_columns_of_its_rows(tmp_path: Path) -> None:
    """Rows and their parts in two files, of which a section ends in the middle of a row group, and the next one in the middle of the other file."""

    def entries(first: int) -> pa.Table:
        ranks = [(what, first + rank, f"{what}{rank}".encode()) for rank in range(10) for what in (ROW, PART)]
        what, rank, id_ = (pa.array(each) for each in zip(*ranks, strict=True))
        return pa.table({"what": what.cast(pa.int32()), "rank": rank, "id": id_.cast(pa.binary())})

    second = 1 << 32
    rows = files(tmp_path / "rows", entries(0), entries(second))
    found = Sections(np.array([0, 4, second + 2, second + 10]), ROW, rows)
    read = [[rank for table in found.read(number, ["id"]) for rank in table["rank"].to_pylist()] for number in range(3)]
    assert read == [[0, 1, 2, 3], [4, 5, 6, 7, 8, 9, second, second + 1], [*range(second + 2, second + 10)]]
    wanted = np.array([4, 4, 7, 9])
    ids = [id_ for here, column, place in found.look_up(1, "id", wanted) for id_ in column.take(pa.array(place)).to_pylist()]
    assert ids == [b"04", b"04", b"07", b"09"]
    table = pa.table({"place": [places(3)[1]]})
    assert found.here(table) == 1


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (["part-00000-u-c000.parquet", "part-00002-u-c000.parquet", "part-100000-u-c000.parquet"], "part-{:05}-u-c000.parquet"),
        (["part-00000-u-c000.parquet", "part-00002-u-c000.parquet", "part-00002-u-c001.parquet"], "part-{:05}-u-c000.parquet"),
        (
            ["part-00000-tid-5-1-c000.parquet", "part-99999-tid-5-2-c000.parquet", "part-100000-tid-5-3-c000.parquet"],
            "part-{:05}-tid-5-1-c000.parquet",
        ),
    ],
)
def test_files_are_those_that_the_driver_found(tmp_path: Path, names: list[str], pattern: str) -> None:
    """Committers number tasks, too, and Spark may write several files for a partition. A file that is lost later is an error."""
    (tmp_path / "step").mkdir()
    for name in names:
        pq.write_table(pa.table({"rank": [1, 2]}), tmp_path / "step" / name)
    found = Files.of(Steps(None, tmp_path), "step")  # type: ignore[arg-type]
    assert found.name == pattern and [path.name for path in Steps(None, tmp_path).files_of("step")] == names  # type: ignore[arg-type]
    for number in (0, 1, 2, 3, 100_000, 100_001):
        assert [path.name for path in found.paths(number)] == [name for name in names if name.startswith(f"part-{number:05}-")]
    assert [table["rank"].to_pylist() for table in found.tables(0, ["rank"])] == [[1, 2]]
    (tmp_path / "step" / names[0]).unlink()
    with pytest.raises(FileNotFoundError):
        [*found.tables(0, ["rank"])]


def test_items_have_the_numbers_of_their_partitions(tmp_path: Path) -> None:
    """Row 2 is a copy of row 0, which is the second item of the second partition; row 1 is not compared."""
    rows = files(tmp_path / "rows", pa.table({"what": pa.array([ROW] * 4, pa.int32()), "rank": range(4), "size": [5, 6, 7, 8]}))
    numbers = dict(zip(NUMBERS[:4], np.array([[3, 3, 0, 0], [2, 0, 1, 1], [1, 1, 0, -1], [0, 0, 1, 1]]).T, strict=True))
    steps = Steps(None, tmp_path)  # type: ignore[arg-type]
    (tmp_path / "copies").mkdir()
    block = packed(np.zeros(4, np.int64), places(1), NUMBERS, **numbers)
    pq.write_table(pa.Table.from_batches([block]), tmp_path / "copies/part-00000-x.snappy.parquet")
    found = Numbered(Sections(np.array([0, 4]), ROW, rows), Files.of(steps, "copies"), np.array([0, 10]))
    assert {name: values.tolist() for name, values in found.copies(0).items()} == {
        "rank": [0, 1, 2, 3],
        "first": [0, 1, 0, 3],
        "item": [11, -1, 11, 0],
        "side": [],
    }
    assert [batch.to_pydict() for batch in found.read(0, ["size"])] == [
        {"rank": [0], "size": [5], "item": [11]},
        {"rank": [3], "size": [8], "item": [0]},
    ]


def test_bytes_travel_in_blocks() -> None:
    values = pa.array([b"a", None, b"bcd", b"ef", b"g"] * 700, pa.binary())
    number = np.arange(len(values))
    block = pa.Table.from_batches([packed(part_of(number, 3), places(3), ["n", "id", "id_size"], n=number, id=values)])
    assert texts(block, "id").to_pylist() == [values[at].as_py() for at in flat(block["n"], np.int64).tolist()] and len(block) > 3


def test_representatives_go_to_all_partitions_that_have_rows_of_them() -> None:
    """The rows of 7 are cut at 3 and at 5; those of 8 and 9 are in the last partition, with the end of 7."""
    cuts = np.array([[7, 7], [3, 5]])
    heads, part, at = clustered.parts_of({"head": np.array([5, 7, 8, 9])}, cuts)
    assert sorted(zip(heads["head"].tolist(), part.tolist(), strict=True)) == [(5, 0), (7, 0), (7, 1), (7, 2), (8, 2), (9, 2)]
    assert len(at) == 3
