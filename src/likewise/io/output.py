"""The output folder: staged beside its place, and there whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from likewise.errors import UsageError

AT_FDCWD, RENAME_EXCHANGE = -100, 2


def check_target(out: Path, *, overwrite: bool, work: Path | None = None) -> None:
    """Refuse, before any work, to write over what is there."""
    if not out.name or out.name == "..":
        raise UsageError(f"-o {out}: this names no folder of its own; name one, as in {out / 'clean'}")
    if work is not None and out.resolve() in (work.resolve(), *work.resolve().parents):
        raise UsageError(f"--work {work}: lies in the output {out}, which appears whole at the end; name a place outside it")
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError(f"-o {out}: this is a file or a link, and the output is a folder; name another place")
    if out.exists() and any(out.iterdir()):
        if not overwrite:
            raise UsageError(f"-o {out}: the folder exists; --overwrite replaces it once the new one is complete")
        if not (out / "manifest.json").exists():
            raise UsageError(f"-o {out}: --overwrite replaces an output of likewise, and this folder is none (no manifest.json); name another place")
    elif not out.parent.exists():
        raise UsageError(f"-o {out}: there is no folder {out.parent}; create it first")


def write_table(table: pa.Table, path: Path, note: str | None = None) -> None:
    """A Parquet file; ``note`` says in the table's metadata what is special about the ids."""
    if note:
        table = table.replace_schema_metadata({"likewise.ids": note})
    with open(path, "wb") as file:  # pyarrow takes no name that is not UTF-8
        pq.write_table(table, file, compression="zstd")


def write_json(value: Mapping[str, Any], path: Path) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", errors="backslashreplace")


def checksums(folder: Path) -> list[dict[str, Any]]:
    """Path, size and xxh3-128 of every file of a folder, sorted by path."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest = xxhash.xxh3_128()
        with open(path, "rb") as file:
            while block := file.read(2**22):
                digest.update(block)
        name = path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        found.append({"path": name, "bytes": path.stat().st_size, "xxh3_128": digest.hexdigest()})
    return found


def publish(staged: Path, out: Path, *, overwrite: bool) -> None:
    """Put the complete folder into its place. An old one there is exchanged for it in one step where the system can, and stays if anything fails."""
    out = out.absolute()
    try:
        place(staged, out, overwrite=overwrite)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        near = out.with_name(f".{out.name}.{os.getpid()}")  # --work is on another disk, and only what lies beside can be renamed
        try:
            shutil.copytree(staged, near)
            place(near, out, overwrite=overwrite)
        except shutil.Error as failures:  # a list of (from, to, why)
            first, _, why = failures.args[0][0]
            raise OSError(errno.ENOSPC if "No space" in why else errno.EIO, why, first) from failures
        finally:
            shutil.rmtree(near, ignore_errors=True)


def place(staged: Path, out: Path, *, overwrite: bool) -> None:
    """One step, or an exception and nothing changed. Without ``overwrite`` what has appeared there meanwhile stays."""
    if not out.exists() or not overwrite:
        staged.rename(out)  # refused by the system when a folder is there that is not empty
        return
    old = staged.with_name(f"{staged.name}.replaced")
    if exchange(staged, out):
        staged.rename(old)
    else:
        out.rename(old)
        try:
            staged.rename(out)
        except OSError:
            old.rename(out)
            raise
    shutil.rmtree(old, ignore_errors=True)


def exchange(a: Path, b: Path) -> bool:
    """Swap two folders atomically (Linux: renameat2); False where that is not possible."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    if rename(AT_FDCWD, os.fsencode(a), AT_FDCWD, os.fsencode(b), RENAME_EXCHANGE) == 0:
        return True
    if ctypes.get_errno() in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
        return False
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(b))
