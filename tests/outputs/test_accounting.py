"""kept + removed + rejected = read, in every run: writers say how many rows they wrote, and where one is missing nothing takes its place."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jobs
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import archives
import likewise as lw
from likewise.cli.main import main, status_of
from likewise.io.formats import arrow, csv, json_array, jsonl, npy, npz, parquet, text, warc
from likewise.runs import writing as outputs

WORDS = "and its words go on and on " * 3
ROWS = [{"id": i, "text": f"the {'near' if i % 4 == 1 else 'first'} of texts {i // 4} {WORDS}{i // 4}"} for i in range(20)]
LISTED = ("removed.parquet", "clusters.parquet", "pairs.parquet", "rejected.jsonl")


def array(path: Path) -> None:
    draw = np.random.default_rng(1).standard_normal((20, 8)).astype(np.float32)
    np.save(path, np.concatenate((draw, draw[:5])))


def ragged(path: Path) -> None:
    draw = np.random.default_rng(1).standard_normal((60, 4)).astype(np.float32)
    np.savez(path, vectors=np.concatenate((draw, draw[:15])), offsets=np.arange(0, 76, 3))


def folder(path: Path) -> None:
    path.mkdir()
    for row in ROWS:
        (path / f"{row['id']}.txt").write_text(row["text"])


def batches(path: Path) -> None:
    table = pa.Table.from_pylist(ROWS)
    with ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


def archive() -> list[bytes]:
    return [archives.INFO, *(archives.response(row["id"], row["text"]) for row in ROWS)]


MADE = {
    "a.jsonl": (jsonl, lambda path: path.write_bytes(jobs.lines(ROWS))),
    "a.json": (json_array, lambda path: path.write_text(json.dumps(ROWS))),
    "a.csv": (csv, lambda path: path.write_text("id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in ROWS))),
    "a.parquet": (parquet, lambda path: pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=6)),
    "a.arrow": (arrow, batches),
    "a.npy": (npy, array),
    "a.npz": (npz, ragged),
    "a.warc": (warc, lambda path: path.write_bytes(b"".join(archive()))),
    "a.warc.gz": (warc, lambda path: path.write_bytes(archives.members(archive()))),
    "texts": (text, folder),
}
KIND = {"a.npy": ("--by", "cosine", "--threshold", "0.9"), "a.npz": ("--by", "features", "--threshold", "0.9")}
WITHOUT_COLUMNS = ("a.npy", "a.npz", "texts")


@pytest.fixture
def likewise(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["likewise", *arguments])
        return status_of(main, list(arguments)), capfd.readouterr().err

    return run


@pytest.mark.parametrize(("name", "output"), [(name, "copy") for name in MADE] + [(name, "annotate") for name in MADE if name not in WITHOUT_COLUMNS])
def test_a_writer_that_drops_a_row_gives_no_output(likewise, tmp_path, monkeypatch, name, output):
    """The old output stays as it was, and the run goes on from where it was once the fault is mended."""
    module, make = MADE[name]
    make(tmp_path / name)
    lw.dedup(["an earlier text"], out=tmp_path / "out")
    old = jobs.snapshot(tmp_path / "out")
    arguments = ("dedup", name, "-o", "out", "--overwrite", "--removed-records", "--threshold", "0.6", "--output", output, *KIND.get(name, ()))
    write = module.write

    def dropping(source, target, keep, start, length, add=None, *more):
        keep = keep.copy()
        keep[np.flatnonzero(keep)[-1]] = False
        return write(source, target, keep, start, length, None if add is None else add.slice(0, len(add) - 1), *more)

    with monkeypatch.context() as patch:
        patch.setattr(module, "write", dropping)
        status, said = likewise(*arguments)
    assert (status, "rows were written, expected" in said, "this is a bug in likewise" in said) == (2, True, True), said
    assert jobs.snapshot(tmp_path / "out") == old
    assert likewise(*arguments, "--resume")[0] == 0
    counts = json.loads((tmp_path / "out/report.json").read_text())["counts"]
    assert counts["removed"] > 0 and counts["kept"] + counts["removed"] + counts["rejected"] == counts["read"] == (25 if name in KIND else 20)


@pytest.mark.parametrize("name", LISTED)
def test_a_table_that_lacks_a_row_gives_no_output(likewise, tmp_path, monkeypatch, name):
    jobs.damaged(tmp_path)
    writes = "write_lines" if name == "rejected.jsonl" else "write_table"
    write = getattr(outputs, writes)

    def lines(data, path):
        return write(data[: len(data) - 1] if path.name == name else data, path)

    def table(blocks, schema, path, *note):
        return write([block.slice(1) for block in blocks] if path.name == name else blocks, schema, path, *note)

    monkeypatch.setattr(outputs, writes, lines if writes == "write_lines" else table)
    status, said = likewise("dedup", "a.jsonl", "-o", "out", "--on-error", "skip", "--pairs", "--threshold", "0.7")
    assert (status, (tmp_path / "out").exists(), f"{name}: " in said) == (2, False, True), said


@pytest.mark.parametrize("way", ["copy", "annotate", "ids", "mask"])
def test_rows_that_a_decision_forgets_give_no_output(likewise, tmp_path, monkeypatch, way):
    """Rows to write are counted by file, and must be as many as the report says."""
    jobs.texts(tmp_path)
    count = np.count_nonzero
    monkeypatch.setattr(outputs.np, "count_nonzero", lambda values: max(0, count(values) - 1))
    monkeypatch.setitem(outputs.WHOLE, "ids", ("removed",))
    monkeypatch.setitem(outputs.WHOLE, "mask", ("removed",))
    status, said = likewise("dedup", "a.jsonl", "-o", "out", "--output", way, "--threshold", "0.7")
    assert (status, (tmp_path / "out").exists(), "rows were lost" in said) == (2, False, True), said


@pytest.mark.parametrize("name", MADE)
def test_what_writers_say_is_what_a_reader_finds(tmp_path, monkeypatch, name):
    module, make = MADE[name]
    make(tmp_path / name)
    said: list[int] = []
    write = module.write
    monkeypatch.setattr(module, "write", lambda *given: said.append(write(*given)) or said[-1])
    by = {"by": KIND[name][1], "threshold": 0.9} if name in KIND else {"threshold": 0.6}
    lw.dedup(tmp_path / name, out=tmp_path / "out", removed_records=True, threads=1, **by)
    for part, rows in zip(("kept", "removed"), said[:2], strict=True):
        assert lw.dedup(tmp_path / "out" / part, **by).report["counts"]["read"] == rows > 0
