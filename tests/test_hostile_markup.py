"""Markup and formulas in data: no element of a report, and no cell, arises from them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import run

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
    assert not found.tags & {"script", "img", "iframe", "object", "embed", "link", "a", "form", "input", "base"}
    assert not any("evil" in name + value or name.startswith("on") or "javascript:" in value for name, value in found.attributes)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in found.attributes
    plain = Elements()
    Path("plain.jsonl").write_text("".join(json.dumps({"id": i, "text": f"a b c d e f {'x' * i}"}) + "\n" for i in range(3)))
    lw.dedup(Path("plain.jsonl"), out="plain", threshold=0.3, by="words:2")
    plain.feed(Path("plain/report.html").read_text())
    assert found.tags - plain.tags <= {"li", "ul", "strong", "details", "summary", "bdi", "br"}


def test_pictures_escape_what_they_are_told():
    picture = lw.plan(threshold=0.8, by="words:5").svg(lw.plan(threshold=0.7, by="chars:5"))
    tree = ET.fromstring(picture)
    assert {element.tag.rpartition("}")[2] for element in tree.iter()}.isdisjoint({"script", "image", "foreignObject", "a", "use"})
    from likewise.drawing.markup import tag

    assert tag("text", EVIL[0], title=EVIL[0]) == (
        '<text title="&quot;&gt;&lt;script&gt;evil()&lt;/script&gt;">&quot;&gt;&lt;script&gt;evil()&lt;/script&gt;</text>'
    )


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x","y")', 'a,"b"', "a\nb", "\u2028", "</script>"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_ids_come_out_as_they_went_in_whatever_a_spreadsheet_makes_of_them(suffix):
    rows = [{"id": name, "text": "one two three four five six"} for name in FORMULAS]
    lw.pairs(rows).write(f"pairs{suffix}")
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
    assert found == set(FORMULAS)
