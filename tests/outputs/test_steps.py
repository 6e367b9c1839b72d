"""Masks and patterns in what a run writes and in the verbs that read it: manifest, report, show, audit, plan, resume."""

from __future__ import annotations

import json

import pytest

import likewise as lw
from command_line import run
from likewise.io.work import Work
from stopping import StoppedError

STEPS = ["masks,lower", r"re:user=\w+, "]
NAMES = [r"re:user=\w+, ", "uuid", "ip", "dates", "hex", "numbers", "lower"]
LINES = [f"2024-05-{day:02} Login of user=u{day}x, from 10.0.0.{day} took {day}ms" for day in range(1, 9)] + [
    "Another line of this log, of user=x, too"
]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({"text": line}) + "\n" for line in LINES))
    return path


def test_outputs_name_the_steps_and_are_read_with_them(log, tmp_path):
    out = tmp_path / "out"
    flags = [part for step in STEPS for part in ("--normalize", step)]
    done = run("dedup", str(log), "-o", str(out), "--by", "words:1", *flags)
    assert done.exit_code == 0 and "kept      2" in done.stderr
    assert json.loads((out / "manifest.json").read_text())["method"]["normalize"] == NAMES
    assert lw.dedup(log, by="words:1", normalize=STEPS).report["method"]["normalize"] == NAMES
    page = (out / "report.html").read_text()
    assert "re:user=\\w+,  replaced by 0, UUIDs replaced by 0, IP addresses replaced by 0, dates and times replaced by 0" in page
    shown = run("show", str(out), "log.jsonl:3")
    assert f"exact copy after normalization ({', '.join(NAMES)})" in shown.stdout and "changed" not in shown.stderr
    assert run("audit", str(out)).exit_code == 0
    planned = run("plan", str(log), "--by", "words:1", *flags)
    assert r"--normalize masks,lower --normalize 're:user=\w+, '" in planned.stdout


def test_settings_files_and_variables_take_lists(log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "likewise.toml").write_text(f"by = 'words:1'\nnormalize = {json.dumps(STEPS)}\n")
    assert "kept      2" in run("dedup", str(log), "-o", "a").stderr
    (tmp_path / "likewise.toml").write_text("by = 'words:1'\n")
    monkeypatch.setenv("LIKEWISE_NORMALIZE", "masks,lower,re:user=[a-z0-9]{1,9}, ")  # not split at spaces
    assert "kept      2" in run("dedup", str(log), "-o", "b").stderr


@pytest.mark.parametrize("changed", [["masks,lower", "re:user=.*, "], "masks,lower", "none"])
def test_a_run_is_not_resumed_with_other_steps(log, tmp_path, monkeypatch, changed):
    monkeypatch.setattr(Work, "done", lambda self, step: (_ for _ in ()).throw(StoppedError()) if step == "read" else [])
    with pytest.raises(StoppedError):
        lw.dedup(log, out=tmp_path / "out", normalize=STEPS)
    monkeypatch.undo()
    with pytest.raises(lw.UsageError, match="cannot resume, because normalize= differs"):
        lw.dedup(log, out=tmp_path / "out", normalize=changed, resume=True)
    assert len(lw.dedup(log, out=tmp_path / "out", by="words:5", normalize=STEPS, resume=True).removed) >= 7


@pytest.mark.parametrize("by", ["tokens:2", "elements", "cosine"])
def test_other_items_have_no_steps(by):
    with pytest.raises(lw.UsageError, match="normalize="):
        lw.similarity([1, 2], [2, 3], by=by, normalize=["masks", "re:a,b"])
