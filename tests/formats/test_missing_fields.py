"""A source without the field ends a run before it begins; fields for some sources, and alternative fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import likewise as lw
from likewise.cli.main import main
from likewise.errors import DataError, UsageError
from likewise.io.formats import jsonl
from likewise.io.formats.lines import State
from likewise.records import Chunk

A, B = "the quick brown fox jumps over the lazy dog", "nothing of the kind stands in this one here"
MEANT = "--field 'content@*.parquet' for this source alone, or with --field 'text|content' for all"


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """JSON lines with a text, and Parquet whose text has another name."""
    monkeypatch.chdir(tmp_path)
    lines(tmp_path / "a.jsonl", [{"id": "a1", "text": A}, {"id": "a2", "text": B}])
    pq.write_table(pa.table({"id": ["b1"], "content": [f"{A} again"]}), tmp_path / "b.parquet")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        ["dedup", "a.jsonl", "b.parquet", "-o", "out"],
        ["dedup", "a.jsonl", "b.parquet", "-o", "out", "--on-error", "skip"],
        ["dedup", "a.jsonl", "b.parquet", "-o", "out", "--dry-run"],
        ["pairs", "a.jsonl", "--against", "b.parquet"],
        ["pairs", "a.jsonl", "b.parquet", "--dry-run"],
        ["neighbors", "a.jsonl", "--query", "b.parquet"],
        ["plan", "a.jsonl", "b.parquet"],
        ["audit", "a.jsonl", "b.parquet"],
    ],
)
def test_a_source_without_the_field_is_an_error_before_the_work(mixed: Path, command: list[str]) -> None:
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert f"no row of b.parquet has the field 'text'; fields seen: id, content; name the right one with {MEANT}" in result.stderr
    assert sorted(path.name for path in mixed.iterdir()) == ["a.jsonl", "b.parquet"]


def removed(inputs: list[Path], **choices: Any) -> list[tuple[str, str]]:
    return [(row["id"], row["kept_id"]) for row in lw.dedup(inputs, **choices).removed.to_arrow().to_pylist()]


@pytest.mark.parametrize("field", ["text|content", "content|text", ["text", "content@*.parquet"], "content@*.parquet", ["content", "text@a.*"]])
def test_what_the_message_says_helps(mixed: Path, field: Any) -> None:
    inputs = [mixed / "a.jsonl", mixed / "b.parquet"]
    assert removed(inputs, field=field) == [("b1", "a1")]
    given = [part for one in ([field] if isinstance(field, str) else field) for part in ("--field", one)]
    assert CliRunner().invoke(main, ["dedup", "a.jsonl", "b.parquet", "-o", "out", *given]).exit_code == 0
    shown = CliRunner().invoke(main, ["show", "out", "b1"]).stdout
    assert "[- again-]" in shown
    method = json.loads((mixed / "out/manifest.json").read_text())["method"]
    expected = ["text", "content@*.parquet"] if field == "content@*.parquet" else field
    assert method["field"] == expected
    audit = lw.audit(mixed / "out")
    assert (audit.pairs, audit.recall) == (1, 1.0)


def test_maps_come_from_the_environment_and_settings(mixed: Path) -> None:
    run = ["pairs", "a.jsonl", "b.parquet", "--json"]
    (mixed / "likewise.toml").write_text('field = ["text", "content@*.parquet"]\n')
    assert len(json.loads(CliRunner().invoke(main, run).stdout)["pairs"]) == 1
    (mixed / "likewise.toml").unlink()
    lines(mixed / "c.jsonl", [{"the text": A}, {"the text": A}])
    found = CliRunner().invoke(main, ["pairs", "c.jsonl", "--json"], env={"LIKEWISE_FIELD": "the text"})
    assert len(json.loads(found.stdout)["pairs"]) == 1


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (["a", "b"], "field=\\['a', 'b'\\]: give one name for all sources, and the others as NAME@GLOB, for example 'b@\\*.parquet'"),
        ("content@*.csv", "no input matches '\\*.csv'; the inputs are a.jsonl, b.parquet"),
        ([], "give a name, or a list of names"),
        (5, "give a name, or a list of names"),
    ],
)
def test_fields_that_cannot_be_meant(mixed: Path, field: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        lw.pairs([mixed / "a.jsonl", mixed / "b.parquet"], field=field)


def test_json_is_known_at_a_glance_or_from_all_of_it(tmp_path: Path) -> None:
    """In a long file the field may come late; where it never comes the run ends after reading, and nothing is written."""
    lines(tmp_path / "a.jsonl", [{"text": A}, {"text": B}])
    long = [{"n": n, "content": "x" * 100} for n in range(1000)]
    lines(tmp_path / "late.jsonl", [*long, {"n": 5, "text": A}])
    assert len(lw.pairs([tmp_path / "a.jsonl", tmp_path / "late.jsonl"])) == 1
    for rows in (long, long[:3]):
        lines(tmp_path / "b.jsonl", rows)
        with pytest.raises(DataError, match=r"no row of b.jsonl has the field 'text'; fields seen: n, content; .*'content@b.jsonl'"):
            lw.dedup([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], out=tmp_path / "out")
        assert not (tmp_path / "out").exists()
    (tmp_path / "b.jsonl").rename(tmp_path / "b[1].jsonl")
    with pytest.raises(DataError, match=r"'content@b\[\[\]1\].jsonl'"):
        lw.pairs([tmp_path / "a.jsonl", tmp_path / "b[1].jsonl"])


@pytest.mark.parametrize("folder", [".", "lang=en"])
def test_an_empty_cell_of_csv_leaves_its_place_to_the_next_field(tmp_path: Path, folder: str) -> None:
    """Where all fields are empty the row has an empty text, as with one field. In JSON an empty text is a text."""
    rows = [("1", A, B), ("2", "", A), ("3", "", ""), ("4", B, ""), ("5", "", B)]
    path = tmp_path / folder / "a.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_text("id,text,content\n" + "".join(",".join(row) + "\n" for row in rows))
    found = lw.dedup(path, field="text|content")
    assert [(row["id"], row["kept_id"]) for row in found.removed.to_arrow().to_pylist()] == [("2", "1"), ("5", "4")]
    assert (found.report["counts"]["empty"], found.report["counts"]["without_text"]) == (1, 0)
    lines(tmp_path / "a.jsonl", [{"id": 1, "text": A}, {"id": 2, "text": "", "content": A}])
    assert lw.dedup(tmp_path / "a.jsonl", field="text|content").report["counts"]["removed"] == 0


@pytest.mark.parametrize("name", ["b.jsonl", "b.json", "b.csv", "b.tsv", "b.parquet", "b.arrow"])
def test_a_field_that_one_file_lacks_in_every_format(tmp_path: Path, name: str) -> None:
    lines(tmp_path / "a.jsonl", [{"text": A}, {"text": B}])
    table = pa.table({"n": [1, 2], "body": [A, "x"]})
    made = {
        "b.jsonl": lambda path: lines(path, table.to_pylist()),
        "b.json": lambda path: path.write_text(json.dumps(table.to_pylist(), indent=1)),
        "b.csv": lambda path: path.write_text("n,body\n" + f"1,{A}\n2,x\n"),
        "b.tsv": lambda path: path.write_text("n\tbody\n" + f"1\t{A}\n2\tx\n"),
        "b.parquet": lambda path: pq.write_table(table, path),
        "b.arrow": lambda path: pa.feather.write_feather(table, path),
    }
    made[name](tmp_path / name)
    with pytest.raises(DataError, match=f"no row of {name} has the field 'text'; fields seen: n, body; .*'text|body'"):
        lw.pairs([tmp_path / "a.jsonl", tmp_path / name], on_error="skip")
    for field in ("text|body", "nope|text|body", "body|text", ["text", f"body@*{name[1:]}"] if name != "b.jsonl" else "text|body"):
        table_of = lw.pairs([tmp_path / "a.jsonl", tmp_path / name], field=field).to_arrow()
        assert table_of["similarity"].to_pylist() == [1.0]


def test_empty_sources_are_no_error(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", [{"text": A}, {"text": A}])
    lines(tmp_path / "none.jsonl", [])
    (tmp_path / "none.csv").write_text("id,body\n")
    (tmp_path / "none.json").write_text("[]")
    pq.write_table(pa.table({"body": pa.array([], pa.string())}), tmp_path / "none.parquet")
    assert len(lw.pairs(sorted(tmp_path.iterdir()))) == 1


def test_text_files_have_no_fields(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", [{"body": A}])
    (tmp_path / "b.txt").write_text(A)
    for field in ("body", "body|text", "text|body"):
        assert len(lw.pairs([tmp_path / "a.jsonl", tmp_path / "b.txt"], field=field)) == 1
    with pytest.raises(DataError, match=r"no row of b.txt has the field 'body'"):
        lw.pairs(tmp_path / "b.txt", field="body")


def test_one_part_of_a_joined_field_is_enough(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", [{"title": "x", "text": A}])
    lines(tmp_path / "b.jsonl", [{"text": f"x\n\n{A}"}])
    pq.write_table(pa.table({"title": [A]}), tmp_path / "c.parquet")
    found = lw.pairs([tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.parquet")], field="title+text", threshold=0.99).to_arrow()
    assert found["similarity"].to_pylist() == [1.0]
    with pytest.raises(DataError, match=r"no row of a.jsonl has the field 'titel\+text'"):
        lw.pairs(tmp_path / "a.jsonl", field="titel+text")


# --- names with signs in them


@pytest.mark.parametrize("name", ["a.b", "a+b", "a|b", "a@b", "a|b+c", "a[].b", "tags[]"])
@pytest.mark.parametrize("form", ["table", "jsonl", "escaped", "csv", "parquet", "rows"])
def test_a_field_of_that_very_name_wins(tmp_path: Path, name: str, form: str) -> None:
    """Over its parts, which are there too."""
    other = [{"a": "one", "b": "two", "tags": "three", name: A}, {"a": "four five", "b": "six", "tags": "seven", name: A}]
    path = tmp_path / f"x.{form}"
    if form == "jsonl":
        lines(path, other)
    elif form == "escaped":  # all of the name, in capital digits and small ones
        key = "".join(f"\\u{ord(sign):04{'xX'[at % 2]}}" for at, sign in enumerate(name))
        path = tmp_path / "x.jsonl"
        path.write_text("".join(json.dumps(row).replace(json.dumps(name), f'"{key}"') + "\n" for row in other))
    elif form == "csv":
        path.write_text("\n".join(",".join(row) for row in (other[0].keys(), *(row.values() for row in other))))
    elif form == "parquet":
        pq.write_table(pa.Table.from_pylist(other), path)
    given = {"table": pa.Table.from_pylist(other), "rows": other}.get(form, path)
    assert len(lw.pairs(given, field=name)) == 1


@pytest.mark.parametrize(
    ("key", "there"),
    [("a|b", True), (r"a\u007cb", True), (r"a\u007Cb", True), (r"\u0061|b", True), ("a|bc", False), (r"a\u00e9b", False), ("a b", False)],
)
def test_names_that_a_chunk_may_hold_are_seen_without_a_copy(key: str, there: bool) -> None:
    chunk = Chunk(np.frombuffer(bytearray(f'{{"{key}": 1}}'.encode()), np.uint8), 0, 1, State(Path("x"), 0, None))
    assert jsonl.mentioned(chunk, ["a|b"]) == ({"a|b"} if there else set())


def test_a_name_with_a_slash_in_it_is_seen_however_it_is_written() -> None:
    chunk = Chunk(np.frombuffer(bytearray(rb'{"a\/b|c": 1}'), np.uint8), 0, 1, State(Path("x"), 0, None))
    assert jsonl.mentioned(chunk, ["a/b|c"]) == {"a/b|c"}


def test_each_row_takes_the_first_that_it_has() -> None:
    rows = [
        {"text": A, "content": "x"},
        {"text": None, "content": A},
        {"content": A, "other": "y"},
        {"text": 5, "other": A},
        {"text": "", "other": A},
    ]
    expected = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for field, pairs in (("text|content|other", expected), ("text|content", [(0, 1), (0, 2), (1, 2)])):
        found = lw.pairs(rows, field=field).to_arrow()
        assert list(zip(found["id_a"].to_pylist(), found["id_b"].to_pylist(), strict=True)) == pairs


def test_alternatives_of_vectors_and_sets(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", [{"vector": [1, 0]}, {"emb": [1, 0]}, {"x0": 1, "x1": 0}, {"vector": None}])
    found = lw.pairs(tmp_path / "a.jsonl", by="cosine", field="vector|emb|x0..x1", threshold=0.9).to_arrow()
    assert (found["id_a"].to_pylist(), found["id_b"].to_pylist()) == ([0, 0, 1], [1, 2, 2])
    sets = [{"elements": ["a", "b"]}, {"tags": ["b", "a"]}]
    assert lw.pairs(sets, by="elements", field="elements|tags").to_arrow()["similarity"].to_pylist() == [1.0]


def test_a_row_that_is_damaged_in_one_name_is_refused_only_where_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one two", "content": 01}\n{"content": "one two"}\n{"text": null, "content": NaN}\n')
    result = lw.dedup(tmp_path / "a.jsonl", field="text|content", on_error="skip")
    assert result.report["counts"] | {"read": 3, "kept": 1, "removed": 1, "rejected": 1} == result.report["counts"]


def test_names_with_commas_between_them_get_a_hint(mixed: Path) -> None:
    for field in ("text,content", "text, content"):
        with pytest.raises(DataError, match=r"'text\|content' takes the first one that a record has; 'text\+content' joins them$"):
            lw.dedup([mixed / "a.jsonl", mixed / "b.parquet"], field=field)


@pytest.mark.parametrize("verb", [lw.dedup, lw.pairs, lw.neighbors, lw.audit, lw.plan])
@pytest.mark.parametrize("given", [pa.table({"url": ["u"], "body": [A], "score": [1]}), [{"url": "u", "body": A, "score": 1}]], ids=["table", "rows"])
def test_data_in_python_has_columns_not_a_file(verb: Any, given: Any) -> None:
    with pytest.raises(DataError) as caught:
        verb(given)
    assert str(caught.value) == "the data has no column 'text'; its columns: url, body, score; name one with field=F, such as field='body'"
    with pytest.raises(
        DataError, match=r"^no row of the data has the field 'body\.x'; fields seen: url, body, score; name the right one with field=F$"
    ):
        verb(given, field="body.x")


def test_of_two_sides_the_one_without_the_field_is_named() -> None:
    with pytest.raises(DataError, match=r"^no row of against/memory\.arrow has the field 'text'; fields seen: body; name "):
        lw.pairs([A], against=[{"body": A}])
    with pytest.raises(DataError, match=r"^no row of memory\.arrow or against/memory\.arrow has the field 'text'; fields seen: body; name "):
        lw.pairs([{"body": A}], against=[{"body": A}])
