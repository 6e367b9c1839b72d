"""Ids come out as they went in, with their type."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.io.idcolumn import PLAIN, QUOTED, IdFacts, ambiguous, block_of, id_column, id_facts
from likewise.io.ids import as_json, compact, from_json, repeated, to_json
from likewise.items import binary


def column(*texts: str | bytes | None):
    """(type, values, note) of these ids, given as JSON text."""
    ids = pa.array([text.encode() if isinstance(text, str) else text for text in texts], pa.large_binary())
    got = id_column(ids)
    assert got is not None
    assert (got.json is None) == (got.note is None)
    return got.values.type, got.values.to_pylist(), got.note


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["7", "-1", "9007199254740993", "0"], pa.int64(), [7, -1, 9007199254740993, 0]),
        (["18446744073709551615", "9007199254740993", "4294967295"], pa.uint64(), [2**64 - 1, 2**53 + 1, 2**32 - 1]),
        (["-9223372036854775808", "9223372036854775807"], pa.int64(), [-(2**63), 2**63 - 1]),
        (['"a"', '""', '"é 日本"', '"7"'], pa.string(), ["a", "", "é 日本", "7"]),
        ([r'"say \"hi\""', r'"\u00e9\n"', r'"\\"', '"plain"', r'"\ud83d\ude00"'], pa.string(), ['say "hi"', "é\n", "\\", "plain", "😀"]),
        (["true", "false"], pa.bool_(), [True, False]),
        (["1.5", "-2e3", "1.0"], pa.float64(), [1.5, -2000.0, 1.0]),
        (["1.0", "-2.0", "123456789012345.0"], pa.int64(), [1, -2, 123456789012345]),  # whole, as pandas has them beside a missing one
        (["1.0", "2", "0.0"], pa.int64(), [1, 2, 0]),
        (["18446744073709551615", "7.0"], pa.uint64(), [2**64 - 1, 7]),
        (["1234567890123456.0", "1.0"], pa.float64(), [1234567890123456.0, 1.0]),  # beyond 15 digits it may have been another number
    ],
)
def test_ids_of_one_type_give_a_column_of_it(texts, kind, values) -> None:
    assert column(*texts) == (kind, values, None)


@pytest.mark.parametrize(
    ("texts", "plain"),
    [
        (["1", '"a"'], ["1", "a"]),
        (['"deb-92"', "7", '"say \\"hi\\""'], ["deb-92", "7", 'say "hi"']),
        (["1.0", '"a"'], ["1", "a"]),
        (["1.0", "0.5", '"a"'], ["1.0", "0.5", "a"]),  # a column of floats
        (["18446744073709551615", "-1"], ["18446744073709551615", "-1"]),  # no one integer type
        (["18446744073709551616"], ["18446744073709551616"]),
        (["9007199254740993", "0.5"], ["9007199254740993", "0.5"]),  # as doubles the first would be another
        (["1e999"], ["1e999"]),
        (["[1,2]", "[1]"], ["[1,2]", "[1]"]),
        (["true", "0"], ["true", "0"]),
        ([r'"a\ud800"', '"b"'], [r"a\ud800", "b"]),  # a lone surrogate, which no Arrow string can hold
    ],
)
def test_ids_of_several_types_are_their_plain_text(texts, plain) -> None:
    assert column(*texts) == (pa.string(), plain, PLAIN)


@pytest.mark.parametrize(
    "texts",
    [
        ["1", '"1"'],  # a number and a string that looks like it
        ["true", '"true"', '"a"'],
        ["1.5", '"1.5"'],
        ["[1]", '"[1]"'],
        [r'"a\ud800"', r'"a\\ud800"'],  # a lone surrogate, and the characters of its escape
    ],
)
def test_ids_that_would_be_one_text_stay_json_text(texts) -> None:
    assert column(*texts) == (pa.string(), texts, QUOTED)
    assert column(*texts, texts[0], None, '"b"') == (pa.string(), [*texts, texts[0], None, '"b"'], QUOTED)


def test_a_missing_id_is_null_and_leaves_the_type_of_the_others() -> None:
    assert column("7", None, "9") == (pa.int64(), [7, None, 9], None)
    assert column(None, '"a"', None) == (pa.string(), [None, "a", None], None)
    assert column("1.0", None, "3.0") == (pa.int64(), [1, None, 3], None)
    assert column("7", None, '"a"') == (pa.string(), ["7", None, "a"], PLAIN)
    assert id_column(pa.nulls(2, pa.large_binary())) is None
    assert id_column(pa.array([], pa.large_binary())) is None


def values_of(ids) -> list:
    found = id_column(ids)
    assert found is not None
    return found.values.to_pylist()


def test_slices_and_chunks_are_read_where_they_are() -> None:
    ids = pa.array([b'"never"', b"1", b"2", b"null"], pa.large_binary()).slice(1, 2)
    assert values_of(ids) == [1, 2]
    assert values_of(pa.chunked_array([ids, ids])) == [1, 2, 1, 2]
    quoted = pa.array([b"0", b'"a"', b'"bc"', b'"\\n"'], pa.large_binary()).slice(1, 2)
    assert values_of(quoted) == ["a", "bc"]


def test_repeated_ids_are_found() -> None:
    """How many ids several rows have, and up to three of them."""
    assert repeated(pa.array([1, 5, 1, 7, 5, 1, 9, 9, 8, 8])) == (4, ["1", "5", "8"])
    assert repeated(pa.array([1, None, None, 2])) == (0, [])
    assert repeated(pa.array(["b", "1", "b", None, "b", "a", "a"])) == (2, ["b", "a"])
    assert repeated(pa.array([], pa.string())) == (0, [])


def test_json_text_is_compact_and_one_for_equal_values() -> None:
    assert as_json({"a": [1, "é"]}) == '{"a":[1,"é"]}'.encode()
    assert as_json("\ud800\n") == rb'"\ud800\n"'


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None), max_size=5)
)


@settings(max_examples=200, deadline=None)
@given(
    values=st.one_of(
        st.lists(scalars.filter(lambda value: value is not None), min_size=1, max_size=6),
        st.lists(st.integers(-(2**63), 2**64 - 1), min_size=1, max_size=6),
        st.lists(st.text(st.characters(codec=None), max_size=5), min_size=1, max_size=6),
    )
)
def test_every_id_can_be_had_back_exactly(values) -> None:
    ids = pa.array([as_json(value) for value in values], pa.large_binary())
    got = id_column(ids)
    assert got is not None
    back = got.values.to_pylist() if got.json is None else [from_json(text) for text in got.json.to_pylist()]
    assert [(type(value), value) for value in back] == [(type(expected), expected) for expected in (whole(value, values) for value in values)]
    assert len({str(text) for text in got.values.to_pylist()}) == len({as_json(whole(value, values)) for value in values})


def whole(value, among: list):
    """1 for 1.0 where no number among the ids has a fraction."""
    numbers = [other for other in among if isinstance(other, int | float) and not isinstance(other, bool)]
    fits = all(float(other).is_integer() and abs(other) < 1e15 if isinstance(other, float) else True for other in numbers)
    return int(value) if isinstance(value, float) and fits else value


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.text(max_size=8) | st.none(), max_size=8))
def test_the_fast_way_to_json_equals_the_slow_one(values) -> None:
    raw = pa.array([None if value is None else value.encode() for value in values], pa.large_binary())
    assert to_json(raw).to_pylist() == [None if value is None else as_json(value) for value in values]


def test_an_object_or_list_as_id_is_one_however_it_is_written(tmp_path) -> None:
    values = ['{"a": [1, "é"]}', r'{ "a":[1,"\u00e9"] }', "[ ]", "[]", '"[ ]"', '"x\\u0079"', "null", "7"]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(f'{{"id": {value}, "lang": {value}, "text": "a b"}}\n' for value in values))
    found = lw.pairs(path, by="words:1", per="lang").to_arrow().to_pylist()
    assert [(row["id_a"], row["id_b"], row["position_a"], row["position_b"]) for row in found] == [
        ('{"a":[1,"é"]}', '{"a":[1,"é"]}', 0, 1),
        ("[]", "[]", 2, 3),
    ]


def test_what_python_makes_no_value_of_stays_as_it_is_written() -> None:
    for text in (b"[" * 100_000 + b"]" * 100_000, b'{"a": ' + b"7" * 5_000 + b"}"):
        assert compact(text) == text


@pytest.mark.parametrize(
    ("left", "right", "kinds"),
    [
        ([7, 8], ["x", "y"], (pa.int64(), pa.string())),
        ([7, 8], None, (pa.int64(), pa.int64())),
        (None, ["x", "y"], (pa.int64(), pa.string())),
        ([1.5, 2.5], [True, False], (pa.float64(), pa.bool_())),
        (None, None, (pa.int64(), pa.int64())),
    ],
)
def test_each_of_two_collections_has_ids_of_its_own_type(left, right, kinds) -> None:
    """They are joined with their own tables: numbers must not become text because the other side has text, or none."""

    def side(ids):
        return pa.table({"text": ["a b c d e f", "p q r s t u"], **({} if ids is None else {"id": ids})})

    first, second = left or [0, 1], right or [0, 1]
    pairs = lw.pairs(side(left), against=side(right), by="words:2").to_arrow()
    assert [pairs.schema.field(name).type for name in ("id_a", "id_b")] == list(kinds)
    assert [pairs["id_a"].to_pylist(), pairs["id_b"].to_pylist()] == [first, second]
    nearest = lw.neighbors(side(left), query=side(right), by="words:2", k=1).to_arrow()
    assert [nearest.schema.field(name).type for name in ("id_b", "id_a")] == list(kinds)
    assert [nearest["id_b"].to_pylist(), nearest["id_a"].to_pylist()] == [first, second]
    none = lw.pairs(side(left), against=side(right).slice(0, 0), by="words:2").to_arrow()
    assert len(none) == 0


#: Ids of one type, and of any: whole numbers, also with fractions of 0 and beyond 64 bits, others, texts with and without escapes, and others.
ONE_TYPE = [
    *(st.integers(-3, 3), st.integers(2**63 - 2, 2**64 + 1), st.sampled_from([1.0, 2.0, 3, -0.0]), st.sampled_from([1.5, 2.0, 1e300])),
    *(st.sampled_from(["7", "1", "a", "", "\u00e9"]), st.sampled_from(["a", "line\nend", "\ud800"]), st.booleans(), st.sampled_from([[1], {"a": 1}])),
]
IDS = st.one_of(*(st.lists(st.one_of(st.none(), one), max_size=12) for one in ONE_TYPE), st.lists(st.one_of(st.none(), *ONE_TYPE), max_size=12))


@given(IDS, st.lists(st.integers(0, 12), max_size=3))
def test_a_column_of_ids_is_made_of_blocks(values: list[Any], cuts: list[int]) -> None:
    ids = binary.from_list([None if value is None else as_json(value) for value in values])
    borders = sorted({0, len(ids), *(min(cut, len(ids)) for cut in cuts)})
    blocks = [ids[begin:end] for begin, end in pairwise(borders)]
    facts = reduce(IdFacts.merged, (id_facts(block.drop_null()) for block in blocks), IdFacts())
    assert facts == id_facts(ids.drop_null())
    whole = id_column(ids)
    assert (whole is None) == (facts.number == 0)
    if whole is None:
        return
    quoted = not facts.ways and ambiguous(ids.drop_null(), whole=facts.whole)
    made = [block_of(block, facts, quoted=quoted) for block in blocks]
    assert pa.concat_arrays([block.values for block in made]).equals(whole.values)
    assert {block.note for block in made} == {whole.note}
    assert whole.json is None or pa.concat_arrays([block.json for block in made]).equals(whole.json)
