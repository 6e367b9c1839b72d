"""The folder of an index: its manifest, its files, and the file systems that can hold it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from likewise import __version__
from likewise.errors import FormatError, UsageError, naming
from likewise.index.segment import SUFFIXES
from likewise.io.manifest import SEAL, is_output, seal
from likewise.messages import either

MANIFEST, FORMAT, VERSION = "manifest.json", "likewise/index", 1
DATABASE, LOCK = "index.db", "writer.lock"
#: The files of SQLite.
DATABASES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")
SEGMENT = re.compile(r"(\d{8})(" + "|".join(map(re.escape, SUFFIXES)) + ")")
#: Types of file systems in which SQLite's log does not work, since processes on several machines share no memory.
NETWORKS = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|ncpfs?|coda|ceph|lustre|gpfs|beegfs|glusterfs|panfs|pvfs2|orangefs|gfs2|ocfs2|davfs"
    r"|fuse\.(sshfs|s3fs|goofys|gcsfuse|rclone|blobfuse2?|mount-s3|juicefs|davfs|curlftpfs|smbnetfs|glusterfs|cephfs?|ceph-fuse|moosefs|nfs)"
)
MOUNTS = Path("/proc/self/mountinfo")


class Manifest(NamedTuple):
    id: str  # of the index, also in its database
    settings: dict[str, Any]


def written(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a new folder, and sync it."""
    content = {"format": FORMAT, "version": VERSION, "likewise": __version__, **manifest._asdict()}
    with naming(folder / MANIFEST), open(folder / MANIFEST, "xb") as file:
        file.write(json.dumps({**content, SEAL: seal(content)}, indent=1).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def manifest_of(folder: Path) -> Manifest:
    """The manifest of an index. Raises UsageError if the folder is none, FormatError if its manifest is damaged or newer."""
    path = folder / MANIFEST
    try:
        data = path.read_bytes()
    except NotADirectoryError:
        raise UsageError(f"{folder}: this is a file, and an index is a folder or an address") from None
    except FileNotFoundError:
        if (folder / DATABASE).is_file():
            raise damaged(folder, f"{MANIFEST} is missing") from None
        raise UsageError(f"{folder}: there is no index; {either('lw.Index.create', 'likewise index create')} makes one") from None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        if (folder / DATABASE).is_file():
            raise damaged(folder, f"{MANIFEST} is not the one that likewise wrote")
        if is_output(folder):
            build = either(f"lw.Index.from_output(PATH, {str(folder)!r})", f"likewise index build PATH {folder}")
            raise UsageError(f"{folder}: this is an output folder of likewise, not an index; {build} makes an index of its kept records")
        raise UsageError(f"{folder}: this folder is not an index of likewise")
    if isinstance(found.get("version"), int) and found["version"] > VERSION:
        raise FormatError(
            f"{folder}: likewise {found.get('likewise')} made this index in format {found['version']}, and this is likewise {__version__}, "
            f"which reads format {VERSION}; upgrade likewise"
        )
    if found.pop(SEAL, None) != seal(found) or not isinstance(found.get("settings"), dict):
        raise damaged(folder, f"{MANIFEST} was changed after likewise wrote it")
    return Manifest(str(found.get("id")), found["settings"])


def damaged(folder: Path, what: str) -> FormatError:
    """The error for an index that cannot be trusted."""
    check = either("check()", "likewise index check")
    return FormatError(f"{folder}: the index is damaged: {what}; {check} reads all of it, and a backup replaces it")


def others(folder: Path) -> list[str]:
    """The names in the folder of an index that are not of an index."""
    own = {MANIFEST, LOCK, *DATABASES}
    return sorted(
        entry.name
        for entry in os.scandir(folder)
        if not (entry.name in own or SEGMENT.fullmatch(entry.name)) or not entry.is_file(follow_symlinks=False)
    )


def unnamed(folder: Path, names: set[int]) -> list[Path]:
    """Files of segments other than these, which an interrupted process left."""
    found = [(entry, SEGMENT.fullmatch(entry.name)) for entry in os.scandir(folder)]
    return [Path(entry.path) for entry, match in found if match and int(match[1]) not in names]


def size(folder: Path) -> int:
    """The bytes of all files of an index."""
    total = 0
    for entry in os.scandir(folder):
        try:
            total += entry.stat(follow_symlinks=False).st_size
        except FileNotFoundError:  # a segment that was replaced just now
            continue
    return total


def check_place(folder: Path) -> None:
    """Raise UsageError if the folder is, or would be, in a network file system."""
    near = next(path for path in [folder.absolute(), *folder.absolute().parents] if path.exists())
    try:
        kind = file_system(near.resolve(), near.stat().st_dev, MOUNTS.read_text("utf-8", "surrogateescape"))
    except OSError:  # a system without this list
        return
    if NETWORKS.fullmatch(kind):
        raise UsageError(
            f"{folder}: an index cannot be in a network file system ({kind}), because its processes share memory; "
            "use a local disk, or a server such as PostgreSQL"
        )


def file_system(path: Path, device: int, mounts: str) -> str:
    """The type of the file system of a path, by the list of mounts; empty if it is unknown."""
    found = []
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        if not after:
            continue
        _, _, number, _, point, *_ = before.split(" ")
        at = Path(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), point))
        if number == f"{os.major(device)}:{os.minor(device)}" or path.is_relative_to(at):
            found.append((number == f"{os.major(device)}:{os.minor(device)}", len(at.parts), after.split(" ")[0]))
    return max(found, key=lambda one: one[:2])[2] if found else ""
