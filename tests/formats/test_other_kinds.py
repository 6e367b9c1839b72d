"""Columns that hold something else than a run compares, and missing elements of sets: one rule for every format and for Python."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import run
from likewise.families import MinHash
from likewise.io import batches, columns
from likewise.io.formats import lines
from likewise.io.formats import npy as npy_format
from likewise.io.formats import parquet as parquet_format
from likewise.io.inputs import resolve
from likewise.records import Want

NAN = float("nan")
Values = list[Any]


def jsonl(values: Values, field: str) -> Path:
    Path("in.jsonl").write_text("".join(json.dumps({field: value}).replace("NaN", "null") + "\n" for value in values))
    return Path("in.jsonl")


def array(values: Values, field: str) -> Path:
    Path("in.json").write_text(json.dumps([{field: value} for value in values]).replace("NaN", "null"))
    return Path("in.json")


def parquet(values: Values, field: str) -> Path:
    pq.write_table(pa.table({field: pa.array(values)}), "in.parquet")
    return Path("in.parquet")


FORMS: dict[str, Callable[[Values, str], Any]] = {
    "jsonl": jsonl,
    "json": array,
    "parquet": parquet,
    "arrow": lambda values, field: pa.table({field: pa.array(values)}),
    "rows": lambda values, field: [{field: value} for value in values],
    "list": lambda values, field: values,
}
HERE = pytest.mark.usefixtures("folder")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@HERE
@pytest.mark.parametrize("form", ["jsonl", "parquet", "rows"])
def test_the_message_about_records_and_floats_tells_how_to_go_on(form: str) -> None:
    messages = [[{"role": "user", "content": "a b c"}, {"role": "bot", "content": "d"}]] * 2
    for by, values, advice in (
        ("words:1", messages, "name the field inside: field='x.KEY' joins the texts of a list"),
        ("words:1", [one[0] for one in messages], "name the field inside: field='x.KEY'"),
        ("hamming", [1.0, 3.0, None], "convert the column to whole numbers; in pandas astype('Int64') keeps missing ones"),
    ):
        with pytest.raises(lw.DataError) as error:
            lw.pairs(FORMS[form](values, "x"), by=by, field="x", **({"within": 1} if by == "hamming" else {}))
        assert str(error.value).endswith(f"; {advice}")
    found = lw.pairs(FORMS[form](messages, "x"), by="words:1", field="x.content").to_arrow()
    assert found.to_pylist() == [{"id_a": 0, "id_b": 1, "similarity": 1.0}]


# --- missing elements

SETS = [[1.0, 2.0, 3.0], [1.0, NAN, 2.0, 3.0], [None, None], [1.0, 9.0]]
STRINGS = [["a", None, "b"], ["b", "a"], [None, "c"], ["a"]]


@HERE
@pytest.mark.parametrize("form", FORMS)
def test_missing_elements_are_left_out_and_counted(form: str) -> None:
    """{1, 2, 3} twice; then the empty set; {1, 9} shares one of four elements."""
    found = lw.pairs(FORMS[form](SETS, "elements"), by="elements", threshold=0.25, exact=True)
    assert [tuple(row.values()) for row in found.to_arrow().to_pylist()] == [(0, 1, 1.0), (0, 3, 0.25), (1, 3, 0.25)]
    assert "3 nulls inside sets of the field 'elements' were left out" in found.report["warnings"]
    result = lw.dedup(FORMS[form](STRINGS, "elements"), by="elements", threshold=0.9)
    assert result.report["counts"]["nulls_left_out"] == 2
    assert result.removed.to_arrow()["id"].to_pylist() == [1]


@pytest.mark.parametrize("batch", [list, pa.array, lambda sets: [np.array(one, np.float64) for one in sets]])
def test_similarity_and_signatures_go_by_the_same_rule(batch: Callable[[Values], Any]) -> None:
    left, right = batch([[1.0, NAN, 2.0], [4.0, 4.0]]), batch([[2.0, 1.0, NAN, NAN], [4.0, 5.0]])
    assert lw.similarity(left, right, by="elements").tolist() == [1.0, 0.5]
    whole = MinHash(64, seed=3).signature([[1, 2], [4]])
    assert (MinHash(64, seed=3).signature(left) == whole).all()


def test_one_and_the_float_one_are_one_element() -> None:
    assert lw.similarity({1, 2, 3, "a"}, [1.0, 2.0, np.float32(3), "a", None], by="elements") == 1
    assert lw.similarity([2.0**70, -0.0], [2**70, 0], by="elements") == 1
    assert lw.similarity({1: 2.0, "a": 1}, {1.0: 2.0, "a": 1}, by="weighted") == 1
    assert len(lw.pairs([{1, 2, None}, [1.0, 2.0], {NAN, 2.0, 1}], by="elements", threshold=1)) == 3


@HERE
@pytest.mark.parametrize("form", ["jsonl", "parquet", "rows"])
def test_the_elements_of_one_column_are_compared_with_those_of_another(form: str) -> None:
    """Floats, decimals and whole numbers, large ones too."""
    given = FORMS[form]([[1.0, 2.0**63, -3.0]], "elements")
    others = pa.table({"elements": pa.array([[Decimal(1), Decimal(2**63), Decimal(-3)]], pa.list_(pa.decimal128(20, 0)))})
    assert len(lw.pairs(given, against=others, by="elements", threshold=1)) == 1
    scaled = pa.table({"elements": pa.array([[Decimal("1.00"), Decimal("9223372036854775808.00"), Decimal("-3.00")]])})
    assert len(lw.pairs(given, against=scaled, by="elements", threshold=1)) == 1


@HERE
@pytest.mark.parametrize("form", ["jsonl", "parquet", "rows", "list"])
def test_a_pair_without_an_element_is_left_out_of_a_weighted_set(form: str) -> None:
    pairs = [[{"element": 1, "weight": 2.0}, {"element": None, "weight": 5.0}], [{"element": 1, "weight": 2.0}]]
    found = lw.pairs(FORMS[form](pairs, "elements"), by="weighted", threshold=0.9)
    assert (found.to_arrow()["similarity"].to_pylist(), "1 null inside sets" in " ".join(found.report["warnings"])) == ([1.0], True)


@HERE
def test_nulls_are_counted_as_far_as_rows_are_read() -> None:
    found = lw.pairs(jsonl(STRINGS, "elements"), by="elements", threshold=0.9, limit=2)
    assert "1 null inside sets of the field 'elements' was left out" in found.report["warnings"]


# --- columns of another kind

DATES = [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)]
OTHERS: list[tuple[str, Values, str]] = [
    ("elements", ["a", "b"], "strings, such as 'a'"),
    ("elements", [[True, False], [True, True]], "lists of booleans, such as [True, False]"),
    ("elements", [[1.5, 2.0], [2.5]], "lists of floats, such as [1.5, 2.0]"),
    ("elements", [None, 7], "whole numbers, such as 7"),
    ("elements", [[[1]], [[2]]], "lists of lists of whole numbers, such as [[1]]"),
    ("cosine", ["[1, 2]", "[1, 3]"], "strings, such as '[1, 2]'"),
    ("cosine", [["a"], ["b"]], "lists of strings, such as ['a']"),
    ("cosine", [True, False], "booleans, such as True"),
    ("weighted", ["a", "b"], "strings, such as 'a'"),
    ("hamming", [1.5, 2.5], "floats, such as 1.5"),
    ("words:2", [12, 13], "whole numbers, such as 12"),
    ("words:2", [["a", "b"], ["c"]], "lists of strings, such as ['a', 'b']"),
    ("words:2", [{"a": 1}, {"a": 2}], "records, such as {'a': 1}"),
    ("levenshtein", [True, None], "booleans, such as True"),
    ("tokens:2", ["a", "b"], "strings, such as 'a'"),
    ("features", [["a"], ["b"]], "lists of strings, such as ['a']"),
]
FIELD = {"words:2": "text", "tokens:2": "text"}
WITHIN = {"hamming": {"within": 1}, "levenshtein": {"within": 1}}


@HERE
@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "arrow"])
@pytest.mark.parametrize(("by", "values", "held"), OTHERS)
def test_a_column_of_another_kind_is_an_error_that_says_what_it_holds(form: str, by: str, values: Values, held: str) -> None:
    given = FORMS[form](values, "x")
    name = given.name if isinstance(given, Path) else "memory.arrow"
    with pytest.raises(lw.DataError) as error:
        lw.dedup(given, by=by, field="x", out="out", **WITHIN.get(by, {"threshold": 0.9}))
    assert str(error.value).startswith(f"{name}: the field 'x' holds {held}; by={by!r} compares ")
    assert not Path("out").exists()


@HERE
def test_dates_are_reported_where_a_format_has_them() -> None:
    with pytest.raises(
        lw.DataError, match=r"the field 'text' holds dates and times, such as datetime\.date\(2020, 1, 1\); by='words:5' compares texts"
    ):
        lw.pairs(pa.table({"text": DATES}))


@HERE
def test_vectors_in_a_cell_of_csv_are_reported() -> None:
    Path("v.csv").write_text('id,vector\n1,"[0.1, 0.2]"\n2,"[0.1, 0.2]"\n')
    with pytest.raises(lw.DataError, match=r"v\.csv: the field 'vector' holds strings, such as '\[0\.1, 0\.2\]'; .* one number per column"):
        lw.pairs(Path("v.csv"), by="cosine")


@HERE
def test_one_source_of_several_is_recognized_by_name_before_others_are_read() -> None:
    """The schema of the table is enough: the run does not reach the damage of the other source."""
    Path("a.jsonl").write_text("{ damaged")
    pq.write_table(pa.table({"text": [1.5, 2.5]}), "b.parquet")
    found = run("dedup", "a.jsonl", "b.parquet", "-o", "out")
    assert found.exit_code != 0
    assert "b.parquet: the field 'text' holds floats, such as 1.5; --by words:5 compares texts" in found.stderr
    Path("a.jsonl").write_text('{"text": "a b c d e f"}\n')
    assert run("dedup", "a.jsonl", "b.parquet", "-o", "out", "--dry-run").exit_code == found.exit_code


@HERE
def test_a_source_of_nulls_alone_and_one_usable_value_are_no_error() -> None:
    pq.write_table(pa.table({"text": pa.array([None, None], pa.float64())}), "nulls.parquet")
    Path("a.jsonl").write_text('{"text": 12}\n{"text": "a b c d e f"}\n')
    found = lw.pairs([Path("a.jsonl"), Path("nulls.parquet")])
    assert found.report["warnings"][-1].startswith("3 of 4 items have no text in the field 'text'")


# --- matrices of 0 and 1

FLAGS = np.array([[1, 0, 1, 1, 1], [1, 0, 0, 1, 1], [0, 1, 0, 0, 0]])
COLUMNS: list[list[int]] = [[0, 2, 3, 4], [0, 3, 4], [1]]
LOOKS = "rows of equal length that hold only 0 and 1 look like a matrix"


def npy(array: np.ndarray) -> Path:
    np.save("in.npy", array)
    return Path("in.npy")


@HERE
@pytest.mark.parametrize("given", [FLAGS.astype(bool), list(FLAGS.astype(bool)), "npy"], ids=["array", "rows", "npy"])
def test_booleans_are_sets_of_column_numbers_everywhere(given: Any) -> None:
    """{0, 2, 3, 4} and {0, 3, 4}: three of four elements in common."""
    given = npy(FLAGS.astype(bool)) if isinstance(given, str) else given
    pairs = lw.pairs(given, by="elements", threshold=0.5, exact=True).to_arrow().to_pylist()
    assert [tuple(row.values()) for row in pairs] == [(0, 1, 0.75)]
    assert lw.dedup(given, by="elements", threshold=0.7).removed.to_arrow()["id"].to_pylist() == [1]
    assert lw.neighbors(given, by="elements", k=1).to_arrow()["similarity"].to_pylist() == [0.75, 0.75]
    plan = lw.plan(given, by="elements", threshold=0.5).to_dict()
    assert plan == lw.plan(COLUMNS, by="elements", threshold=0.5).to_dict()
    # two of three items are similar up to a threshold of 3/4, and one of these is kept
    assert [(each["threshold"], each["similar"] > 0, round(3 * each["kept"])) for each in plan["advice"]["by_threshold"]] == [
        *((threshold, True, 2) for threshold in (0.5, 0.6, 0.7)),
        *((threshold, False, 3) for threshold in (0.8, 0.9, 0.95)),
    ]


def test_booleans_are_sets_of_column_numbers_in_similarity_and_families() -> None:
    flags = FLAGS.astype(bool)
    assert lw.similarity(flags[0], flags[1], by="elements") == 0.75
    assert lw.similarity(flags, flags[[1, 0, 2]], by="elements").tolist() == [0.75, 0.75, 1.0]
    assert lw.similarity(flags[1], {0, 3, 4}, by="elements") == 1
    assert lw.similarity(flags[[1]], flags[[0]], by="elements/containment").tolist() == [1.0]
    assert (MinHash(32).signature(flags) == MinHash(32).signature(COLUMNS)).all()
    assert lw.frequent(flags, support=2).to_arrow().to_pylist() == lw.frequent(COLUMNS, support=2).to_arrow().to_pylist()


MATRICES = {
    "array": FLAGS,
    "transposed": FLAGS.T,
    "bytes": FLAGS.astype(np.uint8),
    "lists": FLAGS.tolist(),
    "rows": list(FLAGS),
    "floats": FLAGS.astype(float).tolist(),
    "two columns": np.eye(2, dtype=int),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize(
    "call",
    [
        lambda given: lw.pairs(given, by="elements", threshold=0.5),
        lambda given: lw.dedup(given, by="elements", threshold=0.5),
        lambda given: lw.neighbors(given, by="elements", k=1),
        lambda given: lw.plan(given, by="elements", threshold=0.5),
        lambda given: lw.similarity(given, given, by="elements"),
        lambda given: lw.similarity(given, given, by="elements/containment"),
        lambda given: MinHash(8).signature(given),
        lambda given: lw.frequent(given, support=1),
    ],
    ids=["pairs", "dedup", "neighbors", "plan", "similarity", "containment", "signature", "frequent"],
)
def test_a_matrix_of_0_and_1_is_no_batch_of_sets(call: Callable[[Any], Any], name: str) -> None:
    with pytest.raises(lw.LikewiseError, match=LOOKS):
        call(MATRICES[name])


@HERE
@pytest.mark.parametrize("form", ["jsonl", "json", "parquet", "arrow", "npy"])
def test_a_matrix_of_0_and_1_in_a_file_is_reported(form: str) -> None:
    given = npy(FLAGS) if form == "npy" else FORMS[form](FLAGS.tolist(), "elements")
    for call in (lw.pairs, lw.plan):
        with pytest.raises(lw.DataError, match=LOOKS):
            call(given, by="elements", threshold=0.5)


@HERE
def test_a_matrix_in_the_second_of_two_fields_is_reported_unless_the_first_has_sets() -> None:
    given = jsonl(FLAGS.tolist(), "b")
    with pytest.raises(lw.DataError, match=LOOKS):
        lw.pairs(given, by="elements", field="a|b", threshold=0.5)
    given.write_text(given.read_text() + '{"a": [3, 4]}\n')
    assert len(lw.pairs(given, by="elements", field="a|b", threshold=0.5)) == 3


def test_one_row_of_0_and_1_is_refused_with_the_way_to_write_it() -> None:
    with pytest.raises(lw.UsageError, match=r"np\.array\(row, bool\)"):
        lw.similarity([1, 0, 1, 1, 1], [1, 0, 0, 1, 1], by="elements")
    assert lw.similarity(np.array([1, 0, 1, 1, 1], bool), np.array([1, 0, 0, 1, 1], bool), by="elements") == 0.75


@HERE
def test_sets_that_are_no_matrix_pass() -> None:
    """Sets of two elements, of several lengths, with another element, or one row alone in a file."""
    for sets in ([[0, 1], [1, 0]], [[0, 1, 1], [0, 1]], [[0, 1, 1], [0, 1, 2]], [{0, 1}, {1}]):
        assert lw.similarity(sets, sets, by="elements").tolist() == [1.0] * len(sets)
        assert lw.pairs(sets, by="elements", threshold=0.01).report["read"] == len(sets)
    assert lw.pairs(jsonl([[0, 1, 1]], "elements"), by="elements").report["read"] == 1
    assert lw.sketch([[0, 1, 1], [1, 1, 0]], by="tokens:2").shape[0] == 2


@HERE
@pytest.mark.parametrize("form", FORMS)
def test_rows_without_a_value_hide_no_matrix(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In chunks of one row or two, so that some hold nulls alone."""
    monkeypatch.setattr(lines, "CHUNK_BYTES", 50)
    rows = [None, None, [1, 0, 1], None, [0, 0, 1], None]
    for call in (lw.pairs, lw.plan) if form != "list" else (lw.pairs,):  # `plan` takes no None in a list
        with pytest.raises(lw.LikewiseError, match=LOOKS):
            call(FORMS[form](rows, "elements"), by="elements", threshold=0.5)


@HERE
def test_rows_that_are_set_aside_hide_no_matrix() -> None:
    given = jsonl([[1, 0, 1], [1.5, 0, 1], [0, 0, 1]], "elements")
    with pytest.raises(lw.DataError, match=LOOKS):
        lw.pairs(given, by="elements", on_error="skip")


@HERE
def test_one_row_of_0_and_1_beside_nulls_is_no_matrix() -> None:
    assert lw.pairs(jsonl([[0, 1, 1], None], "elements"), by="elements").report["read"] == 2


@HERE
def test_sets_in_an_array_are_judged_over_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last chunk, [0, 1, 1], alone would look like a matrix."""
    monkeypatch.setattr(npy_format, "CHUNK_BYTES", 8 * 3 * 2)
    given = npy(np.array([[5, 6, 7], [5, 6, 8], [0, 1, 1]]))
    assert [(row["id_a"], row["id_b"]) for row in lw.pairs(given, by="elements", threshold=0.5).to_arrow().to_pylist()] == [(0, 1)]
    with pytest.raises(lw.DataError, match=LOOKS):
        lw.pairs(npy(np.array([[0, 1, 1]] * 3)), by="elements", threshold=0.5)


@HERE
def test_a_column_of_nulls_is_looked_at_before_a_run_only_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "LOOKED", 250)
    read: list[int] = []
    parse = columns.parse
    monkeypatch.setattr(columns, "parse", lambda chunk, *given: (read.append(len(chunk.data)), parse(chunk, *given))[1])
    monkeypatch.setattr(parquet_format, "parse", columns.parse)
    values: list[float | None] = [None] * 1000
    pq.write_table(pa.table({"text": pa.array(values, pa.float64())}), "nulls.parquet", row_group_size=100)
    monkeypatch.setattr(batches, "CHUNK_ROWS", 100)
    [source] = resolve([Path("nulls.parquet")], want=Want())
    assert columns.unfit(source, Want()) == "" and sum(read) == 300
    values[-1] = 1.5  # behind what is looked at: told once all is read
    pq.write_table(pa.table({"text": pa.array(values, pa.float64())}), "nulls.parquet", row_group_size=100)
    [source] = resolve([Path("nulls.parquet")], want=Want())
    assert columns.unfit(source, Want()) == ""
    with pytest.raises(lw.DataError, match=r"the field 'text' holds floats, such as 1\.5; by='words:5' compares texts"):
        lw.pairs(Path("nulls.parquet"))
