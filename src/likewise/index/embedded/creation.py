"""The creation of an index in a folder, which appears complete or not at all; one that it replaces stays until then."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from likewise.errors import UsageError
from likewise.index.embedded import database
from likewise.index.embedded.folder import LOCK, Manifest, check_place, manifest_of, others, written
from likewise.index.embedded.locks import WriterLock
from likewise.io import disk
from likewise.io.manifest import SHOWN, is_index
from likewise.io.placing import keep_permissions, name_beside
from likewise.messages import either, option


def created(folder: Path, settings: dict[str, Any], *, overwrite: bool, fill: Callable[[Path], int] = lambda _: 0) -> int:
    """Make an index at this path. fill: adds items while the index is at another one, and returns their number, as this does."""
    folder = folder.absolute()
    check_new(folder, overwrite=overwrite)
    staged = staged_for(folder)
    try:
        id_ = uuid.uuid4().hex
        database.make(staged, id_)
        written(staged, Manifest(id_, settings))
        (staged / LOCK).touch()
        count = fill(staged)
        place(staged, folder, overwrite=overwrite)
    finally:
        shutil.rmtree(staged, ignore_errors=True)  # on success it is gone, or holds what was replaced
    return count


def staged_for(folder: Path) -> Path:
    """A new folder beside the place of an index. Errors name that place, which the user knows."""
    staged = folder.with_name(name_beside(folder))
    try:
        disk.make_folders(folder.parent)
        staged.mkdir()
    except OSError as error:
        error.filename = str(folder)
        raise
    return staged


def check_new(folder: Path, *, overwrite: bool) -> None:
    """Raise UsageError unless an index can be made at this path, and nobody writes to the one that it replaces."""
    check_place(folder)
    check_outside(folder)
    check_free(folder, overwrite=overwrite)
    if (folder / LOCK).exists():
        WriterLock(folder).release()


def check_outside(folder: Path) -> None:
    """Raise UsageError if the folder would be inside an index, which has only its own files."""
    for parent in folder.absolute().parents:
        if is_index(parent):
            raise UsageError(f"{folder}: {parent} is an index, and nothing else can be in it; choose another path")


def check_free(folder: Path, *, overwrite: bool) -> None:
    """Raise UsageError unless an index can be made at this path."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder}: this is not a folder; choose another path for the index")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    try:
        manifest_of(folder)
    except UsageError:
        raise UsageError(f"{folder}: this folder is not empty and not an index of likewise; choose another path") from None
    if not overwrite:
        opens = either("lw.Index.open opens it", "likewise index add adds to it")
        raise UsageError(f"{folder}: the index already exists; {opens}, and {option('overwrite')} replaces it")
    if found := others(folder):
        names = ", ".join(found[:SHOWN]) + (f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else "")
        raise UsageError(
            f"{folder}: {option('overwrite')} would delete files that likewise did not write: {names}; move them, or choose another path"
        )


def place(staged: Path, folder: Path, *, overwrite: bool) -> None:
    """Move a complete index into its place in one step, all of it on the disk before. What it replaces is at ``staged`` afterwards."""
    disk.force(staged)
    if folder.is_dir() and any(folder.iterdir()):
        lock = WriterLock(folder)  # nobody writes to what is replaced, now or later
        try:
            check_free(folder, overwrite=overwrite)
            keep_permissions(folder, staged)
            if not disk.exchange(staged, folder):
                old = staged.with_name(f"{staged.name}.replaced")
                folder.rename(old)
                try:
                    staged.rename(folder)
                except BaseException:
                    old.rename(folder)
                    raise
                shutil.rmtree(old, ignore_errors=True)
        finally:
            lock.release()
    else:
        staged.rename(folder)  # the system refuses to replace a folder that is not empty
    disk.force_file(folder.parent)
