"""The output folder: staged beside its place, and there whole or not at all; an old one is there, or the new, also after the power was lost."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from likewise.errors import UsageError, naming
from likewise.io.work import MADE

AT_FDCWD, RENAME_EXCHANGE = -100, 2
#: What a file system says that cannot do a thing at all.
UNABLE = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
#: So many files of an output are forced to the disk one by one.
FEW = 50
#: The field of a document that holds its checksum.
SEAL = "checksum"


def check_target(out: Path, *, overwrite: bool, work: Path | None = None, resume: bool = False) -> None:
    """Refuse, before any work, to write over what is there. With ``resume`` it may be what the interrupted run in ``work`` had finished."""
    if not out.name or out.name == "..":
        raise UsageError(f"-o {out}: this names no folder of its own; name one, as in {out / 'clean'}")
    if work is not None and out.resolve() in (work.resolve(), *work.resolve().parents):
        raise UsageError(f"--work {work}: lies in the output {out}, which appears whole at the end; name a place outside it")
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError(f"-o {out}: this is a file or a link, and the output is a folder; name another place")
    work = work or work_beside(out)
    interrupted = resume and (work / MADE).exists()
    if out.exists() and any(out.iterdir()):
        if not overwrite and not interrupted:
            nothing = f", and there is no interrupted run in {work} to go on with" if resume else ""
            raise UsageError(f"-o {out}: the folder exists{nothing}; --overwrite replaces it once the new one is complete")
        if not (out / "manifest.json").exists():
            raise UsageError(f"-o {out}: --overwrite replaces an output of likewise, and this folder is none (no manifest.json); name another place")
    elif not out.parent.exists():
        raise UsageError(f"-o {out}: there is no folder {out.parent}; create it first")


def work_beside(out: Path) -> Path:
    """Where the work folder is when no other place is named."""
    return out.with_name(f"{out.name}.work")


def write_table(blocks: Iterable[pa.Table], schema: pa.Schema, path: Path, note: str | None = None) -> int:
    """A Parquet file, a row group for each block; returns its rows. ``note`` says in the table's metadata what is special about the ids."""
    if note:
        schema = schema.with_metadata({"likewise.ids": note})
    rows = 0
    # pyarrow takes no name that is not UTF-8
    with naming(path), open(path, "wb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for block in blocks:
            writer.write_table(block.replace_schema_metadata(schema.metadata))
            rows += len(block)
    return rows


def write_lines(data: np.ndarray, path: Path) -> int:
    """A text that is at hand as bytes, uint8[n]; returns its lines."""
    with naming(path):
        path.write_bytes(data.data)
    return int(np.count_nonzero(data == ord("\n")))


def write_json(value: Mapping[str, Any], path: Path) -> None:
    write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", path)


def write_sealed(value: Mapping[str, Any], path: Path) -> None:
    """A JSON file with a checksum of what it says: of manifest.json, which has those of other files, and of run.json, which it cannot have."""
    write_json({**value, SEAL: seal(value)}, path)


def seal(value: Mapping[str, Any]) -> str:
    """The xxh3-128 of a JSON object, however it is laid out, and whether it has been read from a file or not."""
    return xxhash.xxh3_128_hexdigest(json.dumps(json.loads(json.dumps(value)), sort_keys=True).encode())


def write_text(text: str, path: Path) -> None:
    with naming(path):
        path.write_text(text, encoding="utf-8", errors="backslashreplace")


def checksums(paths: Iterable[Path], folder: Path) -> list[dict[str, Any]]:
    """Path under ``folder``, size and xxh3-128 of files."""
    found = []
    for path in paths:
        digest, size = xxhash.xxh3_128(), 0
        with naming(path), open(path, "rb") as file:
            while block := file.read(2**22):
                digest.update(block)
                size += len(block)
        found.append({"path": path.relative_to(folder).as_posix(), "bytes": size, "xxh3_128": digest.hexdigest()})
    return found


def publish(staged: Path, out: Path, *, overwrite: bool) -> None:
    """Put the complete folder into its place. An old one there is exchanged for it in one step where the system can, and stays if anything fails.

    Where an old output is replaced, what the new one holds is on the disk before it has its name, and the name before the old one is deleted. A
    first output is left to the system to write in its time, as any program's is: forcing gigabytes to a disk may take as long as all the rest,
    and what a lost machine costs can be made again. UsageError when something that is not to be replaced has appeared there meanwhile.
    """
    out = out.absolute()
    replacing = out.exists()
    if replacing:
        force(staged)
    try:
        place(staged, out, overwrite=overwrite)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            check_still(out, overwrite=overwrite)
        if error.errno != errno.EXDEV:
            raise
        near = beside(staged, out)  # --work is on another disk, and only what lies beside can be renamed
        try:
            sweep(staged, out)
            copy(staged, near)
            if replacing:
                force(near)
            place(near, out, overwrite=overwrite)
        finally:
            sweep(staged, out)


def beside(staged: Path, out: Path) -> Path:
    """Where a copy of ``staged`` is made, if it is; the same in each run with that work folder, and in no other."""
    return out.absolute().with_name(f".{out.name[:100]}.{xxhash.xxh3_64_hexdigest(os.fsencode(staged.resolve()))}")


def sweep(staged: Path, out: Path) -> None:
    """Remove what a run that was stopped while it put its output into place has left beside it."""
    for path in (beside(staged, out), replaced(beside(staged, out))):
        shutil.rmtree(path, ignore_errors=True)


def check_still(out: Path, *, overwrite: bool) -> None:
    """`check_target` once more, at the end. What is in the way can be put elsewhere, and the run goes on."""
    try:
        check_target(out, overwrite=overwrite)
    except UsageError as error:
        raise error from FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(out))


def copy(folder: Path, to: Path) -> None:
    to.mkdir()
    for path in sorted(folder.rglob("*")):
        target = to / path.relative_to(folder)
        with naming(target):
            target.mkdir() if path.is_dir() else shutil.copyfile(path, target)


def replaced(staged: Path) -> Path:
    """The name that the old output gets before it is deleted."""
    return staged.with_name(f"{staged.name}.replaced")


def place(staged: Path, out: Path, *, overwrite: bool) -> None:
    """One step, or an exception and nothing changed. Without ``overwrite`` what has appeared there meanwhile stays."""
    if not out.exists() or not overwrite:
        staged.rename(out)  # refused by the system when a folder is there that is not empty
        return
    old = replaced(staged)
    shutil.rmtree(old, ignore_errors=True)
    if exchange(staged, out):
        force_file(out.parent)
        staged.rename(old)
    else:
        out.rename(old)
        try:
            staged.rename(out)
        except OSError:
            old.rename(out)
            raise
        force_file(out.parent)
    shutil.rmtree(old, ignore_errors=True)


def force(folder: Path) -> None:
    """Have the disk hold a folder and all that is in it. One by one, many small files take long."""
    paths = [*folder.rglob("*"), folder]
    if len(paths) <= FEW or not force_all(folder):
        for path in paths:
            force_file(path)


def force_file(path: Path) -> None:
    """Have the disk hold a file, or the names in a folder, where the system can be asked for it."""
    if os.name == "nt":
        return
    file = os.open(path, os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(file)
    except OSError as error:
        if error.errno not in UNABLE:
            raise
    finally:
        os.close(file)


def force_all(folder: Path) -> bool:
    """Have the disk hold all that the file system of a folder has in memory (Linux: syncfs); False where that is not possible."""
    sync = system_call("syncfs")
    if sync is None:
        return False
    file = os.open(folder, os.O_RDONLY)
    try:
        return called(sync(file), folder)
    finally:
        os.close(file)


def exchange(a: Path, b: Path) -> bool:
    """Swap two folders atomically (Linux: renameat2); False where that is not possible."""
    rename = system_call("renameat2")
    return rename is not None and called(rename(AT_FDCWD, os.fsencode(a), AT_FDCWD, os.fsencode(b), RENAME_EXCHANGE), b)


def system_call(name: str) -> Any:
    """A function of the C library that Python does not offer; None where there is none."""
    try:
        return getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, TypeError, AttributeError):
        return None


def called(result: int, path: Path) -> bool:
    """Whether a function of the C library could do it here at all; an exception where it failed."""
    number = ctypes.get_errno()
    if result != 0 and number not in UNABLE:
        raise OSError(number, os.strerror(number), str(path))
    return result == 0
