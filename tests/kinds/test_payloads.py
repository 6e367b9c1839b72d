"""Sets, weighted sets, vectors, codes and strings as readers hand them on, from every format that carries them."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc

from likewise.errors import DataError, UsageError
from likewise.io.formats import json_array, jsonl, memory, parquet, text
from likewise.io.formats.text import Files
from likewise.io.inputs import resolve
from likewise.items.words import Hasher
from likewise.kernels import hashing
from likewise.kinds import kinds as registry
from likewise.kinds import of_payload
from likewise.records import NO_TEXT, REJECTED, TEXT, Records, Want
from payload_rows import HASHER, ROWS, codes, csr, kinds, numbers, of_column, of_file, of_json, of_lines, of_table, pairs, reasons, word, words
from reference import folded, mix

# --------------------------------------------------------------------------------------------------------------- words


def hashed(raw: bytes, keys: list[int]) -> int:
    """The reference implementation of kernels.digest.hash_bytes."""
    if not raw:
        return keys[1]
    state, at = keys[0], 0
    while len(raw) - at > 16:
        low, high = struct.unpack_from("<QQ", raw, at)
        low, high = low ^ keys[1], high ^ state
        state = folded(low, high) ^ low ^ high
        at += 16
    last = raw[at:]
    low, high = (int.from_bytes(part, "little") << 8 * (8 - len(part)) for part in (last[:8], last[max(len(last) - 8, 0) :]))
    return (folded(low ^ keys[2], high ^ state) + len(last) * keys[3]) % 2**64


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**64 - 1),
    st.lists(st.integers() | st.integers(-(2**63), 2**64 - 1) | st.text(st.characters(codec=None), max_size=40), max_size=8),
)
def test_words_are_keyed_hashes(seed: int, elements: list[int | str]) -> None:
    derived = hashing.derive(np.uint64(seed), np.uint64(0xE1E3_0001), 12).tolist()
    keys, (plain, negative, string, large) = derived[:8], derived[8:]

    def reference(element: int | str) -> int:
        if isinstance(element, str):
            return mix(hashed(element.encode("utf-8", "surrogatepass"), keys) ^ string)
        if -(2**63) <= element < 2**64:
            return mix(element % 2**64 ^ (negative if element < 0 else plain))
        return mix(hashed(f"{element:x}".encode(), keys) ^ large)

    assert Hasher(seed).listed(elements).tolist() == [reference(element) for element in elements]


def test_what_is_one_element_and_what_is_not() -> None:
    different = [
        7,
        "7",
        -7,
        -1,
        2**64 - 1,
        2**63,
        -(2**63),
        2**64,
        -(2**64),
        "18446744073709551616",
        "",
        "a",
        "a\0",
        "é",
        "\ud800",
        10**30,
        -(10**30),
    ]
    assert len({word(element) for element in different}) == len(different)
    for dtype in (np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, ">i4", ">u8"):
        assert HASHER.integers(np.array([7], dtype)).tolist() == [word(7)]
    assert HASHER.integers(np.array([-1, 1], np.int8)).tolist() == [word(-1), word(1)]
    assert HASHER.integers(np.arange(20)[::3]).tolist() == [word(i) for i in range(0, 20, 3)]
    assert HASHER.integers(np.array([], np.int64)).tolist() == []
    assert word(7, 1) != word(7)
    assert word("a", 1) != word("a")


# ---------------------------------------------------------------------------------------- one collection, every format

PAYLOAD_OF = {
    "tokens": struct.pack("<3q", 1, -2, 3),
    "elements": struct.pack("<3Q", word(7), word(-1), word(7)),
    "vector": struct.pack("<3d", 1, 0.5, -2),
    "weighted": struct.pack("<QdQd", word("a"), 1.5, word("b"), 0),
    "sparse": struct.pack("<QdQdQd", 5, 1, 10, 2, 999999, 3),
    "code": bytes([0b101, 0, 0, 0, 0, 0, 0, 0]),
    "features": struct.pack("<4f", 1, 0.5, -2, 4),
    "string": "Naïve ".encode(),
    "text": "Naïve ".encode(),
}
LEFT = struct.pack("<Q", word(4))
WIDTH = {"vector": [3, 0, 0, 0], "sparse": [1000000, 1000000, 0, 0], "code": [3, 0, 0, 0], "features": [2, 0, 0, 0]}


def save(table: pa.Table, path: Path) -> None:
    rows = table.to_pylist()
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=3)
    elif path.suffix in (".arrow", ".arrows"):
        with (ipc.new_file if path.suffix == ".arrow" else ipc.new_stream)(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        path.write_text(json.dumps(rows))


def test_kinds_are_all_here() -> None:
    assert set(ROWS) == {kind.payload for kind in registry().values() if not kind.files}  # others are in no file of records


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".arrows", ".jsonl", ".json", ""])
@pytest.mark.parametrize("kind", list(ROWS))
def test_every_kind_from_every_format(tmp_path: Path, kind: str, suffix: str) -> None:
    """A field inside a record, with ids; empty lists, a null, and a list that holds one."""
    rows, type_ = ROWS[kind]
    inner = pa.array([{"x": row} for row in rows], pa.struct([("x", type_)]))
    table = pa.table({"id": ["a", "b", "c", "d"], "doc": inner})
    want = Want("doc.x", kind=kind, wide=True)
    if suffix:
        save(table, tmp_path / f"a{suffix}")
        records = of_file(tmp_path / f"a{suffix}", want)
    else:
        records = of_table(memory.table(table.to_pylist()), want)
    assert kinds(records) == [TEXT, TEXT, NO_TEXT, TEXT if kind == "elements" else NO_TEXT]  # of a set the null is left out
    assert records.text.to_pylist() == [PAYLOAD_OF[kind], b"", b"", LEFT if kind == "elements" else b""]
    assert records.id.to_pylist() == [b'"a"', b'"b"', b'"c"', b'"d"']
    assert records.found
    assert records.width is None or records.width.tolist() == WIDTH[kind]


OTHERS = {
    "tokens": ["text", [1.5], [True], ["1"], 5, {"a": 1}, [2**64]],
    "elements": ["text", [1.5], [True], {"a": "b"}, True, [[1, 2]], [{}], {"indices": [1.5], "values": [1]}, 1.5, [1, 2.5], 7],
    "weighted": [
        "text",
        [1.5],
        {"a": "b"},
        {"a": None},
        True,
        [1, 2],
        [[1, 2, 3]],
        [["a", "b"]],
        [[1.5, 1]],
        [[True, 1]],
        [{}],
        [{"element": 1}],
        1.5,
    ],
    "vector": ["text", ["1"], [True], [[1]], {"a": 1}, True, [1, None], [{}]],
    "sparse": [
        "text",
        {},
        {"indices": [1]},
        {"indices": [1.5], "values": [1]},
        {"indices": [1], "values": ["x"]},
        {"indices": [True], "values": [1]},
    ],
    "code": [1.5, [1.5], [[1]], {"a": 1}, True, ["1"], [None]],
    "features": ["text", [["1"]], [[True]], [[[1]]], {"a": 1}, True, [[1], None], [[1, None]], [{}], ["1"]],
}


@pytest.mark.parametrize("kind", list(OTHERS))
def test_values_of_another_type_are_none(kind: str) -> None:
    values = OTHERS[kind]
    assert kinds(of_json(*map(json.dumps, values), kind=kind)) == [NO_TEXT] * len(values)
    for want in (Want("x", kind=kind), Want("x")):  # columns of JSON texts, or whatever Arrow makes of the values
        table = memory.table([{"x": value} for value in [*values, {"mixed": "up"}, True]], want)
        assert kinds(of_table(table, Want("x", kind=kind))) == [NO_TEXT] * (len(values) + 2)
    for column in (
        pa.array([{"a": 1}]),
        pa.array([[["a"]]]),
        pa.nulls(1),
        pa.array([{"a": [1]}]),
        pa.array([b"x"]),
        pa.array([True]),
        pa.array([[[1.5]]]),
    ):
        if (kind, column.type) not in (("code", pa.binary()), ("features", pa.list_(pa.list_(pa.float64())))):
            assert kinds(of_column(column, kind)) == [NO_TEXT]


@pytest.mark.parametrize("kind", ["tokens", "elements", "weighted", "vector", "sparse", "code", "features", "string"])
def test_a_missing_field_is_reported(kind: str) -> None:
    for records in (of_table(pa.table({"y": [[1]]}), Want("x", kind=kind)), of_lines(['{"y": [1]}'], Want("x", kind=kind))):
        assert (kinds(records), records.found, records.fields) == ([NO_TEXT], False, ("y",))
    assert of_lines(['{"x": null}'], Want("x", kind=kind)).found


# ------------------------------------------------------------------------------------------------------------ features


def test_sets_of_features_however_arrow_stores_them() -> None:
    rows = [[[9, 9], [8, 8]], [[1, 2], [3, 4], [5, 6]], None, [], [[7, 8]], [None, [1, 2]], [[7, 8], [9, 9]]]
    expected = [[1.0, 2, 3, 4, 5, 6], [], [], [7, 8], [], [7, 8, 9, 9]]
    for item in (pa.int8(), pa.uint64(), pa.float32(), pa.float64()):
        for inner in (pa.list_(item), pa.list_(item, 2), pa.large_list(item)):
            for outer in (pa.list_, pa.large_list):
                records = of_column(pa.array(rows, outer(inner)).slice(1), "features")
                assert numbers(records, wide=False) == expected
                assert kinds(records) == [TEXT, NO_TEXT, TEXT, TEXT, NO_TEXT, TEXT]
                assert records.width is not None and records.width.tolist() == [2, 0, 0, 2, 0, 2]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.none() | st.lists(st.lists(st.floats(-8, 8, width=16), min_size=2, max_size=2), max_size=4), max_size=6))
def test_json_arrow_and_python_give_the_same_features(rows: list[Any]) -> None:
    want = Want("x", kind="features")
    expected = [[number for feature in row or () for number in feature] for row in rows]
    if rows:
        for records in (of_lines([json.dumps({"x": row}) for row in rows], want), of_table(memory.table(rows, want), want)):
            assert numbers(records, wide=False) == expected
            assert kinds(records) == [NO_TEXT if row is None else TEXT for row in rows]
        arrays = [row if row is None else np.array(row, np.float32).reshape(-1, 2) for row in rows]
        assert numbers(of_table(memory.table(arrays, want), want), wide=False) == expected


def test_sets_of_features_of_no_type() -> None:
    assert kinds(of_column(pa.array([[], None, [None], []]), "features")) == [TEXT, NO_TEXT, NO_TEXT, TEXT]
    assert kinds(of_column(pa.array([[[]], [], [[None]]]), "features")) == [REJECTED, TEXT, NO_TEXT]
    assert kinds(of_column(pa.array([[0.5], None, []]), "features")) == [REJECTED, NO_TEXT, REJECTED]


def test_bad_features_are_named() -> None:
    records = of_json("[[1, 2], [3]]", "[[1, 2], [3, 1e99]]", "[[], []]", "[1, 2]", "[[1, 2, 3]]", "[[1, 2]]", kind="features", width=2)
    assert kinds(records) == [REJECTED] * 5 + [TEXT]
    assert [reason.partition("'x': ")[2] for reason in reasons(records)] == [
        "feature 2 of 2 has 1 number and the first has 2; all must have the same length",
        "feature 2 of 2 holds inf; give finite numbers, within the range of float32",
        "feature 1 of 2 has no numbers; give one at least",
        "a list of numbers is one feature; a set of features is a list of such lists, [[...], ...]; single vectors compare by cosine",
        "has features of 3 numbers, but the first item has features of 2 numbers; all features must have the same length",
    ]


# ------------------------------------------------------------------------------------------------------------- strings


def test_strings_are_read_as_texts_are(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n Ab \n")
    (tmp_path / "b.txt").write_text(" Ab \n")
    (tmp_path / "c.jsonl").write_text('{"x": " Ab "}\n{"x": 5}\n')
    assert of_file(tmp_path / "a.csv", Want("x", kind="string")).text.to_pylist() == [b" Ab "]
    records = of_file(tmp_path / "c.jsonl", Want("x", kind="string"))
    assert (records.text.to_pylist(), kinds(records)) == ([b" Ab ", b""], [TEXT, NO_TEXT])
    given_ = Files((tmp_path / "b.txt",), ("b.txt",))
    for kind, found in {"string": [b" Ab \n"], "vector": [b""]}.items():
        (chunk,) = text.chunks(given_, Want(kind=kind))
        assert text.parse(chunk, Want(kind=kind), "").text.to_pylist() == found


# -------------------------------------------------------------------------------------------------------------- python


def bare(given_: Any, kind: str, **options: Any) -> Records:
    want = Want("items", kind=kind, **options)
    table = memory.table(given_, want)
    assert table.column_names == ["items"]
    return of_table(table, want)


def test_csr_matrices() -> None:
    assert pairs(bare(csr(), "sparse")) == [[(1, 2.0), (3, 1.0)], [], [(0, 5.0)]]
    assert bare(csr(), "sparse").width.tolist() == [4, 4, 4]
    assert words(bare(csr(), "elements")) == [[word(1), word(3)], [], [word(0)]]
    assert pairs(bare(csr(), "weighted")) == [[(word(1), 2.0), (word(3), 1.0)], [], [(word(0), 5.0)]]
    assert words(bare(csr(data=np.array([True, False, True])), "elements")) == [[word(1)], [], [word(0)]]
    assert kinds(bare(csr(shape=(3, 3)), "sparse")) == [REJECTED, TEXT, TEXT]
    matrix = csr()
    table = memory.table(matrix, Want("v", kind="sparse"))
    assert table.column("v").chunk(0).field("values").values.buffers()[1].address == matrix.data.ctypes.data
    kept = memory.take(table, np.array([False, True, True]))
    assert kept.to_pylist()[1]["v"] == {"indices": [0], "values": [5.0], "dim": 4}

    class Other:
        """Some other sparse format, which knows how to become CSR."""

        def tocsr(self) -> Any:
            return csr()

    assert pairs(bare(Other(), "sparse"))[2] == [(0, 5.0)]
    for wrong in ({"indptr": np.array([0, 9])}, {"indptr": np.array([2, 0])}, {"shape": (3,)}, {"data": np.array(["a", "b", "c"])}):
        with pytest.raises(UsageError):
            bare(csr(**wrong), "sparse")


def test_arrays_of_items() -> None:
    assert words(bare(np.array([[1, 2], [3, 3]], np.int8), "elements")) == [[word(1), word(2)], [word(3), word(3)]]
    assert numbers(bare(np.array([[1, 2], [3, 4]], ">f8"), "vector", wide=True)) == [[1, 2], [3, 4]]
    assert numbers(bare(np.asfortranarray(np.arange(6.0).reshape(2, 3)), "vector", wide=True)) == [[0, 1, 2], [3, 4, 5]]
    assert numbers(bare(np.arange(12, dtype=np.float16).reshape(6, 2)[::3], "vector"), False) == [[0, 1], [6, 7]]
    assert codes(bare(np.array([[1, 0, 1], [0, 0, 1]], bool), "code")) == ["05" + 14 * "0", "04" + 14 * "0"]
    assert codes(bare(np.array([[1, 2]], np.uint8), "code")) == ["0102" + 12 * "0"]
    assert codes(bare(np.array([258], np.uint64), "code")) == ["0201" + 12 * "0"]
    assert codes(bare(np.array([258], ">u2"), "code")) == ["0201" + 12 * "0"]
    assert len(bare(np.zeros((3, 2)), "vector")) == 3
    assert memory.table(np.zeros((0, 2)), Want("v", kind="vector")).num_rows == 0
    wrong = [(np.zeros(3), "vector"), (np.zeros((2, 2, 2)), "vector"), (np.zeros((2, 0)), "vector"), (np.array([["a"]]), "vector")]
    wrong += [(np.zeros((2, 2), complex), "vector"), (np.zeros((2, 2)), "elements"), (np.zeros((2, 2)), "code"), (np.zeros(2, bool), "code")]
    for array, kind in wrong:
        with pytest.raises(UsageError, match="got an array of"):
            bare(array, kind)


def test_lists_of_items() -> None:
    assert words(bare([{3, 1}, [2, "2"], None, (), np.array([5], np.uint8), frozenset("ba"), range(2)], "elements")) == [
        [word(1), word(3)], [word(2), word("2")], [], [], [word(5)], [word("a"), word("b")], [word(0), word(1)]
    ]  # fmt: skip
    assert words(bare([{"b", "a"}, {1, "a"}], "elements")) == [[word("a"), word("b")], [word(1), word("a")]]
    assert kinds(bare([[1.5], [2], "abc", [True]], "elements")) == [NO_TEXT, TEXT, NO_TEXT, NO_TEXT]
    assert numbers(bare([[1, 2], (3.5,), None, np.array([1, 2], np.float32)], "vector", wide=True)) == [[1, 2], [3.5], [], [1, 2]]
    assert kinds(bare([[1, "a"], [1, None], [1.0, float("nan")], [2]], "vector")) == [NO_TEXT, NO_TEXT, REJECTED, TEXT]
    given_ = [{"a": 2.0, "b": 1}, {}, None, [("c", 3)]]
    assert pairs(bare(given_, "weighted")) == [[(word("a"), 2), (word("b"), 1)], [], [], [(word("c"), 3)]]
    assert kinds(bare(given_, "weighted")) == [TEXT, TEXT, NO_TEXT, TEXT]
    assert pairs(bare([{7: 1.0, "7": 2.0}, [[2**70, 1]]], "weighted")) == [[(word(7), 1), (word("7"), 2)], [(word(2**70), 1)]]
    assert kinds(bare([{"a": -1.0}, {"a": float("nan")}, {"a": "x"}, {"a": 1}], "weighted")) == [REJECTED, REJECTED, NO_TEXT, TEXT]
    records = [{"id": 1, "items": {"a": 1.0}}, {"id": 2, "items": None}]
    assert pairs(of_table(memory.table(records, Want("items", kind="weighted")), Want("items", kind="weighted"))) == [[(word("a"), 1)], []]
    assert codes(bare([b"ab", None, b"c"], "code")) == ["6162" + 12 * "0", "", "63" + 14 * "0"]
    assert codes(bare([1, 2**64 - 1, None], "code")) == ["01" + 14 * "0", "ff" * 8, ""]
    assert codes(bare([[1, 0, 1], [True, False]], "code"))[0] == "05" + 14 * "0"
    assert codes(bare([np.array([1, 2], np.uint8)], "code")) == ["0102" + 12 * "0"]
    assert words(bare(([1], [2]), "elements")) == [[word(1)], [word(2)]]
    assert words(bare((np.array([1, 2, 3]), np.array([0, 2, 3])), "elements")) == [[word(1), word(2)], [word(3)]]
    assert pairs(bare((np.array([1, 2]), np.array([0.5, 1]), np.array([0, 1, 2])), "weighted")) == [[(word(1), 0.5)], [(word(2), 1)]]
    assert numbers(bare(([float(i)] for i in range(2)), "vector", wide=True)) == [[0], [1]]
    assert codes(bare([1, -1], "code")) == ["01" + 14 * "0", "ff" * 8]
    with pytest.raises(UsageError, match="from -2\\^63 to 2\\^64 - 1"):
        bare([1, -(2**63) - 1], "code")
    with pytest.raises(UsageError, match="an element must be a whole number or a string"):
        bare([{1, (2, 3)}], "elements")
    with pytest.raises(UsageError, match="holds a"):
        bare([[1, object()]], "elements")


def test_records_and_tables_stay_what_they_are() -> None:
    want = Want("tags", kind="elements")
    table = memory.table([{"id": 1, "tags": ["a"]}, {"id": 2, "tags": [3]}], want)
    assert table.column_names == ["id", "tags"]
    assert words(of_table(table, want)) == [[word("a")], [word(3)]]
    given_ = pa.table({"tags": [["a"]]})
    assert memory.table(given_, want) is given_
    assert memory.table(pa.array([["a"]]), want).column_names == ["tags"]
    assert memory.table(["a b"]).column_names == ["text"]


def test_files_that_hold_no_such_items_are_passed_over_in_folders(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 2)))
    (tmp_path / "b.md").write_text("x")
    (tmp_path / "c.jsonl").write_text("{}")
    for kind, expected in {"text": ["text files", "c.jsonl"], "vector": ["a.npy", "c.jsonl"], "weighted": ["c.jsonl"]}.items():
        found = resolve([tmp_path], want=Want(kind=kind))
        assert [source.name for source in found] == expected
        assert len(found.skipped) == 3 - len(expected)


def test_payloads_as_readable_text() -> None:
    def shown(column: pa.Array, kind: str) -> str:
        want = Want("x", kind=kind)
        return of_payload(kind).readable(of_column(column, kind).text[0].as_py(), want)

    assert shown(pa.array([[1, 2]]), "tokens") == "1 2"
    assert shown(pa.array([[1, 2]]), "elements") == "2 elements"
    assert shown(pa.array([[1.5, 2]], pa.list_(pa.float32())), "vector") == "1.5 2.0"
    assert shown(pa.array([b"\xff\1"]), "code") == "ff01000000000000"
    assert shown(pa.array([{"indices": [3], "values": [0.5]}]), "sparse") == "3:0.5"
    assert shown(pa.array(["é"]), "string") == "é"


@pytest.mark.parametrize("kind", ["elements", "vector"])
def test_kept_records_stay_as_they_were(tmp_path: Path, kind: str) -> None:
    """Writing does not depend on the kind of the items; only reading knows kinds."""
    lines = ['{"x": [1.0,  2], "y":1e2}', '{"x":null}', '{"x":[3,4]}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    (tmp_path / "a.json").write_text("[" + ",\n".join(lines) + "]")
    for module, name, expected in (
        (jsonl, "a.jsonl", lines[0] + "\n" + lines[2]),
        (json_array, "a.json", "[\n" + lines[0] + ",\n" + lines[2] + "\n]\n"),
    ):
        records = of_file(tmp_path / name, Want("x", kind=kind))
        module.write(tmp_path / name, tmp_path / "out", np.array([True, False, True]), records.start, records.length)
        assert (tmp_path / "out").read_text() == expected
    table = pa.table({"x": pa.array([[1, 2], None, [3]], pa.list_(pa.int8()))})
    pq.write_table(table, tmp_path / "a.parquet")
    records = of_file(tmp_path / "a.parquet", Want("x", kind=kind))
    parquet.write(tmp_path / "a.parquet", tmp_path / "out", np.array([True, False, True]), records.start, records.length)
    assert pq.read_table(tmp_path / "out").equals(table.filter(pa.array([True, False, True])))


def test_damage_is_reported_as_damage() -> None:
    offsets = pa.py_buffer(np.array([0, 99, 2], np.int32))
    column = pa.Array.from_buffers(pa.list_(pa.float32()), 2, [None, offsets], children=[pa.array([1.0, 2], pa.float32())])
    with pytest.raises(DataError, match="cannot be read as a table"):
        of_column(column, "vector")
