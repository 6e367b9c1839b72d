"""Situations that broke other tools, rebuilt from scratch: damaged, odd, empty and misnamed files."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import lines, run
from likewise.io.formats import lines as line_formats
from situations import everything, jsonl, near, text


def found(given: object, **choices: object) -> dict[tuple, float]:
    table = lw.pairs(given, by="whitespace:5", **choices).to_arrow()
    return {(row["id_a"], row["id_b"]): row["similarity"] for row in table.to_pylist()}


# --- bytes that are no UTF-8

FAULTS = {
    "Latin-1": b"\xe9",
    "cut": b"\xe2\x82",
    "continuation": b"\x80",
    "overlong": b"\xc0\xaf",
    "beyond": b"\xf4\x90\x80\x80",
    "never": b"\xff",
}
WRAPPED = {
    "jsonl": (b"", b'{"id": "%d", "text": "%s"}', b"\n", b"\n", 1),
    "json": (b"[\n", b'{"id": "%d", "text": "%s"}', b",\n", b"\n]\n", 2),
    "csv": (b"id,text\n", b"%d,%s", b"\n", b"\n", 2),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", WRAPPED)
def test_a_bad_line_neither_ends_in_a_trace_nor_takes_others_along(tmp_path, kind, fault):
    before, record, between, after, first_line = WRAPPED[kind]
    texts = [text(i).encode() for i in range(5)] + [near(0).encode()]
    texts[2] += b" caf" + FAULTS[fault] + b" bar"
    texts[4] += b" caf" + FAULTS[fault]
    records = [record % (i, each) for i, each in enumerate(texts)]
    source = tmp_path / f"in.{kind}"
    source.write_bytes(before + between.join(records) + after)
    with pytest.raises(lw.DataError, match=rf"in\.{kind}, line {first_line + 2}, .*not UTF-8.*on_error='skip'"):
        lw.dedup(source, by="whitespace:5", out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == [source]  # so that what the message says can be typed next
    result = lw.dedup(source, by="whitespace:5", out=tmp_path / "out", on_error="skip")
    assert result.removed.to_arrow().select(["id", "kept_id", "similarity"]).to_pylist() == [{"id": "5", "kept_id": "0", "similarity": 25 / 27}]
    assert (result.report["counts"]["read"], result.report["counts"]["kept"], result.report["counts"]["rejected"]) == (6, 3, 2)
    rejected = [json.loads(line) for line in (tmp_path / "out/rejected.jsonl").read_text("utf-8").splitlines()]
    assert [(entry["source"], entry["position"]) for entry in rejected] == [(f"in.{kind}", 2), (f"in.{kind}", 4)]
    assert [entry["bytes"].encode().decode("unicode_escape").encode("latin-1") for entry in rejected] == [records[2], records[4]]
    kept = (tmp_path / f"out/kept/in.{kind}").read_bytes()
    assert all((records[i] in kept) == (i in (0, 1, 3)) for i in range(6))
    assert b"\xef\xbf\xbd" not in kept
    listed = lw.pairs(source, by="whitespace:5", on_error="skip")
    assert listed.to_arrow().to_pylist() == [{"id_a": "0", "id_b": "5", "similarity": 25 / 27}]
    [said] = [said for said in listed.report["warnings"] if "could not be read" in said]
    assert f"2 of 6 items could not be read and were rejected: in.{kind}, line {first_line + 2}," in said
    assert f"in.{kind}, line {first_line + 4}," in said


def test_a_message_names_a_list_of_rejected_rows_only_where_one_is_written(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": 1, "text": "a b c d e f"}\n{broken\n')
    said = {}
    calls = {
        "dedup": lambda: lw.dedup(source, out=tmp_path / "out"),
        "dedup in memory": lambda: lw.dedup(source),
        "pairs": lambda: lw.pairs(source),
        "neighbors": lambda: lw.neighbors(source),
        "audit": lambda: lw.audit(source),
    }
    for name, call in calls.items():
        with pytest.raises(lw.DataError) as error:
            call()
        said[name] = str(error.value).rpartition("; ")[2]
    none = "on_error='skip' omits such rows and continues"
    assert said == dict.fromkeys(calls, none) | {"dedup": "on_error='skip' lists such rows in rejected.jsonl and continues"}


@pytest.mark.parametrize("kind", WRAPPED)
def test_lone_surrogates_are_read_compared_and_written_as_they_are(tmp_path, kind):
    before, record, between, after, _ = WRAPPED[kind]
    texts = [text(0).encode() + b" caf" + lone for lone in (b"\xed\xa0\x80", b"\xed\xa0\x81", b"\xed\xa0\x80")]
    records = [record % (i, each) for i, each in enumerate(texts)]
    source = tmp_path / f"in.{kind}"
    source.write_bytes(before + between.join(records) + after)
    result = lw.dedup(source, by="whitespace:5", out=tmp_path / "out", threshold=1)
    assert result.removed.to_arrow().select(["id", "kept_id", "reason"]).to_pylist() == [{"id": "2", "kept_id": "0", "reason": "exact"}]
    assert (tmp_path / f"out/kept/in.{kind}").read_bytes() == before + between.join(records[:2]) + after


# --- byte-order marks

BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    "quoted", [b'id,text,city\r\n7,"%s",north\r\n8,"%s",south\r\n9,"%s",west\r\n', b'"id",text,city\r\n7,%s,north\r\n8,%s,south\r\n9,%s,west\r\n']
)
def test_a_mark_belongs_to_the_file_and_not_to_its_first_column(tmp_path, quoted):
    source = tmp_path / "export.csv"
    source.write_bytes(BOM + quoted % (text(1).encode(), text(2).encode(), near(1).encode()))
    assert found(source) == {("7", "9"): 25 / 27}
    lw.dedup(source, by="whitespace:5", out=tmp_path / "out")
    header, first, second, _ = source.read_bytes().splitlines(keepends=True)
    assert (tmp_path / "out/kept/export.csv").read_bytes() == header + first + second
    result = lw.dedup(source, by="whitespace:5", keep="last", out=tmp_path / "last", output="annotate")
    assert (tmp_path / "last/annotated/export.csv").read_bytes().startswith(header.rstrip(b"\r\n"))
    assert result.removed.to_arrow()["id"].to_pylist() == ["7"]
    assert lw.dedup(source, field="id").report["counts"]["without_text"] == 0
    for name in ("\ufeffid", "city\r"):
        with pytest.raises(lw.DataError, match="fields seen: id, text, city;"):
            lw.dedup(source, field=name)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", b'{"id":1,"text":"%s"}\r\n{"id":2,"text":"%s"}\r\n'),
        ("a.json", b'[{"id":1,"text":"%s"},{"id":2,"text":"%s"}]'),
        ("a.tsv", b"text\tn\n%s\t1\n%s\t1\n"),
    ],
)
def test_marks_in_other_formats(tmp_path, name, data):
    (tmp_path / name).write_bytes(BOM + data % (text(1).encode(), near(1).encode()))
    result = lw.dedup(tmp_path / name, by="whitespace:5", keep="last", out=tmp_path / "out")
    assert (len(result.removed), result.report["counts"]["without_text"]) == (1, 0)
    kept = (tmp_path / "out/kept" / name).read_bytes()
    assert (kept.startswith(BOM), kept.count(BOM), near(1).encode() in kept, text(1).encode() in kept) == (True, 1, True, False)


# --- compressed files: joined, and cut short


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}


@pytest.mark.parametrize("kind", PACKERS)
def test_joined_members_are_all_read_and_a_short_read_is_no_small_corpus(tmp_path, kind):
    pack = PACKERS[kind]
    rows = [{"id": f"g{i:02}", "text": text(i)} for i in range(40)]
    rows[38]["text"], rows[39]["text"] = near(3), near(25)
    data = jsonl(rows)
    joined, cut = tmp_path / f"joined.jsonl.{kind}", tmp_path / f"cut.jsonl.{kind}"
    half = len(jsonl(rows[:20])) + 9  # in the middle of a record
    joined.write_bytes(pack(data[:half]) + pack(b"") + pack(data[half:]))
    expected = {("g03", "g38"): 25 / 27, ("g25", "g39"): 25 / 27}
    assert found(joined) == expected
    for short in (pack(data)[: len(pack(data)) * 6 // 10], pack(data)[:-1], pack(data[:half]) + pack(data[half:])[:-3]):
        cut.write_bytes(short)
        for given in (cut, [joined, cut]):
            with pytest.raises(lw.DataError, match=rf"cut\.jsonl\.{kind}: .*ends early"):
                lw.dedup(given, out=tmp_path / "out")
            assert set(tmp_path.iterdir()) == {joined, cut}
    result = lw.dedup([joined, cut], by="whitespace:5", on_error="skip", out=tmp_path / "out")
    assert any(f"cut.jsonl.{kind}: " in said and "ends early" in said for said in result.report["warnings"])
    [entry] = [json.loads(line) for line in (tmp_path / "out/rejected.jsonl").read_text().splitlines()]
    assert (entry["source"], entry["position"]) == (f"cut.jsonl.{kind}", None)
    removed = result.removed.to_arrow().to_pylist()
    assert {(row["kept_id"], row["id"]): row["similarity"] for row in removed if row["source"].startswith("joined")} == expected
    read = [row["id"] for row in removed if row["source"].startswith("cut")]  # the whole records before the damage: those of one member at least
    assert read == [row["id"] for row in rows[: len(read)]] and 20 <= len(read) <= 40  # all, where only a checksum is missing
    assert f"; {len(read)} items before it were read; the rest of the file is missing" in entry["reason"]
    counts = result.report["counts"]
    assert (counts["read"], counts["rejected"], counts["cut_short"]) == (40 + len(read) + 1, 1, 1)
    said = run("dedup", joined, cut, "--by", "whitespace:5", "--on-error", "skip", "-o", tmp_path / "again").stderr
    assert lines(said)["rejected"] == f"1  (see {tmp_path / 'again/rejected.jsonl'}; the unreadable rest of a file counts as one item)"


def test_a_parquet_file_without_its_end_is_set_aside_and_the_others_are_used(tmp_path):
    whole, cut = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    pq.write_table(pa.table({"id": range(4), "text": [text(i % 3) for i in range(4)]}), whole)
    cut.write_bytes(whole.read_bytes()[:-20])
    with pytest.raises(lw.DataError, match=r"cut\.parquet: cannot be read as a Parquet file"):
        lw.dedup(tmp_path, out=tmp_path / "out")
    result = lw.dedup(tmp_path, out=tmp_path / "out", on_error="skip")
    assert result.removed.to_arrow().select(["id", "kept_id"]).to_pylist() == [{"id": 3, "kept_id": 0}]
    assert any("cut.parquet: cannot be read" in said for said in result.report["warnings"])
    assert list(everything(tmp_path / "out/kept")) == ["whole.parquet"]


@pytest.mark.parametrize("kind", PACKERS)
def test_what_came_before_the_damage_is_used_and_written(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(line_formats, "CHUNK_BYTES", 4000)
    rows = [{"id": i, "text": text(i % 150)} for i in range(200)]
    packed = b"".join(PACKERS[kind](jsonl(rows[i : i + 50])) for i in range(0, 200, 50))
    (tmp_path / f"cut.jsonl.{kind}").write_bytes(packed[:-40])
    result = lw.dedup(tmp_path / f"cut.jsonl.{kind}", on_error="skip", out=tmp_path / "out")
    counts = result.report["counts"]
    assert counts["read"] - 1 == counts["kept"] + counts["removed"] > 100
    assert len(lw.dedup(tmp_path / "out/kept").kept) == counts["kept"] == len(result.kept)


# --- rows of every kind


def test_rows_without_usable_text_are_named_by_place_and_are_no_copies(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(jsonl([{"id": 1, "text": text(1)}, {"id": 2, "text": text(2)}, {"id": 3, "text": None}]))
    (tmp_path / "b.jsonl").write_bytes(
        jsonl([{"id": "1", "text": text(3)}, {"lang": "xx", "text": near(1), "id": "2"}, {"text": text(4), "id": "4"}])
    )
    odd = [{"id": 5}, {"id": 6, "text": 12345}, {"id": 7, "text": [text(2)]}, {"id": 8, "text": near(2), "more": {"n": [1, 2]}}]
    (tmp_path / "c.jsonl").write_bytes(jsonl(odd))
    listed = lw.pairs(tmp_path, by="whitespace:5")
    assert listed.to_arrow().column_names == ["id_a", "id_b", "similarity"]  # the ids, all different, tell the items apart
    assert [(row["id_a"], row["id_b"]) for row in listed.to_arrow().to_pylist()] == [("1", '"2"'), ("2", "8")]  # JSON text: a number and a string
    result = lw.dedup(tmp_path, by="whitespace:5", out=tmp_path / "out")
    assert (result.report["counts"]["read"], result.report["counts"]["without_text"], len(result.kept)) == (10, 4, 8)
    assert all("4 of 10 items have no text" in report["warnings"][0] for report in (listed.report, result.report))
    assert all(place in result.report["warnings"][0] for place in ("a.jsonl item 3", "c.jsonl item 1", "c.jsonl item 2", "c.jsonl item 3"))
    assert (tmp_path / "out/kept/c.jsonl").read_bytes() == jsonl(odd[:3])


def test_one_work_folder_for_two_fields_and_no_field_of_ours_in_the_records(tmp_path):
    rows = [{"id": i, "title": text(i, 10), "doc": {"body": text(10 + i, 40), "lang": "aa"}} for i in range(5)]
    rows[1]["title"], rows[3]["doc"]["body"] = rows[0]["title"], rows[2]["doc"]["body"]
    (tmp_path / "in.jsonl").write_bytes(jsonl(rows))
    work = tmp_path / "work"
    assert found(tmp_path / "in.jsonl", field="title", work=work) == {(0, 1): 1.0}
    assert found(tmp_path / "in.jsonl", field="doc.body", work=work) == {(2, 3): 1.0}
    lw.dedup(tmp_path / "in.jsonl", field="title", work=work, out=tmp_path / "a")
    lw.dedup(tmp_path / "a/kept", field="doc.body", work=work, out=tmp_path / "b")
    assert (tmp_path / "b/kept/in.jsonl").read_bytes() == jsonl([rows[0], rows[2], rows[4]])
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    assert found(tmp_path / "in.parquet", field="doc.body") == {(2, 3): 1.0}


TEXT_TYPES = {
    "string": pa.string(),
    "large": pa.large_string(),
    "view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "binary": pa.binary(),
}


def test_shards_whose_writers_chose_different_types_for_one_column(tmp_path):
    pq.write_table(pa.table({"id": [100, 101], "text": pa.nulls(2)}), tmp_path / "0.parquet")
    for shard, (name, kind) in enumerate(TEXT_TYPES.items()):
        texts = [text(10 * shard), None, near(10 * (shard - 1)) if shard else text(99)]
        column = pa.array([each and each.encode() for each in texts], pa.binary()) if name == "binary" else pa.array(texts).cast(kind)
        columns = {"id": pa.array([10 * shard, 10 * shard + 1, 10 * shard + 2]), "text": column}
        table = pa.table(columns if shard % 2 else dict(reversed(columns.items())))
        pq.write_table(table, tmp_path / f"{shard + 1}.parquet", row_group_size=2)
    result = lw.dedup(tmp_path, by="whitespace:5", out=tmp_path / "out")
    counts = result.report["counts"]
    assert (counts["read"], counts["without_text"], counts["removed"]) == (17, 7, 4)
    assert [(row["kept_id"], row["id"]) for row in result.removed.to_arrow().to_pylist()] == [(10 * i, 10 * i + 12) for i in range(4)]
    for path in sorted(tmp_path.glob("*.parquet")):
        whole, kept = pq.read_table(path), pq.read_table(tmp_path / "out/kept" / path.name)
        gone = set(result.removed.to_arrow()["id"].to_pylist())
        assert kept.schema == whole.schema
        assert kept.to_pylist() == [row for row in whole.to_pylist() if row["id"] not in gone]


# --- nothing to do


@pytest.mark.parametrize(
    ("files", "read"),
    [
        ({"empty.jsonl": b""}, 0),
        ({"blank.jsonl": b"\n\n \n"}, 0),
        ({"one.jsonl": b'{"id": "only", "text": "here"}'}, 1),
        ({"empty.jsonl": b"", "blank.jsonl": b"\n\n", "one.jsonl": b'{"id": "only", "text": "here"}'}, 1),
        ({"empty.csv": b"", "header.csv": b"id,text\r\n"}, 0),
        ({"empty.json": b"[]", "empty.jsonl.gz": gzip.compress(b"")}, 0),
    ],
)
def test_nothing_to_compare_is_a_result(likewise, tmp_path, files, read):
    (tmp_path / "in").mkdir()
    for name, data in files.items():
        (tmp_path / "in" / name).write_bytes(data)
    done = likewise("dedup", "in", "-o", "out", "--pairs")
    assert (done.status, done.out) == (0, "")
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert (report["counts"]["read"], report["counts"]["kept"], report["counts"]["removed"]) == (read, read, 0)
    assert set(everything(tmp_path / "out/kept")) == set(files)
    for name in ("removed", "clusters", "pairs"):
        assert pq.read_table(tmp_path / f"out/{name}.parquet").num_rows == 0
    for target in ("p.parquet", "p.jsonl", "p.csv"):
        assert likewise("pairs", "in", "-o", target).status == 0
    assert pq.read_table(tmp_path / "p.parquet").column_names[:3] == ["id_a", "id_b", "similarity"]
    assert (tmp_path / "p.jsonl").read_bytes() == b""
    assert likewise("pairs", "-", stdin=b"").status == 0


@pytest.mark.parametrize("given", ["nothing", "*.jsonl", "in.jsonk", "nofolder/in.jsonl"])
def test_a_mistyped_path_is_an_error(likewise, tmp_path, given):
    (tmp_path / "nothing").mkdir()
    for verb in ("dedup", "pairs"):
        done = likewise(verb, given, "-o", "out.parquet")
        assert (done.status, done.out) == (2, "")
        assert given in done.err
        assert "Traceback" not in done.err
    assert os.listdir(tmp_path) == ["nothing"]


# --- names that are not there


def test_a_wrong_field_option_or_key_never_looks_like_no_duplicates(likewise, tmp_path):
    (tmp_path / "in.jsonl").write_bytes(jsonl([{"id": i, "text": text(1)} for i in range(3)]))
    for wrong in ("content", "Text", "text.en"):
        done = likewise("dedup", "in.jsonl", "-o", "out", "--field", wrong)
        assert (done.status, done.out) == (2, "")
        assert wrong in done.err
        assert "fields seen: id, text" in done.err
    assert os.listdir(tmp_path) == ["in.jsonl"]
    done = likewise("pairs", "in.jsonl", "--treshold", "0.8")
    assert (done.status, "--threshold" in done.err) == (2, True)
    done = likewise("pairs", "in.jsonl", "--threshold", "80", "-o", "p.csv")
    assert (done.status, done.err.count("\n"), os.listdir(tmp_path)) == (2, 1, ["in.jsonl"])
    assert "--threshold 80: " in done.err
    with pytest.raises(lw.UsageError, match="did you mean threshold"):
        lw.dedup(tmp_path / "in.jsonl", treshold=0.8)
    (tmp_path / "likewise.toml").write_text("treshold = 0.8\n")
    done = likewise("pairs", "in.jsonl")
    assert (done.status, "treshold" in done.err, "threshold?" in done.err) == (2, True, True)
    (tmp_path / "likewise.toml").write_text("threshold = 0.8\n")
    done = likewise("pairs", "in.jsonl", "--field", "text")
    assert [json.loads(line) for line in done.out.splitlines()] == [{"id_a": a, "id_b": b, "similarity": 1.0} for a, b in ((0, 1), (0, 2), (1, 2))]
