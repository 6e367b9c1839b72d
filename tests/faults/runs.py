"""Runs to be struck: the command in a process of its own, the command that continues it, and calls that fail."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

LIKEWISE = [sys.executable, "-P", "-m", "likewise"]
#: The command, which goes on after its first step once its standard input ends. Two signals are one, however long a busy machine takes to send them.
HELD = """
import os, runpy
from likewise.cli import main
from likewise.io.work import Work
append, main.TOGETHER_SECONDS = Work.append, 3600

def held(self, *columns, **step):
    append(self, *columns, **step)
    os.read(0, 1)

Work.append = held
runpy.run_module("likewise", run_name="__main__")
"""
TEXTS = ("--threshold", "0.7", "--pairs")


def command(*arguments: object, **how: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*LIKEWISE, *map(str, arguments)], capture_output=True, text=True, **how)  # type: ignore[call-overload]


def go_on(said: str) -> list[str]:
    """The arguments of the command that a message says to go on with."""
    [line] = [line for line in said.splitlines() if "to continue: likewise " in line]
    return shlex.split(line.partition("to continue: likewise ")[2])


def begun(arguments: list[str], work: Path, **how: object) -> subprocess.Popen[str]:
    """A run that has done its first step, and waits until `communicate` is called."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen([sys.executable, "-P", "-c", HELD, *arguments], text=True, **streams, **how)  # type: ignore[call-overload]
    while process.poll() is None and not ((work / "journal.jsonl").exists() and (work / "journal.jsonl").stat().st_size):
        time.sleep(0.002)
    return process


def failing(number: int, *names: str) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), *names)

    return fail
