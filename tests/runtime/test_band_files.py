"""Band keys in files of the work folder: no more files than may be open, and each band as it was written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import likewise as lw
from likewise.errors import FormatError
from likewise.io import bands
from likewise.io.formats import lines
from likewise.io.work import Work
from likewise.runs import decided
from stopping import StoppedError

CHUNKS = [5, 0, 3, 1]


def written(folder: Path, count: int) -> tuple[Work, np.ndarray]:
    """(work folder, keys uint64[bands, rows]) of chunks of so many rows."""
    keys = np.random.default_rng(count).integers(0, 2**64, (count, sum(CHUNKS)), np.uint64)
    work = Work.claim(folder / "work", resume=None)
    work.begin({})
    for end, rows in zip(np.cumsum(CHUNKS), CHUNKS, strict=True):
        work.append(bands.columns(keys[:, end - rows : end]), step="chunk", rows=rows)
    return work, keys


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 128, 129, 1022])
def test_each_band_is_read_as_it_was_written(tmp_path, count):
    work, keys = written(tmp_path, count)
    assert [bands.read(work, band, count, CHUNKS).tolist() for band in range(count)] == keys.tolist()
    assert sorted(path.stem for path in work.folder.glob("*.col")) == bands.names(count)
    work.close(remove=True)


@pytest.mark.parametrize(("count", "files"), [(0, 0), (1, 1), (64, 64), (65, 33), (1022, 64), (65_536, 64)])
def test_files_do_not_grow_with_bands(count, files):
    assert len(bands.names(count)) == files


@pytest.mark.parametrize("count", [3, 200])
def test_a_file_of_another_size_is_refused(tmp_path, count):
    work, _ = written(tmp_path, count)
    with open(work.folder / "band-000.col", "ab") as file:
        file.write(bytes(8))
    with pytest.raises(FormatError, match=r"band-000\.col: expected the keys of .* band"):
        bands.read(work, 0, count, CHUNKS)
    work.close(remove=True)


def test_a_run_with_many_bands_that_was_stopped_goes_on(tmp_path, monkeypatch):
    """From within the reading, so that the chunks of both runs lie in the same files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lines, "CHUNK_BYTES", 1000)
    sets = [{"elements": [i % 7, 10 + i % 5, 100 + i]} for i in range(200)]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in sets))
    choices = {"by": "elements", "threshold": 0.01, "bands": 300, "rows": 1}
    whole = lw.dedup(Path("in.jsonl"), **choices).removed.to_arrow()
    append, appended = Work.append, []

    def stopping(work: Work, columns: dict, **step: object) -> None:
        append(work, columns, **step)
        appended.append(step)
        if len(appended) == 3:
            raise StoppedError

    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        patch.setattr(Work, "append", stopping)
        lw.dedup(Path("in.jsonl"), out=Path("out"), **choices)
    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        patch.setattr(decided, "decide", lambda *_: (_ for _ in ()).throw(StoppedError))
        lw.dedup(Path("in.jsonl"), out=Path("out"), resume=True, **choices)
    assert len(list(Path("out.work").glob("band-*.col"))) == 60
    assert lw.dedup(Path("in.jsonl"), out=Path("out"), resume=True, **choices).removed.to_arrow() == whole
    assert len(whole) > 100


@pytest.mark.parametrize("threshold", ["0.0045", "0.001"])
def test_a_low_threshold_runs_where_few_files_may_be_open(tmp_path, threshold):
    """1,022 and 4,603 bands of one row under a limit of 128 open files; each pair shares one element of 21."""
    rows = [[0, *range(20 * i + 1, 20 * i + 11)] for i in range(12)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"elements": row}) + "\n" for row in rows))
    code = (
        "import resource, sys, likewise as lw; resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128)); from pathlib import Path;"
        "print(len(lw.pairs(Path(sys.argv[1]), by='elements', threshold=sys.argv[2], threads=2)))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code, str(tmp_path / "in.jsonl"), threshold], capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "66\n")
