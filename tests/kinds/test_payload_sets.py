"""Sets and weighted sets as payloads: elements and weights, however they are stored."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.io.formats import memory
from likewise.items.words import Hasher
from likewise.records import NO_TEXT, REJECTED, TEXT, Want
from payload_rows import kinds, of_column, of_json, of_lines, of_table, pairs, reasons, word, words

# ------------------------------------------------------------------------------------------------------------ elements


def test_sets_of_integers_however_arrow_stores_them() -> None:
    rows = [[3], [1, 2, 1], None, [], [4, None], [5]]
    for item in (pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.int64()):
        for make in (pa.list_, pa.large_list, pa.list_view):
            records = of_column(pa.array(rows, make(item)).slice(1), "elements")
            assert kinds(records) == [TEXT, NO_TEXT, TEXT, TEXT, TEXT]
            assert words(records) == [[word(1), word(2), word(1)], [], [], [word(4)], [word(5)]]
            assert records.nulls.tolist() == [0, 0, 0, 1, 0]
    fixed = pa.array([[9, 9], [1, -2], None, [3, 4]], pa.list_(pa.int16(), 2)).slice(1)
    assert words(of_column(fixed, "elements")) == [[word(1), word(-2)], [], [word(3), word(4)]]


def test_sets_of_strings_however_arrow_stores_them() -> None:
    rows = [["x"], ["a", "7", "a"], None, [], ["b", None], [""]]
    flat = pa.array(["a", "7", "a", "b"])
    for item in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        column = pa.array(rows, pa.list_(item)).slice(1)
        assert words(of_column(column, "elements")) == [[word("a"), word("7"), word("a")], [], [], [word("b")], [word("")]]
    view = pa.array(rows[:4], pa.list_(pa.string_view()))
    assert words(of_column(view, "elements"))[1] == [word("a"), word("7"), word("a")]
    coded = pa.ListArray.from_arrays(pa.array([0, 3, 3, 4], pa.int32()), flat.dictionary_encode())
    holes = pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.int8()), pa.array(["a", "b"]))
    assert words(of_column(coded, "elements")) == [[word("a"), word("7"), word("a")], [], [word("b")]]
    assert words(of_column(pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), holes), "elements")) == [[word("a")], [word("b")]]
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
    assert kinds(of_column(pa.array([[], [None]]), "elements")) == [TEXT, TEXT]


def test_several_fields_make_one_set() -> None:
    records = of_table(pa.table({"a": [[1], None, None], "b": [["x"], ["y", "z"], None]}), Want("a+b", kind="elements"))
    assert words(records) == [[word(1), word("x")], [word("y"), word("z")], []]
    assert kinds(records) == [TEXT, TEXT, NO_TEXT]
    assert words(of_lines(['{"a": [1], "b": ["x"]}', '{"b": ["y"]}'], Want("a+b", kind="elements"))) == [[word(1), word("x")], [word("y")]]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.none() | st.lists(st.integers().filter(bool) | st.text(max_size=5), max_size=5), max_size=8))
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
    assert kinds(of_column(two, "weighted")) == [TEXT, TEXT, NO_TEXT]  # an empty set, and a weight that is missing
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
