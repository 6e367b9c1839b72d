"""Arrow files are read by their footer, as polars lays them out; streams from their beginning."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc

import likewise as lw
from columnar_rows import kept, rows
from likewise.errors import DataError
from likewise.io.arrow_messages import first_batch, within
from likewise.io.formats import arrow
from likewise.records import Want

TEXT = "the quick brown fox jumps over the lazy dog near the river bank today"
FRAME = pl.DataFrame(
    {"id": [7, 8, 9], "text": [TEXT, f"{TEXT} again", "other words here and nothing else"], "vector": [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]}
)


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("compat", [None, pl.CompatLevel.oldest(), pl.CompatLevel.newest()], ids=["default", "oldest", "newest"])
@pytest.mark.parametrize("record_batch_size", [None, 1])
def test_files_of_polars(tmp_path: Path, compression, compat, record_batch_size) -> None:
    path, out = tmp_path / "a.arrow", tmp_path / "out.arrow"
    FRAME.write_ipc(path, compression=compression, compat_level=compat, record_batch_size=record_batch_size)
    assert first_batch(path).codec == (None if compression == "uncompressed" else compression)
    assert len(list(within(path, 1 << 20))) == (3 if record_batch_size else 1)
    pairs = lw.pairs(path, by="words:2", threshold=0.7).to_arrow().to_pylist()
    assert pairs == [{"id_a": 7, "id_b": 8, "similarity": pytest.approx(13 / 14)}]  # 13 shingles, and one more
    assert len(lw.pairs(path, by="cosine", field="vector", threshold=0.9)) == 1
    arrow.write(path, out, *kept([True, False, True]))
    assert pl.read_ipc(out).equals(FRAME[[0, 2]])
    assert ipc.open_file(out).schema == ipc.open_file(path).schema
    assert first_batch(out).codec == first_batch(path).codec


def test_streams_of_polars(tmp_path: Path) -> None:
    FRAME.write_ipc_stream(tmp_path / "a.arrows")
    assert rows(arrow, tmp_path / "a.arrows")[2] == [b"7", b"8", b"9"]


def spread(path: Path, noise: bytes) -> None:
    """The messages of a file in the opposite order, with noise before each; its footer tells where they are."""
    raw = path.read_bytes()
    foot = len(raw) - 10 - int.from_bytes(raw[-10:-6], "little")
    footer = bytearray(raw[foot:-10])
    data = bytearray(b"ARROW1\0\0")
    places = []
    for at in range(8, foot):
        size = int.from_bytes(raw[at + 4 : at + 8], "little")
        block = footer.find(struct.pack("<qQ", at, size + 8)[:12])
        if raw[at : at + 4] == b"\xff" * 4 and block >= 0:
            body = struct.unpack_from("<q", footer, block + 16)[0]
            places.append((block, raw[at : at + 8 + size + body]))
    for block, message in reversed(places):
        data += noise
        footer[block : block + 8] = struct.pack("<q", len(data))
        data += message
    path.write_bytes(bytes(data + footer) + raw[-10:])


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_messages_may_lie_anywhere_and_what_lies_between_is_not_looked_at(tmp_path: Path, compression: str | None) -> None:
    path = tmp_path / "a.arrow"
    table = pa.table({"id": [1, 2, 3], "text": pa.array(["a" * 4000, "b" * 4000, "c" * 4000]).dictionary_encode()})
    with ipc.new_file(path, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, max_chunksize=1)
    spread(path, b"\xff" * 64)
    assert ipc.open_file(path).read_all().equals(table)
    assert rows(arrow, path) == ([0, 0, 0], [b"a" * 4000, b"b" * 4000, b"c" * 4000], [b"1", b"2", b"3"])
    assert len(list(within(path, 20_000))) == 3
    if compression:
        with pytest.raises(DataError, match="states an expanded size of 12,"):
            list(within(path, 10_000))


@pytest.mark.parametrize("at", [-4, -8, -30, -200])
def test_a_damaged_footer_is_damage(tmp_path: Path, at: int) -> None:
    FRAME.write_ipc(tmp_path / "a.arrow")
    raw = bytearray((tmp_path / "a.arrow").read_bytes())
    raw[at - 3 : at] = b"\x7f\xff\x7f"
    (tmp_path / "a.arrow").write_bytes(raw)
    with pytest.raises(DataError, match=r"a\.arrow"):
        list(arrow.chunks(tmp_path / "a.arrow", Want()))


def test_any_changed_byte_of_a_footer_ends_no_process(tmp_path: Path) -> None:
    FRAME.write_ipc(tmp_path / "whole.arrow", record_batch_size=1, compression="zstd")
    raw = (tmp_path / "whole.arrow").read_bytes()
    foot = len(raw) - 10 - int.from_bytes(raw[-10:-6], "little")
    read = 0
    for at in range(foot, len(raw)):
        changed = bytearray(raw)
        changed[at] ^= 1 << at % 8
        (tmp_path / "a.arrow").write_bytes(changed)
        try:
            list(arrow.chunks(tmp_path / "a.arrow", Want()))
            arrow.write(tmp_path / "a.arrow", tmp_path / "out.arrow", np.array([True, False, True]), *kept([True] * 3)[1:])
            read += 1
        except DataError as error:
            assert "a.arrow" in str(error)
    assert 0 < read < len(raw) - foot
