"""The check of all that the folder of an index holds."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from likewise.errors import FormatError, LikewiseError
from likewise.index.embedded.database import Database
from likewise.index.embedded.folder import DATABASE, Manifest, manifest_of
from likewise.index.embedded.loaded import Stored, check, loaded, stored
from likewise.index.segment import Form, Segment

#: Attempts: a segment may be replaced before it is opened.
TRIES = 20
#: Items that are read at once.
BLOCK = 1 << 14


def faults(folder: Path) -> list[str]:
    """A sentence for each fault of the index in this folder, which may be in use. Reads all of it."""
    try:
        manifest = manifest_of(folder)
        with closing(Database.reading(folder)) as database:
            found = [f"{folder}: {DATABASE}: {line}" for line in database.integrity()]
            for _ in range(TRIES):
                at = stored(database)
                check(folder, manifest, at.state)
                segments, missing = opened(folder, manifest, at)
                if not missing or stored(database).state == at.state:
                    break
    except (LikewiseError, OSError) as error:
        return [str(error)]
    found += missing + [fault for segment in segments.values() for fault in segment.check()]
    return found or disagreements(folder, manifest, at, segments)


def opened(folder: Path, manifest: Manifest, at: Stored) -> tuple[dict[int, Segment], list[str]]:
    """The segments that can be opened, and what is wrong with the others."""
    found: dict[int, Segment] = {}
    faults = []
    for one in at.state.segments:
        try:
            found[one.name] = Segment.open(folder, one.name, Form.of(manifest.settings), bytes.fromhex(one.checksum))
        except FormatError as error:
            faults.append(str(error))
    return found, faults


def disagreements(folder: Path, manifest: Manifest, at: Stored, segments: dict[int, Segment]) -> list[str]:
    """Contradictions between the parts of an index: each item must be found by its id."""
    try:
        view = loaded(folder, manifest, at, segments).parts
    except FormatError as error:
        return [str(error)]
    count = wrong = 0
    for numbers, items in view.scan(most=BLOCK):
        count += len(numbers)
        wrong += int((view.find(items.ids) != numbers).sum())
    faults = [f"{folder}: {wrong:,} items are not found by their ids"] * (wrong > 0)
    return faults + [f"{folder}: {count:,} items are there instead of {len(view):,}"] * (count != len(view))
