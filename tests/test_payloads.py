"""Sets, weighted sets, vectors, codes and strings as readers hand them on, from every format that carries them."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import ipc

from likewise.errors import DataError, UsageError
from likewise.io import collection, fields, formats
from likewise.io.formats import json_array, jsonl, memory, parquet, text
from likewise.io.formats.text import Files
from likewise.io.inputs import resolve
from likewise.items.words import Hasher
from likewise.kernels import hashing
from likewise.records import NO_TEXT, PAYLOADS, REJECTED, TEXT, Records, Want

HASHER = Hasher(0)


def word(element: int | str, seed: int = 0) -> int:
    return int(Hasher(seed).listed([element])[0])


def of_table(table: pa.Table, want: Want) -> Records:
    (chunk,) = memory.chunks(table, want)
    return checked(memory.parse(chunk, want, "here"), want)


def of_column(column: pa.Array, kind: str, **options: Any) -> Records:
    want = Want("x", kind=kind, **options)
    return of_table(pa.table({"x": column}), want)


def of_file(path: Path, want: Want) -> Records:
    module = formats.load(formats.by_name(path))
    (chunk,) = module.chunks(path, want)
    return checked(module.parse(chunk, want, path.name), want)


def of_json(*values: str, kind: str, field: str = "x", **options: Any) -> Records:
    """One record for each JSON text, under the key x."""
    return of_lines([f'{{"x": {value}}}' for value in values], Want(field, kind=kind, **options))


def of_lines(lines: list[str], want: Want) -> Records:
    from likewise.io.formats import lines as shared
    from likewise.records import Chunk

    chunk = Chunk(np.frombuffer(bytearray("\n".join(lines).encode()), np.uint8), 0, 1, shared.State(Path("x"), 0, ()))
    return checked(jsonl.parse(chunk, want, "x"), want)


def checked(records: Records, want: Want) -> Records:
    """What holds of all records of every kind."""
    n = len(records)
    assert len(records.text) == len(records.start) == len(records.length) == n
    assert records.text.null_count == 0
    sizes = pc.binary_length(records.text).to_numpy()
    assert not sizes[records.kind != TEXT].any()
    rejected = [entry.row for entry in records.rejected]
    assert rejected == np.flatnonzero(records.kind == REJECTED).tolist()
    assert all(entry.raw for entry in records.rejected)  # without bytes it would stand for a source that failed
    each = {"text": 1, "string": 1, "tokens": 8, "elements": 8, "weighted": 16, "vector": 8 if want.wide else 4, "sparse": 16, "code": 8}[want.kind]
    assert not (sizes % each).any()
    assert (records.width is not None) == (want.kind in ("vector", "sparse", "code"))
    if want.kind == "vector":
        assert (records.width == sizes // each).all()
    return records


def kinds(records: Records) -> list[int]:
    return records.kind.tolist()


def words(records: Records) -> list[list[int]]:
    return [np.frombuffer(row, "<u8").tolist() for row in records.text.to_pylist()]


def numbers(records: Records, wide: bool = True) -> list[list[float]]:
    return [np.frombuffer(row, "<f8" if wide else "<f4").tolist() for row in records.text.to_pylist()]


def pairs(records: Records) -> list[list[tuple[int, float]]]:
    return [list(struct.iter_unpack("<Qd", row)) for row in records.text.to_pylist()]


def codes(records: Records) -> list[str]:
    return [row.hex() for row in records.text.to_pylist()]


def reasons(records: Records) -> list[str]:
    return [entry.reason for entry in records.rejected]


# --------------------------------------------------------------------------------------------------------------- words


def mixed(x: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = (x ^ x >> 33) * factor % 2**64
    return x ^ x >> 33


def folded(a: int, b: int) -> int:
    return (a * b >> 64) ^ (a * b % 2**64)


def hashed(raw: bytes, keys: list[int]) -> int:
    """The twin of kernels.digest.hash_bytes."""
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

    def twin(element: int | str) -> int:
        if isinstance(element, str):
            return mixed(hashed(element.encode("utf-8", "surrogatepass"), keys) ^ string)
        if -(2**63) <= element < 2**64:
            return mixed(element % 2**64 ^ (negative if element < 0 else plain))
        return mixed(hashed(f"{element:x}".encode(), keys) ^ large)

    assert Hasher(seed).listed(elements).tolist() == [twin(element) for element in elements]


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

#: kind -> rows as Python has them, and the Arrow type that holds them. The last two rows have no value.
ROWS: dict[str, tuple[list[Any], pa.DataType]] = {
    "tokens": ([[1, -2, 3], [], None, [4, None]], pa.list_(pa.int64())),
    "elements": ([[7, -1, 7], [], None, [4, None]], pa.list_(pa.int32())),
    "vector": ([[1.0, 0.5, -2.0], [], None, [4.0, None]], pa.list_(pa.float64())),
    "weighted": (
        [[{"element": "a", "weight": 1.5}, {"element": "b", "weight": 0.0}], [], None, [{"element": "a", "weight": None}]],
        pa.list_(pa.struct([("element", pa.string()), ("weight", pa.float64())])),
    ),
    "sparse": (
        [
            {"indices": [999999, 10, 5], "values": [3.0, 2.0, 1.0], "dim": 1000000},
            {"indices": [], "values": [], "dim": 1000000},
            None,
            {"indices": [1], "values": None, "dim": 1000000},
        ],
        pa.struct([("indices", pa.list_(pa.int64())), ("values", pa.list_(pa.float64())), ("dim", pa.int64())]),
    ),
    "code": ([[True, False, True], [], None, [True, None]], pa.list_(pa.bool_())),
    "string": (["Naïve ", "", None, None], pa.string()),
    "text": (["Naïve ", "", None, None], pa.string()),
}
PAYLOAD_OF = {
    "tokens": struct.pack("<3q", 1, -2, 3),
    "elements": struct.pack("<3Q", word(7), word(-1), word(7)),
    "vector": struct.pack("<3d", 1, 0.5, -2),
    "weighted": struct.pack("<QdQd", word("a"), 1.5, word("b"), 0),
    "sparse": struct.pack("<QdQdQd", 5, 1, 10, 2, 999999, 3),
    "code": bytes([0b101, 0, 0, 0, 0, 0, 0, 0]),
    "string": "Naïve ".encode(),
    "text": "Naïve ".encode(),
}
WIDTH = {"vector": [3, 0, 0, 0], "sparse": [1000000, 1000000, 0, 0], "code": [3, 0, 0, 0]}


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
    assert set(ROWS) == set(PAYLOADS)


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
    assert kinds(records) == [TEXT, TEXT, NO_TEXT, NO_TEXT]
    assert records.text.to_pylist() == [PAYLOAD_OF[kind], b"", b"", b""]
    assert records.id.to_pylist() == [b'"a"', b'"b"', b'"c"', b'"d"']
    assert records.found
    assert records.width is None or records.width.tolist() == WIDTH[kind]


OTHERS = {
    "tokens": ["text", [1.5], [True], ["1"], 5, {"a": 1}, [2**64]],
    "elements": ["text", [1.5], [True], {"a": "b"}, True, [[1, 2]], [{}], {"indices": [1.5], "values": [1]}, 1.5, [1, 2.0], 7],
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
        if (kind, column.type) != ("code", pa.binary()):
            assert kinds(of_column(column, kind)) == [NO_TEXT]


@pytest.mark.parametrize("kind", ["tokens", "elements", "weighted", "vector", "sparse", "code", "string"])
def test_a_missing_field_is_told(kind: str) -> None:
    for records in (of_table(pa.table({"y": [[1]]}), Want("x", kind=kind)), of_lines(['{"y": [1]}'], Want("x", kind=kind))):
        assert (kinds(records), records.found, records.fields) == ([NO_TEXT], False, ("y",))
    assert of_lines(['{"x": null}'], Want("x", kind=kind)).found


# ------------------------------------------------------------------------------------------------------------ elements


def test_sets_of_integers_however_arrow_stores_them() -> None:
    rows = [[3], [1, 2, 1], None, [], [4, None], [5]]
    for item in (pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.int64()):
        for make in (pa.list_, pa.large_list, pa.list_view):
            records = of_column(pa.array(rows, make(item)).slice(1), "elements")
            assert kinds(records) == [TEXT, NO_TEXT, TEXT, NO_TEXT, TEXT]
            assert words(records) == [[word(1), word(2), word(1)], [], [], [], [word(5)]]
    fixed = pa.array([[9, 9], [1, -2], None, [3, 4]], pa.list_(pa.int16(), 2)).slice(1)
    assert words(of_column(fixed, "elements")) == [[word(1), word(-2)], [], [word(3), word(4)]]


def test_sets_of_strings_however_arrow_stores_them() -> None:
    rows = [["x"], ["a", "7", "a"], None, [], ["b", None], [""]]
    flat = pa.array(["a", "7", "a", "b"])
    for item in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        column = pa.array(rows, pa.list_(item)).slice(1)
        assert words(of_column(column, "elements")) == [[word("a"), word("7"), word("a")], [], [], [], [word("")]]
    view = pa.array(rows[:4], pa.list_(pa.string_view()))
    assert words(of_column(view, "elements"))[1] == [word("a"), word("7"), word("a")]
    coded = pa.ListArray.from_arrays(pa.array([0, 3, 3, 4], pa.int32()), flat.dictionary_encode())
    holes = pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.int8()), pa.array(["a", "b"]))
    assert words(of_column(coded, "elements")) == [[word("a"), word("7"), word("a")], [], [word("b")]]
    assert kinds(of_column(pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), holes), "elements")) == [TEXT, NO_TEXT]
    other = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), pa.array(["b", "z"]).dictionary_encode())
    chunked = pa.table({"x": pa.chunked_array([coded, other])})
    assert words(of_table(chunked, Want("x", kind="elements")))[-1] == [word("b"), word("z")]
    assert words(of_column(pa.array([["é", "\0"]]), "elements")) == [[word("é"), word("\0")]]
    broken = pa.array([[b"\xff"], [b"a"]], pa.list_(pa.binary())).view(pa.list_(pa.string()))
    assert words(of_column(broken, "elements"))[1] == [word("a")]  # bytes are bytes


def test_a_dictionary_is_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    plain = Hasher.strings
    monkeypatch.setattr(Hasher, "strings", lambda self, values: sizes.append(len(values)) or plain(self, values))
    flat = pa.DictionaryArray.from_arrays(pa.array(np.arange(1000) % 3, pa.int32()), pa.array(["a", "b", "c"]))
    records = of_column(pa.ListArray.from_arrays(pa.array([0, 500, 1000], pa.int32()), flat), "elements")
    assert sizes == [3]
    assert words(records)[1][:3] == [word("c"), word("a"), word("b")]


def test_integers_of_any_size_and_strings_mixed() -> None:
    value = '[7, "7", -1, 18446744073709551615, 18446744073709551616, -9223372036854775809, "\\ud800", "\\u0037", 1000000000000000000000000000000]'
    expected = [7, "7", -1, 2**64 - 1, 2**64, -(2**63) - 1, "\ud800", "7", 10**30]
    assert words(of_json(value, kind="elements")) == [[word(element) for element in expected]]
    assert words(of_table(memory.table([{"x": expected}]), Want("x", kind="elements"))) == [[word(element) for element in expected]]
    assert words(of_column(pa.array([[10**30, 5]], pa.list_(pa.decimal128(38, 0))), "elements")) == [[word(10**30), word(5)]]
    assert word(7, 5) in words(of_json("[7]", kind="elements", seed=5))[0]
    assert kinds(of_json("[1]", '["a"]', "[-0]", kind="elements")) == [TEXT] * 3
    assert words(of_json("[-0]", kind="elements")) == [[word(0)]]
    huge = of_json("[" + "9" * 5000 + "]", "[1]", kind="elements")
    assert kinds(huge) == [REJECTED, TEXT]
    assert "thousands of digits" in reasons(huge)[0]


def test_empty_sets_of_no_type() -> None:
    assert kinds(of_column(pa.array([[], None, []]), "elements")) == [TEXT, NO_TEXT, TEXT]
    assert kinds(of_column(pa.array([[], [None]]), "elements")) == [TEXT, NO_TEXT]


def test_several_fields_make_one_set() -> None:
    records = of_table(pa.table({"a": [[1], None, None], "b": [["x"], ["y", "z"], None]}), Want("a+b", kind="elements"))
    assert words(records) == [[word(1), word("x")], [word("y"), word("z")], []]
    assert kinds(records) == [TEXT, TEXT, NO_TEXT]
    assert words(of_lines(['{"a": [1], "b": ["x"]}', '{"b": ["y"]}'], Want("a+b", kind="elements"))) == [[word(1), word("x")], [word("y")]]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.none() | st.lists(st.integers() | st.text(max_size=5), max_size=5), max_size=8))
def test_json_arrow_and_python_give_the_same_sets(rows: list[Any]) -> None:
    want = Want("x", kind="elements")
    expected = [[word(element) for element in row or ()] for row in rows]
    if rows:
        assert words(of_lines([json.dumps({"x": row}) for row in rows], want)) == expected
        assert words(of_table(memory.table(rows, want), want)) == expected


# ------------------------------------------------------------------------------------------------------------ weighted


def test_weighted_sets_in_their_forms() -> None:
    """Mappings, lists of pairs, lists of structs. Keys of a JSON object are strings."""
    records = of_json('{"a": 2, "7": 0.5}', '[["a", 2], [7, 0.5]]', '[{"element": 7, "weight": 1e3, "x": null}]', "{}", "[]", kind="weighted")
    assert pairs(records) == [[(word("a"), 2), (word("7"), 0.5)], [(word("a"), 2), (word(7), 0.5)], [(word(7), 1000)], [], []]
    assert kinds(records) == [TEXT] * 5
    map_ = pa.array([[("z", 9.0)], [("a", 1.0), ("b", 2.0)], None, []], pa.map_(pa.string(), pa.float32())).slice(1)
    assert pairs(of_column(map_, "weighted")) == [[(word("a"), 1), (word("b"), 2)], [], []]
    ints = pa.array([[(5, 1), (6, 2)]], pa.map_(pa.int64(), pa.int32()))
    assert pairs(of_column(ints, "weighted")) == [[(word(5), 1), (word(6), 2)]]
    named = pa.array([[{"weight": 1.0, "note": "x", "element": 5}]])
    assert pairs(of_column(named, "weighted")) == [[(word(5), 1)]]
    two = pa.array([[{"word": "a", "count": 3}], [{"word": None, "count": 3}], [None]])
    assert pairs(of_column(two, "weighted")) == [[(word("a"), 3)], [], []]
    assert kinds(of_column(two, "weighted")) == [TEXT, NO_TEXT, NO_TEXT]
    assert kinds(of_column(pa.array([[{"a": 1, "b": 2, "c": 3}]]), "weighted")) == [NO_TEXT]


def test_bad_weights_are_named() -> None:
    records = of_json('[["a", 1], ["b", -1]]', '{"a": 1e999}', '{"a": 0}', '{"a": -0.0}', '{"a": "x"}', '{"a": true}', kind="weighted")
    assert kinds(records) == [REJECTED, REJECTED, TEXT, TEXT, NO_TEXT, NO_TEXT]
    assert reasons(records) == [
        "line 1, column 7, field 'x', item 2 of 2: the weight -1.0; a weight is a finite number of 0 or more",
        "line 2, column 7, field 'x': the weight inf; a weight is a finite number of 0 or more",
    ]
    assert records.rejected[0].raw == b'{"x": [["a", 1], ["b", -1]]}'
    column = pa.array([[("a", 1.0)], [("a", 1.0), ("b", float("nan"))]], pa.map_(pa.string(), pa.float64()))
    assert reasons(of_column(column, "weighted")) == [
        "position 1 (rows count from 0), column 'x', item 2 of 2: the weight nan; a weight is a finite number of 0 or more"
    ]


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


def test_nan_and_infinity_are_refused_with_their_place() -> None:
    rows = [[1.0, 2.0], [1.0, float("nan")], [float("-inf"), 0.0], None, [3.0, 4.0]]
    table = pa.table({"id": ["a", "b", "c", "d", "e"], "x": pa.array(rows, pa.list_(pa.float32()))})
    records = of_table(table, Want("x", kind="vector"))
    assert kinds(records) == [TEXT, REJECTED, REJECTED, NO_TEXT, TEXT]
    assert numbers(records, False) == [[1, 2], [], [], [], [3, 4]]
    assert reasons(records) == [
        """position 1 (rows count from 0), id "b", column 'x', item 2 of 2: nan is no coordinate of a vector; give a finite number""",
        """position 2 (rows count from 0), id "c", column 'x', item 1 of 2: -inf is no coordinate of a vector; give a finite number""",
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
    assert numbers(of_table(table, Want("i*+x1", kind="vector", wide=True))) == [[0, 1], [0, 1]]  # the id is no coordinate
    assert not of_table(table, Want("x1..x3", kind="vector")).found
    assert not of_table(table, Want("z*", kind="vector")).found
    assert numbers(of_lines(['{"x1": 1, "x2": 2}'], Want("x1..x2", kind="vector", wide=True))) == [[1, 2]]
    assert fields.names(Want("p/x08..p/x11", kind="vector")) == ["p/x08", "p/x09", "p/x10", "p/x11"]
    assert fields.names(Want("x1..x3", kind="vector"), ["x1..x3"]) == ["x1..x3"]
    assert fields.names(Want("x1..x3+y", kind="text")) == ["x1..x3", "y"]
    for wrong in ("x3..x1", "x1..y3", "x1..x99999999"):
        with pytest.raises(UsageError, match="a range goes from"):
            fields.names(Want(wrong, kind="vector"))
    with pytest.raises(UsageError, match="in JSON the names"):
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
        """line 7, column 5, id "f", column 'x1': nan is no coordinate of a vector; give a finite number""",
        "line 10, column 1: the record has 2 cells, and the header 4",
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
        with pytest.raises(UsageError, match="a cell of a CSV file is a text and no list"):
            of_file(path, Want("x0", kind=kind))


def test_case_h27(tmp_path: Path) -> None:
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
    assert reasons(records)[0] == "position 5 (rows count from 0), column 'text', item 2 of 4: nan is no coordinate of a vector; give a finite number"


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
def test_case_h29(tmp_path: Path, form: str) -> None:
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
        one("[1, 2]", "[1]"): "2 indices and 1 values; a sparse vector has a value for each index",
        one("[-1]", "[1]"): "index -1 is out of range; indices go from 0 to 2^64 - 1",
        one("[3, 1]", "[1, 1e999]"): "inf is no coordinate of a vector; give a finite number",
        one("[1, 1]", "[1e308, 1e308]"): "the values at index 1 add up beyond the range of float64; scale the vectors",
        one("[18446744073709551616]", "[1]", "null"): "index 18446744073709551616 is out of range; indices go from 0 to 2^64 - 1",
        one("[1]", "[1]", "-3"): "a dimension of -1; give 0 or more",
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
    wrong = of_json("[1, 2]", "-1", "18446744073709551616", '"xyz0"', '"abc"', kind="code")
    assert kinds(wrong) == [REJECTED] * 5
    assert reasons(wrong)[0] == "line 1, column 7, field 'x', item 2 of 2: 2 is no bit; a list is the bits of a code, 0 or 1"
    assert "-1 is no code" in reasons(wrong)[1]
    column = pa.array([[1, 0, 1], [0, 2, 7]], pa.list_(pa.int64()))
    assert codes(of_column(column, "code")) == ["05" + 14 * "0", ""]
    assert reasons(of_column(column, "code")) == [
        "position 1 (rows count from 0), column 'x', item 2 of 3: 2 is no bit; a list of integers is the bits of a code, 0 or 1"
    ]
    for strings in (pa.array(["FF00", None, "0x00ff", "", "zz", "abc"]), pa.array(["FF00", None, "00ff", "", "zz", "abc"]).dictionary_encode()):
        records = of_column(strings, "code")
        assert kinds(records) == [TEXT, NO_TEXT, TEXT, TEXT, REJECTED, REJECTED]
        assert codes(records)[:4] == ["ff00" + 12 * "0", "", "00ff" + 12 * "0", ""]
        assert records.width.tolist() == [16, 0, 16, 0, 0, 0]
        assert "'z' is no hexadecimal digit" in reasons(records)[0]
        assert "3 hexadecimal digits; two make a byte" in reasons(records)[1]
    inner = pa.table({"doc": pa.array([{"h": "ff"}])})
    assert codes(of_table(inner, Want("doc.h", kind="code"))) == ["ff" + 14 * "0"]


def test_codes_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,phash\na,d1d1b1a1e1c1ffff\nb,\nc,"00"\nd,xx\n')
    records = of_file(path, Want("phash", kind="code"))
    assert (kinds(records), codes(records)) == ([TEXT, NO_TEXT, TEXT, REJECTED], ["d1d1b1a1e1c1ffff", "", "00" * 8, ""])
    assert reasons(records)[0].startswith("""line 5, column 3, id "d", column 'phash', item 1 of 2: 'x' is no hexadecimal digit""")
    with pytest.raises(UsageError, match="a code is in one column"):
        of_file(path, Want("id+phash", kind="code"))


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


def csr(kind: type = SimpleNamespace, **changed: Any) -> Any:
    """scipy's parts of [[0, 2, 0, 1], [0, 0, 0, 0], [5, 0, 0, 0]]."""
    parts = {"indptr": np.array([0, 2, 2, 3], np.int32), "indices": np.array([1, 3, 0], np.int32), "data": np.array([2.0, 1, 5], np.float32)}
    return kind(**{**parts, "shape": (3, 4), **changed})


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
        with pytest.raises(UsageError, match="an input is an array of"):
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
    with pytest.raises(UsageError, match="from 0 to 2\\^64 - 1"):
        bare([1, -1], "code")
    with pytest.raises(UsageError, match="elements are whole numbers and strings"):
        bare([{1, (2, 3)}], "elements")
    with pytest.raises(UsageError, match="holds what no column can"):
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


def test_readable() -> None:
    def shown(column: pa.Array, kind: str) -> str:
        want = Want("x", kind=kind)
        return collection.readable(of_column(column, kind).text[0].as_py(), want)

    assert shown(pa.array([[1, 2]]), "tokens") == "1 2"
    assert shown(pa.array([[1, 2]]), "elements") == "2 elements"
    assert shown(pa.array([[1.5, 2]], pa.list_(pa.float32())), "vector") == "1.5 2.0"
    assert shown(pa.array([b"\xff\1"]), "code") == "ff01000000000000"
    assert shown(pa.array([{"indices": [3], "values": [0.5]}]), "sparse") == "3:0.5"
    assert shown(pa.array(["é"]), "string") == "é"


@pytest.mark.parametrize("kind", ["elements", "vector"])
def test_kept_records_stay_as_they_were(tmp_path: Path, kind: str) -> None:
    """Whatever is read of them: only reading knows kinds."""
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


def test_damage_is_told_as_damage() -> None:
    offsets = pa.py_buffer(np.array([0, 99, 2], np.int32))
    column = pa.Array.from_buffers(pa.list_(pa.float32()), 2, [None, offsets], children=[pa.array([1.0, 2], pa.float32())])
    with pytest.raises(DataError, match="cannot be read as a table"):
        of_column(column, "vector")
