"""Outputs at addresses: written on this machine first, then uploaded file by file.

An output folder is complete if it has its manifest, which is uploaded last. Until then, `INCOMPLETE` lists the files that likewise uploads and
replaces, so that the upload can be repeated and nothing else is deleted.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import xxhash

from likewise.errors import UsageError
from likewise.io.address import Address
from likewise.io.manifest import FORMAT, INCOMPLETE, MANIFEST, SEAL, VERSION, files_in, outputs_of, seal
from likewise.io.stores import store_of

#: Schemes to which outputs can be written.
WRITTEN = ("s3", "gs")
BLOCK_BYTES = 8 << 20


def check_scheme(target: Address, named: str) -> None:
    """Raise UsageError for an address to which nothing can be written. named: the target with its option."""
    if target.scheme not in WRITTEN:
        known = " and ".join(f"{scheme}://" for scheme in WRITTEN)
        raise UsageError(f"{named}: outputs can be written to {known} addresses only; choose a path on this machine and upload the result")
    if not target.at("").exists():
        raise UsageError(f"{named}: the bucket {target.host} does not exist; create it first")


@contextmanager
def new_object(target: Address) -> Iterator[BinaryIO]:
    """A temporary file to write, which is uploaded if the block ends without an exception."""
    with tempfile.TemporaryFile() as file:
        yield file
        file.seek(0)
        put(file, target)


def put(file: BinaryIO, target: Address) -> None:
    """Upload an open file. The object appears when it is complete."""
    with store_of(target).writer(target) as to:
        shutil.copyfileobj(file, to, BLOCK_BYTES)


def publish(staged: Path, out: Address) -> None:
    """Upload an output folder, its manifest last, and delete the files of the old output that the new one does not have."""
    out = out.anew()
    old = outputs_of(out)
    names = sorted(files_in(staged))
    outputs = sorted({*names, *(old if isinstance(old, set) else ())})
    mark = {"format": FORMAT, "version": VERSION, "manifest": digest(staged), "outputs": [{"path": name} for name in outputs]}
    with new_object(out / INCOMPLETE) as file:
        file.write(json.dumps({**mark, SEAL: seal(mark)}).encode())
    if (out / MANIFEST).exists():
        (out / MANIFEST).unlink()
    for name in names:
        if name != MANIFEST:
            upload(staged, name, out)
    for name in outputs:
        if name not in names and name != MANIFEST and (out / name).exists():
            (out / name).unlink()
    upload(staged, MANIFEST, out)
    sweep(out)


def upload(staged: Path, name: str, out: Address) -> None:
    with open(staged / name, "rb") as file:
        put(file, out / name)


def sweep(out: Address) -> None:
    """Delete the list of a complete output's files that remains if a run was stopped right after the upload."""
    out = out.anew()
    if (out / MANIFEST).exists() and (out / INCOMPLETE).exists():
        (out / INCOMPLETE).unlink()


def begun(out: Address) -> str | None:
    """The digest of the manifest of an output whose upload was interrupted, or None."""
    place = out.anew() / INCOMPLETE
    try:
        return str(json.loads(place.read_bytes())["manifest"]) if place.is_file() else None
    except (ValueError, LookupError, TypeError):
        return None


def digest(staged: Path) -> str:
    """The xxh3-128 of a manifest, as the journal of the run has it."""
    return xxhash.xxh3_128_hexdigest((staged / MANIFEST).read_bytes())
