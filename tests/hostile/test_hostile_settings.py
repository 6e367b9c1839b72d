"""Flags, settings and readers that could be made to work without end."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import likewise as lw
from command_line import refused, run
from likewise.errors import LikewiseError
from likewise.io.formats import jsonl
from likewise.io.formats import lines as byte_formats
from likewise.records import Want

LINE = '{"id": %d, "text": "one two three four five six %s"}\n'

pytestmark = pytest.mark.usefixtures("folder")


LONG = "9" * 5000


@pytest.mark.parametrize(
    "flags",
    [
        ("--memory", LONG),
        ("--memory", "1e9"),
        ("--max-record", LONG),
        ("--max-record", "0"),
        ("--by", f"words:{LONG}"),
        ("--by", f"l{LONG}"),
        ("--by", "words:" + "٣" * 3),
        ("--threshold", "1e999999999"),
        ("--threshold", f"1/{LONG}"),
        ("--within", "1e-999999999"),
        ("--seed", LONG),
        ("--bands", LONG),
        ("--bands", "1000000000000"),
        ("--threads", "1000000000"),
        ("--limit", LONG),
        ("--recall", "nan"),
        ("--by", "cosine", "--field", f"x0..x{LONG}"),
        ("--by", "cosine", "--field", "x0..x99999999999"),
        ("--normalize", "nfc," * 10_000 + "x"),
        ("--keep", "max:"),
    ],
)
def test_numbers_without_end_are_refused(flags):
    Path("a.csv").write_text("id,text,x0,x1\n1,a b c d e,1,2\n")
    refused("dedup", "a.csv", "-o", "out", *flags)


def test_numbered_columns_may_have_any_number_of_digits():
    names = [f"x{LONG}", "x10", "x9", "x" + "0" * 5000 + "1"]
    Path("a.csv").write_text(",".join(names) + "\n4,3,2,1\n4,3,2,1\n")
    assert len(lw.pairs(Path("a.csv"), by="cosine", field="x*", threshold=0.9)) == 1


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "x = " + "{a=" * 50_000, f"threshold = {LONG}", "\0", "x = '\\u" + "f" * 10_000])
def test_settings_files_that_are_none(text):
    Path("a.jsonl").write_text(LINE % (1, "x"))
    Path("bad.toml").write_text(text)
    assert "bad.toml: is not valid TOML" in refused("pairs", "a.jsonl", "--config", "bad.toml")
    Path("pyproject.toml").write_text(text)  # somebody else's trouble
    assert run("pairs", "a.jsonl").exit_code == 0


def test_json_columns_that_hold_no_json():
    Path("a.jsonl").write_text(LINE % (1, "x"))
    for text in ("[" * 100_000, "nonsense", LONG, '"one two three four five"', "-" * 10, '"\\ud800 b"'):
        column = pa.ExtensionArray.from_storage(pa.json_(), pa.array([text, None, '"one two three four five"']))
        table = pa.table({"doc": column, "id": column})
        assert lw.dedup(table, field="doc").report["counts"]["read"] == 3
        with suppress(LikewiseError):
            assert not len(lw.pairs(table, by="cosine", field="doc"))
    scores = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["9" * 4000, LONG, "[" * 100_000, "1"]))
    assert len(lw.dedup(pa.table({"text": list("abcd"), "s": scores}), keep="max:s").kept) == 4


def test_records_made_of_nothing_but_structure():
    """Empty lines, commas, brackets, keys and columns by the hundred thousand: each is read in one pass."""
    n = 200_000
    good = LINE % (1, "x")
    Path("lines.jsonl").write_text("\n" * n + good)
    Path("keys.jsonl").write_text("{" + ",".join(f'"k{i}":1' for i in range(n)) + ',"text":"a b c d e"}\n')
    Path("deep.jsonl").write_text('{"text":' + "[" * n + "\n" + good)
    Path("bad.jsonl").write_text("x\n" * 20_000 + good)
    Path("array.json").write_text("[" + "," * 20_000 + good + "]")
    Path("lines.csv").write_text("id,text\n" + "\n" * n + "1,a b c d e\n")
    Path("commas.csv").write_text("id,text\n" + "," * n + "\n1,a b c d e\n")
    Path("wide.csv").write_text("text," + ",".join(f"c{i}" for i in range(n // 10)) + "\na b c d e" + "," * (n // 10) + "\n")
    Path("digits.jsonl").write_text('{"id":' + "9" * n + ',"text":"a b c d e"}\n')
    for path in sorted(Path().glob("*.*")):
        found = lw.dedup(path, on_error="skip", out="out", overwrite=True)
        assert found.report["counts"]["kept"] == 1, path
    Path("open.csv").write_text('id,text\n"' + "a\n" * n)
    assert "open.csv, line 2, column 1" in refused("dedup", "open.csv", "-o", "o2")


def test_sources_that_cannot_be_read_are_named_a_few_times_and_empty_elements_are_rows():
    Path("a.json").write_text("[" + "," * 50 + '{"text": "a b"}]')
    found = lw.dedup(Path("a.json"), on_error="skip", out="out")
    assert found.report["counts"]["rejected"] == 50
    assert [json.loads(line)["position"] for line in Path("out/rejected.jsonl").read_text().splitlines()] == list(range(50))
    assert len(found.report["warnings"]) < 5
    Path("many").mkdir()
    for number in range(30):
        Path(f"many/{number:02}.json").write_text("[1")
    warnings = lw.dedup(Path("many"), on_error="skip").report["warnings"]
    assert len(warnings) < 10 and any("25 more sources" in said for said in warnings)


def test_lines_are_counted_once_however_many_chunks_have_something_to_tell(monkeypatch):
    """A resumed run does not know the number of its first line; each chunk with a bad record counted from the beginning of the file again."""
    monkeypatch.setattr(byte_formats, "CHUNK_BYTES", 1 << 12)
    lines = [b"oops\n" if i % 50 == 0 else b'{"text": "a %d"}\n' % i for i in range(5000)]
    Path("a.jsonl").write_bytes(b"".join(lines))
    start = len(b"".join(lines[:2000]))
    read = []
    count = byte_formats.count_lines
    monkeypatch.setattr(byte_formats, "count_lines", lambda stream, size, cr: read.append(size) or count(stream, size, cr))
    reasons = [r.reason for chunk in jsonl.chunks(Path("a.jsonl"), Want(), start) for r in jsonl.parse(chunk, Want(), "a").rejected]
    assert [reason.split(",")[0] for reason in reasons] == [f"line {i + 1}" for i in range(2000, 5000, 50)]
    assert sum(read) <= len(b"".join(lines))
