"""Verdicts of people about removals: OUT.verdicts.jsonl beside an output, one line a verdict. The last one about a removal holds."""

from __future__ import annotations

import errno
import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from likewise.drawing.numbers import counted
from likewise.errors import FormatError

#: The removed item and the kept one are the same, are not, or the reader could not tell.
VERDICTS = ("same", "different", "skip")
#: The verdict about this removal is withdrawn.
WITHDRAWN = "undo"
SUFFIX = ".verdicts.jsonl"


class Verdicts(NamedTuple):
    """The verdicts about the removals of an output."""

    of: dict[int, str]  # by the row of removed.parquet, in the order in which they were given
    others: int  # lines about another result, which was in this place before
    damaged: int  # lines that are no verdict, such as one that was cut off by a power failure

    def remarks(self, path: Path) -> list[str]:
        """Say how many lines of the file do not count, and why."""
        others = f"{counted(self.others, 'verdict is', 'verdicts are')} about another result that was in this place"
        damaged = f"{counted(self.damaged, 'line is', 'lines are')} damaged"
        return [f"{path.name}: {said}, and not counted" for number, said in ((self.others, others), (self.damaged, damaged)) if number]


def path_of(out: Path) -> Path:
    """The file beside an output folder."""
    absolute = out.resolve()
    return absolute.with_name(absolute.name + SUFFIX)


def digest_of(manifest: dict[str, Any]) -> str:
    """Return the checksum of removed.parquet, which identifies the removals of an output."""
    return next(str(entry["xxh3_128"]) for entry in manifest["outputs"] if entry["path"] == "removed.parquet")


def read(path: Path, digest: str) -> Verdicts:
    """Return the verdicts of a file about the removals with this digest. A missing file has none. Raises FormatError for an unreadable one."""
    found, others, damaged = dict[int, str](), 0, 0
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise FormatError(f"{path}: verdicts are written to this file, but it is a link or not a file; move it away")
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Verdicts({}, 0, 0)
    except OSError as error:
        raise FormatError(f"{path}: the verdicts cannot be read: {error.strerror}") from error
    for line in content.splitlines():
        try:
            one = json.loads(line)
            row, verdict, about = one["row"], one["verdict"], one["removals"]
        except (ValueError, LookupError, TypeError, RecursionError):
            damaged += bool(line.strip())
            continue
        if about != digest:
            others += 1
        elif type(row) is not int or row < 0 or verdict not in (*VERDICTS, WITHDRAWN):
            damaged += 1
        else:
            found.pop(row, None)
            if verdict != WITHDRAWN:
                found[row] = verdict
    return Verdicts(found, others, damaged)


def append(path: Path, digest: str, row: int, verdict: str, facts: dict[str, Any]) -> None:
    """Add a verdict, which is on the disk when this returns. facts: what the removal is, for people who read the file. Raises OSError."""
    line = {
        "time": datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds"),
        "removals": digest,
        "row": row,
        "verdict": verdict,
        **facts,
    }
    new = not path.exists()
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    try:
        size = os.fstat(file).st_size
        cut = size and os.pread(file, 1, size - 1) != b"\n"  # the line before was cut off
        data = b"\n" * bool(cut) + json.dumps(line, default=str).encode() + b"\n"
        if os.write(file, data) < len(data):  # one call, so that lines of two explorers do not mix
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file)
    except OSError as error:
        raise OSError(error.errno, f"the verdict cannot be stored: {error.strerror}", str(path)) from error
    finally:
        os.close(file)
    if new:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
