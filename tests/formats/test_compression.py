"""Compressed streams: whole ones are read to their end, others are errors; writing is deterministic."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest

from likewise.errors import DataError
from likewise.io import compression
from likewise.io.formats import csv, json_array, jsonl
from likewise.io.formats import lines as shared
from likewise.records import Want

TEXT = b"".join(b'{"id":%d,"text":"%d %s"}\n' % (i, i * i, b"word " * (i % 9)) for i in range(3000))
#: Kind -> one member or frame of it, made by another library than the one that likewise uses, where there is one.
PACK = {
    "gz": gzip.compress,
    "zst": lambda data: pa.Codec("zstd", compression_level=1).compress(data, asbytes=True),
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, check=lzma.CHECK_CRC64),
}
KINDS = list(PACK)
STEP = 1 << 16


def read(path: Path, step: int = STEP) -> bytes:
    parts = []
    with compression.open_read(path) as stream:
        buffer = bytearray(step)
        while size := compression.read_into(stream, memoryview(buffer)):
            parts.append(bytes(buffer[:size]))
    return b"".join(parts)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def test_one_member_and_several(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.jsonl.{kind}"
    for parts in ([TEXT], [TEXT, TEXT[:1000]], [b"", TEXT, b"", b"x", b""], [b""]):
        path.write_bytes(b"".join(map(PACK[kind], parts)))
        assert compression.kind_of(path) == kind
        for step in (100, 1 << 20):
            assert read(path, step) == b"".join(parts)


def test_padding(tmp_path: Path) -> None:
    for kind in ("gz", "xz"):
        path = tmp_path / f"a.{kind}"
        path.write_bytes(PACK[kind](TEXT) + bytes(512) + PACK[kind](b"more") + bytes(4))
        assert read(path) == TEXT + b"more"


def test_skippable_frames(tmp_path: Path) -> None:
    path = tmp_path / "a.zst"
    skip = b"\x53\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"
    path.write_bytes(skip + PACK["zst"](TEXT) + skip + PACK["zst"](b"more"))
    assert read(path) == TEXT + b"more"


def test_a_cut_stream_is_an_error(tmp_path: Path, kind: str) -> None:
    """Wherever it was cut, also inside the second member, and in the first bytes of one."""
    path = tmp_path / f"cut.jsonl.{kind}"
    whole = PACK[kind](TEXT) + PACK[kind](TEXT)
    first = len(PACK[kind](TEXT))
    for size in [12, first * 6 // 10, first - 1, first + 1, first + 5, first + 11, len(whole) - 9, len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(DataError) as caught:
            read(path)
        assert "cut.jsonl." in str(caught.value)
        assert "ends early, after " in str(caught.value)
        if first < size:  # the bytes read before are reported; Arrow keeps back the block in which it sees the end
            assert int(str(caught.value).split("after ")[1].split(" bytes")[0].replace(",", "")) >= len(TEXT) - (STEP if kind == "zst" else 0)


def test_a_damaged_stream_is_an_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"bad.{kind}"
    member = PACK[kind](TEXT)
    middle = bytearray(member)
    middle[len(middle) // 2] ^= 0x55
    damaged = {"middle": bytes(middle), "garbage behind": member + b"garbage that is long enough to be seen as such"}
    if kind == "zst":  # this frame has no checksum, as those of Arrow and of many others have none
        del damaged["middle"]
        damaged["header"] = member[:4] + b"\xff" * 8 + member[12:]
    if kind == "gz":
        damaged["checksum"] = member[:-5] + bytes([member[-5] ^ 1]) + member[-4:]
    for what, data in damaged.items():
        path.write_bytes(data)
        with pytest.raises(DataError, match=r"is damaged|ends early|is followed by bytes") as caught:
            read(path)
        assert f"bad.{kind}" in str(caught.value), what


def test_names_that_lie(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(PACK[kind](TEXT))
    assert compression.kind_of(path) == kind
    assert read(path) == TEXT
    other = tmp_path / f"a.{next(k for k in KINDS if k != kind)}"
    other.write_bytes(PACK[kind](TEXT))
    assert read(other) == TEXT
    for content in (b"", b'{"text":"plain"}\n'):
        (tmp_path / f"plain.{kind}").write_bytes(content)
        with pytest.raises(DataError, match=f"plain.{kind}: expected "):
            read(tmp_path / f"plain.{kind}")
    path.write_bytes(b"BZh9 is no magic by itself\n")
    assert compression.kind_of(path) == ""
    assert read(path) == b"BZh9 is no magic by itself\n"


def test_kind_by_name() -> None:
    names = {"a.jsonl": "", "a.jsonl.gz": "gz", "A.JSONL.GZIP": "gz", "a.csv.zst": "zst", "a.zstd": "zst", "a.bz2": "bz2", "a.xz": "xz", "gz": ""}
    assert {name: compression.kind_by_name(Path(name)) for name in names} == names


def test_a_large_window_is_named(tmp_path: Path) -> None:
    """zstd --long=31: Arrow decodes windows up to 128 MiB."""
    path = tmp_path / "long.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00" + bytes([(31 - 10) << 3]) + b"\x01\x00\x00")
    with pytest.raises(DataError, match=r"zstd -d --long=31 -c long\.zst"):
        read(path)


def test_writing_is_deterministic(tmp_path: Path, kind: str) -> None:
    for name in (f"one.{kind}", f"two.jsonl.{kind}"):
        compression.save(tmp_path / name, (memoryview(TEXT)[at : at + 7919] for at in range(0, len(TEXT), 7919)))
    one, two = (tmp_path / f"one.{kind}").read_bytes(), (tmp_path / f"two.jsonl.{kind}").read_bytes()
    assert one == two
    assert len(one) < len(TEXT) // 3
    assert read(tmp_path / f"one.{kind}") == TEXT
    if kind == "gz":
        assert one[3:8] == bytes(5)  # no name, no time
        assert zlib.decompress(one, 31) == TEXT


def test_large_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "FRAME_BYTES", 1000)
    path = tmp_path / "a.zst"
    compression.save(path, (TEXT[:999], TEXT[999:1001], TEXT[1001:]))
    assert read(path) == TEXT
    assert path.read_bytes().count(b"\x28\xb5\x2f\xfd") == len(TEXT) // 1000 + 1


@pytest.mark.parametrize(
    ("format", "raw", "kept"),
    [
        (jsonl, b'\xef\xbb\xbf{"text":"a"}\r\n{"text":"b"}\n{"text":"c"}', b'\xef\xbb\xbf{"text":"a"}\r\n{"text":"c"}'),
        (json_array, b'[{"text":"a"},{"text":"b"} , {"text":"c"}]', b'[\n{"text":"a"},\n{"text":"c"}\n]\n'),
        (csv, b"text\r\na\r\nb\r\nc\r\n", b"text\r\na\r\nc\r\n"),
    ],
)
def test_formats_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, format: ModuleType, raw: bytes, kept: bytes) -> None:
    """Chunks, resuming and copies are the same around and inside a compression; the second member of a joined file is data too."""
    monkeypatch.setattr(shared, "CHUNK_BYTES", 8)
    source, target = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    source.write_bytes(PACK[kind](raw[:20]) + PACK[kind](raw[20:]))
    chunks = list(format.chunks(source, Want()))
    plain = tmp_path / "plain"
    plain.write_bytes(raw)
    assert [(c.data.tobytes(), c.start) for c in chunks] == [(c.data.tobytes(), c.start) for c in format.chunks(plain, Want())]
    assert [c.line for c in chunks] == [1 + raw[: c.start].count(b"\n") for c in chunks]
    assert len(chunks) > 1
    rest = list(format.chunks(source, Want(), chunks[0].start + len(chunks[0].data)))
    assert [(c.data.tobytes(), c.start, c.line) for c in rest] == [(c.data.tobytes(), c.start, c.line) for c in chunks[1:]]
    found = [format.parse(chunk, Want(), "x") for chunk in chunks]
    assert [text for records in found for text in records.text.to_pylist()] == [b"a", b"b", b"c"]
    start, length = ([int(v) for records in found for v in getattr(records, name)] for name in ("start", "length"))
    format.write(source, target, np.array([True, False, True]), np.array(start), np.array(length))
    assert compression.kind_of(target) == kind
    assert read(target) == kept
    source.write_bytes(PACK[kind](raw[:20]) + PACK[kind](raw[20:])[:-3])
    with pytest.raises(DataError, match="ends early"):
        list(format.chunks(source, Want()))
