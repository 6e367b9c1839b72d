"""Paths through structs, lists and maps, in JSON and in columns: all texts at their end, joined by line ends, as plain Python finds them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.io.formats import jsonl
from likewise.io.formats import lines as shared
from likewise.io.inputs import resolve
from likewise.records import TEXT, Chunk, Want
from loose_json import texts_at


def expected(row: dict[str, Any], name: str) -> str | None:
    parts = [texts_at(row, [step.removesuffix("[]") for step in part.split(".")], part.endswith("[]")) for part in name.split("+")]
    return "\n\n".join("\n".join(part) for part in parts if part) if any(parts) else None


def read_json(rows: list[Any], want: Want) -> list[str | None]:
    raw = "".join(json.dumps(row, ensure_ascii=number % 2 == 0) + "\n" for number, row in enumerate(rows)).encode()
    records = jsonl.parse(Chunk(np.frombuffer(bytearray(raw), np.uint8), 0, 1, shared.State(Path("x"), 0, ())), want, "x")
    return [text.decode() if kind == TEXT else None for kind, text in zip(records.kind.tolist(), records.text.to_pylist(), strict=True)]


scalars = st.none() | st.integers() | st.booleans() | st.text(st.characters(codec="utf-8"), max_size=40)
keys = st.sampled_from(["a", "b", "c", "é", 'q"'])
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=25)
names = st.lists(st.lists(st.sampled_from(["a", "b", "c", "é", 'q"', "a[]", "b[]"]), min_size=1, max_size=4).map(".".join), min_size=1, max_size=2)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.dictionaries(keys, values, max_size=4), max_size=4), names.map("+".join))
def test_json_fields_are_those_of_the_path(rows: list[dict[str, Any]], name: str) -> None:
    assert read_json(rows, Want(name)) == [expected(row, name) for row in rows]


CHATS = [
    {
        "messages": [{"role": "user", "content": "how are you"}, {"role": "bot", "content": "fine"}],
        "tags": ["x", "y"],
        "deep": {"list": [{"t": ["1", "2"]}]},
    },
    {"messages": [], "tags": [], "deep": {"list": []}},
    {"messages": None, "tags": None, "deep": None},
    {
        "messages": [{"role": "user", "content": None}, {"role": None, "content": "é\n"}, {"role": "x", "content": ""}],
        "tags": [None, "z"],
        "deep": {"list": None},
    },
    {"messages": [{"role": "user", "content": "last"}], "tags": ["w"], "deep": {"list": [{"t": ["3"]}, {"t": None}, {"t": ["4", None]}]}},
]
PATHS = [
    "messages.content",
    "messages[].content",
    "messages.role+messages.content",
    "tags[]",
    "deep.list.t[]",
    "deep.list[].t[]",
    "tags[]+deep.list.t[]",
]


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "arrow", "table", "views", "rows", "dictionary"])
def test_every_format_but_csv(tmp_path: Path, name: str, form: str) -> None:
    table = pa.Table.from_pylist(CHATS)
    path = tmp_path / f"x.{form}"
    given: Any = path
    if form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in CHATS))
    elif form == "json":
        path.write_text(json.dumps(CHATS))
    elif form == "parquet":
        pq.write_table(table, path, row_group_size=2)
    elif form == "arrow":
        pa.feather.write_feather(table, path, chunksize=2)
    elif form == "views":
        item = pa.struct({"role": pa.string_view(), "content": pa.large_string()})
        given = table.set_column(0, "messages", table["messages"].cast(pa.large_list(item)))
    elif form == "dictionary":
        item = pa.struct({"role": pa.dictionary(pa.int8(), pa.string()), "content": pa.string()})
        given = table.set_column(0, "messages", pa.array([row["messages"] for row in CHATS], pa.list_(item)))
    else:
        given = table.slice(0) if form == "table" else CHATS
    want = Want(name)
    sources = resolve([given], want=want)
    rows = [records for source in sources for chunk in source.chunks(want) for records in [source.parse(chunk, want)]]
    texts = [text.decode() if kind == TEXT else None for one in rows for kind, text in zip(one.kind.tolist(), one.text.to_pylist(), strict=True)]
    assert texts == [expected(row, name) for row in CHATS]
    assert any(one.found for one in rows)


def test_maps_and_columns_of_json_text() -> None:
    kind = pa.map_(pa.string(), pa.string())
    table = pa.table({"m": pa.array([[("a", "one"), ("b", "two")], [], None, [("b", None), ("a", "x"), ("a", "y")]], kind)})
    mixed = [{"m": {"a": "one"}}, {"m": 5}, {"m": [{"a": "x"}, {"a": "y"}]}, {"m": {"b": "z"}}]
    for data, texts in ((table, ["one", None, None, "x\ny"]), (mixed, ["one", None, "x\ny", None])):
        want = Want("m.a")
        [source] = resolve([data], want=want)
        [records] = [source.parse(chunk, want) for chunk in source.chunks(want)]
        assert [text.decode() if kind == TEXT else None for kind, text in zip(records.kind.tolist(), records.text.to_pylist(), strict=True)] == texts


def test_a_path_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(CHATS), tmp_path / "x.parquet")
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CHATS))
    for name in ("x.parquet", "x.jsonl"):
        with pytest.raises(lw.DataError, match=f"no row of {name} has the field 'messages.text'; fields seen: messages, tags, deep"):
            lw.pairs(tmp_path / name, field="messages.text")
    result = lw.dedup(tmp_path / "x.jsonl", field="messages.content", by="words:1")
    assert result.report["counts"]["kept"] == 5


def test_what_is_inside_of_a_list_that_is_read_must_be_json() -> None:
    raw = b'{"m": [{"t": "a", "x": NaN}], "y": NaN}\n{"m": [{"t": "a"}], "y": NaN}'
    chunk = Chunk(np.frombuffer(bytearray(raw), np.uint8), 0, 1, shared.State(Path("x"), 0, ()))
    assert jsonl.parse(chunk, Want("m.t"), "x").kind.tolist() == [2, TEXT]


@pytest.mark.parametrize(
    ("kind", "rows", "name"),
    [
        ("list<struct>", [[{"a": '"x"'}, {"a": '"y"'}], [{"a": '{"a": "no text"}'}], None, [{"a": "5"}, {"a": '"z"'}]], "m.a"),
        ("struct", [{"b": '{"b": "x"}'}, {"b": '[{"b": "y"}, {"b": "z"}]'}, {"b": '{"b": {"b": "too deep"}}'}, None], "m.b.b"),
        ("list<struct>", [[{"b": '{"b": "x"}'}, {"b": '{"b": "y"}'}], [], [{"b": '"no b in it"'}], [{"b": "null"}]], "m.b.b"),
        ("list<struct>", [[{"a": '["x", "y"]'}, {"a": '["z"]'}], [{"a": '"w"'}], None, [{"a": "null"}]], "m.a[]"),
    ],
)
def test_json_texts_inside_of_columns_are_reached_by_the_steps_that_are_left(kind: str, rows: list[Any], name: str) -> None:
    label = name.split(".")[1].removesuffix("[]")
    inner = pa.struct({label: pa.json_()})
    plain = pa.array(rows, pa.list_(pa.struct({label: pa.string()})) if kind == "list<struct>" else pa.struct({label: pa.string()}))
    flat = plain.flatten() if kind == "list<struct>" else plain
    texts = pa.ExtensionArray.from_storage(pa.json_(), flat.field(0))
    structs = pa.StructArray.from_arrays([texts], fields=[*inner], mask=flat.is_null())
    column = pa.ListArray.from_arrays(plain.offsets, structs, mask=plain.is_null()) if kind == "list<struct>" else structs

    def loaded(value: Any) -> Any:
        if isinstance(value, list):
            return [loaded(one) for one in value]
        return value if value is None else {label: json.loads(value[label])}

    want = Want(name)
    [source] = resolve([pa.table({"m": column})], want=want)
    [records] = [source.parse(chunk, want) for chunk in source.chunks(want)]
    found = [text.decode() if kind == TEXT else None for kind, text in zip(records.kind.tolist(), records.text.to_pylist(), strict=True)]
    assert found == [expected({"m": loaded(row)}, name) for row in rows]
