"""Markup and formulas in data: no element of a report, and no cell, arises from them."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import run
from likewise.drawing.page import policy, script

pytestmark = pytest.mark.usefixtures("folder")


EVIL = [
    '"><script>evil()</script>',
    "<img src=x onerror=evil()>",
    "</style><svg onload=evil()>",
    "javascript:evil()",
    "]]>&#x3c;evil&gt;",
    "{{evil}}${evil}",
    "\u2028evil\x00\ud800",
]


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}


def test_no_element_or_attribute_of_the_report_arises_from_data():
    """Texts, ids, names of fields, files and groups."""
    Path("in").mkdir()
    rows = [{"id": f"{bad} {i}", "text": f"{bad} one two three four five six {'x' * i}", bad: bad} for bad in EVIL for i in range(3)]
    for number, bad in enumerate(EVIL[:6]):
        name = bad.replace("/", "_").replace("\0", "")
        Path("in", f"{number}{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "in", "-o", "grouped", "--per", EVIL[0], "--threshold", "0.3").exit_code == 0
    result = run("dedup", "in", "-o", "out", "--prefer", "*<img*", "--threshold", "0.3", "--by", "words:2")
    assert result.exit_code == 0, result.output
    assert run("report", "out").exit_code == 0
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "evil" in page and "\0" not in page
    found = Elements()
    found.feed(page)
    assert not found.tags & {"img", "iframe", "object", "embed", "link", "form", "base"} and page.count("<script") == 1
    assert not any("evil" in name + value or name.startswith("on") or "javascript:" in value for name, value in found.attributes)
    assert ("content", policy(script())) in found.attributes
    plain = Elements()
    Path("plain.jsonl").write_text("".join(json.dumps({"id": i, "text": f"a b c d e f {'x' * i}"}) + "\n" for i in range(3)))
    lw.dedup(Path("plain.jsonl"), out="plain", threshold=0.3, by="words:2")
    plain.feed(Path("plain/report.html").read_text())
    assert found.tags - plain.tags <= {"li", "ul", "strong", "details", "summary", "bdi", "br", "label", "input", "blockquote", "button"}


def test_charts_escape_their_labels():
    chart = lw.plan(threshold=0.8, by="words:5").svg(lw.plan(threshold=0.7, by="chars:5"))
    tree = ET.fromstring(chart)
    assert {element.tag.rpartition("}")[2] for element in tree.iter()}.isdisjoint({"script", "image", "foreignObject", "a", "use"})
    from likewise.drawing.markup import tag

    assert tag("text", EVIL[0], title=EVIL[0]) == (
        '<text title="&quot;&gt;&lt;script&gt;evil()&lt;/script&gt;">&quot;&gt;&lt;script&gt;evil()&lt;/script&gt;</text>'
    )


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x","y")', 'a,"b"', "a\nb", "\u2028", "</script>", "＝1", "1-1", "a=1"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("formulas", ["escape", "raw"])
def test_ids_come_out_as_they_went_in_and_in_csv_as_texts(suffix, formulas):
    """In CSV a text that a spreadsheet would take for a formula begins with ', unless it is wanted raw."""
    rows = [{"id": name, "text": "one two three four five six"} for name in FORMULAS]
    lw.pairs(rows).write(f"pairs{suffix}", csv_formulas=formulas)
    escaped = suffix in (".csv", ".tsv") and formulas == "escape"
    expected = {f"'{name}" if escaped and name[0] in "=+-@\t\r＝" and name not in ("+1", "-1") else name for name in FORMULAS}
    if suffix == ".jsonl":
        listed = [json.loads(line) for line in Path("pairs.jsonl").read_text(encoding="utf-8").split("\n") if line]
        found = {row["id_a"] for row in listed} | {row["id_b"] for row in listed}
    elif suffix == ".parquet":
        table = pq.read_table("pairs.parquet")
        found = set(table["id_a"].to_pylist()) | set(table["id_b"].to_pylist())
    else:
        parse = pyarrow.csv.ParseOptions(delimiter="\t" if suffix == ".tsv" else ",", newlines_in_values=True)
        table = pyarrow.csv.read_csv(f"pairs{suffix}", parse_options=parse)
        found = set(table["id_a"].to_pylist()) | set(table["id_b"].to_pylist())
        first = Path(f"pairs{suffix}").read_text(encoding="utf-8").splitlines()[1]
        assert first.startswith('"')  # a cell that holds a text is quoted
    assert found == expected


def test_numbers_of_csv_stay_numbers():
    """A text of a number computes nothing in a spreadsheet; with more behind it, it may."""
    table = lw.Table(pa.table({"id": [-1, None], "x": [-0.5, 2.0], "text": ["-1", None]}))
    table.write("a.csv")
    assert Path("a.csv").read_text() == '"id","x","text"\n-1,-0.5,"-1"\n,2,\n'
    texts = ["-5", "+.5", "-1.5e-3", "-1+1", "-1\n", "+", "-A1", "+1e", "--1"]
    lw.Table(pa.table({"text": texts})).write("b.csv")
    with open("b.csv", newline="") as file:
        found = [row[0] for row in list(csv.reader(file))[1:]]
    assert found == ["-5", "+.5", "-1.5e-3", "'-1+1", "'-1\n", "'+", "'-A1", "'+1e", "'--1"]
    with pytest.raises(lw.UsageError, match="csv_formulas='no': choose one of escape, raw"):
        table.write("a.csv", csv_formulas="no")


def test_the_command_line_writes_csv_in_both_ways():
    Path("in.jsonl").write_text("".join(json.dumps({"id": name, "text": "one two three four"}) + "\n" for name in ("=1+1", "b")))
    for verb in ("pairs", "neighbors"):
        assert run(verb, "in.jsonl", "-o", f"{verb}.csv").exit_code == 0
        assert '"\'=1+1"' in Path(f"{verb}.csv").read_text()
        assert run(verb, "in.jsonl", "-o", f"{verb}.tsv", "--csv-formulas", "raw").exit_code == 0
        assert '"=1+1"' in Path(f"{verb}.tsv").read_text()
        assert run(verb, "in.jsonl", "-o", f"{verb}2.csv", "--csv-formulas", "no").exit_code == 2


#: Obeyed by terminals, or changes the direction or the lines of a text: C1, DEL, line and paragraph separators, marks, embeddings, isolates.
UNSEEN = [*range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
HARMLESS = "\u00a0é€\u200b\u2060\U0001f600"


def test_json_output_holds_no_character_that_a_terminal_obeys():
    """It is spelled out, so that the values are the same. Records are copied as they are."""
    evil = "a" + "".join(map(chr, UNSEEN)) + HARMLESS
    lines = "".join(
        json.dumps({"id": name, "text": f"one two three four {evil}{end}"}, ensure_ascii=False) + "\n" for name, end in ((evil, ""), ("b", "!"))
    )
    Path("in.jsonl").write_text(lines, encoding="utf-8", newline="")
    assert run("dedup", "in.jsonl", "-o", "out", "--output", "annotate", "--overwrite").exit_code == 0
    annotated = next(Path("out/annotated").iterdir()).read_text(encoding="utf-8")
    assert evil in annotated and "likewise_kept_id" in annotated
    assert run("dedup", "in.jsonl", "-o", "out", "--overwrite").exit_code == 0
    assert Path("out/kept/in.jsonl").read_bytes() == lines[: lines.index("\n") + 1].encode()
    shown = [
        run("pairs", "in.jsonl").stdout,
        run("pairs", "in.jsonl", "--json").stdout,
        run("neighbors", "in.jsonl").stdout,
        run("neighbors", "in.jsonl", "--json").stdout,
        run("show", "out", "b", "--json").stdout,
        Path("out/report.json").read_text(encoding="utf-8"),
    ]
    for text in shown:
        assert not {chr(code) for code in UNSEEN} & set(text)
    assert all(HARMLESS in text and "\\u009b" in text and "\\u202e" in text for text in shown)
    assert json.loads(shown[0])["id_a"] == evil == json.loads(shown[1])["pairs"][0]["id_a"]
    assert json.loads(shown[4])["kept"]["id"] == evil
    lw.pairs([json.loads(line) for line in lines.split("\n") if line]).write("pairs.jsonl")
    assert not {chr(code) for code in UNSEEN} & set(Path("pairs.jsonl").read_text(encoding="utf-8"))
