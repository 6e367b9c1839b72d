"""The end of a run, and its messages on the way."""

from __future__ import annotations

import errno
import io
import json
import sys
from pathlib import Path

import pytest
from click.testing import Result

from command_line import run
from likewise.cli.progress import Bar, Lines, progress_on
from likewise.cli.screen import Screen
from likewise.errors import no_room

pytestmark = pytest.mark.usefixtures("docs")


# how a run ends


def stopped(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> Result:
    def stop(inputs: object, against: object, options: object, out: Path, progress: object) -> None:
        work = out.with_name(out.name + ".work")
        work.mkdir()
        (work / "work.json").write_text(json.dumps({"format": "likewise/work", "version": 1, "made": True}))
        (work / "description.json").write_text("{}")
        raise error

    monkeypatch.setattr("likewise.verbs.dedup.deduplicate", stop)
    monkeypatch.setattr(sys, "argv", ["likewise", "dedup", "docs.jsonl", "-o", "my out"])
    return run("dedup", "docs.jsonl", "-o", "my out")


def test_an_interrupted_run_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    result = stopped(monkeypatch, KeyboardInterrupt())
    assert result.exit_code == 130
    assert result.stderr == "likewise: interrupted\n  to continue: likewise dedup docs.jsonl -o 'my out' --resume\n"


def test_a_run_that_had_nothing_to_resume_counts_what_it_read() -> None:
    result = run("dedup", "docs.jsonl", "-o", "out", "--resume")
    assert result.exit_code == 0 and "/s" in result.stderr and "resumed" not in result.stderr


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "w/sets.col"), "w/sets.col: No space left on device; free some space, or put intermediate"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), "x: Permission denied; check the permissions"),
        (OSError("odd"), "likewise: error: odd"),
        (MemoryError(), "out of memory; set a lower --memory or --threads"),
    ],
)
def test_the_system_refuses(monkeypatch: pytest.MonkeyPatch, error: BaseException, said: str) -> None:
    result = stopped(monkeypatch, error)
    assert result.exit_code == 2 and said in result.stderr and "to continue: likewise dedup" in result.stderr and "Traceback" not in result.stderr


def test_a_record_too_large_for_the_memory_needs_another_command(monkeypatch: pytest.MonkeyPatch) -> None:
    result = stopped(monkeypatch, no_room("a.jsonl: the record", "80 MiB", "several times as much", 64 << 20))
    change, command = result.stderr.splitlines()[-2:]
    assert change == "  raise --memory in the command below; to change anything else, delete my out.work and start over"
    assert command == "  to continue: likewise dedup docs.jsonl -o 'my out' --resume"


def test_a_fault_of_ours_shows_where(monkeypatch: pytest.MonkeyPatch) -> None:
    result = stopped(monkeypatch, ZeroDivisionError("oh"))
    assert result.exit_code == 2, "1 would mean that something was found"
    assert "Traceback" in result.stderr and "ZeroDivisionError: oh" in result.stderr and "bug in likewise" in result.stderr


# progress


def test_progress_fits_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(progress_on(Screen(quiet=True, progress="always"))) is type(progress_on(Screen(progress="never")))
    assert isinstance(progress_on(Screen(progress="always")), Bar)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(progress_on(Screen()), Lines)
    monkeypatch.setattr(sys, "stderr", None)
    assert type(progress_on(Screen(progress="always"))) is type(progress_on(Screen(progress="never")))


def test_lines_come_now_and_then(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise.cli.progress.PLAIN_SECONDS", 1e9)
    progress = Lines(Screen())
    progress.begin("reading", 4_000_000, "bytes")
    progress.advance(1_000_000)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("likewise.cli.progress.PLAIN_SECONDS", 0.0)
    progress.advance(1_000_000)
    assert capsys.readouterr().err.startswith("reading: 50% of 4 MB, ")
    progress.finish()
    assert progress.bytes_read == 2_000_000 and list(progress.seconds) == ["reading"]


def test_a_bar_comes_after_a_while_and_leaves_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise.cli.progress.PATIENCE_SECONDS", 1e9)
    progress = Bar(Screen(color="never"))
    progress.begin("reading", 100, "items")
    progress.advance(50)
    assert capsys.readouterr().err == "", "too soon for a bar"
    monkeypatch.setattr("likewise.cli.progress.PATIENCE_SECONDS", 0.0)
    progress.advance(25)
    progress.warn("mind [this]")
    progress.finish()
    text = capsys.readouterr().err
    assert "reading" in text and "75% of 100 items" in text and "warning: mind [this]" in text
    assert progress.warnings == ["mind [this]"] and text.endswith("\x1b[2K"), "the last line is wiped"


@pytest.mark.parametrize("error", [OSError(errno.EIO, "the terminal has gone"), BrokenPipeError()])
def test_a_bar_that_cannot_be_drawn_stops_no_work(monkeypatch: pytest.MonkeyPatch, error: OSError) -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise error

    monkeypatch.setattr(sys, "stderr", Gone())
    monkeypatch.setattr("likewise.cli.progress.PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr("likewise.cli.progress.PATIENCE_SECONDS", 1e9)
    progress = Bar(Screen(color="never"))
    progress.begin("reading", 100, "items")
    progress.advance(50)
    progress.compiling()
    progress.warn("mind")
    progress.finish()
    assert list(progress.seconds) == ["reading"] and progress.warnings == ["mind"]
