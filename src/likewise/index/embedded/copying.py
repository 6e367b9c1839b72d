"""A consistent copy of an index, made beside its writer."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from likewise.errors import FormatError, UsageError
from likewise.index.embedded.creation import check_outside, staged_for
from likewise.index.embedded.database import Database
from likewise.index.embedded.folder import DATABASE, LOCK, MANIFEST, check_place, damaged, manifest_of
from likewise.index.embedded.loaded import loaded, stored
from likewise.index.segment import files
from likewise.io import disk

#: Attempts: a segment may be replaced before it is copied.
TRIES = 20


def backup(folder: Path, to: Path) -> None:
    """Copy an index as it is at one moment. The copy appears complete or not at all. Raises UsageError if something is at its place."""
    to = to.absolute()
    check_place(to)
    check_outside(to)
    if to.is_symlink() or (to.exists() and not (to.is_dir() and not any(to.iterdir()))):
        raise UsageError(f"{to}: this path exists, and a backup replaces nothing; choose another path")
    staged = staged_for(to)
    try:
        for attempt in range(TRIES):
            try:
                copied(folder, staged)
                break
            except FileNotFoundError:
                if attempt == TRIES - 1:
                    raise
                for path in staged.iterdir():
                    path.unlink()
        disk.force(staged)
        staged.rename(to)
        disk.force_file(to.parent)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def copied(folder: Path, to: Path) -> None:
    """Copy the database in one transaction, then the files that it names. Raises FileNotFoundError if one was replaced meanwhile."""
    shutil.copyfile(folder / MANIFEST, to / MANIFEST)
    with closing(Database.reading(folder)) as database, closing(sqlite3.connect(to / DATABASE)) as copy, database.faults():
        database.connection.backup(copy)
    with closing(Database(to, write=True)) as found:
        at = stored(found)
        for segment in at.state.segments:
            for path in files(folder, segment.name):
                shutil.copyfile(path, to / path.name)
        try:
            segments = loaded(to, manifest_of(to), at, {}).segments.values()
            faults = [fault for segment in segments for fault in segment.check()]
        except FormatError as error:
            faults = [str(error)]
    if faults:
        raise damaged(folder, "so there is no backup of it")
    (to / LOCK).touch()
