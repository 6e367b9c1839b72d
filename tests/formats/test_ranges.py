"""Ranges of sources: read one by one, wherever they are cut, they give the rows of the whole."""

from __future__ import annotations

import bz2
import inspect
import json
import pickle
import subprocess
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc

from likewise.io import batches, formats
from likewise.io.formats import lines, npy, parquet, text
from likewise.io.inputs import Source, resolve
from likewise.io.ranges import END, WHOLE, Range
from likewise.records import Records, Want

TEXTS = Want()
VECTORS = Want("vector", kind="vector")
LINES = [b'{"id":1,"text":"a b"}', b'{"text":"\xc3\xa9"}', b"", b"7", b'{"id":"x"', b'{"text":"\xff"}', b'{"id":2,"text":"long ' + b"w " * 30 + b'"}']


def rows(parts: Iterable[Records]) -> list[tuple]:
    """All that is read of each row."""
    found = []
    for records in parts:
        reasons = {entry.row: (entry.reason, entry.raw) for entry in records.rejected}
        ids = [None] * len(records) if records.id is None else records.id.to_pylist()
        columns = records.kind.tolist(), records.start.tolist(), records.length.tolist(), records.text.to_pylist(), ids
        found += [(*row, reasons.get(number)) for number, row in enumerate(zip(*columns, strict=True))]
    return found


def read(source: Source, want: Want, part: Range = WHOLE) -> list[tuple]:
    return rows(source.parse(chunk, want) for chunk in source.chunks(want, 0, part))


def source_of(path: Path, want: Want = TEXTS) -> Source:
    [source] = resolve([path], want=want)
    return source


@pytest.fixture
def small(monkeypatch) -> None:
    """Chunks of a few rows."""
    for module in (lines, batches, npy, parquet, text):
        monkeypatch.setattr(module, "CHUNK_BYTES", 64)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 16)
    monkeypatch.setattr(lines, "READ_BYTES", 16)


def saved(folder: Path, name: str, n: int, each: int) -> Path:
    """A file of n rows, ``each`` of them in a row group or batch."""
    path = folder / name
    if name.endswith(".npy"):
        np.save(path, np.asarray(np.arange(2 * n, dtype=np.float32).reshape(n, 2), order="F" if "fortran" in name else "C"))
    elif name.endswith(".jsonl"):
        path.write_bytes(b"\xef\xbb\xbf" * ("marked" in name) + b"\n".join(LINES[i % len(LINES)] for i in range(n)))
    elif name == "texts":
        path.mkdir()
        for i in range(n):
            (path / f"{i:03}.txt").write_bytes(b"\xff" if i % 5 == 4 else b"w" * (i % 3))
    else:
        table = pa.table({"id": range(n), "text": pa.array([None if i % 4 == 3 else f"text {i}" for i in range(n)]), "more": ["more"] * n})
        if name.endswith(".parquet"):
            pq.write_table(table, path, row_group_size=each)
        else:
            with (ipc.new_file if name.endswith(".arrow") else ipc.new_stream)(path, table.schema) as writer:
                writer.write_table(table, max_chunksize=each)
    return path


NAMES = ["a.jsonl", "marked.jsonl", "a.npy", "fortran.npy", "texts", "a.parquet", "a.arrow", "a.arrows"]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 25), each=st.integers(1, 9), data=st.data())
def test_ranges_together_are_the_whole(tmp_path_factory: pytest.TempPathFactory, name: str, n: int, each: int, data: st.DataObject) -> None:
    """Wherever they are cut, also within rows; and each row is in the range that holds its beginning."""
    path = saved(tmp_path_factory.mktemp("ranges"), name, n, each)
    want = VECTORS if name.endswith(".npy") else TEXTS
    source = source_of(path, want)
    whole = read(source, want)
    most = path.stat().st_size + 2 if name.endswith(".jsonl") else n + 2
    cuts = sorted(data.draw(st.lists(st.integers(0, most), max_size=5)))
    for begin, end in pairwise([0, *cuts, END]):
        assert read(source, want, (begin, end)) == [row for row in whole if begin <= row[1] < end], (begin, end)
    for size in (1, 50, 10**6):
        plan = source.plan(size)
        assert (plan[0][0], plan[-1][1]) == WHOLE
        assert all(end == begin for (_, end), (begin, _) in pairwise(plan))
        assert [row for part in plan for row in read(source, want, part)] == whole


@pytest.mark.usefixtures("small")
def test_a_table_in_memory(tmp_path: Path) -> None:
    table = pa.concat_tables([pa.table({"id": [i, i + 1], "text": [f"a{i}", f"b{i}"]}) for i in range(0, 20, 2)])
    [source] = resolve([table])
    plan = source.plan(table.nbytes // 2)
    assert plan == [(0, 10), (10, END)]
    assert [row for part in plan for row in read(source, TEXTS, part)] == read(source, TEXTS)
    assert read(source, TEXTS, (3, 4)) == read(source, TEXTS)[3:4]


def test_plans_by_hand(tmp_path: Path) -> None:
    """Bytes of lines, rows of 8 bytes, whole row groups and batches, and files."""
    (tmp_path / "a.jsonl").write_bytes(b'{"text":"a"}\n' * 4)
    assert source_of(tmp_path / "a.jsonl").plan(20) == [(0, 20), (20, 40), (40, END)]
    np.save(tmp_path / "a.npy", np.zeros((10, 2), np.float32))
    assert source_of(tmp_path / "a.npy", VECTORS).plan(32) == [(0, 4), (4, 8), (8, END)]
    assert source_of(saved(tmp_path, "a.parquet", 10, 4)).plan(1) == [(0, 4), (4, 8), (8, END)]
    assert source_of(saved(tmp_path, "a.arrow", 10, 4)).plan(1) == [(0, 4), (4, 8), (8, END)]
    assert source_of(saved(tmp_path, "texts", 4, 1)).plan(2) == [(0, 3), (3, END)]  # of 0, 1, 2 and 0 bytes


def test_what_can_only_be_read_from_its_beginning_is_one_range(tmp_path: Path) -> None:
    """Compressed files; documents that go over lines; arrays; streams; CSV, in which a cell in quotes may hold what looks like a record."""
    record = b'{"text": "a"}\n'
    (tmp_path / "a.jsonl.bz2").write_bytes(bz2.compress(record * 9))
    (tmp_path / "b.jsonl").write_bytes(b'{\n"text": "a"\n}\n' * 9)
    (tmp_path / "c.json").write_bytes(b"[" + b",".join([record] * 9) + b"]")
    (tmp_path / "d.csv").write_bytes(b'text\n"a\nb"\n')
    saved(tmp_path, "e.arrows", 9, 2)
    np.savez(tmp_path / "f.npz", vectors=np.zeros((4, 2), np.float32), offsets=np.array([0, 2, 4]))
    for path in sorted(tmp_path.iterdir()):
        assert source_of(path, Want("vector", kind="features") if path.suffix == ".npz" else TEXTS).plan(1) == [WHOLE], path


def test_a_range_reads_no_more_than_its_own_batches(tmp_path: Path) -> None:
    """Damage in other row groups and batches goes unseen."""
    for name in ("a.parquet", "a.arrow"):
        path = saved(tmp_path, name, 12, 4)
        source = source_of(path)
        *_, last = source.plan(1)
        good = read(source, TEXTS, last)
        raw = bytearray(path.read_bytes())
        at = raw.index(b"text 0")  # in the first
        raw[at - 60 : at + 6] = b"\xff" * 66
        path.write_bytes(raw)
        assert read(source, TEXTS, last) == good
        assert [row[3] for row in good] == [b"text 8", b"text 9", b"text 10", b""]


def test_another_process_opens_a_range(tmp_path: Path) -> None:
    """A source can be pickled, also one with partition columns, and one whose records are in a list inside of a document."""
    folder = tmp_path / "lang=en"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(b"".join(b'{"id":%d,"text":"t"}\n' % i for i in range(4)))
    (tmp_path / "b.json").write_bytes(json.dumps({"data": [{"text": "b"}]}).encode())
    partitioned, wrapped = source_of(folder / "a.jsonl"), source_of(tmp_path / "b.json", Want(records="data"))
    want = Want(per="lang")
    [_, part, *_] = partitioned.plan(30)
    child = """
import pickle, sys
for source, want, part in pickle.load(sys.stdin.buffer):
    for chunk in source.chunks(want, 0, part):
        records = source.parse(chunk, want)
        print(records.start.tolist(), records.text.to_pylist(), records.per and records.per.to_pylist())
"""
    given_ = pickle.dumps([(partitioned, want, part), (wrapped, TEXTS, WHOLE)])
    done = subprocess.run([sys.executable, "-P", "-c", child], input=given_, capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["[40] [b't'] [b'\"en\"']", "[10] [b'b'] None"]
    assert part == (30, 60)  # lines begin at 0, 20, 40 and 60


@pytest.mark.parametrize("name", [*formats.FORMATS, "memory"])
def test_a_format_that_plans_ranges_also_says_where_the_first_few_rows_end(name: str) -> None:
    module = formats.load(name)
    assert hasattr(module, "plan") == hasattr(module, "few") == ("part" in inspect.signature(module.chunks).parameters)


def test_one_range_of_csv_refuses_none_of_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,"a\n2,b"\n')
    source = source_of(path)
    [part] = source.plan(1)
    assert [row[3:5] for row in read(source, TEXTS, part)] == [(b"a\n2,b", b'"1"')]
    with pytest.raises(TypeError):
        read(source, TEXTS, (0, 5))
