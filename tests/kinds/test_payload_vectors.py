"""Vectors, sparse vectors and codes as payloads, however they are stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise import options
from likewise.errors import UsageError
from likewise.io import fields
from likewise.io.formats import memory
from likewise.io.inputs import resolve
from likewise.planning import Facts
from likewise.records import NO_TEXT, REJECTED, TEXT, Records, Want
from likewise.runs.inspection import job_of
from likewise.stages.sketch import sketcher
from payload_rows import ROWS, codes, csr, kinds, numbers, of_column, of_file, of_json, of_lines, of_table, pairs, reasons, word, words

# ------------------------------------------------------------------------------------------------------------- vectors


@pytest.mark.parametrize("item", [pa.float16(), pa.float32(), pa.float64(), pa.int8(), pa.uint8(), pa.int16(), pa.int64(), pa.uint64()], ids=str)
@pytest.mark.parametrize("wide", [False, True])
def test_vectors_however_arrow_stores_them(item: pa.DataType, wide: bool) -> None:
    values = np.array([9, 9, 9, 1, 2, 3, 4, 5, 6], item.to_pandas_dtype())
    flat = pa.array(values, item)
    ends = pa.array([0, 3, 6, 9], pa.int32())
    for column in (
        pa.ListArray.from_arrays(ends, flat),
        pa.LargeListArray.from_arrays(ends.cast(pa.int64()), flat),
        pa.FixedSizeListArray.from_arrays(flat, 3),
        pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(item, [3]), pa.FixedSizeListArray.from_arrays(flat, 3)),
        pa.ListViewArray.from_arrays(ends[:-1], pa.array([3, 3, 3], pa.int32()), flat),
    ):
        records = of_column(column.slice(1), "vector", wide=wide)
        assert numbers(records, wide) == [[1, 2, 3], [4, 5, 6]]
        assert kinds(records) == [TEXT, TEXT]
    listed = [None, [4, 5, 6], None, [1, 1, 1]]
    for type_ in (pa.list_(item, 3), pa.list_(item)):
        if item != pa.float16():  # pyarrow makes none of ints
            assert numbers(of_column(pa.array(listed, type_), "vector", wide=wide), wide) == [[], [4, 5, 6], [], [1, 1, 1]]


def test_vectors_of_the_right_type_are_not_copied() -> None:
    flat = pa.array(np.arange(12, dtype=np.float32))
    for column in (pa.FixedSizeListArray.from_arrays(flat, 3), pa.ListArray.from_arrays(pa.array([0, 3, 6, 12], pa.int32()), flat)):
        assert of_column(column, "vector").text.buffers()[2].address == flat.buffers()[1].address
    array = np.arange(12.0).reshape(4, 3)
    records = of_table(memory.table(array, Want(kind="vector")), Want(kind="vector", wide=True))
    assert records.text.buffers()[2].address == array.ctypes.data


@pytest.mark.parametrize("form", ["npy", "arrow", "memory"])
@pytest.mark.parametrize("by", ["cosine", "l2"])
def test_the_words_of_vectors_are_the_memory_that_was_read(tmp_path: Path, form: str, by: str) -> None:
    """From the file to the words that are stored nothing is copied."""
    array = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    table = pa.table({"vector": pa.FixedSizeListArray.from_arrays(pa.array(array.ravel()), 4)})
    given_: Any = array
    if form == "npy":
        given_ = tmp_path / "a.npy"
        np.save(given_, array)
    elif form == "arrow":
        given_ = tmp_path / "a.arrow"
        with pa.ipc.new_file(given_, table.schema) as writer:
            writer.write_table(table)
    job = job_of(options.resolve(by=by, field="vector", **({"threshold": 0.9} if by == "cosine" else {"within": 1.0})), facts=Facts(4))
    [source] = resolve([given_], want=job.want)
    [chunk] = source.chunks(job.want)
    found = sketcher(job)(source.parse(chunk, job.want))
    assert found["sets"].tolist() == array.view(np.uint64).ravel().tolist()
    assert found["sets"].ctypes.data == chunk.data.column(0).chunk(0).flatten().buffers()[1].address


def sketched(rows: list[Any], by: str, wide: bool = False) -> tuple[list[int], list[int], list[float]]:
    """(numbers, words) of each vector, and the numbers that the words hold."""
    dtype = np.float64 if wide else np.float32
    job = job_of(
        options.resolve(by=by, field="x", **({"threshold": 0.9} if by == "cosine" else {"within": 1.0})), facts=Facts(len(rows[0]), wide=wide)
    )
    column = pa.array(rows, pa.list_(pa.from_numpy_dtype(dtype)))
    found = sketcher(job)(of_table(pa.table({"x": column}), job.want))
    return found["tokens"].tolist(), found["size"].tolist(), found["sets"].view(dtype).tolist()


def test_words_of_vectors_by_hand() -> None:
    """Rows of an odd number of float32 end with a zero; vectors of zeros, also negative ones, have no direction; a missing one has no words."""
    rows = [[1, 2, 3], None, [0, 0, 0], [0, 5, 0], [-0.0, 0, -0.0]]
    assert sketched(rows, "cosine") == ([3, 0, 0, 3, 0], [2, 0, 0, 2, 0], [1, 2, 3, 0, 0, 5, 0, 0])
    assert sketched(rows, "l2") == ([3, 0, 3, 3, 3], [2, 0, 2, 2, 2], [1, 2, 3, 0, *[0] * 4, 0, 5, 0, 0, *[0] * 4])
    assert sketched(rows, "cosine", wide=True) == ([3, 0, 0, 3, 0], [3, 0, 0, 3, 0], [1, 2, 3, 0, 5, 0])
    assert sketched([[0, 0], None], "cosine") == ([0, 0], [0, 0], [])
    assert sketched([[1, 2], [1, 2, 3]], "cosine") == ([2, 0], [1, 0], [1, 2])  # of another length: refused


def test_nan_and_infinity_are_refused_with_their_place() -> None:
    rows = [[1.0, 2.0], [1.0, float("nan")], [float("-inf"), 0.0], None, [3.0, 4.0]]
    table = pa.table({"id": ["a", "b", "c", "d", "e"], "x": pa.array(rows, pa.list_(pa.float32()))})
    records = of_table(table, Want("x", kind="vector"))
    assert kinds(records) == [TEXT, REJECTED, REJECTED, NO_TEXT, TEXT]
    assert numbers(records, False) == [[1, 2], [], [], [], [3, 4]]
    assert reasons(records) == [
        """position 1 (rows count from 0), id "b", column 'x', item 2 of 2: nan is not a coordinate of a vector; give a finite number""",
        """position 2 (rows count from 0), id "c", column 'x', item 1 of 2: -inf is not a coordinate of a vector; give a finite number""",
    ]
    assert records.rejected[0].raw == b"[1.0,NaN]"
    (late,) = list(memory.chunks(table, Want("x"), 2))
    assert reasons(memory.parse(late, Want("x", kind="vector"), ""))[0].startswith("position 2 ")
    assert records.width.tolist() == [2, 0, 0, 0, 2]


def test_what_float32_cannot_hold_is_refused_where_it_is_asked_for() -> None:
    records = of_column(pa.array([[1e300], [1.5]]), "vector", wide=False)
    assert kinds(records) == [REJECTED, TEXT]
    assert kinds(of_column(pa.array([[1e300], [1.5]]), "vector", wide=True)) == [TEXT, TEXT]


def test_json_vectors() -> None:
    records = of_json(
        "[1, 2.5, -3e2, 9007199254740993]", "[ ]", "[1e999, 2]", " [0,\t -1e999 ]", "3", "[1" + "0" * 400 + "]", kind="vector", wide=True
    )
    assert kinds(records) == [TEXT, TEXT, REJECTED, REJECTED, TEXT, REJECTED]
    assert numbers(records) == [[1, 2.5, -300, 2.0**53], [], [], [], [3], []]
    assert [reason.partition(":")[0] for reason in reasons(records)] == [
        "line 3, column 8, field 'x', item 1 of 2",
        "line 4, column 13, field 'x', item 2 of 2",
        "line 6, column 8, field 'x'",
    ]
    assert numbers(of_json("[0.1]", kind="vector"), False) == [[float(np.float32(0.1))]]


def test_several_fields_make_one_vector() -> None:
    want = Want("a+b+c", kind="vector", wide=True)
    table = pa.table({"a": [1.0, None, 3.0, 4.0], "b": [[1, 2], [3], None, []], "c": pa.array([5, 6, 7, 8], pa.int8())})
    expected = ([TEXT, NO_TEXT, NO_TEXT, TEXT], [[1, 1, 2, 5], [], [], [4, 8]])
    records = of_table(table, want)
    assert (kinds(records), numbers(records)) == expected
    records = of_lines([json.dumps(row) for row in table.to_pylist()], want)
    assert (kinds(records), numbers(records)) == expected
    bad = of_lines(['{"c": 1, "b": [2, 1e999], "a": 0}', '{"a": 1, "b": [], "c": 1e999}'], want)
    assert [reason.partition(":")[0] for reason in reasons(bad)] == [
        "line 1, column 19, field 'a+b+c', item 3 of 4",
        "line 2, column 24, field 'a+b+c', item 2 of 2",
    ]
    assert not of_table(table.drop_columns("c"), want).found


def test_ranges_and_prefixes_of_columns() -> None:
    table = pa.table({"id": [1, 2], "x10": [10.0, 20], "x2": [2.0, None], "x1": [1, 1], "xy": [7, 7], "i1": [0, 0]})
    assert numbers(of_table(table, Want("x1..x2", kind="vector", wide=True))) == [[1, 2], []]
    assert numbers(of_table(table, Want("x*", kind="vector", wide=True))) == [[1, 2, 10, 7], []]
    assert numbers(of_table(table, Want("i*+x1", kind="vector", wide=True))) == [[0, 1], [0, 1]]  # the id is not a coordinate
    assert not of_table(table, Want("x1..x3", kind="vector")).found
    assert not of_table(table, Want("z*", kind="vector")).found
    assert numbers(of_lines(['{"x1": 1, "x2": 2}'], Want("x1..x2", kind="vector", wide=True))) == [[1, 2]]
    assert fields.names(Want("p/x08..p/x11", kind="vector")) == ["p/x08", "p/x09", "p/x10", "p/x11"]
    assert fields.names(Want("x1..x3", kind="vector"), ["x1..x3"]) == ["x1..x3"]
    assert fields.names(Want("x1..x3+y", kind="text")) == ["x1..x3", "y"]
    for wrong in ("x3..x1", "x1..y3", "x1..x99999999"):
        with pytest.raises(UsageError, match="a range has one name"):
            fields.names(Want(wrong, kind="vector"))
    with pytest.raises(UsageError, match="in JSON, fields differ"):
        of_lines(["{}"], Want("x*", kind="vector"))


def test_wide_numbers_are_seen_before_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    want = Want("v", kind="vector")
    narrow = pa.table({"v": pa.array([[1.0]], pa.list_(pa.float32())), "w": [[1.0]], "n": pa.array([1], pa.int8()), "s": ["x"]})
    pq.write_table(narrow, "a.parquet")
    np.save("b.npy", np.zeros((2, 2), np.float16))
    Path("c.txt").write_text("x")
    Path("d.jsonl").write_text("{}")
    sources = {source.name: source for source in resolve(["a.parquet", "b.npy", "c.txt", "d.jsonl"], want=want)}
    assert not fields.wide([sources["a.parquet"], sources["b.npy"], sources["text files"]], want)
    assert fields.wide(sources.values(), want)
    for name, answer in {"w": True, "n": False, "s": False, "nothing": False, "n+v": False, "n+w": True}.items():
        assert fields.wide([sources["a.parquet"]], want._replace(text=name)) == answer, name
    tensor = pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.float64(), [2]), pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2]), 2))
    assert fields.wide(resolve([pa.table({"v": tensor})]), want)
    for dtype, answer in {"f4": False, "f8": True, "i4": True, "i2": False, "u1": False, "f2": False, ">f4": False, ">f8": True}.items():
        assert fields.wide(resolve([np.zeros((1, 2), dtype)], want=want), want) == answer
    assert fields.wide(resolve([[[1, 2]]], want=want), want)


def test_vectors_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('x0,"id",x1,note\n1,a,"2",t\n1,b,,t\n 3 ,"c",-4e1,t\nn/a,d,1,t\n1,e,1_0,t\n1,f,nan,t\n"\n",g,1,t\n1,h\n')
    records = of_file(path, Want("x0..x1", kind="vector", wide=True))
    assert kinds(records) == [TEXT, NO_TEXT, TEXT, NO_TEXT, NO_TEXT, REJECTED, NO_TEXT, REJECTED]
    assert numbers(records) == [[1, 2], [], [3, -40], [], [], [], [], []]
    assert reasons(records) == [
        """line 7, column 5, id "f", column 'x1': nan is not a coordinate of a vector; give a finite number""",
        "line 10, column 1: the record has 2 cells, but the header has 4",
    ]
    assert records.rejected[0].raw == b"1,f,nan,t"
    assert numbers(of_file(path, Want("x1", kind="vector", wide=True)))[0] == [2]
    wide = tmp_path / "wide.csv"
    header = ",".join(f"c{i}" for i in range(200))
    wide.write_text(f"id,{header}\n1,{','.join(map(str, range(200)))}\n")
    assert numbers(
        of_file(
            wide,
            Want("c*", kind="vector"),
        ),
        False,
    ) == [[*range(200)]]
    for kind in ("elements", "weighted", "sparse", "tokens"):
        with pytest.raises(UsageError, match="a cell of a CSV file cannot hold a"):
            of_file(path, Want("x0", kind=kind))


def test_vectors_with_nan_zeros_or_another_length_in_csv(tmp_path: Path) -> None:
    """Zero vectors pass, NaN and infinities are named, 1e-30 is not lost."""
    lines = ["id,x0,x1,x2,x3", "v0,1,2,3,4", "v1,2,4,6,8", "v2,4,3,2,1", "z0,0,0,0,0", "z1,0,0,0,0", "n0,1,nan,0,0", "n1,1,nan,0,0"]
    lines += ["i0,inf,0,0,0", "i1,-inf,0,0,0", "t0,1e-30,2e-30,3e-30,4e-30", "m0,-0.0,0,0,0"]
    (tmp_path / "vectors.csv").write_text("\n".join(lines) + "\n")
    records = of_file(tmp_path / "vectors.csv", Want("x0..x3", kind="vector", wide=True))
    assert kinds(records) == [TEXT] * 5 + [REJECTED] * 4 + [TEXT] * 2
    assert numbers(records)[9:] == [[1e-30, 2e-30, 3e-30, 4e-30], [0, 0, 0, 0]]
    assert [reason.split(":")[0] for reason in reasons(records)] == [
        """line 7, column 6, id "n0", column 'x1'""",
        """line 8, column 6, id "n1", column 'x1'""",
        """line 9, column 4, id "i0", column 'x0'""",
        """line 10, column 4, id "i1", column 'x0'""",
    ]
    array = np.array([[float(cell) for cell in line.split(",")[1:]] for line in lines[1:]], np.float32)
    records = of_table(memory.table(array, Want(kind="vector")), Want(kind="vector"))
    assert kinds(records) == [TEXT] * 5 + [REJECTED] * 4 + [TEXT] * 2
    why = "column 'text', item 2 of 4: nan is not a coordinate of a vector; give a finite number"
    assert reasons(records)[0] == f"position 5 (rows count from 0), {why}"


# -------------------------------------------------------------------------------------------------------------- sparse

SPARSE_CASE = """
{"id": "a", "dim": 1000000, "indices": [999999, 10, 5], "values": [3, 2, 1]}
{"id": "b", "dim": 1000000, "indices": [999999, 10, 5], "values": [6, 4, 2]}
{"id": "c", "dim": 1000000, "indices": [10, 5, 999999], "values": [2, 1, 0]}
{"id": "d", "dim": 1000000, "indices": [7], "values": [1]}
{"id": "e", "dim": 1000000, "indices": [], "values": []}
{"id": "f", "dim": 1000000, "indices": [], "values": []}
{"id": "g", "dim": 1000000, "indices": [10, 5, 999999, 10], "values": [1, 1, 3, 1]}
{"id": "bad", "dim": 1000000, "indices": [1000000], "values": [1]}
""".strip().splitlines()


@pytest.mark.parametrize("form", ["record", "nested", "parquet", "struct", "json"])
def test_one_sparse_collection_however_it_is_written(tmp_path: Path, form: str) -> None:
    """Unsorted, repeated, stored zeros, none at all, and one out of range, which is named."""
    rows = [json.loads(line) for line in SPARSE_CASE]
    name = "indices+values+dim" if form in ("record", "parquet") else "v"
    nested = [{"id": row.pop("id"), "v": row} for row in [dict(row) for row in rows]]

    def read(kind: str) -> Records:
        want = Want(name, kind=kind)
        if form in ("record", "nested"):
            return of_lines([json.dumps(row) for row in (rows if form == "record" else nested)], want)
        if form == "json":
            return of_table(
                memory.table([{**row, "v": row["v"] if number else "none"} for number, row in enumerate([nested[0], *nested])]).slice(1), want
            )
        table = pa.table(pa.RecordBatch.from_pylist(rows if form == "parquet" else nested))
        if form == "struct":
            return of_table(table, want)
        pq.write_table(table, tmp_path / "a.parquet")
        return of_file(tmp_path / "a.parquet", want)

    vectors, sets = read("sparse"), read("elements")
    a = [(5, 1.0), (10, 2.0), (999999, 3.0)]
    assert pairs(vectors) == [a, [(i, 2 * v) for i, v in a], a[:2], [(7, 1.0)], [], [], a, []]
    assert vectors.width.tolist() == [1000000] * 7 + [0]
    assert words(sets) == [[word(i) for i in row] for row in ([5, 10, 999999], [5, 10, 999999], [5, 10], [7], [], [], [5, 10, 999999], [])]
    for records in (vectors, sets):
        assert kinds(records) == [TEXT] * 7 + [REJECTED]
        assert 'id "bad"' in reasons(records)[0]
        assert "index 1000000 is out of range: the dimension is 1000000" in reasons(records)[0]
        assert records.found


def test_odd_sparse_vectors() -> None:
    def one(indices: str, values: str, dim: str = "9") -> str:
        return f'{{"indices": {indices}, "values": {values}, "dim": {dim}}}'

    rows = {
        one("[1, 2]", "[1]"): "2 indices and 1 values; a sparse vector needs one value per index",
        one("[-1]", "[1]"): "index -1 is out of range; indices go from 0 to 2^64 - 1",
        one("[3, 1]", "[1, 1e999]"): "inf is not a coordinate of a vector; give a finite number",
        one("[1, 1]", "[1e308, 1e308]"): "the values at index 1 add up beyond the range of float64; scale the vectors",
        one("[18446744073709551616]", "[1]", "null"): "index 18446744073709551616 is out of range; indices go from 0 to 2^64 - 1",
        one("[1]", "[1]", "-3"): "dim=-1; give 0 or more",
        one("[18446744073709551615]", "[1]"): "index 18446744073709551615 is out of range: the dimension is 9",
    }
    records = of_json(*rows, kind="sparse")
    assert kinds(records) == [REJECTED] * len(rows)
    assert [reason.partition(": ")[2] for reason in reasons(records)] == list(rows.values())
    fine = of_json(one("[18446744073709551615, 3, 3]", "[1, 2, -2]", "null"), '{"indices": [4], "values": [1]}', one("[]", "[]", "0"), kind="sparse")
    assert pairs(fine) == [[(2**64 - 1, 1.0)], [(4, 1.0)], []]
    assert fine.width.tolist() == [0, 0, 0]
    column = pa.array([{"indices": [3, -1], "values": [1.0, 1.0]}, {"indices": [2], "values": [1.0]}, {"indices": None, "values": []}])
    records = of_column(column, "sparse")
    assert kinds(records) == [REJECTED, TEXT, NO_TEXT]
    assert reasons(records) == ["position 0 (rows count from 0), column 'x', item 2 of 2: index -1 is out of range: it counts from 0"]
    assert pairs(of_column(column.slice(1, 1), "sparse")) == [[(2, 1.0)]]


entries = st.lists(st.tuples(st.integers(0, 6), st.sampled_from([0.0, -1.5, 1.5, 0.25, 3.0])), max_size=8)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | entries, min_size=1, max_size=5))
def test_sparse_vectors_add_up(rows: list[Any]) -> None:
    given_ = [None if row is None else {"indices": [i for i, _ in row], "values": [v for _, v in row], "dim": 7} for row in rows]
    sums: list[list[tuple[int, float]]] = []
    for row in rows:
        totals: dict[int, float] = {}
        for index, value in sorted(row or ()):
            totals[index] = totals[index] + value if index in totals else value
        sums.append([(index, total) for index, total in totals.items() if total])
    records = of_column(pa.array(given_, ROWS["sparse"][1]), "sparse")
    assert pairs(records) == sums
    assert kinds(records) == [NO_TEXT if row is None else TEXT for row in rows]


def test_sparse_vectors_are_seen_before_reading(tmp_path: Path) -> None:
    want = Want("vector", kind="vector")
    (tmp_path / "a.jsonl").write_text("\n".join(SPARSE_CASE))
    (tmp_path / "b.jsonl").write_text('{"vector": null}\n{"vector": {"indices": [1], "values": [2]}}\n')
    (tmp_path / "c.jsonl").write_text('{"vector": [1, 2]}\n')
    (tmp_path / "d.json").write_text('[{"indices": [1], "values": [2]}]')
    (tmp_path / "e.jsonl").write_text("")
    pq.write_table(pa.table({"indices": [[1]], "values": [[1.0]], "dim": [5]}), tmp_path / "f.parquet")
    expected = {"a.jsonl": "indices+values+dim", "b.jsonl": "vector", "c.jsonl": None, "d.json": "indices+values+dim", "e.jsonl": None}
    for name, field in {**expected, "f.parquet": "indices+values+dim"}.items():
        assert fields.sparse(resolve([tmp_path / name]), want) == field, name
    assert fields.sparse(resolve([csr()], want=want), want) == "vector"
    assert fields.sparse(resolve([np.eye(2)], want=want), want) is None


# --------------------------------------------------------------------------------------------------------------- codes


def test_codes_however_arrow_stores_them() -> None:
    fixed = pa.array([b"\0\0\0", b"abc", None, b"\xff\0\1"], pa.binary(3)).slice(1)
    assert (codes(of_column(fixed, "code")), kinds(of_column(fixed, "code"))) == (["6162630000000000", "", "ff00010000000000"], [TEXT, NO_TEXT, TEXT])
    assert of_column(fixed, "code").width.tolist() == [24, 0, 24]
    mixed = pa.array([b"12345678", b"123456789", b"", None], pa.binary())
    records = of_column(mixed, "code")
    assert codes(records) == ["3132333435363738", "3132333435363738" + "3900000000000000", "", ""]
    assert (records.width.tolist(), kinds(records)) == ([64, 72, 0, 0], [TEXT, TEXT, TEXT, NO_TEXT])
    for item, size in ((pa.uint8(), 8), (pa.uint32(), 32), (pa.uint64(), 64), (pa.int64(), 64)):
        records = of_column(pa.array([9, 5, None], item).slice(1), "code")
        assert (codes(records), records.width.tolist()) == (["05" + 14 * "0", ""], [size, 0])
    packed = of_column(pa.array([[1, 2], [255, 0], None], pa.list_(pa.uint8())), "code")
    assert (codes(packed), packed.width.tolist()) == (["0102000000000000", "ff00000000000000", ""], [16, 16, 0])
    double = of_column(pa.array([[1, 2**64 - 1]], pa.list_(pa.uint64(), 2)), "code")
    assert (codes(double), double.width.tolist()) == (["01" + 14 * "0" + 16 * "f"], [128])
    bits = of_column(pa.array([[True] * 9 + [False], [False] * 10], pa.list_(pa.bool_())), "code")
    assert (codes(bits), bits.width.tolist()) == (["ff01000000000000", "00" * 8], [10, 10])
    ragged = of_column(pa.array([[True] * 65, [True], []], pa.list_(pa.bool_())), "code")
    assert (codes(ragged), ragged.width.tolist()) == (["ff" * 8 + "01" + "00" * 7, "01" + "00" * 7, ""], [65, 1, 0])


def test_codes_of_whole_words_are_not_copied() -> None:
    column = pa.array([b"12345678", b"abcdefgh"], pa.large_binary())
    assert of_column(column, "code").text.buffers()[2].address == column.buffers()[2].address
    array = np.arange(6, dtype=np.uint64)
    for given_ in (array, array.reshape(3, 2)):
        assert of_table(memory.table(given_, Want(kind="code")), Want(kind="code")).text.buffers()[2].address == array.ctypes.data


def test_lists_of_0_and_1_are_bits_and_strings_hexadecimal() -> None:
    records = of_json("[1, 0, 1]", "[true, false]", '"0xFf01"', '"ff01"', "258", "[]", "18446744073709551615", kind="code")
    assert codes(records) == ["05" + 14 * "0", "01" + 14 * "0", "ff01" + 12 * "0", "ff01" + 12 * "0", "0201" + 12 * "0", "", "ff" * 8]
    assert records.width.tolist() == [3, 2, 16, 16, 64, 0, 64]
    wrong = of_json("[1, 2]", "-9223372036854775809", "18446744073709551616", '"xyz0"', '"abc"', kind="code")
    assert kinds(wrong) == [REJECTED] * 5
    assert reasons(wrong)[0] == "line 1, column 7, field 'x', item 2 of 2: 2 is not a bit; a list holds the bits of a code, 0 or 1"
    assert "-9223372036854775809 is not a code" in reasons(wrong)[1]
    assert codes(of_json("-1", "-9223372036854775808", kind="code")) == ["ff" * 8, "00" * 7 + "80"]
    column = pa.array([[1, 0, 1], [0, 2, 7]], pa.list_(pa.int64()))
    assert codes(of_column(column, "code")) == ["05" + 14 * "0", ""]
    assert reasons(of_column(column, "code")) == [
        "position 1 (rows count from 0), column 'x', item 2 of 3: 2 is not a bit; a list of integers is the bits of a code, 0 or 1"
    ]
    for strings in (pa.array(["FF00", None, "0x00ff", "", "zz", "abc"]), pa.array(["FF00", None, "00ff", "", "zz", "abc"]).dictionary_encode()):
        records = of_column(strings, "code")
        assert kinds(records) == [TEXT, NO_TEXT, TEXT, TEXT, REJECTED, REJECTED]
        assert codes(records)[:4] == ["ff00" + 12 * "0", "", "00ff" + 12 * "0", ""]
        assert records.width.tolist() == [16, 0, 16, 0, 0, 0]
        assert "'z' is not a hexadecimal digit" in reasons(records)[0]
        assert "3 hexadecimal digits; two make a byte" in reasons(records)[1]
    assert reasons(of_column(pa.array(["10111", "111"]), "code"))[0].endswith(
        "two make a byte; a string of bits is given as a list of True and False"
    )
    inner = pa.table({"doc": pa.array([{"h": "ff"}])})
    assert codes(of_table(inner, Want("doc.h", kind="code"))) == ["ff" + 14 * "0"]


def test_codes_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,phash\na,d1d1b1a1e1c1ffff\nb,\nc,"00"\nd,xx\n')
    records = of_file(path, Want("phash", kind="code"))
    assert (kinds(records), codes(records)) == ([TEXT, NO_TEXT, TEXT, REJECTED], ["d1d1b1a1e1c1ffff", "", "00" * 8, ""])
    assert reasons(records)[0].startswith("""line 5, column 3, id "d", column 'phash', item 1 of 2: 'x' is not a hexadecimal digit""")
    with pytest.raises(UsageError, match="a code must be in one column"):
        of_file(path, Want("id+phash", kind="code"))
