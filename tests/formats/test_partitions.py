"""Folders named for values of columns, as Hive and Spark write them, are columns of the records in them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import refused
from likewise.errors import DataError
from likewise.io import partitions
from likewise.io.inputs import resolve
from likewise.records import Want

pytestmark = pytest.mark.usefixtures("folder")

TEXT = "the quick brown fox jumps over the lazy dog near the river bank today"
BY = {"by": "words:2", "threshold": 0.9}


def put(path: str, *rows: dict) -> None:
    to = Path(path)
    to.parent.mkdir(parents=True, exist_ok=True)
    if to.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), to)
    elif to.suffix == ".csv":
        to.write_text("id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in rows))
    elif to.suffix == ".txt":
        to.write_text(rows[0]["text"])
    else:
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        to.write_bytes(gzip.compress(data) if to.suffix == ".gz" else data)


def read(*inputs: str, **want) -> list[dict]:
    """The fields of each row."""
    found = []
    for source in resolve(inputs):
        for chunk in source.format.chunks(source.path, Want(**want)):
            records = source.format.parse(chunk, Want(**want), "here")
            columns = {name: getattr(records, name).to_pylist() for name in ("id", "per") if getattr(records, name) is not None}
            scores = {} if records.score is None else {"score": records.score.tolist()}
            columns |= {"text": records.text.to_pylist(), "kind": records.kind.tolist()} | scores
            found += [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return found


SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz", ".csv", ".txt", "")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_items_are_compared_inside_of_their_folder(suffix: str):
    for lang in ("en", "de"):
        for part in range(2):
            put(f"d/lang={lang}/part-0000{part}{suffix}", {"id": part, "text": TEXT})
    Path("d/_SUCCESS").touch()
    result = lw.dedup(Path("d"), per="lang", **BY)
    assert result.report["counts"] | {"kept": 2, "removed": 2, "read": 4} == result.report["counts"]
    sources = result.removed.to_arrow()["source"].to_pylist(), result.removed.to_arrow()["kept_source"].to_pylist()
    assert sources == ([f"lang={x}/part-00001{suffix}" for x in ("de", "en")], [f"lang={x}/part-00000{suffix}" for x in ("de", "en")])
    assert lw.dedup(Path("d"), **BY).report["counts"]["removed"] == 3


def test_whole_numbers_are_numbers_where_all_are_and_null_is_null():
    put("d/year=2023/month=01/a.jsonl", {"text": "a"})
    put("d/year=-7/month=x/a.jsonl", {"text": "b"})
    put(f"d/year={partitions.NULL}/month={partitions.NULL}/a.jsonl", {"text": "c"})
    rows = read("d", id="year", per="month", score="year")
    assert [(row["id"], row["per"]) for row in rows] == [(b"-7", b'"x"'), (b"2023", b'"01"'), (None, None)]
    np.testing.assert_array_equal([row["score"] for row in rows], [-7, 2023, np.nan])
    assert [row["per"] for row in read("d/year=2023", per="month")] == [b"1"]
    assert lw.dedup(Path("d/year=2023"), id="month", by="words:1").kept.to_arrow()["id"].to_pylist() == [1]


@pytest.mark.parametrize(
    "text, number", [("5", True), ("-5", True), ("+05", True), (str(2**63 - 1), True), (str(2**63), False), ("5.0", False), ("٥", False), ("", False)]
)
def test_what_a_whole_number_is(text: str, number: bool):
    assert partitions.is_whole(text) == number


def test_two_collections_have_one_type():
    put("a/n=1/x.jsonl", {"text": TEXT})
    put("b/n=1/x.jsonl", {"text": TEXT})
    put("b/n=one/x.jsonl", {"text": TEXT})
    assert len(lw.pairs(Path("a"), against=Path("b"), per="n", **BY)) == 1


def test_dates_order_what_is_kept():
    for day in ("2024-02-28", "2024-03-01", "2023-12-31"):
        put(f"d/day={day}/a.parquet", {"text": TEXT})
    kept = lw.dedup(Path("d"), keep="max:day", **BY).kept.to_arrow()
    assert kept["source"].to_pylist() == ["day=2024-03-01/a.parquet"]
    assert lw.dedup(Path("d"), keep="min:day", **BY).kept.to_arrow()["source"].to_pylist() == ["day=2023-12-31/a.parquet"]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv"])
def test_they_are_texts_too(suffix: str):
    put(f"d/title=a%20b%3D/a{suffix}", {"id": 1, "text": "c"})
    put(f"d/title={partitions.NULL}/a{suffix}", {"id": 1, "text": "c"})
    assert [row["text"] for row in read("d", text="title")] == [b"", b"a b="]
    assert [row["kind"] for row in read("d", text="title")] == [1, 0]
    assert [row["text"] for row in read("d", text="title+text")] == [b"c", b"a b=\n\nc"]
    assert [row["text"] for row in read("d", text="text+title")] == [b"c", b"c\n\na b="]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".csv"])
def test_they_can_be_compared(suffix: str):
    for title, body in (("one%20two", "a"), ("one two", "b"), ("three", "a")):
        put(f"d/title={title}/a{suffix}", {"id": 1, "text": body})
    assert lw.dedup(Path("d"), field="title", by="words:1").report["counts"]["removed"] == 1
    assert lw.dedup(Path("d"), field="title+text", by="words:1").report["counts"]["removed"] == 0
    assert lw.dedup(Path("d"), field="text", by="words:1").report["counts"]["removed"] == 1
    assert lw.dedup(Path("d"), field="title|text", by="words:1").report["counts"]["removed"] == 1
    assert lw.dedup(Path("d"), field="headline|text", by="words:1").report["counts"]["removed"] == 1
    with pytest.raises(DataError, match=r"field 'headline'; fields seen: .*title"):
        lw.dedup(Path("d"), field="headline")


def test_schemas_have_them():
    put("d/lang=en/n=5/a.parquet", {"text": "a", "lang": "fr"})
    (source,) = resolve(["d"])
    assert source.format.schema(source.path, Want()) == pa.schema([("text", pa.string()), ("lang", pa.string()), ("n", pa.int64())])
    put("e/lang=en/a.jsonl", {"text": "a"})
    assert not hasattr(resolve(["e"])[0].format, "schema")


def test_a_value_of_the_record_itself_goes_before():
    put("d/lang=en/a.jsonl", {"text": "a", "lang": "fr"}, {"text": "b"}, {"text": "c", "lang": None})
    assert [row["per"] for row in read("d", per="lang")] == [b'"fr"', b'"en"', b'"en"']
    put("t/text=raw/a.jsonl", {"text": "a"})
    assert [row["text"] for row in read("t")] == [b"a"]


def test_files_and_patterns_and_parents_have_them_as_they_were_named(monkeypatch):
    put("d/lang=en/a.jsonl", {"text": "a"})
    for given in ("d/lang=en/a.jsonl", "d/lang=en", "d/*/*.jsonl", "d"):
        assert [row["per"] for row in read(given, per="lang")] == [b'"en"'], given
    monkeypatch.chdir("d/lang=en")
    assert [row["per"] for row in read("a.jsonl", per="lang")] == [None]


def test_kept_files_are_as_they_would_be_without_and_keep_their_folders():
    rows = [{"id": 1, "text": TEXT}, {"id": 2, "text": TEXT}, {"id": 3, "text": "something else"}]
    put("d/lang=en/part-00000.parquet", *rows)
    put("e/part-00000.parquet", *rows)
    lw.dedup(Path("d"), out="out", **BY)
    lw.dedup(Path("e"), out="alone", **BY)
    written = Path("out/kept/lang=en/part-00000.parquet")
    assert written.read_bytes() == Path("alone/kept/part-00000.parquet").read_bytes()
    assert pq.read_table(written, partitioning=None).to_pylist() == [rows[0], rows[2]]
    assert [row["id"] for row in read("out/kept", id="lang")] == [b'"en"', b'"en"']


def test_a_folder_that_was_renamed_is_another_input():
    put("d/lang=en/a.jsonl", {"text": "a"})
    (source,) = resolve(["d/lang=en"])
    before = source.fingerprint()["a.jsonl"]
    Path("d/lang=en").rename("d/lang=de")
    (source,) = resolve(["d/lang=de"])
    assert before["partition"] == {"lang": "en"} and source.fingerprint()["a.jsonl"]["partition"] == {"lang": "de"}
    assert {**before, "partition": 0} == {**source.fingerprint()["a.jsonl"], "partition": 0}


def test_fields_that_are_missing_are_reported_with_those_of_folders():
    put("d/lang=en/a.jsonl", {"body": "a"})
    assert "lang" in refused("dedup", "d", "-o", "out")
    with pytest.raises(DataError, match="no row has a value in the field 'shop'"):
        put("d/lang=en/a.jsonl", {"text": "a"})
        lw.dedup(Path("d"), per="shop")


def test_vectors_and_sets_can_be_compared_inside_of_folders():
    for lang in ("en", "de"):
        put(f"d/lang={lang}/a.parquet", {"vector": [1.0, 2.0], "elements": [1, 2]}, {"vector": [1.0, 2.0], "elements": [1, 2]})
    assert len(lw.pairs(Path("d"), by="cosine", threshold=0.9, per="lang")) == 2
    assert len(lw.pairs(Path("d"), by="elements", threshold=0.9, per="lang")) == 2
