"""Web archives: every record with a document is an item, and kept files are archives again."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import archives
import likewise as lw
from archives import INFO, members, record, request, response
from likewise.cli.main import main
from likewise.errors import DataError, MissingPartError, UsageError
from likewise.io.formats import lines

CONCURRENT = "WARC-Concurrent-To: <urn:x:{}>"
#: A crawl: 3 is a copy of 1, and 5 an image. Requests come before and after, and name the response or are named by it.
RECORDS = [
    INFO,
    request("q1", CONCURRENT.format(1)),
    response(1, "one two three four five six"),
    record("metadata", "m1", b"fetchTimeMs: 7\r\n", "application/warc-fields", CONCURRENT.format(1)),
    response(2, "seven eight nine ten eleven twelve"),
    request("q3"),
    response(3, "one two three four five six", more=[CONCURRENT.format("q3")]),
    record("metadata", "m3", b"fetchTimeMs: 9\r\n", "application/warc-fields", CONCURRENT.format(3)),
    record("revisit", "r3", b"", "application/http", "WARC-Refers-To: <urn:x:3>"),
    record("revisit", "r9", b"", "application/http", "WARC-Refers-To: <urn:x:9>"),
    response(5, b"\x89PNG\0\0", "Content-Type: image/png"),
    record("conversion", 6, "größer als sieben oder acht".encode(), "text/plain"),
]
KEPT = ["info", "q1", "1", "m1", "2", "r9", "5", "6"]
REMOVED = ["info", "q3", "3", "m3", "r3", "r9"]
FORMS = {
    "a.warc": b"".join,
    "a.warc.gz": members,
    "one.warc.gz": lambda records: gzip.compress(b"".join(records)),
    "two.warc.gz": lambda records: gzip.compress(b"".join(records[:5])) + members(records[5:]),
    "a.warc.zst": lambda records: pa.compress(b"".join(records), "zstd", asbytes=True),
    "named.bin": members,
}


@pytest.mark.parametrize("size", [None, 300, 2000])
@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_an_archive_gives_the_same_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: int | None) -> None:
    if size:
        monkeypatch.setattr(lines, "CHUNK_BYTES", size)
    path, out = tmp_path / name, tmp_path / "out"
    path.write_bytes(FORMS[name](RECORDS))
    removal = lw.dedup(path, out=out, removed_records=True)
    counts = removal.report["counts"]
    assert (counts["read"], counts["kept"], counts["removed"], counts["without_text"]) == (5, 4, 1, 1)
    [row] = removal.removed.to_arrow().to_pylist()
    assert (row["id"], row["position"], row["kept_id"], row["similarity"]) == ("<urn:x:3>", 2, "<urn:x:1>", 1.0)
    assert archives.ids(out / "kept" / name) == KEPT
    assert archives.ids(out / "removed" / name) == REMOVED
    assert "one two three four five six" in CliRunner().invoke(main, ["show", str(out), "<urn:x:3>"]).stdout
    assert lw.audit(out).items == 3
    again = lw.dedup(out / "kept" / name)
    assert (again.report["counts"]["read"], again.report["counts"]["removed"]) == (4, 0)


@pytest.mark.parametrize(("name", "each"), [("a.warc", bytes), ("a.warc.gz", gzip.compress)])
def test_kept_records_are_copied_byte_for_byte(tmp_path: Path, name: str, each: Any) -> None:
    """Also with odd line ends between records, and members at several levels."""
    packed = [each(one + b"\r\n" * (number % 2)) for number, one in enumerate(RECORDS)]
    packed[2] = gzip.compress(RECORDS[2], 1) if name.endswith("gz") else packed[2]
    (tmp_path / name).write_bytes(b"".join(packed))
    lw.dedup(tmp_path / name, out=tmp_path / "out")
    written = (tmp_path / "out/kept" / name).read_bytes()
    assert written == b"".join(packed[number] for number in (0, 1, 2, 3, 4, 9, 10, 11))


def test_a_record_in_a_shared_member_gets_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(b"".join(RECORDS)))
    lw.dedup(tmp_path / "a.warc.gz", out=tmp_path / "out")
    written = (tmp_path / "out/kept/a.warc.gz").read_bytes()
    assert written.count(b"\x1f\x8b\x08") == len(KEPT)
    assert gzip.decompress(written) == b"".join(RECORDS[number] for number in (0, 1, 2, 3, 4, 9, 10, 11))


def test_fields_of_records(tmp_path: Path) -> None:
    """The uri, date, id, type, content type and status of a record serve as fields, ids, groups and scores."""
    records = [
        response(1, "a b c d e f", "Content-Type: Text/Plain; charset=utf-8"),
        response(2, "a b c d e f", "Content-Type: text/plain", status="404 Not Found"),
        response(3, "a b c d e f", "Content-Type: application/json"),
        record("resource", 4, b"a b c d e f", "text/plain"),
        record("resource", 5, b"a b c d e f", "text/plain", "WARC-Date: 2024"),
    ]
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(records))

    def kept(**options: Any) -> list[Any]:
        out = lw.dedup(path, out=tmp_path / "out", output="ids", overwrite=True, **options).out
        assert out is not None
        return pa.parquet.read_table(out / "kept.parquet")["id"].to_pylist()

    assert kept() == ["<urn:x:1>"]
    assert kept(id="uri", keep="max:date") == ["http://a.example/5"]
    assert kept(per="status") == ["<urn:x:1>", "<urn:x:2>", "<urn:x:4>"]
    assert kept(per="content_type") == ["<urn:x:1>", "<urn:x:3>"]
    assert kept(per="type") == ["<urn:x:1>", "<urn:x:4>"]
    assert kept(field="uri", by="levenshtein", within=0) == [f"<urn:x:{number}>" for number in range(1, 6)]
    assert kept(field="uri", by="levenshtein", within=1) == ["<urn:x:1>"]
    with pytest.raises(
        DataError, match=r"no row of a.warc has the field 'body'; fields seen: text, uri, host, language, date, id, type, content_type, status"
    ):
        lw.dedup(path, field="body")


def test_hosts_and_languages_of_records(tmp_path: Path) -> None:
    """The host is that of the address, whatever its case, port and user; the language is that of WET files of Common Crawl, as it is written."""
    text = b"a b c d e f"
    records = [
        record("conversion", 1, text, "text/plain", "WARC-Identified-Content-Language: deu"),
        record("conversion", 2, text, "text/plain", "WARC-Identified-Content-Language: deu,eng"),
        record("conversion", 3, text, "text/plain", "WARC-Identified-Content-Language: deu").replace(b"a.example", b"u:p@A.Example:80"),
        record("conversion", 4, text, "text/plain").replace(b"http://a.example/4", b"<https://b.example/4>"),
        record("conversion", 5, text, "text/plain").replace(b"http://a.example/5", b"urn:x:5"),
        record("conversion", 6, text, "text/plain").replace(b"http://a.example/6", b"http://[a/6"),
    ]
    path = tmp_path / "a.wet"
    path.write_bytes(b"".join(records))

    def groups(name: str) -> list[list[int]]:
        kept = lw.dedup(path, per=name)
        clusters: dict[Any, list[int]] = {}
        for row in kept.removed.to_dicts():
            clusters.setdefault(row["kept_position"], [row["kept_position"]]).append(row["position"])
        return list(clusters.values())

    assert groups("host") == [[0, 1, 2], [4, 5]]  # none of the last two has a host
    assert groups("language") == [[0, 2], [3, 4, 5]]


def test_annotated_records_have_fields_in_their_headers(tmp_path: Path) -> None:
    for name in ("a.warc", "a.warc.gz"):
        (tmp_path / name).write_bytes(FORMS[name](RECORDS))
        lw.dedup(tmp_path / name, out=tmp_path / "out", output="annotate", overwrite=True)
        written = tmp_path / "out/annotated" / name
        assert archives.ids(written) == ["info", "q1", "1", "m1", "2", "q3", "3", "m3", "r3", "r9", "5", "6"]
        raw = written.read_bytes()
        head, _, _ = (gzip.decompress(raw) if name.endswith("gz") else raw).partition(b"<urn:x:3>\r\n")[2].partition(b"\r\n\r\n")
        assert head.splitlines()[-3:] == [b"likewise_cluster: <urn:x:1>", b"likewise_kept_id: <urn:x:1>", b"likewise_similarity: 1.0"]
        assert lw.dedup(written).report["counts"]["removed"] == 1
        with pytest.raises(UsageError, match="a record already has the field 'likewise_cluster'"):
            lw.dedup(written, out=tmp_path / "again", output="annotate")


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_records_behind_the_limit_are_not_written(tmp_path: Path, limit: int) -> None:
    (tmp_path / "a.warc.gz").write_bytes(members(RECORDS))
    lw.dedup(tmp_path / "a.warc.gz", out=tmp_path / "out", limit=limit)
    kept = archives.ids(tmp_path / "out/kept/a.warc.gz")
    assert kept == [["info", "q1", "1", "m1"], ["info", "q1", "1", "m1", "2"], ["info", "q1", "1", "m1", "2"]][limit - 1]


def test_other_outputs_and_verbs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(members(RECORDS))
    assert [(pair["id_a"], pair["id_b"]) for pair in lw.pairs(path).to_arrow().to_pylist()] == [("<urn:x:1>", "<urn:x:3>")]
    found = lw.neighbors(path, query=["one two three four five six"], by="words:2", k=2).to_arrow()
    assert found["id_b"].to_pylist() == ["<urn:x:1>", "<urn:x:3>"]
    lw.dedup(path, out=tmp_path / "mask", output="mask")
    assert pa.parquet.read_table(tmp_path / "mask/mask.parquet")["kept"].to_pylist() == [True, True, False, True, True]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    lw.dedup("-", out=tmp_path / "piped")
    assert archives.ids(tmp_path / "piped/kept/stdin") == KEPT


def test_wet_needs_no_other_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resiliparse.extract.html2text", None)
    texts = ["größer als sieben oder acht", "größer als sieben oder acht", "anders"]
    path = tmp_path / "a.warc.wet.gz"
    path.write_bytes(members([INFO, *(record("conversion", number, text.encode(), "text/plain") for number, text in enumerate(texts, 1))]))
    lw.dedup(path, out=tmp_path / "out")
    assert archives.ids(tmp_path / "out/kept/a.warc.wet.gz") == ["info", "1", "3"]
    (tmp_path / "a.warc").write_bytes(response(1, "<p>one", "Content-Type: text/html"))
    with pytest.raises(MissingPartError, match=r"web pages are read with Resiliparse, which is not installed: pip .* install resiliparse"):
        lw.dedup(tmp_path / "a.warc")


def test_an_empty_archive_and_other_files(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(b"")
    assert lw.dedup(tmp_path / "a.warc").report["counts"]["read"] == 0
    (tmp_path / "a.warc").write_bytes(INFO)
    lw.dedup(tmp_path / "a.warc", out=tmp_path / "out")
    assert (tmp_path / "out/kept/a.warc").read_bytes() == INFO
    (tmp_path / "a.warc").write_bytes(b'{"text": "a"}\n')
    with pytest.raises(DataError, match=r"""a.warc: expected a web archive, which begins with WARC/, but the file begins with b'{"text": "a"'"""):
        lw.dedup(tmp_path / "a.warc")


def test_threads_do_not_change_the_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", 1500)
    records = [
        response(number % 28 + 1, f"<p>one two three four five {number % 50} " + "x " * (number % 7), "Content-Type: text/html")
        for number in range(300)
    ]
    (tmp_path / "a.warc.gz").write_bytes(members(records))
    for threads in (1, 4):
        lw.dedup(tmp_path / "a.warc.gz", out=tmp_path / f"out{threads}", threads=threads)
    for name in ("kept/a.warc.gz", "removed.parquet", "manifest.json"):
        assert (tmp_path / "out1" / name).read_bytes() == (tmp_path / "out4" / name).read_bytes()
