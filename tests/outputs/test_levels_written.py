"""Files written without their repeated lines and paragraphs: the text is as expected, and all other bytes are those of the source."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, ipc

import likewise as lw

MENU, FOOT = "Home, news and the weather", 'All rights reserved, "really" \\ é'
#: Three pages with a common menu and foot, and a fourth that has nothing else.
TEXTS = [
    f"{MENU}\r\nThe first story is about a fox.\n{FOOT}\n",
    f"{MENU}\nThe second, about a dog 😀.\n\n{FOOT}",
    f"A third.\n{FOOT}\r\nIts end has no line end",
    f"{FOOT}\n{MENU}\n",
    "",
]
LINES = [TEXTS[0], "The second, about a dog 😀.\n\n", "A third.\nIts end has no line end", None, ""]
KEPT = [0, 1, 2, 4]


def kept(out: Path, name: str) -> bytes:
    return (out / "kept" / name).read_bytes()


def dedup(path: Path, out: Path, **options: Any) -> lw.Removal:
    return lw.dedup(path, out=out, **({"level": "line"} | options))


PACK: dict[str, tuple[Any, Any]] = {
    "": (bytes, bytes),
    ".gz": (gzip.compress, gzip.decompress),
    ".zst": (lambda data: pa.compress(data, "zstd", asbytes=True), lambda data: pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()),
    ".bz2": (bz2.compress, bz2.decompress),
    ".xz": (lzma.compress, lzma.decompress),
}


def spelled(text: str) -> str:
    """A JSON string with escapes that json.dumps does not write."""
    return json.dumps(text, ensure_ascii=False).replace("o", "\\u006f").replace("😀", "\\uD83d\\uDe00").replace("/", "\\/")


@pytest.mark.parametrize("packed", PACK)
def test_json_lines(tmp_path: Path, packed: str) -> None:
    pack, unpack = PACK[packed]
    records = [f'{{"n":{i}.50, "text" :  {spelled(text)},"t":"\\u0041\\n"}}' for i, text in enumerate(TEXTS)]
    name = f"a.jsonl{packed}"
    (tmp_path / name).write_bytes(pack(("\ufeff" + "\r\n".join(records) + "\n").encode()))
    found = dedup(tmp_path / name, tmp_path / "out")
    expected = [f'{{"n":{i}.50, "text" :  {spelled(LINES[i] or "")},"t":"\\u0041\\n"}}' for i in KEPT]
    ends = ["\r\n", "\r\n", "\r\n", "\n"]
    assert unpack(kept(tmp_path / "out", name)).decode() == "\ufeff" + "".join(map("".join, zip(expected, ends, strict=True)))
    assert found.counts | {"kept": 4, "removed": 1, "removed_short": 1, "shortened": 2, "read": 5, "rejected": 0} == found.counts


def test_json_arrays_and_lists_inside_documents(tmp_path: Path) -> None:
    rows = [{"x": [1], "text": text} for text in TEXTS]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    dedup(tmp_path / "a.json", tmp_path / "out")
    assert json.loads(kept(tmp_path / "out", "a.json")) == [{"x": [1], "text": LINES[i]} for i in KEPT]
    (tmp_path / "b.json").write_text(json.dumps({"n": 1, "data": rows, "end": None}))
    dedup(tmp_path / "b.json", tmp_path / "other", records="data")
    assert json.loads(kept(tmp_path / "other", "b.json")) == {"n": 1, "data": [{"x": [1], "text": LINES[i]} for i in KEPT], "end": None}


def test_a_field_inside_records(tmp_path: Path) -> None:
    rows = [{"doc": {"body": text, "text": text}} for text in TEXTS]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "b.parquet")
    dedup(tmp_path / "a.jsonl", tmp_path / "out", field="doc.body")
    dedup(tmp_path / "b.parquet", tmp_path / "other", field="doc.body")
    expected = [{"doc": {"body": LINES[i], "text": TEXTS[i]}} for i in KEPT]
    assert [json.loads(line) for line in kept(tmp_path / "out", "a.jsonl").splitlines()] == expected
    assert pq.read_table(tmp_path / "other" / "kept" / "b.parquet").to_pylist() == expected


def test_csv(tmp_path: Path) -> None:
    cells = ['"' + text.replace('"', '""') + '"' for text in TEXTS]
    records = [f'{i};{cell};"a ""b""\r\nc"\r\n' for i, cell in enumerate(cells)]
    (tmp_path / "a.csv").write_bytes(("n;text;z\r\n" + "".join(records)).encode())
    dedup(tmp_path / "a.csv", tmp_path / "out")
    left = ['"' + (text or "").replace('"', '""') + '"' for text in LINES]
    expected = "n;text;z\r\n" + "".join(f'{i};{left[i]};"a ""b""\r\nc"\r\n' for i in KEPT)
    assert kept(tmp_path / "out", "a.csv").decode() == expected
    assert [row[1] for row in csv.reader(io.StringIO(expected, newline=""), delimiter=";")][1:] == [LINES[i] for i in KEPT]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.arrows"])
def test_columnar_files(tmp_path: Path, name: str) -> None:
    table = pa.table(
        {"n": pa.array(range(5), pa.int8()), "text": pa.array(TEXTS, pa.large_string()), "s": pa.array([[{"a": 1}]] * 5)}, metadata={"k": "v"}
    )
    if name == "a.parquet":
        pq.write_table(table, tmp_path / name, compression="zstd", row_group_size=2)
    elif name == "a.arrow":
        feather.write_feather(table, tmp_path / name, compression="lz4", chunksize=2)
    else:
        with ipc.new_stream(tmp_path / name, table.schema) as sink:
            sink.write_table(table, max_chunksize=2)
    dedup(tmp_path / name, tmp_path / "out")
    read = {"a.parquet": pq.read_table, "a.arrow": feather.read_table, "a.arrows": lambda path: ipc.open_stream(path).read_all()}[name]
    source, found = read(tmp_path / name), read(tmp_path / "out" / "kept" / name)
    assert found.schema.equals(source.schema, check_metadata=True)
    assert found["text"].to_pylist() == [LINES[i] for i in KEPT]
    assert found.drop_columns("text").equals(source.drop_columns("text").take(KEPT))
    if name == "a.parquet":
        assert pq.ParquetFile(tmp_path / "out" / "kept" / name).metadata.row_group(0).column(1).compression == "ZSTD"


def test_text_files(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for i, text in enumerate(TEXTS):
        (tmp_path / "in" / "deep" / f"{i}.txt").write_bytes((b"\xef\xbb\xbf" if i == 1 else b"") + text.encode())
    found = dedup(tmp_path / "in", tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out" / "kept" / "deep").iterdir()) == ["0.txt", "1.txt", "2.txt", "4.txt"]
    for i in KEPT:
        assert kept(tmp_path / "out", f"deep/{i}.txt") == (b"\xef\xbb\xbf" if i == 1 else b"") + (LINES[i] or "").encode()
    assert found.removed[0]["source"] == "deep/1.txt" and found.dropped is not None and found.dropped["source"].tolist() == ["deep/3.txt"]


def test_data_in_memory(tmp_path: Path) -> None:
    rows = [{"id": f"d{i}", "text": text, "x": (i, None)} for i, text in enumerate(TEXTS)]
    found = lw.dedup(rows, level="line")
    assert found.kept["text"].tolist() == [LINES[i] for i in KEPT] and found.kept["id"].tolist() == ["d0", "d1", "d2", "d4"]
    assert lw.dedup(TEXTS, level="line").kept["text"].tolist() == [LINES[i] for i in KEPT]
    mixed = [{"text": text} for text in TEXTS] + [{"text": 7}]
    assert json.loads(lw.dedup(mixed, level="line").kept.to_dicts()[1]["text"]) == LINES[1]  # a column of several types holds JSON
    table = pa.table({"text": pa.array(TEXTS).dictionary_encode()})
    found = lw.dedup(table, level="line", out=tmp_path / "out")
    assert feather.read_table(tmp_path / "out" / "kept" / "memory.arrow")["text"].to_pylist() == [LINES[i] for i in KEPT]
    assert found.kept.to_arrow().schema == table.schema


def test_places_are_those_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(TEXTS)))
    found = dedup(tmp_path / "a.jsonl", tmp_path / "out", pairs=True)
    rows = pq.read_table(tmp_path / "out" / "removed.parquet").to_pylist()
    assert rows == found.removed.to_dicts()
    cut = [(row["position"], TEXTS[row["position"]][row["start"] : row["end"]]) for row in rows]
    assert cut == [(1, MENU + "\n"), (1, FOOT), (2, FOOT + "\r\n"), (3, FOOT + "\n"), (3, MENU + "\n")]
    for row in rows:
        other = TEXTS[row["kept_position"]][row["kept_start"] : row["kept_end"]]
        assert other.strip() == TEXTS[row["position"]][row["start"] : row["end"]].strip() and row["kept_id"] == "0"
    dropped = pq.read_table(tmp_path / "out" / "dropped.parquet").to_pylist()
    assert dropped == [{"id": "3", "source": "a.jsonl", "position": 3, "tokens": 10, "tokens_left": 0}]
    clusters = pq.read_table(tmp_path / "out" / "clusters.parquet")
    assert set(clusters["cluster"].to_pylist()) == {"a.jsonl:0:0", f"a.jsonl:0:{len(TEXTS[0]) - len(FOOT) - 1}"} and len(clusters) == 7
    assert "start_a" in pq.read_schema(tmp_path / "out" / "pairs.parquet").names


def test_the_report_counts_documents_and_lines(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS) + '{"text": null}\nno json\n')
    found = dedup(tmp_path / "a.jsonl", tmp_path / "out", on_error="skip")
    counts, units = found.counts, found.report["units"]
    assert (counts["read"], counts["kept"], counts["removed"], counts["rejected"], counts["empty"]) == (7, 5, 1, 1, 2)
    assert {name: units[name] for name in ("level", "read", "kept", "removed", "dropped", "empty")} == {
        "level": "line",
        "read": 12,
        "kept": 7,
        "removed": 5,
        "dropped": 0,
        "empty": 1,
    }
    written = "".join(json.loads(line)["text"] or "" for line in kept(tmp_path / "out", "a.jsonl").splitlines())
    assert units["characters"] == {
        "read": sum(map(len, TEXTS)),
        "kept": len(written),
        "removed": sum(map(len, TEXTS)) - len(written),
        "dropped": 0,
    }
    first, second = found.report["largest_parts"]
    assert (first["text"], first["times"], first["documents"]) == (FOOT, 4, 4) and (second["text"], second["times"]) == (MENU, 3)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "7 documents read: 5 kept (2 without some of their lines), 1 removed, 1 rejected" in page
    assert "7 kept + 5 removed + 0 in removed documents = 12 read" in page and "The lines repeated most" in page
    assert repr(found).startswith("Removal: lines: 12 read, 7 kept, 5 removed (5 exact copies); documents: 7 read, 5 kept (2 of them shortened)")


def test_short_documents_go_and_their_lines_stand_for_no_others(tmp_path: Path) -> None:
    texts = ["x y z\none two three\none two three\n", "one two three\nfour five six\nseven\n", "one two three\n"]
    found = lw.dedup(texts, level="line", min_left=7)
    assert found.kept["text"].tolist() == [texts[1]]
    assert found.dropped is not None and found.dropped["tokens_left"].tolist() == [6, 0]
    assert [(row["position"], row["kept_position"]) for row in found.removed.to_dicts()] == [(2, 1)]
    assert lw.dedup(texts, level="line", min_left=0).kept["text"].tolist() == ["x y z\none two three\n", "four five six\nseven\n", ""]


def test_without_repetitions_and_without_texts(tmp_path: Path) -> None:
    for name, rows in {"a": [{"text": "one\ntwo"}, {"text": "three"}], "b": [{"text": ""}, {"text": None}], "c": []}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        found = lw.dedup(tmp_path / f"{name}.jsonl", level="line", out=tmp_path / name, min_left=5)
        assert kept(tmp_path / name, f"{name}.jsonl") == (tmp_path / f"{name}.jsonl").read_bytes()
        assert found.counts["kept"] == len(rows) and found.report["units"]["removed"] == 0 and found.report["largest_parts"] == []
        assert "kept" in (tmp_path / name / "report.html").read_text() or not rows


def test_paragraphs(tmp_path: Path) -> None:
    texts = ["\n\nOne\ntwo.\n\n\nShared\nparagraph.\n\nEnd.", "Shared\nparagraph.\n \n\nMine.\n", "one\ntwo."]
    found = lw.dedup(texts, level="paragraph")
    assert found.kept["text"].tolist() == [texts[0], "Mine.\n"]
    assert [(row["position"], row["start"], row["end"]) for row in found.removed.to_dicts()] == [(1, 0, 21), (2, 0, 8)]


def test_keep_and_prefer_order_documents(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "same line here\\na", "n": 1}\n{"text": "same line here\\nbbb", "n": 2}\n')
    (tmp_path / "b.jsonl").write_text('{"text": "same line here\\nc", "n": 3}\n')
    for options, stays in (({}, "a"), ({"keep": "last"}, "c"), ({"keep": "longest"}, "bbb"), ({"keep": "min:n"}, "a"), ({"prefer": "b*"}, "c")):
        found = lw.dedup(tmp_path, level="line", out=tmp_path / "out", overwrite=True, **options)
        lines = b"".join((tmp_path / "out" / "kept" / name).read_bytes() for name in ("a.jsonl", "b.jsonl")).splitlines()
        assert [text.rpartition("\n")[2] for line in lines if "same" in (text := json.loads(line)["text"])] == [stays]
        assert found.report["units"]["removed"] == 2


def test_groups_and_ignored_shingles() -> None:
    rows = [{"text": "a shared line\nx", "lang": "en"}, {"text": "a shared line\ny", "lang": "de"}, {"text": "a shared line\nz", "lang": "en"}]
    assert lw.dedup(rows, level="line", per="lang").kept["text"].tolist() == ["a shared line\nx", "a shared line\ny", "z"]
    rows = [{"text": f"{word} is new\nunder the license of us"} for word in ("this", "that", "other")]
    found = lw.dedup(rows, level="line", ignore=["under the license of us"])
    assert found.report["units"]["removed"] == 2  # exact copies are copies, whatever is ignored


def test_threads_memory_and_limits_change_no_byte(tmp_path: Path) -> None:
    rows = [{"text": "".join(f"line {(i * j) % 977} of {j % 7}\n" for j in range(20)), "i": i} for i in range(2000)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    outs = []
    for number, options in enumerate(({}, {"threads": 1}, {"threads": 3, "memory": "256M"})):
        dedup(tmp_path / "a.jsonl", tmp_path / f"{number}", by="words:2", threshold=0.8, **options)
        outs.append({path.name: path.read_bytes() for path in sorted((tmp_path / f"{number}").rglob("*")) if path.is_file()})
    for name in outs[0].keys() - {"run.json", "report.html"}:
        assert outs[0][name] == outs[1][name] == outs[2][name], name
    few = lw.dedup(tmp_path / "a.jsonl", level="line", limit=7)
    assert few.counts["read"] == 7 and few.report["units"]["read"] == 140


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "cosine"}, "only texts have lines; by='cosine' compares vectors"),
        ({"by": "tokens:3"}, "only texts have lines"),
        ({"by": "levenshtein"}, "only texts have lines; by='levenshtein' compares strings"),
        ({"field": "a+b"}, "lines are cut out of one field; name a single one"),
        ({"field": "a|b"}, "lines are cut out of one field"),
        ({"output": "annotate"}, "a document has several parts"),
        ({"copies": "empty"}, "blank lines are always kept"),
        ({"level": "sentence"}, "choose one of document, paragraph, line"),
        ({"level": "document", "min_left": 3}, "whole documents are compared"),
        ({"min_left": -1}, "give a whole number from 0"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, Any], message: str) -> None:
    with pytest.raises(lw.UsageError, match=message):
        lw.dedup(["a"], **({"level": "line"} | options))


def test_sources_that_cannot_be_cut(tmp_path: Path) -> None:
    body = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello\n"
    head = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:a>\r\nWARC-Target-URI: http://a/\r\n"
    record = f"{head}Content-Length: {len(body)}\r\n\r\n{body}\r\n\r\n"
    (tmp_path / "a.warc").write_text(record)
    with pytest.raises(lw.UsageError, match=r"a\.warc: lines cannot be cut out of this format .* JSON lines"):
        lw.dedup(tmp_path / "a.warc", level="line")
    feather.write_feather(pa.table({"text": pa.array(["a"]).dictionary_encode()}), tmp_path / "a.arrow")
    with pytest.raises(lw.UsageError, match="parts of its texts cannot be cut out"):
        lw.dedup(tmp_path / "a.arrow", level="line")
    small = pa.dictionary(pa.int8(), pa.string())  # has places for 128 texts
    for number in 64, 65:
        texts = [f"word{i} a\n" + "-" * (i + 1) + "\n" for i in range(number)]
        table = pa.table({"text": pa.array(texts * 2).dictionary_encode().cast(small)})
        if number == 64:
            left = lw.dedup(table, level="line", min_left=0).kept.to_arrow()["text"]
            assert left.type == small and left.to_pylist() == texts + ["-" * (i + 1) + "\n" for i in range(number)]
        else:
            with pytest.raises(lw.UsageError, match=r"column 'text', dictionary<values=string, indices=int8.* cannot hold its 130 different texts"):
                lw.dedup(table, level="line", min_left=0)
    (tmp_path / "a.jsonl").write_text('{"text": ["a", "b"]}\n')
    with pytest.raises(lw.DataError, match="list"):
        lw.dedup(tmp_path / "a.jsonl", level="line")
