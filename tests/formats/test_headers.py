"""Headers and footers are read once a run, and again when the file has changed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import likewise as lw
from likewise.io import footer, headers
from likewise.io.formats import arrow, csv, lines, npy


def test_a_result_is_kept_as_long_as_the_file_stays_as_it_is(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(headers, "SETTLED", 0)
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"one")
    other.write_bytes(b"two")
    calls = []

    @headers.once
    def content(path: Path, more: bytes = b"") -> bytes:
        calls.append(path.name)
        return path.read_bytes() + more

    assert [content(path), content(path), content(path, b"!"), content(other), content(path)] == [b"one", b"one", b"one!", b"two", b"one"]
    assert calls == ["a", "a", "b"]
    path.write_bytes(b"new")
    os.utime(path, ns=(0, 0))  # of the same size; and its time goes back
    assert content(path) == b"new"
    path.unlink()
    with pytest.raises(FileNotFoundError):
        content(path)
    assert calls == ["a", "a", "b", "a", "a"]


def test_nothing_is_kept_of_a_file_that_was_written_just_now(tmp_path: Path, monkeypatch) -> None:
    """Its next content may have the same size and time."""
    monkeypatch.setattr(headers, "SETTLED", 3600 * 10**9)
    path = tmp_path / "a"
    content = headers.once(Path.read_bytes)
    for text in (b"one", b"two"):
        path.write_bytes(text)
        assert content(path) == text


READERS = {
    ".npy": (npy, "header_of"),
    ".parquet": (footer, "groups"),
    ".arrow": (arrow, "first_batch"),
    ".csv": (csv, "_first_record"),
    ".jsonl": (lines, "refuse_other"),  # of a file in another encoding, by its first bytes
}


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("verb", ["dedup", "pairs"])
def test_a_run_reads_each_header_once(tmp_path: Path, monkeypatch, suffix: str, verb: str) -> None:
    monkeypatch.setattr(headers, "SETTLED", 0)
    module, name = READERS[suffix]
    real, calls, footers = getattr(module, name), [], []
    open_parquet = pq.ParquetFile
    monkeypatch.setattr(module, name, lambda *given, **named: (calls.append(1), real(*given, **named))[1])
    path = tmp_path / f"a{suffix}"
    vectors = np.eye(4, dtype=np.float32)
    table = pa.table({"vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 4)})
    if suffix == ".npy":
        np.save(path, vectors)
    elif suffix == ".parquet":
        pq.write_table(table, path)
        monkeypatch.setattr(pq, "ParquetFile", lambda *given, **named: (footers.append("metadata" in named), open_parquet(*given, **named))[1])
    elif suffix == ".arrow":
        with ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    elif suffix == ".csv":
        path.write_text("x0,x1\n" + "".join(f"{i},1\n" for i in range(4)))
    else:
        path.write_text("".join(f'{{"vector": [{i}, 1]}}\n' for i in range(4)))
    field = "x0..x1" if suffix == ".csv" else "vector"
    getattr(lw, verb)(path, by="cosine", threshold=0.999, field=field, **({"out": tmp_path / "out"} if verb == "dedup" else {}))
    assert len(calls) == 1
    assert footers.count(False) == (suffix == ".parquet")  # all later ones are opened with the footer that was read


def test_the_form_of_codes_is_found_once(tmp_path: Path, monkeypatch) -> None:
    """Codes of digits alone may be either, so the whole column is read for it."""
    monkeypatch.setattr(headers, "SETTLED", 0)
    real, calls = csv.code_cells.form, []
    monkeypatch.setattr(csv.code_cells, "form", lambda columns: (calls.append(1), real(columns))[1])
    path = tmp_path / "a.csv"
    path.write_text("code\n" + "".join(f"{i:04}\n" for i in range(30)))
    lw.pairs(path, by="hamming", within=1)
    assert len(calls) == 1
