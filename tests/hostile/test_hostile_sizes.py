"""Decompression bombs, and lengths that lie: what a file asks for is looked at before it is given."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import likewise as lw
from command_line import refused
from likewise.errors import DataError
from likewise.io import batches, footer
from likewise.io.arrow_messages import within
from likewise.io.compression import open_read
from likewise.io.expansion import of_rows
from likewise.io.formats import jsonl, parquet
from likewise.io.formats import lines as byte_formats
from likewise.records import REJECTED, Want

LINE = '{"id": %d, "text": "one two three four five six %s"}\n'

pytestmark = pytest.mark.usefixtures("folder")


PACK = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, 1),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
}


@pytest.mark.parametrize("suffix", PACK)
def test_a_record_beyond_the_limit_is_refused_and_by_skip_set_aside_alone(suffix):
    """20 MB in a line, more than a chunk; 2 MB, within one. The lines around them stay what and where they are."""
    small = [(LINE % (i, i)).encode() for i in range(3)]
    bomb = [b'{"id": "bomb", "text": "' + b"x" * size + b'"}\n' for size in (20_000_000, 2_000_000)]
    Path(f"a.jsonl{suffix}").write_bytes(PACK[suffix](small[0] + bomb[0] + small[1] + bomb[1] + small[2] + b"oops\n"))
    said = refused("dedup", f"a.jsonl{suffix}", "-o", "out", "--max-record", "1M", "--overwrite")
    assert f"a.jsonl{suffix}, line 2, column 1" in said and "--max-record" in said and "--on-error skip" in said
    result = lw.dedup(Path(f"a.jsonl{suffix}"), out="skipped", max_record="1M", on_error="skip", threshold=1)
    assert result.report["counts"]["rejected"] == 3
    rejected = [json.loads(line) for line in Path("skipped/rejected.jsonl").read_text().splitlines()]
    assert [(row["position"], row["reason"].split(":")[0]) for row in rejected] == [
        (1, "line 2, column 1"),
        (3, "line 4, column 1 (0x7b)"),
        (5, "line 6, column 1 (0x6f)"),
    ]
    assert not rejected[0]["bytes"]
    with open_read(Path(f"skipped/kept/a.jsonl{suffix}")) as stream:
        assert stream.read() == b"".join(small)
    assert len(lw.dedup(Path(f"a.jsonl{suffix}"), max_record="32M", on_error="skip", threshold=1).kept) == 5


def test_the_limit_is_exact_in_every_format(monkeypatch):
    """A record of exactly the limit is read, one of a byte more is not; formats that cannot go on behind it say that of the file."""
    most = 100
    record = '{"text": "%s"}'
    fits, long = record % ("x" * (most - len(record) + 2)), record % ("x" * (most - len(record) + 3))
    assert len(fits) == most
    Path("a.jsonl").write_text(f"{fits}\n{long}\n{fits}\n")
    Path("b.json").write_text(f"[{fits},{long},{fits}]")
    Path("c.csv").write_text("text\n" + "x" * most + "\n" + "x" * (most + 1) + "\n" + "x" * most + "\n")
    pq.write_table(pa.table({"text": ["x" * most, "x" * (most + 1), "x" * most]}), "d.parquet")
    for name in ("a.jsonl", "b.json", "c.csv", "d.parquet"):
        with pytest.raises(DataError, match=f"{name}.*max_record="):
            lw.dedup(Path(name), max_record=most)
        found = lw.dedup(Path(name), max_record=most, on_error="skip", copies="empty")
        assert (found.report["counts"]["rejected"], found.report["counts"]["read"]) == (1, 3), name
    monkeypatch.setattr(byte_formats, "CHUNK_BYTES", 16)
    for name in ("b.json", "c.csv"):
        with pytest.raises(DataError, match="max_record="):
            lw.dedup(Path(name), max_record=50)
    assert lw.dedup(Path("a.jsonl"), max_record=most, on_error="skip").report["counts"]["rejected"] == 1


def test_a_text_file_and_a_row_of_an_array_have_the_limit_too():
    Path("texts").mkdir()
    Path("texts/a.txt").write_text("one two three")
    with open("texts/b.txt", "wb") as file:
        file.truncate(3 << 30)  # a hole: it takes no room on the disk
    assert "b.txt, the file has 3,221,225,472 bytes, but --max-record allows" in refused("dedup", "texts", "-o", "out")
    assert lw.dedup(Path("texts"), on_error="skip").report["counts"]["kept"] == 1
    np.lib.format.write_array_header_1_0(buffer := io.BytesIO(), {"descr": "<f8", "fortran_order": False, "shape": (1, 10**8)})
    Path("v.npy").write_bytes(buffer.getvalue())
    os.truncate("v.npy", len(buffer.getvalue()) + 8 * 10**8)
    assert "a row of this array has 800,000,000 bytes" in refused("pairs", "v.npy", "--by", "cosine")


@pytest.mark.parametrize(
    ("shape", "fortran", "said"),
    [
        ((10**15, 4), False, "is truncated: 32,000,000,000,000,128 bytes are expected"),
        ((-2, -3), False, "no dimension can be negative"),
        ((10**15, 0), False, "expected vectors"),
        ((0, 10**15), True, "--max-record allows"),
        ((2**40, 2**40, 2**40), False, "is truncated"),
    ],
)
def test_headers_of_arrays_that_lie(shape, fortran, said):
    np.lib.format.write_array_header_1_0(buffer := io.BytesIO(), {"descr": "<f8", "fortran_order": fortran, "shape": shape})
    Path("a.npy").write_bytes(buffer.getvalue() + b"\0" * (48 if shape == (-2, -3) else 0))
    assert said in refused("pairs", "a.npy", "--by", "cosine")


@pytest.mark.parametrize("header", ["(" * 9000, "-" * 9000 + "1", "{'descr': " + "[" * 150, "__import__('os').system('touch ran')"])
def test_headers_of_arrays_are_not_run(header):
    text = header.encode().ljust(9100) + b"\n"
    Path("a.npy").write_bytes(b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text)
    assert "cannot be read as a .npy file" in refused("pairs", "a.npy", "--by", "cosine")
    assert not Path("ran").exists()


def test_pickled_objects_are_refused_unread():
    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, ("ran",)

    np.save("a.npy", np.array([Evil()], object), allow_pickle=True)
    assert "Python objects" in refused("pairs", "a.npy", "--by", "cosine")
    assert not Path("ran").exists()
    source = Path(lw.__file__).parent
    text = "".join(path.read_text() for path in source.rglob("*.py"))
    assert not re.search(r"\bnp\.load\b|\bimport pickle\b|allow_pickle|\beval\(|\bexec\(|yaml|marshal", text)


def test_a_window_or_dictionary_of_gigabytes_is_not_allocated():
    data = bytearray(lzma.compress(b"x"))
    data[16] = 34  # the dictionary: 2 << (34 / 2 + 11) bytes, in the header of the block, whose last four bytes are its checksum
    end = 12 + 4 * (data[12] + 1)
    data[end - 4 : end] = zlib.crc32(data[12 : end - 4]).to_bytes(4, "little")
    Path("a.jsonl.xz").write_bytes(data)
    assert "needs more than 160 MiB of memory" in refused("dedup", "a.jsonl.xz", "-o", "out")
    frame = b"\x28\xb5\x2f\xfd\x00\xa8" + b"\x01\x00\x00"  # a frame of zstd with a window of 2 GiB
    Path("b.jsonl.zst").write_bytes(frame + b"\0" * 8)
    assert "needs a window of more than 128 MiB" in refused("dedup", "b.jsonl.zst", "-o", "out")


def test_members_without_end_cost_no_more_than_their_bytes():
    """The data behind each member was once copied again, up to 256 KiB; a file of 20 MB took a minute."""
    Path("a.jsonl.gz").write_bytes(gzip.compress(b"") * 50_000 + b"\0" * 100_000 + gzip.compress((LINE % (1, "x")).encode()))
    with open_read(Path("a.jsonl.gz")) as stream:
        assert stream.source.step <= 1 << 14
    assert len(lw.dedup(Path("a.jsonl.gz")).kept) == 1


def test_a_value_that_stands_in_many_rows_is_not_decoded_for_all_of_them_at_once(monkeypatch):
    monkeypatch.setattr(batches, "CHUNK_BYTES", 1 << 20)
    long, rows = "x" * 100_000, 500
    text = pa.DictionaryArray.from_arrays(pa.array([None, *[1] * (rows - 2), 0], pa.int8()), ["short", long])
    runs = pa.RunEndEncodedArray.from_arrays([1, rows], ["short", long])
    views = pa.array([long] * rows, pa.string_view())
    for column in (text, runs, views):
        for batch in (pa.record_batch({"text": column}), pa.record_batch({"text": column}).slice(3)):
            chunks = list(batches.gather([batch], ["text"]))
            assert sum(len(chunk.data) for chunk in chunks) == batch.num_rows
            assert max(len(chunk.data) for chunk in chunks) <= 2 * batches.CHUNK_BYTES // 100_000 + 1  # one is null, and takes nothing
    assert of_rows(text).tolist() == [0, *[100_000] * (rows - 2), 5]
    assert of_rows(text.slice(rows - 2)).tolist() == [100_000, 5]
    assert of_rows(runs.slice(0, 2)).tolist() == [5, 100_000]
    assert of_rows(views.slice(2, 2)).tolist() == [100_000] * 2
    assert of_rows(pa.array(["a"])) is None


def test_parquet_pages_of_one_value_are_decoded_few_rows_at_a_time():
    table = pa.table({"text": pa.array(["x" * 1_000_000] * 300), "id": range(300)})
    pq.write_table(table, "a.parquet", compression="zstd")
    assert Path("a.parquet").stat().st_size < 100_000
    groups = footer.groups(Path("a.parquet"))
    assert 1_000_000 <= parquet._largest_dictionary(Path("a.parquet"), groups, ["text"]) <= 1_000_100
    most = 1 << 18
    file = parquet._open(Path("a.parquet"))
    sizes = [batch.num_rows for batch in parquet._batches(Path("a.parquet"), file, dict(enumerate(groups)), ["text"], most)]
    assert sum(sizes) == 300 and max(sizes) * 1_000_000 <= 64 * most
    for path in sorted(Path().glob("*.parquet")):
        plain = pa.table({"text": [str(i) for i in range(50)]})
        pq.write_table(plain, path, use_dictionary=False)
        assert parquet._largest_dictionary(path, footer.groups(path), None) == 1


@pytest.mark.parametrize("create", [ipc.new_file, ipc.new_stream])
@pytest.mark.parametrize("dictionary", [False, True])
def test_compressed_arrow_batches_say_how_large_they_become(create, dictionary):
    text = pa.array(["x" * 2_000_000, "y" * 2_000_000])
    table = pa.table({"text": text.dictionary_encode() if dictionary else text})
    for codec in ("zstd", "lz4", None):
        with pa.OSFile("a.arrow", "wb") as sink, create(sink, table.schema, options=ipc.IpcWriteOptions(compression=codec)) as writer:
            writer.write_table(table)
        assert len(list(within(Path("a.arrow"), 5_000_000))) == 1
        if codec:
            with pytest.raises(DataError, match=r"a\.arrow: message . of this file states an expanded size of 4,0.* 64 times max_record="):
                list(within(Path("a.arrow"), 3_000_000))
            said = refused("dedup", "a.arrow", "-o", "out", "--max-record", "50K")
            assert "--max-record" in said
            raw = bytearray(Path("a.arrow").read_bytes())
            at = raw.rfind((4_000_000).to_bytes(8, "little"))
            raw[at : at + 8] = (2**60).to_bytes(8, "little")  # the length that a buffer claims
            Path("b.arrow").write_bytes(raw)
            assert "states an expanded size of 1,152,9" in refused("dedup", "b.arrow", "-o", "out")


def test_rejected_rows_of_a_passed_over_record_have_no_text():
    Path("a.jsonl").write_bytes(b'{"text": "' + b"x" * (9 << 20) + b'"}\n{"text": "a"}\n')
    want = Want(most=1 << 20, id="id", per="p", score="s")
    rows = [jsonl.parse(chunk, want, "a") for chunk in jsonl.chunks(Path("a.jsonl"), want)]
    assert [row.kind.tolist() for row in rows] == [[REJECTED], [0]] and [row.text.to_pylist() for row in rows] == [[b""], [b"a"]]
    assert rows[0].start[0] + rows[0].length[0] == rows[1].start[0]
    assert jsonl.sample(Path("a.jsonl"), want).text.to_pylist() == [b"a"]
