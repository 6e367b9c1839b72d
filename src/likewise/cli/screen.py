"""Output of a verb: data on standard output, messages on standard error, colors only on a terminal."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO

import click

from likewise.drawing.controls import escaped_json
from likewise.drawing.controls import harmless as harmless
from likewise.drawing.controls import in_line as in_line
from likewise.drawing.numbers import counted as counted
from likewise.drawing.numbers import figure as figure
from likewise.drawing.numbers import percent as percent
from likewise.drawing.numbers import size as size
from likewise.errors import naming
from likewise.messages import on_command_line


@dataclass
class Screen:
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    color: str = "auto"
    progress: str = "auto"

    def data(self, text: str | bytes) -> None:
        """Print a result."""
        with naming("standard output"):
            click.echo(text, nl=isinstance(text, str), color=self.colored(sys.stdout))

    def document(self, value: Any) -> None:
        """Print a result as one JSON document."""
        import json

        text = json.dumps(value, indent=1, ensure_ascii=False, default=str).encode("utf-8", "backslashreplace").decode()
        self.data(escaped_json(text).encode() + b"\n")

    def say(self, text: str = "", lead: str = "") -> None:
        """Print a message after a styled lead. A failure, such as a full disk with the log, is ignored."""
        if not self.quiet:
            with suppress(OSError):
                click.echo(lead + harmless(text), err=True, color=self.colored(sys.stderr))

    def warn(self, text: str) -> None:
        self.say(in_line(on_command_line(text)), click.style("warning: ", fg="yellow", bold=True))

    def rows(self, pairs: Iterable[tuple[str, str]], *, data: bool = False) -> None:
        """Print names and texts in two columns."""
        pairs = list(pairs)
        width = max((len(name) for name, _ in pairs), default=0)
        for name, text in pairs:
            lead = f"{click.style(name.ljust(width), bold=True)}  "
            self.data(lead + in_line(text)) if data else self.say(in_line(text), lead)

    def colored(self, stream: TextIO) -> bool:
        if self.color != "auto":
            return self.color == "always"
        return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO) -> bool:
    return bool(getattr(stream, "isatty", lambda: False)())


def width(most: int = 100) -> int:
    return max(40, min(most, shutil.get_terminal_size().columns))


def typed(arguments: Iterable[str]) -> str:
    """A command quoted for a shell, whatever bytes its arguments contain.

    >>> typed(["cp", "my file", "a\\nb", "\\udcff"])
    "cp 'my file' $'a\\\\nb' $'\\\\xff'"
    """
    return " ".join(shlex.quote(one) if one.isprintable() else f"$'{escaped(one)}'" for one in arguments)


def escaped(text: str) -> str:
    try:
        raw = os.fsencode(text)
    except UnicodeEncodeError:  # half of a pair of surrogates, as JSON has it, which no command line can hold
        raw = text.encode(errors="surrogatepass")
    raw = raw.replace(b"\\", b"\\\\").replace(b"'", b"\\'")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in raw.decode("utf-8", "backslashreplace"))


def duration(seconds: float) -> str:
    """
    >>> duration(1.23), duration(75), duration(7300)
    ('1.2 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60} s"
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60} min"
