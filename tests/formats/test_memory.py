"""Data that are given in Python, as a source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc

from columnar_rows import WANT, kept, of_table
from likewise.errors import UsageError
from likewise.io.formats import memory
from likewise.records import NO_TEXT, TEXT, Want


def of_python(given, want: Want = WANT):
    records = of_table(memory.table(given), want)
    return records.kind.tolist(), records.text.to_pylist(), records.id.to_pylist()


def test_a_list_of_str() -> None:
    assert of_python(["a", None, ""]) == ([TEXT, NO_TEXT, TEXT], [b"a", b"", b""], [None] * 3)
    assert of_python(word for word in ("x", "y"))[1] == [b"x", b"y"]
    assert memory.table([]).num_rows == 0
    assert memory.table([None]).column_names == ["text"]


def test_a_lone_surrogate_in_a_str_survives() -> None:
    kinds, texts, _ = of_python(["a\udc80", "b"])
    assert kinds == [TEXT, TEXT]
    assert [text.decode("utf-8", "surrogatepass") for text in texts] == ["a\udc80", "b"]


def test_rows_keep_all_their_fields() -> None:
    given = [{"id": 1, "text": "a", "extra": [1]}, {"text": "b", "more": {"x": 1}}, {"id": 3, "text": None}]
    table = memory.table(given)
    assert table.column_names == ["id", "text", "extra", "more"]
    assert of_python(given) == ([TEXT, TEXT, NO_TEXT], [b"a", b"b", b""], [b"1", None, b"3"])
    assert memory.take(table, np.array([False, True, False])).to_pylist() == [{"id": None, "text": "b", "extra": None, "more": {"x": 1}}]


def test_ids_of_several_types_are_not_made_one() -> None:
    """The number 1 and the string "1" are two documents, and 1.5 makes no float of 9007199254740993."""
    given = [{"id": i, "text": "x"} for i in (1, "1", 9007199254740993, 1.5, None, True, "a\ud800", "é")]
    assert of_python(given)[2] == [b"1", b'"1"', b"9007199254740993", b"1.5", None, b"true", rb'"a\ud800"', '"é"'.encode()]
    assert of_python([{"id": i, "text": "x"} for i in (1, 2.5)])[2] == [b"1", b"2.5"]
    ints = [{"id": i, "text": "x"} for i in (2**53 + 1, 2**64 - 1, -1)]
    assert of_python(ints)[2] == [b"9007199254740993", b"18446744073709551615", b"-1"]
    assert memory.table(ints[:2]).schema.field("id").type == pa.uint64()


def test_texts_that_are_absent_null_a_number_or_a_list_are_no_texts() -> None:
    """Rows as a careless crawl has them: four without a usable text among six."""
    given = [{"text": "good"}, {"text": None}, {"other": 1}, {"text": 5}, {"text": ["no"]}, {"text": "good \udfff"}]
    kinds, texts, _ = of_python(given)
    assert kinds == [TEXT, NO_TEXT, NO_TEXT, NO_TEXT, NO_TEXT, TEXT]
    assert texts[5] == "good \udfff".encode("utf-8", "surrogatepass")
    records = of_table(memory.table([{"text": "x", "score": s} for s in (1, 2.5, "3", None, True)]), Want(score="score"))
    assert np.nan_to_num(records.score, nan=-1).tolist() == [1.0, 2.5, -1.0, -1.0, -1.0]


def test_token_lists_from_python() -> None:
    records = of_table(memory.table([[1, 2], None, [3]]), Want(kind="tokens"))
    assert records.kind.tolist() == [TEXT, NO_TEXT, TEXT]
    assert np.frombuffer(records.text[0].as_py(), "<i8").tolist() == [1, 2]


class Capsule:
    """Somebody else's table: known by its Arrow interface alone."""

    def __init__(self, inner):
        self.inner = inner

    def __arrow_c_stream__(self, requested_schema=None):
        return self.inner.__arrow_c_stream__(requested_schema)


class ArrayCapsule:
    def __init__(self, inner):
        self.inner = inner

    def __arrow_c_array__(self, requested_schema=None):
        return self.inner.__arrow_c_array__(requested_schema)


@pytest.mark.parametrize(
    "given",
    [
        pa.table({"text": ["a", "b"]}),
        pa.record_batch({"text": ["a", "b"]}),
        pa.table({"text": ["a", "b"]}).to_reader(),
        Capsule(pa.table({"text": ["a", "b"]})),
        Capsule(pa.chunked_array([["a"], ["b"]])),
        ArrayCapsule(pa.record_batch({"text": ["a", "b"]})),
        pa.array(["a", "b"]),
        pa.chunked_array([["a"], ["b"]]),
        {"text": ["a", "b"]},
        np.array(["a", "b"]),
        ("a", "b"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_anything_with_an_arrow_interface(given) -> None:
    table = memory.table(given)
    assert isinstance(table, pa.Table)
    assert of_table(table).text.to_pylist() == [b"a", b"b"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (5, "int 5"),
        (["a", 5], "row 1 holds whole numbers, such as 5"),
        (["a", {"text": "b"}], "row 0 holds strings, such as 'a'"),
        ([{"text": "a"}, "b"], "row 1 holds strings, such as 'b'"),
        ([{1: "a"}], "key 1"),
        ([{"a": object()}], "column 'a'"),
    ],
)
def test_what_is_no_table_is_refused(given, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        memory.table(given)


def test_python_data_is_written_as_an_arrow_file(tmp_path: Path) -> None:
    table = memory.table([{"id": 1, "text": "a"}, {"id": "1", "text": "b"}, {"id": 2, "text": "c"}])
    memory.write(table, tmp_path / "out.arrow", *kept([True, False, True]), pa.table({"cluster": [None, "c"]}))
    after = ipc.open_file(tmp_path / "out.arrow").read_all()
    assert after["id"].type == pa.json_(pa.large_string())
    assert after["text"].to_pylist() == ["a", "c"]
    assert after["cluster"].to_pylist() == [None, "c"]
