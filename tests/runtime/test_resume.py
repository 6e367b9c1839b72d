"""A run that stops at any moment and is resumed gives the bytes of an undisturbed one."""

from __future__ import annotations

import errno
import gzip
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.io import batches, disk, output, placing
from likewise.io.formats import lines as byte_formats
from likewise.io.work import Work
from likewise.runs import writing as outputs
from stopping import StoppedError, Stops, snapshot


def texts(seed: int, n: int, length: int) -> list[dict]:
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghij", k=5)) for _ in range(500)]
    rows: list[dict] = []
    for i in range(n):
        if i % 3 == 2:
            copy = draw.choice(rows)["text"].split()
            copy[draw.randrange(len(copy))] = draw.choice(words)
            rows.append({"id": i, "text": " ".join(copy)})
        else:
            rows.append({"id": i, "text": " ".join(draw.choices(words, k=length))})
    return rows


def lines(rows: list[dict]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def small_chunks(monkeypatch):
    for module in (batches, byte_formats):
        monkeypatch.setattr(module, "CHUNK_BYTES", 3000)


def run(folder, out, **choices):
    return lw.dedup(folder, out=out, threshold="0.7", pairs=True, removed_records=True, sketches=True, **choices)


@pytest.mark.parametrize(("limit", "old"), [(None, False), (55, False), (None, True)])
def test_a_run_that_stops_at_any_step_goes_on_to_the_same_bytes(tmp_path, monkeypatch, small_chunks, limit, old, scaled):
    """Stopped before each step (with a torn write) and after it; with --limit; and with an old output that is replaced."""
    data = tmp_path / "data"
    data.mkdir()
    rows = texts(1, 120, 25)
    (data / "a.jsonl").write_bytes(lines(rows[:50]))
    (data / "b.jsonl.gz").write_bytes(gzip.compress(lines(rows[50:90])))
    (data / "c.txt").write_text(rows[0]["text"])
    pq.write_table(pa.Table.from_pylist(rows[90:]), data / "d.parquet")
    choices = {"limit": limit, "overwrite": old}
    stops = Stops(monkeypatch)
    run(data, tmp_path / "whole", **choices)
    want, steps = snapshot(tmp_path / "whole"), range(1, len(stops.done) + 1)
    assert len(steps) > 12
    last = {step: at for at, step in enumerate(stops.done, 1)}
    few = [(at, bool((number + old) % 2)) for number, at in enumerate(last.values())]  # each kind of step once
    for at, late in scaled(itertools.product(steps, (False, True)), few):
        out = tmp_path / f"stopped-{at}-{late}"
        stops.begin(0)
        if old:
            lw.dedup(["another text"], out=out)
        before = snapshot(out) if old else {}
        stops.begin(at, late=late)
        with pytest.raises(StoppedError):
            run(data, out, **choices)
        assert snapshot(out) == before
        stops.begin(0)
        with pytest.raises(lw.UsageError, match="resume=True"):
            run(data, out, **choices)
        run(data, out, resume=True, **choices)
        assert snapshot(out) == want, f"stopped {'after' if late else 'in'} step {at}"
        assert not out.with_name(out.name + ".work").exists()


@pytest.mark.parametrize("old", [False, True])
def test_a_run_that_stops_once_its_output_is_in_place_is_done(tmp_path, monkeypatch, old):
    data = tmp_path / "in.jsonl"
    data.write_bytes(lines(texts(1, 60, 25)))
    run(data, tmp_path / "whole")
    if old:
        lw.dedup(["another text"], out=tmp_path / "out")
    close = Work.close
    monkeypatch.setattr(Work, "close", lambda self, remove: close(self, remove=False))  # killed before the work folder is gone
    run(data, tmp_path / "out", overwrite=old)
    monkeypatch.undo()
    assert (tmp_path / "out.work").exists()
    result = run(data, tmp_path / "out", overwrite=old, resume=True)
    assert snapshot(tmp_path / "out") == snapshot(tmp_path / "whole")
    assert (result.report["counts"]["read"], (tmp_path / "out.work").exists()) == (60, False)


@pytest.mark.parametrize("lost", ["kept/in.jsonl", "removed/in.jsonl", "removed.parquet", "sketches/000000.arrow", "rejected.jsonl", "report.json"])
def test_what_a_lost_machine_left_of_the_output_is_written_again(tmp_path, monkeypatch, lost):
    """The journal speaks of a file, and its bytes never reached the disk."""
    data = tmp_path / "in.jsonl"
    data.write_bytes(lines(texts(1, 60, 25)))
    run(data, tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "publish", lambda *_, **__: (_ for _ in ()).throw(StoppedError()))
        with pytest.raises(StoppedError):
            run(data, tmp_path / "out")
    staged = tmp_path / "out.work/staged" / lost
    size = staged.stat().st_size
    staged.write_bytes(bytes(size) if size else b"more")
    (tmp_path / "out.work/staged/removed/in.jsonl").unlink()
    run(data, tmp_path / "out", resume=True)
    assert snapshot(tmp_path / "out") == snapshot(tmp_path / "whole")


@pytest.mark.parametrize("device", ["same", "another"])
@pytest.mark.parametrize("files", [3, disk.FEW + 10])
def test_all_is_on_the_disk_before_it_has_its_name_and_the_name_before_the_old_one_goes(tmp_path, monkeypatch, device, files):
    staged, out = tmp_path / "work/staged", tmp_path / "out"
    for folder, text in ((staged, "new"), (out, "old")):
        (folder / "kept").mkdir(parents=True)
        for number in range(files):
            (folder / f"kept/{number}").write_text(text)
    outputs_ = [{"path": f"kept/{number}"} for number in range(files)]
    output.write_sealed({"format": "likewise/output", "outputs": outputs_}, out / "manifest.json")
    seen: list[tuple[str, object]] = []
    force_file, force_all, exchange, place, rmtree = disk.force_file, disk.force_all, disk.exchange, placing.place, shutil.rmtree

    def across(staged, out, **how):
        if device == "another" and staged.parent != out.parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        place(staged, out, **how)

    monkeypatch.setattr(placing, "place", across)
    monkeypatch.setattr(disk, "force_file", lambda path: (seen.append(("forced", path)), force_file(path)))
    monkeypatch.setattr(disk, "force_all", lambda folder: (seen.append(("all", folder)), force_all(folder))[1])
    monkeypatch.setattr(disk, "exchange", lambda a, b: (seen.append(("exchanged", a)), exchange(a, b))[1])
    monkeypatch.setattr(shutil, "rmtree", lambda path, **how: (seen.append(("deleted", path)) if path.exists() else None, rmtree(path, **how)))
    placing.publish(staged, out, placing.name_beside(out), overwrite=True)
    assert {path.read_text() for path in (out / "kept").iterdir()} == {"new"}
    [at] = [number for number, (what, _) in enumerate(seen) if what == "exchanged"]
    source = seen[at][1]
    if files > disk.FEW and ("all", source) in seen:
        assert seen.index(("all", source)) < at
    else:
        assert {path for what, path in seen[:at] if what == "forced"} >= {source, source / "kept", *(source / f"kept/{i}" for i in range(files))}
    assert seen[at + 1] == ("forced", tmp_path)
    assert [path for what, path in seen[at + 2 :] if what == "deleted"] == [placing.replaced(source)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "work"]


def test_what_cannot_be_forced_to_the_disk_is_not_published(tmp_path, monkeypatch):
    """A disk may say only then that it has no room for what was written long before."""
    data = tmp_path / "in.jsonl"
    data.write_bytes(lines(texts(1, 60, 25)))
    run(data, tmp_path / "out")
    old = snapshot(tmp_path / "out")
    data.write_bytes(lines(texts(5, 40, 25)))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.EDQUOT, "Disk quota exceeded")))
        with pytest.raises(OSError, match=r"Disk quota exceeded: .*out\.work/staged/"):
            run(data, tmp_path / "out", overwrite=True)
    assert snapshot(tmp_path / "out") == old
    run(data, tmp_path / "out", overwrite=True, resume=True)
    assert snapshot(tmp_path / "out") != old


def test_a_first_output_is_left_to_the_system_to_write(tmp_path, monkeypatch):
    """Nothing is lost with it that cannot be made again, and forcing it may take as long as all the rest."""
    monkeypatch.setattr(os, "fsync", lambda _: pytest.fail("waits for the disk"))
    lw.dedup(["a text"], out=tmp_path / "out")
    assert (tmp_path / "out/manifest.json").is_file()


def test_a_file_system_that_cannot_force_or_exchange_will_do(tmp_path, monkeypatch):
    data = tmp_path / "in.jsonl"
    data.write_bytes(lines(texts(1, 60, 25)))
    lw.dedup(["another text"], out=tmp_path / "out")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.EINVAL, "Invalid argument")))
    monkeypatch.setattr(disk, "system_call", lambda _: None)
    run(data, tmp_path / "out", overwrite=True)
    monkeypatch.undo()
    run(data, tmp_path / "whole")
    assert snapshot(tmp_path / "out") == snapshot(tmp_path / "whole")


def test_an_output_that_appears_meanwhile_stays(tmp_path, monkeypatch):
    from likewise.runs import decided

    decide = decided.decide

    def meddling(*given):
        (tmp_path / "out").mkdir()
        (tmp_path / "out/precious.txt").write_text("mine")
        return decide(*given)

    monkeypatch.setattr(decided, "decide", meddling)
    (tmp_path / "in.jsonl").write_bytes(lines(texts(1, 60, 25)))
    with pytest.raises(lw.UsageError, match=r"this folder exists and is not an output of likewise \(no manifest.json\); choose another path"):
        run(tmp_path / "in.jsonl", tmp_path / "out")
    assert snapshot(tmp_path / "out") == {"precious.txt": b"mine"}


def test_kill_9_at_random_moments(tmp_path, scaled):
    """Real processes, really killed. What a kill leaves is either no output, or the whole one."""
    data = tmp_path / "in.jsonl"
    command = [sys.executable, "-P", "-m", "likewise", "dedup", str(data), "-q", "-o"]
    data.write_bytes(lines(texts(2, 60, 120)))
    subprocess.run([*command, str(tmp_path / "first")], check=True)  # compiles, where nothing has yet
    data.write_bytes(lines(texts(2, 24_000, 120)))  # a second or so of work
    began = time.monotonic()
    subprocess.run([*command, str(tmp_path / "whole")], check=True)
    whole = time.monotonic() - began
    want = snapshot(tmp_path / "whole")
    draw = random.Random(3)
    killed = turn = 0
    while turn < scaled(3, 1) or not killed:
        out = tmp_path / f"out-{turn}"
        resume: list[str] = []
        for _ in range(4):
            began = time.monotonic()
            process = subprocess.Popen([*command, str(out), *resume], stderr=subprocess.PIPE)
            try:
                process.communicate(timeout=draw.uniform(0.3, 1.0) * whole)
                whole = whole if resume else time.monotonic() - began  # shorter than it was, so that a kill comes in time
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                killed += 1
            assert not out.exists() or snapshot(out) == want
            resume = ["--resume"] if (tmp_path / f"out-{turn}.work" / "description.json").exists() else []
            if out.exists():
                break
        if not out.exists() or resume:  # a run that was killed with its output in place is done, and cleans up
            subprocess.run([*command, str(out), *resume], check=True)
        assert snapshot(out) == want
        turn += 1


def test_a_changed_input_is_refused_on_resume(tmp_path, monkeypatch, small_chunks):
    data = tmp_path / "in.jsonl"
    data.write_bytes(lines(texts(1, 60, 25)))
    monkeypatch.setattr(Work, "done", lambda self, step: (_ for _ in ()).throw(StoppedError()) if step == "read" else [])
    with pytest.raises(StoppedError):
        run(data, tmp_path / "out")
    monkeypatch.undo()
    run_choices = {"resume": True}
    with pytest.raises(lw.UsageError, match=r"cannot resume, because threshold= or within= differs"):
        lw.dedup(data, out=tmp_path / "out", threshold="0.9", pairs=True, removed_records=True, resume=True)
    data.write_bytes(lines(texts(9, 60, 25)))
    os.utime(data, (1, 1))
    with pytest.raises(lw.UsageError, match=r"cannot resume, because inputs.*in\.jsonl.*differs"):
        run(data, tmp_path / "out", **run_choices)


def test_overwrite_keeps_the_old_output_until_the_new_one_is_whole(tmp_path, monkeypatch):
    data = tmp_path / "in.jsonl"
    data.write_bytes(lines(texts(1, 60, 25)))
    run(data, tmp_path / "out")
    old = snapshot(tmp_path / "out")
    with pytest.raises(lw.UsageError, match="overwrite=True"):
        run(data, tmp_path / "out")

    def failing(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs, "manifest", failing)
    with pytest.raises(OSError, match="No space"):
        run(data, tmp_path / "out", overwrite=True)
    assert snapshot(tmp_path / "out") == old
    monkeypatch.undo()
    data.write_bytes(lines(texts(5, 40, 25)))
    with pytest.raises(lw.UsageError, match="cannot resume"):
        run(data, tmp_path / "out", overwrite=True, resume=True)
    shutil.rmtree(tmp_path / "out.work")
    run(data, tmp_path / "out", overwrite=True)
    assert snapshot(tmp_path / "out") != old
