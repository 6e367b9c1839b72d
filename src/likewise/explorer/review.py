"""Near-duplicates one after the other, with a verdict by key, and what the verdicts say about precision."""

from __future__ import annotations

from threading import Lock
from typing import Any

from likewise.explorer import pair
from likewise.explorer.output import Output
from likewise.explorer.pages import Moved, Request, Shown, link
from likewise.report import verdicts as files
from likewise.report.precision import RANGES
from likewise.service.problems import ProblemError

#: The words of verdicts, and the keys that give them.
WORDS = {"same": ("Same", "s"), "different": ("Not the same", "d"), "skip": ("Skip", "k"), "undo": ("Undo", "u")}


class Review:
    """The review of an output. The file of verdicts is read again once it has changed, because another explorer may write to it."""

    def __init__(self, output: Output):
        self._output = output
        self.path, self._digest, self._lock = files.path_of(output.folder), files.digest_of(output.originals.manifest), Lock()
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
        near, verdicts = self._output.removals.near, self.verdicts
        said = verdicts.of
        number = self._chosen(request)
        row, before = near.next(number, said)
        wanted = request.number("row", 0, max(0, len(near.values) - 1), default=-1)
        row = row if wanted < 0 else wanted
        ranges = [("all", "all near-duplicates", near.judged(None, said))]
        ranges += [(str(one), self._name(one), near.judged(one, said)) for one in range(RANGES)]
        values: dict[str, Any] = {
            "here": "/review",
            "range": "all" if number is None else str(number),
            "ranges": [one for one in ranges if one[2].pairs],
        }
        values |= {"row": row, "before": before, "words": WORDS, "file": str(self.path), "number": len(said), "others": verdicts.others}
        values |= {"damaged": verdicts.damaged, "last": next(reversed(said), None), "value": self._output.value, "pair": None, "said": None}
        if row is not None:
            found = self._output.removals.rows([row])[0]
            sides = pair.removed_of(found), pair.kept_of(found)
            values |= {"pair": pair.beside(self._output, *sides, found, request), "said": said.get(row)}
        return Shown("review.html", values)

    def judge(self, request: Request) -> Moved:
        """Store a verdict, and show the next pair."""
        verdict = request.form.get("verdict", "")
        if verdict not in WORDS:
            raise ProblemError(422, f"verdict: expected one of {', '.join(WORDS)}, got {verdict[:20]!r}")
        removals, back = self._output.removals, link("/review", range=request.form.get("range"))
        row = request.number("row", 0, max(0, len(removals) - 1), default=-1)
        if verdict == files.WITHDRAWN and row not in self.verdicts.of:
            return Moved(back)
        if row < 0:
            raise ProblemError(422, "row: which removal is meant?")
        found = removals.rows([row])[0]
        names = ("id", "source", "position", "start", "end", "kept_id", "kept_source", "kept_position", "kept_start", "kept_end", removals.value)
        files.append(self.path, self._digest, row, verdict, {name: found[name] for name in names if name in found})
        return Moved(link("/review", range=request.form.get("range"), row=row) if verdict == files.WITHDRAWN else back)

    def _chosen(self, request: Request) -> int | None:
        """The range of a request; None: all. By default the one next to the threshold that has pairs."""
        near = self._output.removals.near
        first = next((str(number) for number in range(RANGES) if len(near.rows(number))), "all")
        given = request.one_of("range", ("all", *map(str, range(RANGES))), first)
        return None if given == "all" else int(given)

    def _name(self, number: int) -> str:
        first, last = self._output.removals.near.ends(number)
        return f"{min(first, last):.4g} to {max(first, last):.4g}"
