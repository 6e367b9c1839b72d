"""The command line, and four documents for it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

import likewise
from likewise.cli.main import main
from likewise.messages import BEGIN

TEXT = "the quick brown fox jumps over the lazy dog and runs away from here into the deep dark wood"
WORDS = TEXT.split()
#: b is a with the last word changed, c equals a except for case, d is not similar to any.
TEXTS = {"a": WORDS, "b": [*WORDS[:-1], "forest"], "c": [word.upper() for word in WORDS], "d": ["something", "else", "entirely"]}
SOURCE = str(Path(likewise.__file__).parents[1])
LIKE = ("--by", "words:2", "--threshold", "0.7")


def run(*args: object, **more: Any) -> Result:
    result = CliRunner().invoke(main, [str(arg) for arg in args], **more)
    assert BEGIN not in result.output, "a message shows the marks of `messages.option`"
    return result


def refused(*args: object, **more: Any) -> str:
    """The one-line message with which a command refuses its arguments or input."""
    result = run(*args, **more)
    assert result.exit_code == 2, result.output
    assert "bug in likewise" not in result.output
    return result.output.strip().splitlines()[0]


def process(*args: object, python: tuple[str, ...] = (), tail: str = "") -> subprocess.CompletedProcess[str]:
    """The command in a separate process; ``tail`` follows it in the shell."""
    command = shlex.join([sys.executable, "-P", *python, "-m", "likewise", *map(str, args)])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [SOURCE, os.environ.get("PYTHONPATH")]))}
    return subprocess.run(["bash", "-c", command + tail], capture_output=True, text=True, check=False, env=env)


def lines(text: str) -> dict[str, str]:
    """The rows of a summary: label -> text."""
    return {line.split(" ", 1)[0]: line.split(" ", 1)[1].strip() for line in text.splitlines() if " " in line}
