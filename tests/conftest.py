"""Fixtures for tests of several files."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from command_line import TEXTS
from likewise.cli.flags import FLAGS
from likewise.cli.main import main, status_of
from likewise.compiled.notice import NOTICE


def pytest_configure() -> None:
    """Independence of the environment. A shell makes processes in the background ignore Ctrl-C, and their children too; tests of Ctrl-C need it as it
    is in the foreground."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy one draws and runs examples slowly
    settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="drawn faults, mutants and large samples in full, not at a tenth")


@pytest.fixture(scope="session")
def scaled(request: pytest.FixtureRequest) -> Callable[[Any, Any], Any]:
    """scaled(full, small): the size of a heavy test, full with --all. Its assertions hold for both sizes: bounds are computed from the size."""
    whole = request.config.getoption("--all")
    return lambda full, small: full if whole else small


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail skipped tests in the gate: the disk, cgroup or user that they need must exist there."""
    report = yield
    if report.skipped and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but CI is set: {report.longrepr}"
    return report


@pytest.fixture(autouse=True)
def no_word_of_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suppress messages about compiling, which depend on earlier tests; tests/cli/test_compiling.py tests them in separate processes."""
    monkeypatch.setattr(NOTICE, "listeners", (lambda: None, lambda seconds: None))
    monkeypatch.setattr(NOTICE, "kernels", 0)
    monkeypatch.setattr(NOTICE, "listen", lambda *_: None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, without settings from outside."""
    monkeypatch.chdir(tmp_path)
    for name in FLAGS:
        monkeypatch.delenv(f"LIKEWISE_{name.upper()}", raising=False)
    return tmp_path


@pytest.fixture
def docs(folder: Path) -> Path:
    """The folder, with four documents in docs.jsonl."""
    path = folder / "docs.jsonl"
    path.write_text("".join(json.dumps({"id": name, "text": " ".join(words)}) + "\n" for name, words in TEXTS.items()))
    return path


@pytest.fixture
def likewise(tmp_path, monkeypatch, capfd):
    """The command line in an empty folder: likewise(arguments, ...) -> status, out, err."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, stdin: bytes = b"") -> SimpleNamespace:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfd.readouterr()
        status = status_of(main, [str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return SimpleNamespace(status=status, out=out, err=err)

    return run


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the pairs held by greedy removal over joins to so few that items are split into many parts."""
    for name, number in (("EACH", 0), ("FEWEST", 3), ("MOST", 5)):
        monkeypatch.setattr(f"likewise.joins.greedy.{name}", number)
