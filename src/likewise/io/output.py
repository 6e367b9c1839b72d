"""The output folder: a check of its place, and the files that go into it."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import xxhash

from likewise.drawing.controls import escaped_json
from likewise.errors import UsageError, naming
from likewise.io import claims, upload
from likewise.io.address import Address, place
from likewise.io.manifest import SEAL, check_output, outputs_of, seal
from likewise.messages import option


def check_target(out: Path, *, overwrite: bool, work: Path | None = None, resume: bool = False) -> None:
    """Raise UsageError, before any work, if an output would overwrite other files.

    With ``resume`` the place may already hold the output of the interrupted run in ``work``.
    """
    if isinstance(out, Address):
        upload.check_scheme(out, option("out", out))
        out = out.anew()
    if not out.name or out.name == "..":
        raise UsageError(f"{option('out', out)}: this is not a new folder; name one, such as {out / 'clean'}")
    if work is not None and out.resolve() in (work.resolve(), *work.resolve().parents):
        raise UsageError(f"{option('work', work)}: lies in the output {out}, which is created at the end; choose a path outside it")
    if work is not None and work.resolve() in getattr(out.resolve(), "parents", ()):
        raise UsageError(f"{option('out', out)}: lies in the work folder {work}, which is emptied at the end; choose a path outside it")
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError(f"{option('out', out)}: this is a file or a link, and the output is a folder; choose another path")
    work = work or work_beside(out)
    interrupted = resume and claims.is_begun(work)
    if out.exists() and any(out.iterdir()):
        if not overwrite and not interrupted and isinstance(why := outputs_of(out), str):
            raise UsageError(f"{option('out', out)}: this folder exists and is not an output of likewise ({why}); choose another path")
        if not overwrite and not interrupted:
            nothing = f", and {work} has no interrupted run to continue" if resume else ""
            raise UsageError(f"{option('out', out)}: the folder exists{nothing}; {option('overwrite')} replaces it once the new one is complete")
        check_output(out, out)
    elif isinstance(out, Path) and not out.parent.exists():
        raise UsageError(f"{option('out', out)}: the folder {out.parent} does not exist; create it first")


def work_beside(out: Path) -> Path:
    """The default place of the work folder: in the current folder for an output at an address."""
    if isinstance(out, Address):
        return Path(f"{out.name}.work")
    return out.with_name(f"{out.name}.work")


def check_work(work: str | Path | None) -> None:
    """Raise UsageError for a work folder at an address."""
    if work is not None and isinstance(at := place(work), Address):
        raise UsageError(f"{option('work', at)}: the work folder lies on this machine; choose a path")


def write_table(blocks: Iterable[pa.Table], schema: pa.Schema, path: Path, note: str | None = None) -> int:
    """Write a Parquet file with a row group for each block, and return its number of rows. note: about the ids, for the table's metadata."""
    import pyarrow.parquet as pq  # loads pyarrow.fs and ssl, which `pairs` does without

    if note:
        schema = schema.with_metadata({"likewise.ids": note})
    rows = 0
    # pyarrow accepts only file names in UTF-8
    with naming(path), open(path, "wb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for block in blocks:
            writer.write_table(block.replace_schema_metadata(schema.metadata))
            rows += len(block)
    return rows


def write_lines(data: np.ndarray, path: Path) -> int:
    """Write a text, uint8[n], and return its number of lines."""
    with naming(path):
        path.write_bytes(data.data)
    return int(np.count_nonzero(data == ord("\n")))


def write_json(value: Mapping[str, Any], path: Path) -> None:
    """Write a JSON file with control characters escaped."""
    write_text(escaped_json(json.dumps(value, indent=1, ensure_ascii=False)) + "\n", path)


def write_sealed(value: Mapping[str, Any], path: Path) -> None:
    """Write a JSON file with a checksum of its content: manifest.json, which lists those of other files, and run.json, which it cannot list."""
    write_json({**value, SEAL: seal(value)}, path)


def write_text(text: str, path: Path) -> None:
    """Write a text in UTF-8."""
    with naming(path):
        path.write_text(text, encoding="utf-8", errors="backslashreplace")


def checksums(paths: Iterable[Path], folder: Path) -> list[dict[str, Any]]:
    """Path under ``folder``, size and xxh3-128 of files."""
    found = []
    for path in paths:
        digest, size = xxhash.xxh3_128(), 0
        with naming(path), path.open("rb") as file:
            while block := file.read(2**22):
                digest.update(block)
                size += len(block)
        found.append({"path": path.relative_to(folder).as_posix(), "bytes": size, "xxh3_128": digest.hexdigest()})
    return found


def check_still(out: Path, *, overwrite: bool) -> None:
    """Repeat `check_target` at the end. The user can move the files in the way, and resume the run."""
    try:
        check_target(out, overwrite=overwrite)
    except UsageError as error:
        raise error from FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(out))
