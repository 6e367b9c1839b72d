"""Fixtures of the tests of faults."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import jobs
import pytest
from runs import command

from likewise.cli.main import main, status_of


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """A second or so of work, and what comes of it."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "in.jsonl").write_bytes(jobs.lines(jobs.rows(2, 24_000, 120)))
    assert command("dedup", folder / "in.jsonl", "-o", folder / "whole", "-q").returncode == 0
    return folder / "in.jsonl", jobs.snapshot(folder / "whole")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """An empty folder, in memory where there is such a file system: tests that count syncs need not wait for them."""
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(
        prefix="likewise-faults-", dir=memory if os.access(memory, os.W_OK) else tmp_path, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


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
