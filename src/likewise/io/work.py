"""The work folder: append-only columns, and a journal of the valid length of each.

    OUT.work/
      work.json         marks the folder as one of likewise (`io.claims`)
      description.json  describes the run: method, options, inputs, versions
      journal.jsonl     one line for each finished step, written after the bytes that it describes
      NAME.col          a column: raw little-endian values
      staged/           the output folder, until it is complete

A run that was killed continues from its last complete journal line: columns are cut to the lengths in it. A line also has checksums of the appended
bytes, and of itself and all lines before it. Nothing is forced to the disk. If a lost machine left a column without its bytes, or a line differs
from what was written, the run continues from the line before.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import re
import stat
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import xxhash

from likewise.errors import FormatError, UsageError, naming
from likewise.io.claims import DESCRIPTION, Claim, empty, take
from likewise.messages import option

JOURNAL, STAGED = "journal.jsonl", "staged"
BLOCK_BYTES = 4 << 20
NAME = re.compile("[a-z0-9_-]+")
#: Bytes of the checksum at the end of a journal line.
SEAL_BYTES = len(b', "checksum": "0123456789abcdef"}\n')


class Work:
    """A work folder in use: its columns, journal and finished steps."""

    def __init__(self, claim: Claim, in_memory: int):
        self.folder = claim.folder
        self.in_memory = in_memory  # maximum bytes of scratch arrays in memory
        self.lengths: dict[str, int] = {}
        self.steps: list[dict[str, Any]] = []
        self._claim = claim
        self._columns: dict[str, Any] = {}
        self._readers: dict[str, Any] = {}
        self._maps: dict[str, mmap.mmap] = {}
        self._scratch: list[weakref.ref[mmap.mmap]] = []  # unmapped with their arrays
        self._journal: Any = None  # open once the run has begun
        self._last = ""  # checksum of the last journal line, or of the description if there is no line

    @classmethod
    def claim(cls, folder: Path, *, resume: bool | None, in_memory: int = 2**62, made: bool = False) -> Work:
        """Take a folder for one run, before anything is read: a new one, or with ``resume`` that of an interrupted run.

        resume: None if the verb cannot resume. made: the folder was made for this run, and is removed with it. Raises UsageError or FormatError for a
        folder that cannot be used.
        """
        work = cls(take(folder, made=made), in_memory)
        try:
            refuse_links(folder)
            if not work.begun:
                empty(folder)  # left by a run that was killed before it had read anything, or at its end
            elif not resume:
                more = "" if resume is None else f"continue with {option('resume')}, or "
                raise UsageError(f"{folder}: an interrupted run left this work folder; {more}delete the folder to start over")
        except BaseException:
            work.close(remove=False)
            raise
        return work

    @property
    def begun(self) -> bool:
        """True once the folder contains a run that could be resumed."""
        return (self.folder / DESCRIPTION).exists()

    def begin(self, description: Mapping[str, Any]) -> None:
        """Record what the run is. Raises UsageError if a resumed run differs."""
        path, new = self.folder / DESCRIPTION, self.folder / f"{DESCRIPTION}.new"
        self._journal = open(self.folder / JOURNAL, "ab", buffering=0)  # noqa: SIM115 - open as long as the run
        if path.exists():
            compare(self.folder, self._read(path), json.loads(json.dumps(description)))
            self._last = xxhash.xxh3_64_hexdigest(path.read_bytes())
            self._recover()
            return
        text = json.dumps(description, indent=1, sort_keys=True).encode()
        with naming(new):
            new.write_bytes(text)
        new.replace(path)
        self._last = xxhash.xxh3_64_hexdigest(text)

    def _cut_journal(self, size: int) -> None:
        """Truncate the journal."""
        with naming(self.folder / JOURNAL):
            self._journal.truncate(size)

    def _recover(self) -> None:
        """Restore the state of the journal, as far as it is intact."""
        entries = self._entries()
        gone = {name for entry, _ in entries for name in entry.get("discarded", ())}
        intact = self._intact([entry["columns"] for entry, _ in entries], gone)
        if any(name in gone for entry, _ in entries[intact:] for name in entry.get("discarded", ())):
            raise FormatError(f"{self.folder}: columns that are needed again have been deleted; delete the folder and start over")
        for entry, _ in entries[:intact]:
            self.lengths.update({name: end for name, (end, _) in entry.pop("columns").items()})
            self.steps.append(entry)
            self._last = str(entry.pop("checksum"))
        self._cut_journal(entries[intact - 1][1] if intact else 0)
        for path in self.folder.glob("*.col"):
            if path.stem not in self.lengths:
                path.unlink()
            elif path.stem not in gone:
                os.truncate(path, self.lengths[path.stem])
        for path in self.folder.glob("scratch-*"):
            path.unlink()

    def _entries(self) -> list[tuple[dict[str, Any], int]]:
        """The lines of the journal and the end of each, up to the first that differs from what was written."""
        entries: list[tuple[dict[str, Any], int]] = []
        end, last = 0, self._last
        with naming(self.folder / JOURNAL):
            lines = (self.folder / JOURNAL).read_bytes().splitlines(keepends=True)
        for line in lines:
            if line != sealed(line[:-SEAL_BYTES] + b"}", last):
                break
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                break
            if not is_entry(entry):
                break
            end, last = end + len(line), checksum_of(line)
            entries.append((entry, end))
        return entries

    def _intact(self, appended: list[dict[str, tuple[int, str]]], gone: set[str]) -> int:
        """The number of first steps whose appended bytes are all in the columns."""
        parts: dict[str, list[tuple[int, int, str]]] = {}
        for number, columns in enumerate(appended):
            for name, (end, digest) in columns.items():
                parts.setdefault(name, []).append((number, end, digest))
        intact = len(appended)
        for name in parts.keys() - gone:
            path, begin = self.folder / f"{name}.col", 0
            with naming(path), open(path if path.exists() else os.devnull, "rb") as file:
                for number, end, digest in parts[name]:
                    if number >= intact or checksum(file, end - begin) != digest:
                        intact = min(intact, number)
                        break
                    begin = end
        return intact

    def _read(self, path: Path) -> dict[str, Any]:
        """The object in a JSON file. Raises FormatError if it is damaged."""
        try:
            with naming(path):
                value = json.loads(path.read_bytes())
            if isinstance(value, dict):
                return value
        except (ValueError, RecursionError):
            pass
        raise FormatError(f"{path}: is damaged; delete {self.folder} and start over")

    def append(self, columns: Mapping[str, Any], **step: Any) -> None:
        """Append to columns, then journal the step. Values are arrays or bytes. Raises OSError if the folder was removed or replaced."""
        if not self._claim.holds():
            what = "was removed or replaced while likewise used it; start over, and do not change it during the run"
            raise OSError(errno.ENOENT, what, str(self.folder))
        written = {}
        for name, values in columns.items():
            path, view = self.folder / f"{name}.col", memoryview(values).cast("B") if len(values) else memoryview(b"")
            if name not in self._columns:
                self._columns[name] = open(path, "ab", buffering=0)  # noqa: SIM115 - open as long as the run
            write(self._columns[name], view, path)
            self.lengths[name] = self.lengths.get(name, 0) + len(view)
            written[name] = (self.lengths[name], xxhash.xxh3_64_hexdigest(view))
        line = sealed(json.dumps({**step, "columns": written}).encode(), self._last)
        write(self._journal, memoryview(line), self.folder / JOURNAL)
        self._last = checksum_of(line)
        self.steps.append(step)

    def done(self, step: str) -> list[dict[str, Any]]:
        """The journal's entries for a step."""
        return [entry for entry in self.steps if entry.get("step") == step]

    def column(self, name: str, dtype: Any) -> np.ndarray:
        """A column as a read-only array mapped from its file."""
        dtype = np.dtype(dtype)
        if not self.lengths.get(name):
            return np.frombuffer(b"", dtype.base).reshape(-1, *dtype.shape)  # read-only like the others, so that kernels compile once
        if name not in self._maps or len(self._maps[name]) < self.lengths[name]:
            with open(self.folder / f"{name}.col", "rb") as file:
                self._maps[name] = mmap.mmap(file.fileno(), self.lengths[name], access=mmap.ACCESS_READ)
        return np.frombuffer(self._maps[name], dtype.base).reshape(-1, *dtype.shape)

    def rest(self, *names: str) -> None:
        """Release the memory of the named mapped columns, or of all and of scratch files. What is used later is read from its file."""
        maps = [self._maps[name] for name in names if name in self._maps] if names else [*self._maps.values(), *(each() for each in self._scratch)]
        for each in maps:
            if each is not None and hasattr(mmap, "MADV_DONTNEED"):
                each.madvise(mmap.MADV_DONTNEED)

    def settle(self) -> None:
        """Close the columns that were appended to, because the number of open files is limited. Nothing may be appended to them later."""
        for file in self._columns.values():
            file.close()
        self._columns.clear()

    def opened(self, name: str, dtype: Any) -> tuple[int, np.ndarray]:
        """(open file, no values) of a column to read piece by piece; (-1, values) where the system has no pread (Windows)."""
        path = self.folder / f"{name}.col"
        if not hasattr(os, "pread") or not path.exists():
            return -1, self.column(name, dtype)
        file = self._readers.get(name)
        if file is None:
            file = self._readers[name] = open(path, "rb")  # noqa: SIM115 - open as long as the run
        return file.fileno(), np.frombuffer(b"", dtype)

    def discard(self, *names: str) -> None:
        """Delete columns that no later step needs, so that bytes that are not yet on the disk need not be written."""
        self.append({}, step="discard", discarded=names)
        for name in names:
            for opened in (self._columns, self._readers):
                if name in opened:
                    opened.pop(name).close()
            self._maps.pop(name, None)
            (self.folder / f"{name}.col").unlink(missing_ok=True)

    def scratch(self, shape: tuple[int, ...], dtype: str | np.dtype) -> np.ndarray:
        """An uninitialized array: in memory up to the limit, otherwise in a file that the system pages."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if size <= self.in_memory:
            self.in_memory -= size
            return np.empty(shape, dtype)
        path = self.folder / f"scratch-{len(list(self.folder.glob('scratch-*')))}"
        with naming(path), open(path, "w+b") as file:
            reserve(file, size)
            mapped = mmap.mmap(file.fileno(), size)
        self._scratch.append(weakref.ref(mapped))
        return np.frombuffer(mapped, dtype).reshape(shape)

    def staged(self) -> Path:
        """The folder for the output, until it is complete."""
        path = self.folder / STAGED
        path.mkdir(exist_ok=True)
        return path

    def close(self, *, remove: bool) -> None:
        """Release the folder. ``remove``: with the files of the run."""
        try:
            self._close(remove)
        except KeyboardInterrupt:  # a removal that has begun is finished
            self._close(remove)
            raise

    def _close(self, remove: bool) -> None:
        """Close all files and release the folder."""
        for file in [*self._columns.values(), *self._readers.values(), *([] if self._journal is None else [self._journal])]:
            file.close()
        self._claim.release(remove=remove)


def write(file: Any, view: memoryview, path: Path) -> None:
    """Write all of a view to an unbuffered file."""
    with naming(path):
        while len(view):
            view = view[file.write(view) :]


def sealed(entry: bytes, last: str) -> bytes:
    """A journal line: a JSON object with a checksum of itself and of the line before, so that no line can change, vanish or be inserted unnoticed."""
    return entry[:-1] + b', "checksum": "%s"}\n' % xxhash.xxh3_64_hexdigest(last.encode() + entry).encode()


def checksum_of(line: bytes) -> str:
    """The checksum at the end of a line of the journal."""
    return line[-len(b'0123456789abcdef"}\n') : -len(b'"}\n')].decode()


def checksum(file: BinaryIO, size: int) -> str | None:
    """The checksum of the next ``size`` bytes; None if there are fewer."""
    digest = xxhash.xxh3_64()
    while size > 0 and (block := file.read(min(size, BLOCK_BYTES))):
        digest.update(block)
        size -= len(block)
    return None if size else digest.hexdigest()


def reserve(file: BinaryIO, size: int) -> None:
    """Reserve disk space for a file that will be mapped. A full disk is an error here, but ends the process when mapped memory is written."""
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except (AttributeError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
        file.truncate(size)


def refuse_links(folder: Path) -> None:
    """Raise FormatError for a folder with links: appending, truncating or writing there would change another file."""
    for place, folders, files in os.walk(folder):
        for path in (Path(place, name) for name in (*folders, *files)):
            found = path.lstat()
            if not (stat.S_ISDIR(found.st_mode) or (stat.S_ISREG(found.st_mode) and found.st_nlink == 1)):
                raise FormatError(f"{path}: is not a plain file; delete {folder}, or name another one with {option('work', placeholder='DIR')}")


def is_entry(entry: Any) -> bool:
    """True for a journal line that `Work.append` may have written; names of columns must not be paths."""
    columns = entry.get("columns") if isinstance(entry, dict) else None
    names = entry.get("discarded", []) if isinstance(columns, dict) else None
    if not isinstance(columns, dict) or not isinstance(names, list):
        return False
    ends = [[type(part) for part in written] if isinstance(written, list) else None for written in columns.values()]
    return all(isinstance(name, str) and NAME.fullmatch(name) for name in (*columns, *names)) and all(types == [int, str] for types in ends)


#: One option may change many values: those that the user typed are named first.
TYPED = ("verb", "by", "normalize", "plan", "threshold_exact", "target", "bands", "rows")


#: Values of a run's method -> the option that sets them, if it has another name.
SET_BY = {"threshold_exact": f"{option('threshold')} or {option('within')}", "target": option("recall")}
#: Values that an option of the same name sets.
OPTIONS = re.compile(
    r"method\.(?:plan\.)?(by|normalize|field|records|id|per|min_tokens|copies|keep|output|pairs|removed_records|sketches|on_error|max_record|limit|seed"
    r"|level|min_left|ignore|ignore_common|also_inside|verify|exact|bands|rows|slots|sketch|tune|threshold_exact|target)(?:\[\d+\])?"
)


def option_of(place: str) -> str:
    """The option that sets the value at a place in the description of a run; the place itself if no single option does."""
    if place in ("groups", "ignored"):  # digests of what these options name
        return f"the content of {option(place.removesuffix('d'))}"
    if place.startswith("against"):
        return option("against")
    found = OPTIONS.fullmatch(place)
    return place if found is None else SET_BY.get(found[1]) or option(found[1])


def compare(folder: Path, made: Any, now: Any, place: str = "") -> None:
    """Raise UsageError, which names the first difference, if the run that left the folder differs from this one."""
    if isinstance(made, dict) and isinstance(now, dict):
        for key in sorted(made.keys() | now.keys(), key=lambda key: (TYPED.index(key) if key in TYPED else len(TYPED), key)):
            compare(folder, made.get(key), now.get(key), f"{place}.{key}" if place else key)
    elif isinstance(made, list) and isinstance(now, list) and len(made) == len(now):
        for i, (left, right) in enumerate(zip(made, now, strict=True)):
            compare(folder, left, right, f"{place}[{i}]")
    elif made != now:
        raise UsageError(
            f"{folder}: cannot resume, because {option_of(place)} differs: the interrupted run had {json.dumps(made)}, this one {json.dumps(now)}; "
            "use the earlier value, or delete the folder to start over"
        )
