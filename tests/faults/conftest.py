"""What tests of faults take as a fixture."""

from __future__ import annotations

import sys

import jobs
import pytest
from runs import command

from likewise.cli.main import main, status_of


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """A second or so of work, its first part known to be done when the journal speaks of it; and what comes of it."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "in.jsonl").write_bytes(jobs.lines(jobs.rows(2, 24_000, 120)))
    assert command("dedup", folder / "in.jsonl", "-o", folder / "whole", "-q").returncode == 0
    return folder / "in.jsonl", jobs.snapshot(folder / "whole")


@pytest.fixture
def likewise(tmp_path, monkeypatch, capfd):
    """The command line in an empty folder and in this process: likewise(arguments...) -> (status, what it said)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str]:
        given = [str(argument) for argument in arguments]
        monkeypatch.setattr(sys, "argv", ["likewise", *given])
        capfd.readouterr()
        status = status_of(main, given)
        said = capfd.readouterr().err
        assert "Traceback" not in said
        return status, said

    return run
