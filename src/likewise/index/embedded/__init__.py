"""An index in a folder: SQLite is its log, its catalog and its clock, and immutable segments lie beside it.

    manifest.json            the settings; never changes
    index.db, -wal, -shm     the log of what was written last, the catalog of segments, and what was removed from these (`database`)
    writer.lock              one process writes (`locks`)
    NNNNNNNN.SUFFIX          the files of segment NNNNNNNN (`segment`)

A change is a row of the log, synced before it is acknowledged. From time to time the rows become a segment, whose files are synced before the commit
that names it and deletes the rows. So whenever the process ends, the database names complete files, and files that it does not name are deleted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from likewise.index.store import Items, Store


def check_new(where: str | Path, *, overwrite: bool = False) -> None:
    """Raises UsageError, before long work, for a place where `create` and `build` would raise it."""
    from likewise.index.embedded import creation

    creation.check_new(Path(where), overwrite=overwrite)


def build(
    where: str | Path, settings: dict[str, Any], blocks: Iterator[Items], *, overwrite: bool = False, durability: str = "commit"
) -> tuple[Store, int]:
    """A new index with the items of blocks, whose ids differ, and their number. It appears once it is complete; until then an old one stays."""
    from likewise.index.embedded.creation import created
    from likewise.index.embedded.writer import Writer

    def fill(staged: Path) -> int:
        with closing(Writer(staged, durability)) as store:
            return store.load(blocks)

    count = created(Path(where), settings, overwrite=overwrite, fill=fill)
    return Writer(Path(where), durability), count


def create(where: str | Path, settings: dict[str, Any], *, overwrite: bool = False, durability: str = "commit") -> Store:
    """A new index in a folder, open for writing. It appears complete or not at all.

    Raises UsageError if the path is taken, except by an index of likewise that nobody writes to, with ``overwrite``.
    """
    from likewise.index.embedded.creation import created
    from likewise.index.embedded.writer import Writer

    created(Path(where), settings, overwrite=overwrite)
    return Writer(Path(where), durability)


def open(where: str | Path, *, read_only: bool = False, durability: str = "commit") -> Store:
    """The index in a folder, for reading, or for this process alone to write.

    Raises UsageError without an index, or if another process writes to it; FormatError if it is damaged or of a newer version.
    """
    from likewise.index.embedded.reader import Reader
    from likewise.index.embedded.writer import Writer

    return Reader(Path(where)) if read_only else Writer(Path(where), durability)
