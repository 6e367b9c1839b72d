"""Lines of JSON: what is accepted and what is read, against Python's json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import UsageError
from likewise.io.formats import jsonl
from likewise.io.formats import lines as shared
from likewise.records import NO_TEXT, REJECTED, TEXT, Chunk, Records, Want
from loose_json import accepted, is_json, texts_at


def records(raw: bytes, want: Want | None = None) -> Records:
    """Lines of JSON, without a file."""
    chunk = Chunk(np.frombuffer(bytearray(raw), np.uint8), 0, 1, shared.State(Path("x"), 0, ()))
    return jsonl.parse(chunk, want or Want(), "x")


def text(raw: bytes, want: Want | None = None) -> bytes | None:
    """The text of the one record of ``raw``."""
    found = records(raw, want)
    assert found.kind.tolist() in ([TEXT], [NO_TEXT])
    return found.text[0].as_py() if found.kind[0] == TEXT else None


# --- what is JSON


def strict(line: bytes) -> bool:
    return is_json(line.decode("latin-1"))


VALID = r"""
    0 -0 10 1.5 -1.25e+10 1E5 0e0 0.0 "" "a" "\u0041\n\/\"\\" "\ud800" "\uDFFF\ud800"
    null true false [] {} [[]] [1,2] {"":1} {"a":[{"b":{}}]}
""".split()  # noqa: SIM905
INVALID = r"""
    01 - +1 .5 1. 1.e5 1e 1e+ 0x1 --1 NaN Infinity -Infinity nul tru falsee True None '' " "\x" "\u12g4" "\u123" "\
    [ ] { } [1 [1, [1,] [,1] [1,,2] [1} {"a":1] {"a"} {"a":} {"a":1,} {,} {a:1} {'a':1} {"a":1}} {"a":1}{} 1,2
    {"a"1} {1:2} [1:2] ["a":1] {"a",1} {"a":1"b":2} "a"b" // /**/ [1]]
""".split()  # noqa: SIM905


@pytest.mark.parametrize("line", [*VALID, *(f" {v}\t\r" for v in VALID), *(f'[{v} , {{"k" : {v} }} ]' for v in VALID)])
def test_valid_json_is_a_record(line: str) -> None:
    assert strict(line.encode())
    assert records(line.encode()).kind.tolist() == [NO_TEXT]


@pytest.mark.parametrize(
    "line", [*INVALID, *(f'{{"text": {v}}}' for v in INVALID if v not in ("1,2", "}")), *(f"[{v}]" for v in INVALID if v != "1,2")]
)
def test_invalid_json_is_rejected(line: str) -> None:
    assert not strict(line.encode())
    assert records(line.encode()).kind.tolist() == [REJECTED]


PASSED = [
    "01",
    "+1",
    ".5",
    "1.",
    "0x1",
    "NaN",
    "Infinity",
    "-Infinity",
    "nan",
    "-inf",
    "1.#QNAN",
    "1E400",
    "True",
    "None",
    r'"\x"',
    r'"\u12g4"',
    '"\x01"',
]


@pytest.mark.parametrize("value", PASSED)
@pytest.mark.parametrize("around", ["%s", "[1, %s, 2]", '{"text": %s}', '[{"b": [%s]}]'])
def test_what_nobody_reads_only_needs_to_be_delimited(value: str, around: str) -> None:
    """And is refused where it is read: as the text, the id, the group, the score, or inside of one of them."""
    line = f'{{"a": {around % value}, "text": "read", "id": 5}}'.encode()
    assert accepted(line, ("text", "id"))
    found = records(line)
    assert (found.kind.tolist(), found.text[0].as_py(), found.id.to_pylist()) == ([TEXT], b"read", [b"5"])  # type: ignore[union-attr]
    for want in (Want("a"), Want(id="a"), Want(per="a"), Want(score="a")):
        assert (records(line, want).kind[0] != REJECTED) == strict(line) == (value == "1E400")


def test_what_is_not_delimited_is_refused_wherever_it_is() -> None:
    for value in ("'a'", "a b", "a:b", "[a", "a]", '"a', '"a" "b"', "{a: 1}", '{"a" 1}', "[1,]", "[,1]", "", "$a", "1{", "/**/"):
        assert records(f'{{"a": {value}, "text": "read"}}'.encode()).kind.tolist() == [REJECTED], value


def test_bytes_that_are_not_utf8_pass_where_nobody_reads_them() -> None:
    raw = b'{"\xe9": "caf\xe9", "b": ["\xff"], "text": "read", "id": "\xc3\xa9"}'
    assert records(raw).text.to_pylist() == [b"read"]
    for want, column in ((Want("b"), 22), (Want(id="b"), 22), (Want("b+text"), 22)):
        assert records(raw, want).rejected[0].reason == f"line 1, column {column} (0xff): this byte is not UTF-8"
    assert records(b'{"a": "\xff", "text": 01}').rejected[0].reason == "line 1, column 8 (0xff): this byte is not UTF-8"


@pytest.mark.parametrize(
    "bad",
    [
        *(b"\x80", b"\xc0\x80", b"\xc1\xbf", b"\xc3", b"\xc3(", b"\xe0\x9f\xbf", b"\xed\xa0", b"\xe2\x82"),
        *(b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff"),
    ],
)
def test_utf8_is_strict(bad: bytes) -> None:
    """Too long, above U+10FFFF, cut, or no UTF-8 at all; at all distances from the 32 bytes that are looked at together."""
    for before in range(40):
        found = records(b'{"text":"' + b"x" * before + bad + b'"}')
        assert found.kind.tolist() == [REJECTED]
        assert found.rejected[0].reason == f"line 1, column {10 + before} (0x{bad[0]:02x}): this byte is not UTF-8"
    for good in ("\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"):
        assert text(b'{"text":"' + good.encode() + b'"}') == good.encode()


def test_a_raw_surrogate_is_the_same_as_an_escaped_one() -> None:
    for before in range(40):
        for escape, raw in ((b"\\ud800", b"\xed\xa0\x80"), (b"\\udfff", b"\xed\xbf\xbf")):
            assert text(b'{"text":"' + b"x" * before + raw + b'"}') == text(b'{"text":"' + b"x" * before + escape + b'"}') == b"x" * before + raw
    for value, name in ((b'"a%sb"', b'"a\\ud800b"'), (b'["%s",1,"\xed\x9f\xbf"]', b'["\\ud800",1,"\xed\x9f\xbf"]'), (b'"\\n%s"', b'"\\n\\ud800"')):
        both = [b'{"id":' + value % each + b"}" for each in (b"\xed\xa0\x80", b"\\ud800", b"\\uD800")[: 2 if name[:1] == b"[" else 3]]
        assert records(b"\n".join(both)).id.to_pylist() == [name] * len(both)


def test_brackets_nest_512_deep_at_most() -> None:
    assert records(b"[" * 512 + b"]" * 512).kind.tolist() == [NO_TEXT]
    found = records(b"[" * 513 + b"]" * 513)
    assert found.rejected[0].reason == "line 1, column 513 (0x5b): brackets nest deeper than 512"


def test_control_characters() -> None:
    for code in range(0x20):
        line = b'{"text":"a' + bytes([code]) + b'b"}'
        kinds = [REJECTED, REJECTED] if code == 10 else [REJECTED]
        assert records(line).kind.tolist() == kinds


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
scalars |= st.text(st.characters(codec=None), max_size=60)
names = st.text(max_size=5)
trees = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4), max_leaves=12)
objects = st.dictionaries(st.sampled_from(["text", "id", "doc", "doc.body", "body", "x", "é"]), trees, max_size=6)


def dumped(value: Any, ascii_: bool, spaced: bool) -> bytes:
    return json.dumps(value, ensure_ascii=ascii_, indent=None, separators=(" , ", "\t:  ") if spaced else None).encode("utf-8", "backslashreplace")


def wtf8(value: str) -> bytes:
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass")


def lookup(value: Any, name: str) -> Any:
    """The reference implementation of paths: the key itself, else the way by its parts."""
    for path in ([name], name.split(".")):
        at = value
        for key in path:
            at = at[key] if isinstance(at, dict) and key in at else ...
        if at is not ...:
            return at
    return ...


def texts_of(value: Any, name: str) -> list[str]:
    """The texts of a field: of the key itself, or at the end of a path, which goes through lists."""
    if isinstance(value, dict) and name in value:
        return [value[name]] if isinstance(value[name], str) else []
    return texts_at(value, name.split("."), False) if isinstance(value, dict) else []


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(objects | trees, st.booleans(), st.booleans()), max_size=5),
    st.sampled_from(["text", "doc.body", "text+body", "x+é+doc.body"]),
)
def test_reads_what_json_reads(values: list[tuple[Any, bool, bool]], name: str) -> None:
    lines = [dumped(*each) for each in values]
    found = records(b"\n".join(lines), Want(text=name, id="id", per="x", score="x"))
    assert len(found) == len(lines)
    for row, line in enumerate(lines):
        value = json.loads(line)
        parts = ["\n".join(part) for part in (texts_of(value, field) for field in name.split("+")) if part]
        assert found.kind[row] == (TEXT if parts else NO_TEXT)
        assert found.text[row].as_py() == b"\n\n".join(map(wtf8, parts))
        for column, wanted in ((found.id, lookup(value, "id")), (found.per, lookup(value, "x"))):
            assert column[row].is_valid == (wanted is not ... and wanted is not None)
            if column[row].is_valid:
                assert json.loads(column[row].as_py()) == wanted
        number = lookup(value, "x")
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        assert found.score[row] == float(number) if is_number else np.isnan(found.score[row])


PIECES = [piece.encode() for piece in (*',:"\\{}[]e.-+0é', "\\u", "\\ud83", "00", "1.5e-3", "null", "true", "NaN", '""', '"x":', ",,", "]]")]


@settings(max_examples=400, deadline=None)
@given(objects, st.booleans(), st.integers(0, 10**6), st.binary(max_size=3) | st.sampled_from(PIECES), st.integers(0, 4))
def test_accepts_what_json_accepts(value: Any, ascii_: bool, at: int, insert: bytes, cut: int) -> None:
    line = dumped(value, ascii_, False)
    at %= len(line) + 1
    line = (line[:at] + insert + line[at + cut :]).replace(b"\n", b" ")
    if line.strip(b" \t\r"):
        assert (records(line).kind[0] != REJECTED) == accepted(line, ("text", "id"))
        assert (records(line, Want("doc.body", per="x")).kind[0] != REJECTED) == accepted(line, ("doc.body", "id", "x"))


# --- what is read


def test_field_names_with_dots_and_escapes() -> None:
    assert text(b'{"doc.body":"literal","doc":{"body":"nested"}}', Want("doc.body")) == b"literal"
    assert text(b'{"doc":{"body":"nested"},"doc.body":null}', Want("doc.body")) is None  # the key itself is there
    assert text(b'{"doc":[{"body":"x"}]}', Want("doc.body")) == b"x"
    assert text(b'{"a":{"b":{"c":"deep","b":"x"},"c":"y"},"c":"z"}', Want("a.b.c")) == b"deep"
    assert text(b'{"x":{"text":"inner"},"y":[{"text":"inner"}]}') is None
    assert text(b'{"t\\u0065xt":"a","\\u00e9":"b"}', Want("text+é")) == b"a\n\nb"
    assert text(b'{"":"empty"}', Want("")) == b"empty"


@pytest.mark.parametrize(
    "escape", ["\\n", '\\"', "\\\\", "\\u00e9", "\\ud83d\\ude00", "\\ud800", "\\n\\n\\u0041\\t", "é", "\\x", "\\u12", "\t", "\\"]
)
def test_an_escape_at_any_place_of_a_block(escape: str) -> None:
    """Strings are read 32 bytes at a time: with much behind them, and with nothing."""
    for before in range(70):
        for after in (0, 1, 40):
            line = f'{{"text":"{"a" * before}{escape}{"b" * after}"}}'.encode()
            for raw in (line, line + b"\n" + b'{"text":"next"}' * 5):
                found = records(raw)
                if not strict(line):
                    assert found.kind[0] == REJECTED
                    assert records(line + b"\n" + b"[0]" * 20).rejected[0].reason == found.rejected[0].reason
                else:
                    assert found.text[0].as_py() == wtf8(json.loads(line)["text"])


def test_a_key_with_escapes_leaves_the_text_before_it() -> None:
    assert text(b'{"text":"first","\\u0078\\u0078\\u0078\\u0078\\u0078\\u0078":1}') == b"first"
    assert text(b'{"doc.body":"literal","doc":{"body":"nested"},"\\u0078":{"text":0}}', Want("doc.body")) == b"literal"


def test_last_of_equal_keys_wins() -> None:
    assert text(b'{"text":"first","text":"last"}') == b"last"
    assert text(b'{"text":"first","t\\u0065xt":null}') is None
    assert text(b'{"a":{"b":"first"},"a":{"c":1}}', Want("a.b")) is None
    assert text(b'{"a":{"b":"first","b":{}},"a":{"b":"last"}}', Want("a.b")) == b"last"


def test_join_and_found() -> None:
    found = records(b'{"t":"a","b":"c"}\n{"t":"a"}\n{"t":null,"b":""}\n{"t":1}\n{}\n', Want("t+b"))
    assert found.kind.tolist() == [TEXT, TEXT, TEXT, NO_TEXT, NO_TEXT]
    assert found.text.to_pylist() == [b"a\n\nc", b"a", b"", b"", b""]
    assert found.found
    missing = records(b'{"id":1,"x":2}\n5\nnope\n{"y":3,"id":4}\n', Want("t+id"))
    assert not missing.found
    assert missing.fields == ("id", "x", "y")
    assert records(b'{"text":null}').found


def test_fields_are_few() -> None:
    line = "{" + ",".join(f'"f{i}":{"9" * 5000}' for i in range(80)) + "}"
    assert records(line.encode()).fields == tuple(f"f{i}" for i in range(50))


def test_token_ids_are_whole_numbers_of_64_bits() -> None:
    lists = [[1, -2, 0], [], [2**63 - 1, -(2**63)], [2**64 - 1]]
    bad = ["[1.0]", "[1e2]", "[18446744073709551616]", "[-9223372036854775809]", '["1"]', "[[1]]", "[null]", '"1"', "5", "[1,2,true]"]
    raw = "".join(f'{{"text": {value} }}\n' for value in [*map(json.dumps, lists), "[ 7 ,\t8 ]", *bad])
    found = records(raw.encode(), Want(kind="tokens"))
    assert found.kind.tolist() == [TEXT] * 5 + [NO_TEXT] * len(bad)
    values = [np.frombuffer(part, "<i8").tolist() for part in found.text.to_pylist()]
    assert values[:5] == [[1, -2, 0], [], [2**63 - 1, -(2**63)], [-1], [7, 8]]
    assert not any(values[5:])


def test_ids_and_scores() -> None:
    """Ids keep their type; a string has one spelling, whatever the escapes in the file, and so has a list, whatever the white space."""
    other = [b"true", b"[1, 2]", b'{"a":1}', b"1e400", b"12345678901234567890123"]
    ids = [b"1", b'"1"', b"1.0", b'"\\u0061\\/b"', b'"a/b"', b'"\\ud83d\\ude00"', b'"\\ud800\\u0000\\u000a"', b"null", *other]
    found = records(b"".join(b'{"id":' + value + b"}\n" for value in ids) + b"{}\n[]\n", Want(score="id"))
    same = [b"1", b'"1"', b"1.0", b'"a/b"', b'"a/b"', '"😀"'.encode(), b'"\\ud800\\u0000\\n"', None, b"true", b"[1,2]", *other[2:]]
    assert found.id.to_pylist() == [*same, None, None]
    expected = [1, np.nan, 1, *[np.nan] * 8, np.inf, 12345678901234567890123, np.nan, np.nan]
    np.testing.assert_array_equal(found.score, np.array(expected, np.float64))
    assert records(b"{}").per is None


def test_nul_and_separators_survive() -> None:
    """NUL is text, and U+2028 ends no line."""
    found = records('{"id":"k\\u0000a","text":"x\\u0000y\u2028z"}\n{"id":"k\\u0000b","text":"\\u0000"}\n'.encode())
    assert found.text.to_pylist() == ["x\0y\u2028z".encode(), b"\0"]
    assert found.id.to_pylist() == [b'"k\\u0000a"', b'"k\\u0000b"']


def test_many_names_are_refused() -> None:
    with pytest.raises(UsageError, match="70 names"):
        records(b"{}", Want("+".join(f"f{i}" for i in range(70)), id=None))
