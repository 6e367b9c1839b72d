"""Records in a list inside of a JSON document: --records data."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import likewise as lw
from likewise.cli.main import main
from likewise.errors import DataError
from likewise.io.formats import lines as shared

ROWS: list[dict[str, Any]] = [
    {"id": 1, "text": "one two, [three]"},
    {"id": 2, "text": '}{ ]" \\', "score": float("nan")},
    {"id": 3, "text": "one two, [three]"},
    {"id": 4, "text": "other"},
]
AROUND = {"meta": {"data": [1, {"x": "]"}], "n": 5}, "a": {"data": "no"}, "data": ROWS, "next": {"data": [{"text": "no"}]}, "end": "]}"}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(("records", "document"), [("data", AROUND), ("r.items", {"items": [5], "r": {"x": {"items": [1]}, "items": ROWS}})])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("size", [None, 7])
def test_records_are_read_and_kept_in_their_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indent: int | None, records: str, document: dict[str, Any], packed: bool, size: int | None
) -> None:
    """The kept file is the same document without the removed records, also with columns added; an audit and `show` read it again."""
    if size:
        monkeypatch.setattr(shared, "CHUNK_BYTES", size)
    name = "a.json.gz" if packed else "a.json"
    path, out = tmp_path / name, tmp_path / "out"
    raw = json.dumps(document, indent=indent).encode() + b"\n"
    path.write_bytes(gzip.compress(raw) if packed else raw)
    removal = lw.dedup(path, out=out, records=records, by="words:1")
    assert [(row["id"], row["kept_id"]) for row in removal.removed.to_arrow().to_pylist()] == [(3, 1)]

    def read(place: Path) -> Any:
        return json.loads(gzip.decompress(place.read_bytes()) if packed else place.read_bytes())

    def inner(found: Any) -> Any:
        for key in records.split("."):
            found = found[key]
        return found

    kept = read(out / "kept" / name)
    assert str(inner(kept)) == str([ROWS[0], ROWS[1], ROWS[3]])
    inner(kept)[2:2] = [ROWS[2]]
    assert str(kept) == str(document)
    assert lw.dedup(out / "kept" / name, records=records, by="words:1").report["counts"]["removed"] == 0
    assert "one two, [three]" in CliRunner().invoke(main, ["show", str(out), "3"]).stdout
    assert lw.audit(out).items == 2  # without the copy, and the one without words
    lw.dedup(path, out=tmp_path / "all", records=records, by="words:1", output="annotate")
    annotated = inner(read(tmp_path / "all/annotated" / name))
    assert [row["id"] for row in annotated] == [1, 2, 3, 4] and all("likewise_cluster" in row for row in annotated)


@pytest.mark.parametrize("rows", [[], [{"text": "a b"}]])
def test_few_records_inside_a_document_are_copied(tmp_path: Path, rows: list[Any]) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"x": 1, "data": rows, "y": 2}))
    lw.dedup(tmp_path / "a.json", out=tmp_path / "out", records="data", limit=1)
    assert json.loads((tmp_path / "out/kept/a.json").read_text()) == {"x": 1, "data": rows, "y": 2}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('{"meta": 1, "items": [1]}', r"a.json: has no list for records='data'; fields of the document: meta, items"),
        ('[{"text": "a"}]', r"a.json: has no list for records='data'"),
        ('{"data": {"text": "a"}}', r"a.json: has no list for records='data'"),
        ('{"data": [{"text": "a"}', r"a.json: the file ends before the list 'data' is closed"),
        ('{"data": [{"text": "a"}], "x": 1', r"a.json: the file ends before its document is closed"),
        (
            '{"data": [{"text": "a"}]}\n{"data": [{"text": "b"}]}',
            r"a.json, line 2, column 1: text after the end of the document; records='data' reads one",
        ),
        ('{"x" 1, "data": []}', r"a.json, line 1, column 6: unexpected token in JSON"),
        ('{"data": [{"text": "a"}], "x" 1}', r"a.json, line 1, column 31: unexpected token in JSON"),
        ('{"data": [{"text": "a"}}', r"a.json, line 1, column 24: unmatched closing brace"),
    ],
)
def test_what_is_no_such_document(tmp_path: Path, raw: str, said: str) -> None:
    (tmp_path / "a.json").write_text(raw)
    with pytest.raises(DataError, match=said):
        lw.dedup(tmp_path / "a.json", records="data")


def test_the_message_about_a_missing_field_names_the_list(tmp_path: Path) -> None:
    for indent in (None, 1):
        (tmp_path / "a.json").write_text(json.dumps(AROUND, indent=indent))
        with pytest.raises(DataError, match=r"no row of a.json has the field 'text'; .*; if the records are in the list 'data', add records='data'"):
            lw.dedup(tmp_path / "a.json")
    with pytest.raises(DataError, match=r"no row of a.json has the field 'body'; fields seen: id, text, score;"):
        lw.dedup(tmp_path / "a.json", records="data", field="body")
    (tmp_path / "b.csv").write_text("id,text\n9,other\n")
    found = lw.pairs([tmp_path / "a.json", tmp_path / "b.csv"], records="data", by="words:1").to_arrow()
    assert len(found) == 2
