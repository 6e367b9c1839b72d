"""The inputs that a result file names, read again. They are recognized by their contents, so they may have been moved."""

from __future__ import annotations

import stat
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from likewise.drawing.numbers import counted
from likewise.errors import DataError, UsageError
from likewise.explorer.waiting import still_waited_for
from likewise.io import storage
from likewise.io.address import Address, place
from likewise.io.inputs import resolve
from likewise.io.source_names import printable
from likewise.messages import quoted
from likewise.records import Chunk, Records, Want
from likewise.report.contents import Contents
from likewise.runs.recorded import Entry

#: Entries of a record that are not the mark of a file.
NAMES = ("source", "path", "named")


class Again(Contents):
    """The inputs of one side of a result file. It remembers where chunks begin, so that a source is read from its beginning once."""

    def __init__(self, file: Path, entries: Sequence[Entry], want: Want):
        inputs = {entry["source"]: entry for entry in entries}
        paths = {source: entry["path"] for source, entry in inputs.items() if "path" in entry}
        #: Sources at addresses that only the file names: whoever made it does not decide what this machine requests.
        self.far = {source for source, path in paths.items() if isinstance(path, Address) and not inputs[source].get("named")}
        super().__init__(str(file), {source: path for source, path in paths.items() if source not in self.far}, inputs, want, still_waited_for)
        self._lock = Lock()
        self._begins: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._still: dict[str, tuple[dict[str, Any], bool]] = {}

    @cached_property
    def numbered(self) -> bool:
        """True if the first item has no id."""
        try:
            first = next((records for source in self.paths for _, records in self.records(source) if len(records)), None)
        except DataError:
            return False
        return first is not None and (first.id is None or not first.id[0].is_valid)

    @property
    def _marks(self) -> dict[str, list[tuple[int, int]]]:
        return self._begins

    def _is_still(self, source: str, found: Any) -> bool:
        path, then = self.paths[source], mark_of(self.inputs[source])
        if then.get("size") != found.st_size or not (isinstance(path, Address) or stat.S_ISREG(found.st_mode)):
            return False
        state, known = storage.stamp(found), self._still.get(source)
        if known is None or known[0] != state:
            known = self._still[source] = state, then == storage.mark(path, found)
        return known[1]

    def why_not(self, source: str) -> str:
        """Why a source has no path."""
        if "size" in self.inputs.get(source, {}):
            return "its place is not known; name it: likewise serve FILE INPUT"
        return "its items came from Python or from standard input"

    def parsed(self, source: str, positions: Sequence[int] = ()) -> Iterator[tuple[str, Path, int, Chunk, Records]]:
        for format, path, first, chunk, records in super().parsed(source, positions):
            with self._lock:
                begins = self._begins[source]
                if first and (not begins or begins[-1][1] < first):
                    begins.append((chunk.start, first))
            yield format, path, first, chunk, records


def mark_of(entry: Entry) -> dict[str, Any]:
    """The mark in an entry; {} if the input had changed before the result was written."""
    return {name: value for name, value in entry.items() if name not in NAMES}


def found_among(entries: dict[str, list[Entry] | None], given: Sequence[str], file: Path, want: Want) -> dict[str, list[Entry] | None]:
    """The entries of all sides, with the paths of those whose contents are among the given inputs. Raises UsageError if none of them is."""
    if not given:
        return entries
    sizes = defaultdict(list)
    for source in resolve([place(one) for one in given], want=want):
        for _, path in source.files:
            sizes[storage.now(path).st_size].append(path)
    marks: dict[Path, dict[str, Any]] = {}

    def again(entry: Entry) -> Entry:
        for path in sizes.get(entry.get("size", -1), ()):
            if path not in marks:
                marks[path] = storage.mark(path, storage.now(path))
            if marks[path] == mark_of(entry):
                return entry | {"path": path, "named": True}
        return entry

    made = {name: None if some is None else [again(entry) for entry in some] for name, some in entries.items()}
    named = [entry for some in entries.values() for entry in some or ()]
    if not any(entry.get("named") for some in made.values() for entry in some or ()):
        some = f"{counted(len(named), 'input')}, such as {printable(named[0]['source'])}" if named else "no files"
        raise UsageError(f"{quoted(given[0])}: {file} was made from {some}, and none of them has the content of a file here")
    return made
