"""Situations that broke other tools, rebuilt from scratch: many files, and little memory."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

import likewise as lw
from likewise.engines import local
from likewise.runs import decided, pipeline
from situations import jsonl, text

# --- many files


def test_what_many_files_cost_grows_with_their_number(tmp_path, monkeypatch):
    """And not with its square: ten thousand once took eight minutes."""
    stat, looked = Path.stat, 0

    def counting(self: Path, **how: bool) -> os.stat_result:
        nonlocal looked
        looked += 1
        return stat(self, **how)

    monkeypatch.setattr(Path, "stat", counting)
    cost = []
    for number in (50, 100):
        (tmp_path / f"in-{number}").mkdir()
        for i in range(number):
            (tmp_path / f"in-{number}/{i}.txt").write_text(text(i))
        looked = 0
        lw.dedup(tmp_path / f"in-{number}", out=tmp_path / f"out-{number}")
        cost.append(looked)
    assert cost[1] < 2.5 * cost[0]


# --- little memory


def limited(megabytes: int, *arguments: object) -> subprocess.CompletedProcess:
    size = megabytes * 2**20
    command = [sys.executable, "-P", "-m", "likewise", *map(str, arguments)]
    two_cores = os.environ | {"OPENBLAS_NUM_THREADS": "2"}  # numpy's library takes address space by the core
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))  # noqa: E731
    return subprocess.run(command, capture_output=True, text=True, env=two_cores, preexec_fn=limit)


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux only")
def test_two_hundred_thousand_texts_in_a_gigabyte_and_a_half(tmp_path):
    """Four equal ones each, far apart. With too little, no output."""
    groups = 50_000
    with open(tmp_path / "in.jsonl", "w") as file:
        for i in range(4 * groups):
            file.write('{"id": %d, "text": "%s"}\n' % (i, " ".join(f"g{i % groups}w{j}" for j in range(30))))  # noqa: UP031
    done = limited(1536, "dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--by", "whitespace:5", "--threads", "2", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert (report["counts"]["kept"], report["counts"]["removed"], report["clusters"]["by_size"]) == (groups, 3 * groups, {"4": groups})
    with open(tmp_path / "out/kept/in.jsonl", "rb") as file:
        assert sum(1 for _ in file) == groups
    assert json.loads((tmp_path / "out/run.json").read_text())["peak_memory_bytes"] < 1536 * 2**20
    done = limited(600, "dedup", tmp_path / "in.jsonl", "-o", tmp_path / "little", "--by", "whitespace:5", "--threads", "2", "-q")
    assert (done.returncode == 0, done.stderr == "") == (False, False)
    assert not (tmp_path / "little").exists()


@pytest.mark.parametrize(("module", "stage"), [(pipeline, "collect"), (local, "distinct"), (decided, "decide")])
def test_out_of_memory_at_any_stage_is_said_and_leaves_no_output(likewise, tmp_path, monkeypatch, module, stage):
    (tmp_path / "in.jsonl").write_bytes(jsonl([{"text": text(1)}]))

    def failing(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(module, stage, failing)
    done = likewise("dedup", "in.jsonl", "-o", "out")
    assert (done.status, "out of memory" in done.err, "--memory" in done.err) == (2, True, True)
    assert not (tmp_path / "out").exists()
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert likewise("dedup", "in.jsonl", "-o", "out", "--resume").status == 0


def test_no_room_for_a_thread_is_a_lack_of_memory(monkeypatch):
    monkeypatch.setattr(Thread, "start", lambda _: (_ for _ in ()).throw(RuntimeError("can't start new thread")))
    with pytest.raises(MemoryError, match="2 threads"):
        lw.dedup(["a", "b"], threads=2)
