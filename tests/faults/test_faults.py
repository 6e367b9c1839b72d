"""Accidents of long runs: they are killed, two run at once, clocks jump, names are odd. Nothing is lost, no good output is damaged."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jobs
import pytest
from runs import TEXTS, begun, command, failing, go_on

import likewise as lw
from likewise.runs import decided
from likewise.runs import writing as outputs

HERE = Path(__file__).parent


#: Jobs of each way to read, to write, to be stopped and to go on.
FEW = ("texts", "damaged", "common", "vectors", "piped", "replaced", "elsewhere", "pairs", "new features", "joined")


def test_drawn_faults(scaled):
    """Twelve rounds have each kind of fault; `python tests/faults/kill.py --rounds 1000` draws more, `--every` strikes at each step."""
    rounds, kills, names = scaled((39, 20, jobs.JOBS), (12, 3, FEW))
    command = [sys.executable, HERE / "kill.py", "--rounds", str(rounds), "--seed", "1", "--jobs", *names]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    found = re.search(rf"\n{rounds} rounds in \d+ s, 0 wrong; (\d+) kills survived", done.stdout)
    assert found and int(found[1]) >= kills, done.stdout[-5000:]


# --- signals, to real processes


@pytest.mark.parametrize(("name", "said"), [("SIGINT", "interrupted"), ("SIGTERM", "stopped by SIGTERM"), ("SIGHUP", "stopped by SIGHUP")])
def test_a_signal_ends_a_run_cleanly_and_the_message_tells_how_to_go_on(tmp_path, corpus, name, said):
    given, want = corpus
    out, number = tmp_path / "my out", signal.Signals[name]
    process = begun(
        ["dedup", str(given), "-o", str(out), "--threads", "2"], tmp_path / "my out.work", preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)
    )
    for _ in range(2):  # as where a shell and what it started both pass it on
        os.kill(process.pid, number)
    _, err = process.communicate()
    assert (process.returncode, out.exists()) == (128 + number, False)
    assert err.splitlines()[0] == f"likewise: {said}"
    assert len(err.splitlines()) == 2
    done = command(*go_on(err))
    assert done.returncode == 0
    assert "since the run was resumed" in done.stdout + done.stderr  # and no speed: what the first run read would count in none
    assert jobs.snapshot(out) == want
    assert os.listdir(tmp_path) == ["my out"]


def test_a_signal_that_who_called_had_set_to_be_ignored_is_ignored(tmp_path, corpus):
    given, want = corpus
    process = begun(
        ["dedup", str(given), "-o", str(tmp_path / "out")], tmp_path / "out.work", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    process.send_signal(signal.SIGHUP)
    process.communicate()
    assert (process.returncode, jobs.snapshot(tmp_path / "out")) == (0, want)


def test_what_a_killed_run_of_pairs_left_is_to_be_deleted(tmp_path, corpus):
    """Only dedup goes on where it was; that --resume would is not said."""
    given, _ = corpus
    process = begun(["pairs", str(given), "--work", "here", "-o", "pairs.jsonl"], tmp_path / "here", cwd=tmp_path)
    process.kill()
    process.communicate()
    assert os.listdir(tmp_path) == ["here"]
    done = command("pairs", given, "--work", "here", cwd=tmp_path)
    assert (done.returncode, "left this work folder; delete the folder to start over" in done.stderr) == (2, True), done.stderr


# --- two runs at once


def test_two_runs_with_one_output(likewise, tmp_path, monkeypatch):
    """The first that is done has it. What the other did is not lost: it goes on when it may replace that, or when that has been put elsewhere."""
    jobs.texts(tmp_path)
    decide = decided.decide
    for name, moment in {"early": (decided, "decide", decide), "late": (outputs, "check_still", outputs.check_still)}.items():
        module, attribute, function = moment

        def overtaken(*args, module=module, attribute=attribute, function=function, **kwargs):
            with monkeypatch.context() as patch:
                patch.setattr(module, attribute, function)
                lw.dedup([Path("b.jsonl.gz")], out=tmp_path / "out", work=tmp_path / "other", threshold="0.7")
            return function(*args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(module, attribute, overtaken)
            status, said = likewise("dedup", "a.jsonl", "-o", "out", *TEXTS)
        assert (status, "the folder exists; --overwrite replaces it" in said) == (2, True), name
        assert [entry["source"] for entry in json.loads((tmp_path / "out/manifest.json").read_text())["inputs"]] == ["b.jsonl.gz"]
        assert likewise(*go_on(said), "--overwrite")[0] == 0
        assert [entry["source"] for entry in json.loads((tmp_path / "out/manifest.json").read_text())["inputs"]] == ["a.jsonl"]
        assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "b.jsonl.gz", "out"]
        shutil.rmtree(tmp_path / "out")


def test_a_second_run_in_the_same_folder_is_refused_and_the_first_goes_on(tmp_path, corpus):
    given, want = corpus
    process = begun(["dedup", str(given), "-o", str(tmp_path / "out")], tmp_path / "out.work")
    for more in ([], ["--resume"]):
        done = command("dedup", given, "-o", tmp_path / "out", *more)
        assert (done.returncode, "another run is working in this folder; wait for it, or name another folder with --work" in done.stderr) == (2, True)
    process.communicate()
    assert (process.returncode, jobs.snapshot(tmp_path / "out")) == (0, want)


def test_resuming_what_is_done_says_so(likewise, tmp_path):
    jobs.texts(tmp_path)
    assert likewise("dedup", "a.jsonl", "-o", "out")[0] == 0
    status, said = likewise("dedup", "a.jsonl", "-o", "out", "--resume")
    assert (status, "the folder exists, and out.work has no interrupted run to continue" in said) == (2, True)


def test_what_an_interrupted_run_left_is_no_input(likewise, tmp_path, monkeypatch):
    jobs.texts(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "publish_staged", failing(errno.EIO, "out"))
        assert likewise("dedup", ".", "-o", "out")[0] == 2
    assert (tmp_path / "out.work/staged/kept/a.jsonl").exists()
    assert likewise("dedup", ".", "-o", "other")[0] == 0
    assert sorted(path.name for path in (tmp_path / "other/kept").iterdir()) == ["a.jsonl", "b.jsonl.gz"]


# --- clocks, seeds, names


def test_a_clock_that_jumps(likewise, tmp_path, monkeypatch):
    """Files of the future and of before 1970, and a clock that goes back during the run, change no byte and no rate."""
    jobs.texts(tmp_path)
    likewise("dedup", "a.jsonl", "-o", "out", *TEXTS)
    for when in (-1e6, 4e9):
        os.utime(tmp_path / "a.jsonl", (when, when))
        with monkeypatch.context() as patch:
            ticks = iter(range(10**6, 0, -1000))
            patch.setattr(time, "time", lambda ticks=ticks: float(next(ticks)))
            status, said = likewise("dedup", "a.jsonl", "-o", f"out {when}", *TEXTS)
        assert (status, "-" in said.partition("\n")[0]) == (0, False), said
        assert jobs.snapshot(tmp_path / f"out {when}") == jobs.snapshot(tmp_path / "out")
        run = json.loads((tmp_path / f"out {when}/run.json").read_text())
        assert min(run["seconds"].values()) >= 0


NAMES = [b"with a space", b"two\nlines", b"not \xff\xfe utf-8", b"-o", b"it's", b"tab\t", "\u202ereversed".encode(), b"n" * 240]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_any_bytes(likewise, tmp_path, monkeypatch, name):
    """Inputs, the output, and the command that a message says to go on with, as a shell reads it."""
    folder = tmp_path / os.fsdecode(name)
    folder.mkdir()
    (folder / os.fsdecode(name + b".jsonl")).write_bytes(jobs.lines(jobs.rows(1, 30)))
    (folder / os.fsdecode(name + b".txt")).write_text("a text")
    out = folder / os.fsdecode(name)
    arguments = ["dedup", "--output", "copy", "--threshold", "0.7", "-o", str(out), "--", os.fsdecode(name)]
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "publish_staged", failing(errno.EIO, "out"))
        status, said = likewise(*arguments)
    assert status == 2
    typed = said.splitlines()[-1].partition("to continue: likewise ")[2]
    read = subprocess.run(["bash", "-c", f"printf '%s\\0' {typed}"], capture_output=True).stdout
    again = [os.fsdecode(argument) for argument in read.split(b"\0")[:-1]]
    assert again == [*arguments[:-2], "--resume", *arguments[-2:]]
    assert likewise(*again)[0] == 0
    assert {path.name for path in (out / "kept").iterdir()} == {os.fsdecode(name + b".jsonl"), os.fsdecode(name + b".txt")}


def test_a_name_that_is_too_long_is_said(likewise, tmp_path):
    jobs.texts(tmp_path)
    status, said = likewise("dedup", "a.jsonl", "-o", "n" * 252)
    assert (status, "File name too long; choose a shorter name" in said) == (2, True)


def test_a_drawn_seed_is_gone_on_with(likewise, tmp_path, monkeypatch):
    jobs.texts(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "publish_staged", failing(errno.EIO, "out"))
        _, said = likewise("dedup", "a.jsonl", "-o", "out", "--seed", "random")
    assert likewise(*go_on(said))[0] == 0
    seed = json.loads((tmp_path / "out/manifest.json").read_text())["method"]["seed"]
    assert go_on(said)[-2:] == ["--seed", str(seed)]


def test_an_interrupted_demo_can_be_begun_again(likewise, tmp_path, monkeypatch):
    from likewise.cli import demo

    monkeypatch.setattr(demo, "gathered", lambda: iter([("a", "one two three four five six"), ("b", "one two three four five six")]))
    with monkeypatch.context() as patch:
        patch.setattr(decided, "decide", failing(errno.EIO, "x"))
        assert likewise("demo")[0] == 2
    assert likewise("demo")[0] == 0
