"""The items of an index from its folder: segments, the tail from the rows of the log, and what was removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from likewise.errors import FormatError
from likewise.index.embedded.database import Database, State
from likewise.index.embedded.folder import DATABASE, Manifest, damaged
from likewise.index.embedded.locks import noted
from likewise.index.embedded.rows import Row, decoded
from likewise.index.parts import Parts
from likewise.index.segment import Form, Segment
from likewise.index.tail import Tail
from likewise.messages import either, option


class Loaded(NamedTuple):
    state: State
    parts: Parts
    tail: Tail
    row: int  # the last row of the log that is in the tail
    segments: dict[int, Segment]  # by name


class Stored(NamedTuple):
    """The contents of a database at one moment."""

    state: State
    rows: list[tuple[int, bytes]]
    gone: dict[int, np.ndarray]
    renewed: bool = True  # False: only the rows after those that were there

    @property
    def row(self) -> int:
        """The last row of the log."""
        return self.rows[-1][0] if self.rows else self.state.folded


def stored(database: Database, have: Loaded | None = None) -> Stored:
    """The catalog and the log. have: what was loaded before; if the catalog is the same, only later rows are read.

    Raises FormatError if rows are missing that were acknowledged.
    """
    least = noted(database.folder)  # before the data, because a writer notes a row once it is there
    with database.snapshot():
        state = database.state()
        if have and have.state.segments == state.segments and state.folded <= have.row:
            found = Stored(state, database.rows(have.row), {}, renewed=False)
        else:
            found = Stored(state, database.rows(state.folded), database.gone())
    if max(found.row, have.row if have else 0) < least:
        raise damaged(database.folder, f"the last {least - found.row:,} rows of the log in {DATABASE} are missing")
    return found


def loaded(folder: Path, manifest: Manifest, found: Stored, known: Mapping[int, Segment]) -> Loaded:
    """The items. known: segments that are open already. Raises FormatError for what is damaged or missing."""
    state, form = found.state, Form.of(manifest.settings)
    check(folder, manifest, state)
    segments = {
        one.name: known[one.name] if one.name in known else Segment.open(folder, one.name, form, bytes.fromhex(one.checksum))
        for one in state.segments
    }
    tail = Tail(form)
    gone, last = added(folder, tail, found.rows)
    removed = np.unique(np.concatenate([gone, *found.gone.values()]))  # the catalog may have what rows say again
    parts = Parts.of(form, [*segments.values()] + [tail.snapshot()] * (tail.items > 0), removed, max(last, state.next - 1))
    return Loaded(state, parts, tail, found.row, segments)


def grown(folder: Path, have: Loaded, found: Stored) -> Loaded:
    """The items with those of later rows. Raises FormatError for a damaged row."""
    gone, last = added(folder, have.tail, found.rows)
    parts = have.parts.with_tail(have.tail.snapshot(), last) if last >= 0 else have.parts
    return have._replace(state=found.state, parts=parts.with_gone(gone), row=max(have.row, found.row))


def added(folder: Path, tail: Tail, rows: Sequence[tuple[int, bytes]]) -> tuple[np.ndarray, int]:
    """Add the items of rows to a tail; the numbers of items that the rows removed, and the last number that they gave, or -1."""
    gone, last = [np.empty(0, np.int64)], -1
    for row in [read(folder, number, data) for number, data in rows]:  # all of them, before any is added
        gone.append(row.gone)
        if len(row.numbers):
            tail.append(row.numbers, row.items)
            last = int(row.numbers[-1])
    return np.concatenate(gone), last


def read(folder: Path, number: int, data: bytes) -> Row:
    """A row of the log. Raises FormatError if it is damaged."""
    row = decoded(number, data)
    if row is None:
        raise damaged(folder, f"row {number} of the log in {DATABASE}")
    return row


def check(folder: Path, manifest: Manifest, state: State) -> None:
    """Raise FormatError if the parts of an index do not belong together, or were not completed."""
    if manifest.id != state.id:
        raise damaged(folder, f"the manifest and {DATABASE} belong to different indexes")
    if state.loading:
        again = f"{either('lw.Index.build', 'likewise index build')} with {option('overwrite')}"
        raise FormatError(f"{folder}: the build of this index was interrupted; {again} makes it again")
