"""The files of an output folder, read only as likewise wrote them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from likewise import __version__
from likewise.errors import FormatError, LikewiseError, UsageError
from likewise.io.manifest import FORMAT, SEAL, VERSION, seal
from likewise.io.output import checksums, work_beside
from likewise.messages import option


def document(path: Path) -> dict[str, Any]:
    """Return a JSON file of an output folder. Raises UsageError if the folder is not an output, FormatError if the file is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        out = path.parent
        begun = f"; to continue the interrupted run, repeat it with {option('resume')}" if out.name and work_beside(out).exists() else ""
        if out.is_dir():
            raise UsageError(f"{out}: this folder is not an output of likewise dedup: it has no {path.name}{begun}") from None
        found = "this is a file" if out.exists() else "there is no such folder"
        raise UsageError(f"{out}: {found}; name an output folder of likewise dedup{begun}") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: is damaged: {error}") from error
    if not isinstance(found, dict):
        raise FormatError(f"{path}: is damaged: expected a JSON object, got {type(found).__name__}")
    return found


def sealed(path: Path) -> dict[str, Any]:
    """Return a JSON file that contains its own checksum. Raises FormatError if it has been changed, or is the manifest of a newer format."""
    found = document(path)
    version = found.get("version")
    if found.get("format") == FORMAT and type(version) is int and version > VERSION:
        made = dict(found.get("versions") or {}).get("likewise", "of another version")
        raise FormatError(
            f"{path.parent}: likewise {made} made this output in format {version}, and this is likewise {__version__}, "
            f"which reads format {VERSION}; upgrade likewise"
        )
    if found.pop(SEAL, None) != seal(found):
        raise FormatError(f"{path}: has changed since likewise wrote it; run dedup again")
    return found


def whole(out: Path, manifest: dict[str, Any], name: str) -> Path:
    """Return the path of an output file whose checksum matches the manifest. Raises FormatError if it is missing or has been changed."""
    path = out / name
    if not path.is_file():
        raise FormatError(f"{path}: this file no longer exists; run dedup again")
    if checksums([path], out)[0] not in manifest["outputs"]:
        raise FormatError(f"{path}: has changed since likewise wrote it; run dedup again")
    return path


@contextmanager
def as_written(out: Path) -> Iterator[None]:
    """Context manager: turn errors caused by output files that dedup did not write as they are now into FormatError."""
    try:
        yield
    except LikewiseError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        what = f"{type(error).__name__}: {error}"
        raise FormatError(f"{out}: a file in this folder has changed since likewise wrote it ({what:.200}); run dedup again") from error
