"""Damaged and hostile archives: a record that cannot be read is named and rejected alone; the others are read and kept."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

import archives
import likewise as lw
from archives import INFO, members, record, request, response
from likewise.errors import DataError
from likewise.io.formats import lines, warc
from likewise.records import Want

ONE, TWO, THREE = (response(number, f"{number} two three four five six") for number in (1, 2, 3))
LONG = response(2, "word " * 400)
BINARY = response(2, b"\0" * 2000, "Content-Type: video/mp4")
CUT = "<urn:x:2> at byte {at}: this record ends after {left} bytes of content; its Content-Length is {length}"
ASTRAY = "record <urn:x:2> at byte {at}: no record begins after the content of this one; its Content-Length is {length}"


def relengthed(raw: bytes, more: int) -> bytes:
    """Return a record with a wrong Content-Length."""
    before, _, rest = raw.partition(b"Content-Length: ")
    length, _, block = rest.partition(b"\r\n")
    return before + b"Content-Length: %d\r\n" % (int(length) + more) + block


def length_of(raw: bytes) -> int:
    return int(raw.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])


def bomb(coding: str, pack: Callable[[bytes], bytes]) -> bytes:
    return response(2, pack(bytes(3_000_000)), "Content-Type: text/plain", f"Content-Encoding: {coding}")


@pytest.mark.parametrize(
    ("records", "reason", "kept"),
    [
        ([ONE, relengthed(TWO, -3), THREE], ASTRAY.format(at=len(ONE), length=length_of(TWO) - 3), ["1", "3"]),
        ([ONE, relengthed(TWO, 30), THREE], ASTRAY.format(at=len(ONE), length=length_of(TWO) + 30), ["1", "3"]),
        ([ONE, relengthed(TWO, 9999), THREE], ASTRAY.format(at=len(ONE), length=f"{length_of(TWO) + 9999:,}"), ["1", "3"]),
        ([ONE, relengthed(request(2), 8), THREE], ASTRAY.format(at=len(ONE), length=length_of(request(2)) + 8), ["1", "3"]),
        ([ONE, TWO.replace(b"Content-Length", b"Content-Size"), THREE], "the header of this record has no Content-Length", ["1", "3"]),
        ([ONE, relengthed(TWO, 10**30), THREE], "the header of this record has no Content-Length", ["1", "3"]),
        ([ONE, TWO[:-9]], CUT.format(at=len(ONE), left=length_of(TWO) - 5, length=length_of(TWO)), ["1"]),
        ([ONE, TWO[:40]], f"record at byte {len(ONE)}: the header of this record has no end", ["1"]),
        ([ONE, b"WARC/1.0\r\n" + b"x" * 70_000, b"\r\n", THREE], "the header of this record has no end", ["1", "3"]),
        ([ONE, response(2, "x", more=["WARC-Segment-Number: 1"]), THREE], "it is a segment of a record that is divided", ["1", "3"]),
        ([ONE, bomb("gzip", gzip.compress), THREE], "its content expands to more than", ["1", "3"]),
        ([ONE, bomb("deflate", zlib.compress), THREE], "its content expands to more than", ["1", "3"]),
    ],
)
@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
@pytest.mark.parametrize("size", [None, 200])
def test_a_damaged_record_is_rejected_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: list[bytes], reason: str, kept: list[str], name: str, size: int | None
) -> None:
    if size:
        monkeypatch.setattr(lines, "CHUNK_BYTES", size)
    path, out = tmp_path / name, tmp_path / "out"
    path.write_bytes(b"".join(records) if name == "a.warc" else members(records))
    with pytest.raises(DataError, match=r"a\.warc(\.gz)?, record .*on_error='skip'") as error:
        lw.dedup(path, out=out, max_record=2_000_000)
    assert reason in str(error.value)
    removal = lw.dedup(path, out=out, on_error="skip", max_record=2_000_000)
    assert (removal.report["counts"]["kept"], removal.report["counts"]["rejected"]) == (len(kept), 1)
    [entry] = [json.loads(line) for line in (out / "rejected.jsonl").read_text().splitlines()]
    assert reason in entry["reason"]
    assert archives.ids(out / "kept" / name) == kept


def test_a_truncated_member_ends_the_file(tmp_path: Path) -> None:
    """The records before it are read and kept, as in other compressed files."""
    path, out = tmp_path / "a.warc.gz", tmp_path / "out"
    path.write_bytes(members([INFO, ONE, THREE, response(2, bytes(range(33, 127)) * 40)])[:-60])
    with pytest.raises(DataError, match="the gzip stream ends early"):
        lw.dedup(path, out=out)
    removal = lw.dedup(path, out=out, on_error="skip")
    assert (removal.report["counts"]["kept"], removal.report["counts"]["rejected"]) == (2, 1)
    assert archives.ids(out / "kept/a.warc.gz") == ["info", "1", "3"]


@pytest.mark.parametrize("size", [None, 200])
@pytest.mark.parametrize("tail", [members([response(3, "x y z")])[:7], members([response(3, "x y z")])[:-40], b"junk that is no member"])
def test_whole_records_before_damage_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tail: bytes, size: int | None) -> None:
    """Also the last one, although nothing behind it can be read."""
    if size:
        monkeypatch.setattr(lines, "CHUNK_BYTES", size)
    path, out = tmp_path / "a.warc.gz", tmp_path / "out"
    path.write_bytes(members([INFO, ONE, TWO]) + tail)
    removal = lw.dedup(path, out=out, on_error="skip", threshold=1.0)
    counts = removal.report["counts"]
    assert (counts["read"], counts["kept"], counts["rejected"]) == (3, 2, 1)
    assert archives.ids(out / "kept/a.warc.gz") == ["info", "1", "2"]
    with pytest.raises(DataError, match="the gzip stream"):
        lw.dedup(path)


@pytest.mark.parametrize("output", ["copy", "annotate"])
def test_an_archive_of_which_nothing_is_kept(tmp_path: Path, output: str) -> None:
    """The written file can be read again: it is an empty gzip file, not a file of zero bytes."""
    (tmp_path / "a.warc.gz").write_bytes(gzip.compress(TWO[:-9]))
    lw.dedup(tmp_path / "a.warc.gz", out=tmp_path / "out", on_error="skip", output=output)
    [written] = (tmp_path / "out").glob("*/a.warc.gz")
    assert gzip.decompress(written.read_bytes()) == b""
    assert lw.dedup(written).report["counts"]["read"] == 0


def test_a_damaged_member_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    raw = members([ONE, TWO, THREE])
    path.write_bytes(raw[: len(gzip.compress(ONE)) + 30] + b"\xff\xff" + raw[len(gzip.compress(ONE)) + 32 :])
    with pytest.raises(DataError, match="the gzip stream is damaged"):
        lw.dedup(path)


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
@pytest.mark.parametrize("size", [100, 300])
def test_long_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: int) -> None:
    """A text above --max-record is rejected by name. A video is not read, whatever its size, and kept."""
    monkeypatch.setattr(lines, "CHUNK_BYTES", size)
    path, out = tmp_path / name, tmp_path / "out"
    form = b"".join if name == "a.warc" else members
    path.write_bytes(form([INFO, ONE, BINARY, THREE]))
    removal = lw.dedup(path, out=out, max_record=1000)
    assert (removal.report["counts"]["kept"], removal.report["counts"]["without_text"]) == (3, 1)
    assert (out / "kept" / name).read_bytes() == path.read_bytes()
    path.write_bytes(form([INFO, ONE, LONG, THREE]))
    with pytest.raises(DataError, match=r"record <urn:x:2> at byte .*: the record is longer than max_record= allows"):
        lw.dedup(path, max_record=1000)
    removal = lw.dedup(path, out=out, max_record=1000, on_error="skip", overwrite=True)
    assert archives.ids(out / "kept" / name) == ["info", "1", "3"]
    assert lw.dedup(path, max_record=3000).report["counts"]["kept"] == 3
    path.write_bytes(form([ONE, LONG[:-50]]))
    with pytest.raises(DataError, match=r"this record ends after 2,014 bytes of content; its Content-Length is 2,060"):
        lw.dedup(path, max_record=1000)
    path.write_bytes(form([ONE, LONG.replace(b"Content-Length", b"Content-Size"), THREE]))
    assert lw.dedup(path, max_record=1000, on_error="skip").report["counts"]["kept"] == 2


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
@pytest.mark.parametrize("most", [1000, 10_000_000])
@pytest.mark.parametrize("more", [50, 3000, 6500, 10**12])
def test_the_limit_of_records_does_not_change_where_records_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int, more: int
) -> None:
    """A record with a far too large Content-Length is rejected alone, whether it exceeds the chunks, --max-record or the file."""
    monkeypatch.setattr(lines, "CHUNK_BYTES", 2000)
    monkeypatch.setattr(warc, "BLOCK_BYTES", 300)
    path, out = tmp_path / name, tmp_path / "out"
    rest = [response(number, f"{number} " * 200) for number in range(3, 20)]
    records = [INFO, ONE, relengthed(TWO, more), *rest]
    path.write_bytes(b"".join(records) if name == "a.warc" else members(records))
    counts = lw.dedup(path, out=out, on_error="skip", max_record=most, threshold=1.0).report["counts"]
    assert (counts["read"], counts["kept"], counts["rejected"]) == (19, 18, 1)
    assert archives.ids(out / "kept" / name) == ["info", "1", *map(str, range(3, 20))]


@pytest.mark.parametrize("size", range(1990, 2012))
@pytest.mark.parametrize("ends", [b"\r\n\r\n", b"\n\n", b"\n", b"", b"\r\n" * 40])
def test_records_about_as_long_as_a_chunk_and_any_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, ends: bytes) -> None:
    """No record is lost or rejected where a chunk ends in the line ends behind a record, or these are fewer or more than the standard says."""
    monkeypatch.setattr(lines, "CHUNK_BYTES", 2000)
    monkeypatch.setattr(warc, "BLOCK_BYTES", 10)
    path = tmp_path / "a.warc"
    video = response(2, b"\0" * (size - len(BINARY) + 2000 + 4), "Content-Type: video/mp4").removesuffix(b"\r\n\r\n")
    path.write_bytes(ONE + video + ends + THREE)
    found = [chunk.start + frame.begin for chunk in warc.chunks(path, Want(most=1000)) for frame in chunk.state.more]
    assert found == [0, len(ONE), len(ONE + video + ends)]
    assert not any(frame.fault for chunk in warc.chunks(path, Want(most=1000)) for frame in chunk.state.more)


def test_a_changed_archive_is_not_written(tmp_path: Path) -> None:
    """The records must still be where they were read."""
    import numpy as np

    from likewise.io.formats import warc

    path = tmp_path / "a.warc"
    path.write_bytes(ONE + TWO)
    for raw in (INFO + ONE + TWO, ONE):
        path.write_bytes(raw)
        with pytest.raises(DataError, match="is shorter than when it was first read"):
            warc.write(path, tmp_path / "out", np.array([True, True]), np.array([0, len(ONE)]), np.array([len(ONE), len(TWO)]))


def test_an_archive_in_an_archive(tmp_path: Path) -> None:
    """Records inside a content are not records of the archive, also if they are stored literally in a compressed member."""
    inner = response(1, ONE + TWO, "Content-Type: application/warc")
    stored = zlib.compressobj(0, zlib.DEFLATED, 31)
    outer = response(2, gzip.compress(ONE) * 3, "Content-Type: application/gzip")
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(inner) + stored.compress(outer) + stored.flush() + gzip.compress(THREE))
    counts = lw.dedup(path, out=tmp_path / "out").report["counts"]
    assert (counts["read"], counts["without_text"]) == (3, 2)
    assert (tmp_path / "out/kept/a.warc.gz").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("backward", [False, True])
def test_a_record_of_a_removed_record_s_request_is_not_kept(tmp_path: Path, backward: bool) -> None:
    """A record belongs to a row also through others, in any order; a chain that leads to no row, or in a circle, is kept."""
    path, out = tmp_path / "a.warc", tmp_path / "out"
    chains = [
        request("q1", "WARC-Concurrent-To: <urn:x:1>"),
        request("q2", "WARC-Concurrent-To: <urn:x:2>"),
        *(record("metadata", f"m{n}", b"a: b", "application/warc-fields", f"WARC-Concurrent-To: <urn:x:q{n}>") for n in (1, 2, 3)),
        *(record("metadata", f"n{n}", b"a: b", "application/warc-fields", f"WARC-Refers-To: <urn:x:m{n}>") for n in (1, 2)),
        *(record("metadata", f"c{n}", b"a: b", "application/warc-fields", f"WARC-Refers-To: <urn:x:c{3 - n}>") for n in (1, 2)),
    ]
    path.write_bytes(b"".join([*chains[:: -1 if backward else 1], response(1, "one two three"), response(2, "one two three")]))
    lw.dedup(path, out=out)
    kept = ["q1", "m1", "m3", "n1", "c1", "c2"]
    assert archives.ids(out / "kept/a.warc") == [*kept[:: -1 if backward else 1], "1"]


def test_records_without_ids_and_links(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(raw.replace(b"WARC-Record-ID", b"X") for raw in (request(9), ONE, ONE, record("metadata", 8, b"x", "text/plain"))))
    removal = lw.dedup(path, out=tmp_path / "out")
    assert removal.report["counts"]["removed"] == 1
    assert (tmp_path / "out/kept/a.warc").read_bytes().count(b"WARC/1.0") == 3
