"""The same value means the same in every format and in Python."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import likewise as lw
from command_line import run

Table = dict[str, list[Any]]


def rows_of(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def jsonl(table: Table) -> Path:
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_of(table)))
    return Path("in.jsonl")


def array(table: Table) -> Path:
    Path("in.json").write_text(json.dumps(rows_of(table)))
    return Path("in.json")


def columns(table: Table) -> pa.Table:
    return pa.table({name: column(values) for name, values in table.items()})


def column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except OverflowError:
        return pa.array(values, pa.list_(pa.uint64()) if isinstance(values[0], list) else pa.uint64())


def parquet(table: Table) -> Path:
    pq.write_table(columns(table), "in.parquet")
    return Path("in.parquet")


def arrow(table: Table) -> Path:
    with ipc.new_file("in.arrow", columns(table).schema) as writer:
        writer.write_table(columns(table))
    return Path("in.arrow")


def cells(table: Table) -> Path:
    with open("in.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return Path("in.csv")


FORMS: dict[str, Callable[[Table], Any]] = {
    "jsonl": jsonl,
    "json": array,
    "csv": cells,
    "parquet": parquet,
    "arrow": arrow,
    "table": columns,
    "rows": rows_of,
    "columns": lambda table: table,
}
TYPED = [name for name in FORMS if name != "csv"]  # a cell of CSV has no type


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def pairs(given: Any, **choices: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values())[:3] for row in lw.pairs(given, **choices).to_arrow().to_pylist()]


# --- codes: whole numbers of 64 bits, -1 the same as 2^64 - 1

CODES = [-1, 2**63 - 1, -(2**63), 0, 6, 7, -2]
DISTANCES = [(0, 1, 1), (0, 6, 1), (2, 3, 1), (4, 5, 1)]  # by hand: one bit apart in two's complement


@pytest.mark.parametrize("form", FORMS)
def test_signed_codes_are_read_as_unsigned_ones(form: str) -> None:
    assert pairs(FORMS[form]({"code": CODES}), by="hamming", field="code", within=1) == DISTANCES


@pytest.mark.parametrize("form", ["list", "int64", "uint64", "npy"])
def test_signed_codes_are_read_as_unsigned_ones_in_python(form: str) -> None:
    words = np.array(CODES, np.int64)
    np.save("in.npy", words)
    given = {"list": CODES, "int64": words, "uint64": words.view(np.uint64), "npy": Path("in.npy")}[form]
    assert pairs(given, by="hamming", within=1) == DISTANCES
    if form != "npy":
        expected = [((a ^ b) % 2**64).bit_count() for a, b in zip(CODES, CODES[::-1], strict=True)]
        assert lw.similarity(given, given[::-1], by="hamming").tolist() == expected


@pytest.mark.parametrize("form", TYPED)
def test_a_code_is_one_whether_it_is_signed_or_not(form: str) -> None:
    unsigned = pa.table({"code": pa.array([code % 2**64 for code in CODES], pa.uint64())})
    found = lw.pairs(FORMS[form]({"code": CODES}), against=unsigned, by="hamming", field="code", within=0)
    assert [(row["id_a"], row["id_b"]) for row in found.to_arrow().to_pylist()] == [(place, place) for place in range(len(CODES))]


def test_what_is_no_code_of_64_bits_is_refused() -> None:
    for code in (2**64, -(2**63) - 1):
        for given in ([code, 1], jsonl({"code": [code, 1]})):
            with pytest.raises(lw.LikewiseError, match=r"-2\^63 to 2\^64 - 1"):
                lw.pairs(given, by="hamming", field="code", within=1)


def test_cells_of_csv_are_hexadecimal_unless_they_cannot_be() -> None:
    for codes, distances in (
        (["0011", "0010"], [(0, 1, 1)]),  # 16 bits each
        (["12", "13"], [(0, 1, 1)]),  # one byte each: 0x12, 0x13
        (["ff", "00"], []),
        (["3", "-1", "2"], [(0, 2, 1)]),  # a sign
        (["7", "5", "1000"], [(0, 1, 1)]),  # hexadecimal codes have one even length
        (["1000000000000000001", "1000000000000000000"], [(0, 1, 1)]),  # 19 digits
        (["18446744073709551615", "18446744073709551614"], [(0, 1, 1)]),  # 20 digits
    ):
        assert pairs(cells({"code": codes}), by="hamming", field="code", within=1) == distances


# --- ids

TEXTS = ["a b c d e f", "a b c d e f", "u v w x y z", "u v w x y z"]
IDS: list[tuple[list[Any], list[tuple[Any, Any]]]] = [
    ([1, 2, 3, 4], [(1, 2), (3, 4)]),
    ([-1, 2, -(2**63), 4], [(-1, 2), (-(2**63), 4)]),
    ([2**64 - 1, 2**63, 3, 4], [(2**64 - 1, 2**63), (3, 4)]),
    (["1", "2", "a", ""], [("1", "2"), ("a", "")]),
    ([1.5, 2.5, 3.0, 4.0], [(1.5, 2.5), (3.0, 4.0)]),
    ([1.0, None, 3.0, 4.0], [(1, None), (3, 4)]),
    ([True, False, None, None], [(True, False), (None, None)]),
]
MIXED: list[tuple[list[Any], list[tuple[Any, Any]]]] = [
    ([1, "1", 2, "b"], [(1, "1"), (2, "b")]),
    ([1, "a", -1, 2**64 - 1], [(1, "a"), (-1, 2**64 - 1)]),
    (["a\ud800", "b", 3, "3"], [("a\ud800", "b"), (3, "3")]),
    (["a\ud800", "b", "c", "d"], [("a\ud800", "b"), ("c", "d")]),
    ([2**64, 1, 2, 3], [(2**64, 1), (2, 3)]),
    ([True, 1, "x", None], [(True, 1), ("x", None)]),
]


def same(found: list[tuple[Any, Any]], expected: list[tuple[Any, Any]]) -> bool:
    return [[(type(value), value) for value in row] for row in found] == [[(type(value), value) for value in row] for row in expected]


@pytest.mark.parametrize("form", TYPED)
@pytest.mark.parametrize(("ids", "expected"), IDS)
def test_ids_keep_their_type(form: str, ids: list[Any], expected: list[tuple[Any, Any]]) -> None:
    found = lw.pairs(FORMS[form]({"id": ids, "text": TEXTS}), by="words:2", threshold=0.9)
    assert same([(row["id_a"], row["id_b"]) for row in found.to_arrow().to_pylist()], expected)
    assert same([(row["id_a"], row["id_b"]) for row in found.to_dicts()], expected)


@pytest.mark.parametrize("form", ["jsonl", "json", "rows", "columns"])  # no column of Arrow holds values of several types
@pytest.mark.parametrize(("ids", "expected"), MIXED)
def test_ids_of_several_types_keep_theirs_in_json(form: str, ids: list[Any], expected: list[tuple[Any, Any]]) -> None:
    given = FORMS[form]({"id": ids, "text": TEXTS})
    assert same([(row["id_a"], row["id_b"]) for row in lw.pairs(given, by="words:2", threshold=0.9).to_dicts()], expected)
    if isinstance(given, Path):
        printed = [json.loads(line) for line in run("pairs", given, "--by", "words:2", "--threshold", "0.9").stdout.splitlines()]
        assert same([(row["id_a"], row["id_b"]) for row in printed], expected)
        assert run("dedup", given, "--by", "words:2", "--threshold", "0.9", "--output", "annotate", "-o", "out").exit_code == 0
        text = (Path("out/annotated") / given.name).read_text()
        records = json.loads(text) if form == "json" else [json.loads(line) for line in text.splitlines()]
        representatives = [record["likewise_kept_id"] for record in records if record["likewise_kept_id"] is not None]
        assert same([(representative, None) for representative in representatives], [(first, None) for first, _ in expected])


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_ids_of_several_types_are_plain_text_in_cells_and_columns(form: str) -> None:
    given = FORMS[form]({"id": [1, "deb-92", 3, 4], "text": TEXTS})
    assert pairs(given, by="words:2", threshold=0.9)[0][:2] == ("1", "deb-92")


# --- groups of --per

PER: list[list[Any]] = [[1, 1, 2, 3], ["a", "a", "b", "c"], [1.0, 1.0, 2.0, None], [True, True, True, False]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("per", PER)
def test_groups_are_the_same_in_every_format(form: str, per: list[Any]) -> None:
    """The first two records have one text and one group, the last two one text and two groups."""
    assert pairs(FORMS[form]({"per": per, "text": TEXTS}), by="words:2", threshold=0.9, per="per") == [(0, 1, 1.0)]


@pytest.mark.parametrize("form", FORMS)
def test_a_group_is_one_whether_it_is_a_float_or_not(form: str) -> None:
    whole = FORMS[form]({"per": [1, 2, 3, 4], "text": TEXTS})
    floats = pa.table({"per": pa.array([1.0, None, 3.0, 5.0]), "text": TEXTS})
    found = lw.pairs(whole, against=floats, by="words:2", threshold=0.9, per="per")
    expected = [] if form == "csv" else [(0, 0), (2, 2)]  # the cells of CSV are text
    assert [(row["id_a"], row["id_b"]) for row in found.to_arrow().to_pylist()] == expected


def test_zero_is_one_group_whatever_its_sign() -> None:
    rows = pa.table({"per": pa.array([0.0, -0.0, 1.0, 2.0]), "text": TEXTS})
    assert pairs(rows, by="words:2", threshold=0.9, per="per") == [(0, 1, 1.0)]


# --- elements

SETS: list[tuple[list[Any], list[Any]]] = [
    ([1, 2, -3], [1.0, 2.0, -3.0]),
    ([2**64 - 1, 2**63, 5], [2**64 - 1, 2**63, 5, 5]),
    (["a", "1", ""], ["", None, "1", "a"]),
    ([2**62, 0, 7], [2.0**62, -0.0, 7.0]),
]


@pytest.mark.parametrize("form", TYPED)
@pytest.mark.parametrize(("one", "other"), SETS)
def test_elements_are_the_same_in_every_format(form: str, one: list[Any], other: list[Any]) -> None:
    given = FORMS[form]({"elements": [one, one[:1]]})
    expected = [(0, 0, 1.0)]
    for against in (FORMS[form]({"elements": [other]}), columns({"elements": [other]}), [other]):
        found = lw.pairs(given, against=against, by="elements", threshold=0.9)
        assert [tuple(row.values())[:3] for row in found.to_arrow().to_pylist()] == expected
    assert lw.similarity(one, other, by="elements") == 1


def test_codes_of_numpy_in_a_list_are_the_numbers_that_they_hold():
    codes = [np.uint64(2**64 - 1), np.int64(-1), np.uint64(2**63), -(2**63)]
    assert lw.similarity(codes, [0, 0, 0, 0], by="hamming").tolist() == [64, 64, 1, 1]
    with pytest.raises(lw.UsageError, match="row 1 is 18446744073709551616; a code given as a number is from -2\\^63 to 2\\^64 - 1"):
        lw.similarity([np.uint64(1), 2**64], [0, 0], by="hamming")
