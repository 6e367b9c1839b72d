"""Near-duplicates one after the other, with a verdict by key, and what the verdicts say about precision."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from likewise.explorer import pair
from likewise.explorer.pages import Moved, Request, Shown, link
from likewise.report import verdicts as files
from likewise.report.precision import RANGES, Near
from likewise.service.problems import ProblemError

#: The words of verdicts, and the keys that give them.
WORDS = {"same": ("Same", "s"), "different": ("Not the same", "d"), "skip": ("Skip", "k"), "undo": ("Undo", "u")}

#: Columns that a verdict does not repeat.
OTHERS = ("reason", "cluster")


class Reviewed(Protocol):
    """A result whose pairs are judged."""

    @property
    def place(self) -> Path:
        """Its file or folder, beside which verdicts lie."""

    @property
    def digest(self) -> str:
        """Identifies its rows."""

    @property
    def value(self) -> str:
        """ "similarity" or "distance"."""

    @property
    def near(self) -> Near:
        """Its pairs in random order."""

    def row(self, number: int) -> dict[str, Any]:
        """A pair as its table has it."""

    def pair_of(self, number: int, request: Request) -> pair.Pair:
        """A pair as a page shows it."""


class Review:
    """The review of a result. The file of verdicts is read again once it has changed, because another explorer may write to it.

    noun: of its pairs. sides: the names of their items. audited: `likewise audit` reads the verdicts.
    """

    def __init__(self, output: Reviewed, noun: str, sides: tuple[str, str], *, audited: bool):
        self._output, self._words = output, {"noun": noun, "names": sides, "audited": audited}
        self.path, self._digest, self._lock = files.path_of(output.place), output.digest, Lock()
        self._state, self._read = self._now(), files.read(self.path, self._digest)

    def _now(self) -> tuple[int, int]:
        """The size and the time of the file; (0, 0) for a missing one."""
        try:
            found = self.path.lstat()
        except FileNotFoundError:
            return 0, 0
        return found.st_size, found.st_mtime_ns

    @property
    def verdicts(self) -> files.Verdicts:
        with self._lock:
            if self._state != (now := self._now()):
                self._state, self._read = now, files.read(self.path, self._digest)
            return self._read

    def page(self, request: Request) -> Shown:
        """The next pair of a range."""
        near, verdicts = self._output.near, self.verdicts
        said = verdicts.of
        number = self._chosen(request)
        row, before = near.next(number, said)
        wanted = request.number("row", 0, max(0, len(near.values) - 1), default=-1)
        row = row if wanted < 0 else wanted
        ranges = [("all", f"all {self._words['noun']}", near.judged(None, said))]
        ranges += [(str(one), self._name(one), near.judged(one, said)) for one in range(RANGES)]
        values: dict[str, Any] = {
            **self._words,
            "here": "/review",
            "range": "all" if number is None else str(number),
            "ranges": [one for one in ranges if one[2].pairs],
        }
        values |= {"row": row, "before": before, "words": WORDS, "file": str(self.path), "number": len(said), "others": verdicts.others}
        values |= {"damaged": verdicts.damaged, "last": next(reversed(said), None), "value": self._output.value, "pair": None, "said": None}
        if row is not None:
            values |= {"pair": self._output.pair_of(row, request), "said": said.get(row)}
        return Shown("review.html", values)

    def judge(self, request: Request) -> Moved:
        """Store a verdict, and show the next pair."""
        verdict = request.form.get("verdict", "")
        if verdict not in WORDS:
            raise ProblemError(422, f"verdict: expected one of {', '.join(WORDS)}, got {verdict[:20]!r}")
        back = link("/review", range=request.form.get("range"))
        row = request.number("row", 0, max(0, len(self._output.near.values) - 1), default=-1)
        if verdict == files.WITHDRAWN and row not in self.verdicts.of:
            return Moved(back)
        if row < 0:
            raise ProblemError(422, "row: which removal is meant?")
        found = self._output.row(row)
        files.append(self.path, self._digest, row, verdict, {name: found[name] for name in found if name not in OTHERS})
        return Moved(link("/review", range=request.form.get("range"), row=row) if verdict == files.WITHDRAWN else back)

    def _chosen(self, request: Request) -> int | None:
        """The range of a request; None: all. By default the one next to the threshold that has pairs."""
        near = self._output.near
        first = next((str(number) for number in range(RANGES) if len(near.rows(number))), "all")
        given = request.one_of("range", ("all", *map(str, range(RANGES))), first)
        return None if given == "all" else int(given)

    def _name(self, number: int) -> str:
        first, last = self._output.near.ends(number)
        return f"{min(first, last):.4g} to {max(first, last):.4g}"
