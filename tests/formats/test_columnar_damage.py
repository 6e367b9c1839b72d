"""Damaged or missing Parquet and Arrow files, and footers: damage is reported as such and ends no process."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from columnar_rows import SUFFIXES, module_of, rows
from likewise.errors import DataError
from likewise.io import footer
from likewise.io.formats import arrow, parquet
from likewise.records import Want

NONE = np.zeros(0, np.int64)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_that_are_gone_are_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"gone{suffix}"
    with pytest.raises(DataError, match="gone"):
        rows(module_of(path), path)


def test_a_page_with_a_wrong_checksum_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"text": ["abcdefgh" * 100]}), path, compression="none", use_dictionary=False, write_page_checksum=True, write_statistics=False
    )
    data = bytearray(path.read_bytes())
    data[data.find(b"abcdefgh" * 100) + 400] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match="CRC"):
        rows(parquet, path)


def test_offsets_that_lead_out_of_an_arrow_file_are_damage(tmp_path: Path) -> None:
    wild = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.array([0, 10**6, 3], np.int32)), pa.py_buffer(b"abc")])
    with ipc.new_file(tmp_path / "a.arrow", pa.schema({"text": pa.string()})) as writer:
        writer.write_batch(pa.record_batch({"text": wild}))
    with pytest.raises(DataError):
        rows(arrow, tmp_path / "a.arrow")


def test_numbers_of_nulls_that_lie_are_damage(tmp_path: Path) -> None:
    """In a column that is only copied, too: to filter it ended the process."""
    table = pa.table({"text": ["a", "b", "c"], "other": [["x"], ["y", "z"], []]})
    for create in (ipc.new_file, ipc.new_stream):
        with pa.OSFile(str(tmp_path / "whole.arrow"), "wb") as sink, create(sink, table.schema) as writer:
            writer.write_table(table)
        raw = (tmp_path / "whole.arrow").read_bytes()
        nodes = [at for at in range(len(raw)) if raw[at : at + 16] == struct.pack("<qq", 3, 0)]
        assert len(nodes) >= 2
        for at in nodes:
            (tmp_path / "a.arrow").write_bytes(raw[: at + 8] + struct.pack("<q", 1 << 60) + raw[at + 16 :])
            with pytest.raises(DataError, match=r"a\.arrow"):
                list(arrow.chunks(tmp_path / "a.arrow", Want()))
                arrow.write(tmp_path / "a.arrow", tmp_path / "out.arrow", np.array([True, False, True]), NONE, NONE)


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
def test_footers_say_what_pyarrow_says(tmp_path: Path, codec: str) -> None:
    """The footer reader agrees with pyarrow, also for many columns and lists in structs, with numbers and names of any length."""
    table = pa.table({f"c{i}": pa.array([{"a": [i], "b": None}] * 900) for i in range(20)} | {"text": pa.array(["é" * 200] * 900)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=50, compression=codec, use_dictionary=["text", "c3.a.list.element"])
    meta = pq.ParquetFile(tmp_path / "a.parquet").metadata
    found = footer.groups(tmp_path / "a.parquet")
    assert len(found) == meta.num_row_groups == 18
    for number, group in enumerate(found):
        printed = meta.row_group(number)
        assert (group.rows, group.size) == (printed.num_rows, printed.total_byte_size)
        chunks = [printed.column(i) for i in range(printed.num_columns)]
        named = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4"}
        assert group.columns == [(c.path_in_schema, named.get(c.compression, c.compression), c.dictionary_page_offset or 0) for c in chunks]


@pytest.mark.parametrize("how", [{}, {"use_dictionary": False, "compression": "zstd", "write_page_checksum": True}])
def test_a_footer_with_any_byte_changed_is_damage_or_is_read(tmp_path: Path, how: dict) -> None:
    """pyarrow's objects for row groups and column chunks ended the process."""
    pq.write_table(pa.table({"text": ["a", "b", "c"], "other": [[1], [2, 3], []]}), tmp_path / "whole.parquet", **how)
    raw = (tmp_path / "whole.parquet").read_bytes()
    footer = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    for at in range(footer, len(raw)):
        changed = bytearray(raw)
        changed[at] ^= 1 << at % 8
        (tmp_path / "a.parquet").write_bytes(changed)
        with suppress(DataError):
            list(parquet.chunks(tmp_path / "a.parquet", Want()))
            parquet.write(tmp_path / "a.parquet", tmp_path / "out.parquet", np.array([True, False, True]), NONE, NONE)


def test_feather_1_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "old.feather").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(DataError, match="write_feather"):
        rows(arrow, tmp_path / "old.feather")
