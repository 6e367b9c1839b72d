"""Checks that a folder is an output of likewise and contains nothing else: only such a folder may be replaced."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xxhash

from likewise.errors import UsageError
from likewise.io.address import Address, Place
from likewise.io.source_names import printable
from likewise.messages import option

MANIFEST, FORMAT = "manifest.json", "likewise/output"
#: The format of an output folder, by docs/reference/formats.md.
VERSION = 1
#: At an address, in place of the manifest until the upload is complete: it lists the files that belong to the output.
INCOMPLETE = "incomplete.json"
#: The result of an audit of the output.
AUDIT = "audit.json"
#: Files of an output that its manifest does not list. The last kind remains where `likewise report` or `likewise audit` was killed.
OTHERS = re.compile(r"manifest\.json|run\.json|report\.html|audit\.json|\.(report|audit)\.[0-9a-f]{16}\.(html|json)")
#: The field of a JSON object with its checksum.
SEAL = "checksum"
#: Maximum of names in a message.
SHOWN = 3


def seal(value: Any) -> str:
    """The xxh3-128 of a JSON value, independent of its layout, and of whether it was read from a file."""
    return xxhash.xxh3_128_hexdigest(json.dumps(json.loads(json.dumps(value)), sort_keys=True).encode())


def check_output(folder: Path, out: Path) -> None:
    """Raise UsageError unless ``folder``, which is or was at ``out``, is empty, or is an output of likewise and contains nothing else."""
    if not any(folder.iterdir()):
        return
    listed = outputs_of(folder)
    if isinstance(listed, str):
        raise refused(out, f"{option('overwrite')} replaces only outputs of likewise, and this folder is not one ({listed}); choose another path")
    own = {*listed, INCOMPLETE} if isinstance(folder, Address) else listed
    if unlisted := sorted(name for name in files_in(folder) if name not in own and not OTHERS.fullmatch(name)):
        names = ", ".join(unlisted[:SHOWN]) + (f" and {len(unlisted) - SHOWN:,} more" if len(unlisted) > SHOWN else "")
        raise refused(out, f"{option('overwrite')} would delete files that likewise did not write: {names}; move them, or choose another path")


def refused(out: Path, why: str) -> UsageError:
    """The error, with a cause from the system, so that the run can be resumed once the user has moved the files."""
    error = UsageError(f"{option('out', out)}: {why}")
    error.__cause__ = FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(out))
    return error


def outputs_of(folder: Place) -> set[str] | str:
    """The files that the manifest of an output folder lists, or the reason why the folder is not an output."""
    found = manifest_of(folder)
    if isinstance(found, str):
        return found
    try:
        if found.pop(SEAL, None) != seal(found):
            return f"its {MANIFEST} was changed after likewise wrote it"
        return {entry["path"] for entry in found["outputs"]}
    except (ValueError, LookupError, TypeError, RecursionError):
        return f"its {MANIFEST} was not written by likewise"


def is_output(folder: Path) -> bool:
    """True if a folder is marked as an output, even if changed since: its tables are not inputs."""
    try:
        return not isinstance(manifest_of(folder), str)
    except OSError:  # reported when the folder is read
        return False


def is_index(folder: Path) -> bool:
    """True if a folder holds an index (`index.embedded`), even a damaged one."""
    return all((folder / name).is_file() for name in (MANIFEST, "index.db"))


def own_folder(path: Path) -> str:
    """Why a folder that likewise made is no input, or ""."""
    if is_output(path):
        return f"{path}: this is an output folder of likewise; its records are in {path / 'kept'}"
    return f"{path}: this is an index, which has no records; compare with it alone: {option('against', path)}" if is_index(path) else ""


def manifest_of(folder: Place) -> dict[str, Any] | str:
    """The manifest of an output, without a check of its checksum; or the reason why the folder is not an output."""
    path = folder / MANIFEST
    if isinstance(folder, Address) and not path.is_file():
        path = folder / INCOMPLETE
    if path.is_symlink() or not path.is_file():
        return f"no {MANIFEST}"
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) and found.get("format") == FORMAT else f"its {MANIFEST} was not written by likewise"


def files_in(folder: str | Place, below: str = "") -> Iterator[str]:
    """The names of all files below a folder. Links, pipes and the like get a remark, so that no manifest lists them."""
    if isinstance(folder, Address):
        for path in folder.iterdir():
            yield from files_in(path, f"{below}{path.name}/") if path.is_dir() else [below + path.name]
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            name = below + entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from files_in(entry.path, f"{name}/")
            else:
                yield printable(name) if entry.is_file(follow_symlinks=False) else f"{printable(name)} (not a plain file)"
