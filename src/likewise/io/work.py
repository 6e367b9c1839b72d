"""The work folder: append-only columns, and a journal that says how much of each is valid.

    OUT.work/
      work.json       what the run is: method, options, inputs, versions
      journal.jsonl   one line a finished step; a line is written after the bytes that it speaks of
      NAME.col        a column: raw little-endian values
      staged/         the output folder, until it is whole

A run that was killed goes on from its last whole journal line: what columns hold beyond the lengths in it is cut off.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import FormatError, UsageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
MADE, JOURNAL = "work.json", "journal.jsonl"
#: What may lie in a work folder before the run has begun: standard input is copied there first.
BEFORE = (f"{MADE}.new", JOURNAL, "stdin", "stdin.part")


class Work:
    def __init__(self, folder: Path, in_memory: int):
        self.folder = folder
        self.in_memory = in_memory  # bytes up to which a scratch array may live in memory
        self.lengths: dict[str, int] = {}
        self.steps: list[dict[str, Any]] = []
        self._columns: dict[str, Any] = {}
        self._readers: dict[str, Any] = {}
        self._maps: dict[str, mmap.mmap] = {}
        self._journal: Any = None

    @classmethod
    def claim(cls, folder: Path, *, resume: bool, in_memory: int = 2**62) -> Work:
        """Take a folder for one run, before anything is read: a new one, or with ``resume`` what an interrupted run left."""
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"--work {folder}: this is a file, and intermediate files go into a folder; name another place")
        if folder.is_dir() and not is_free(folder) and not (folder / MADE).exists():
            raise UsageError(f"{folder}: this folder is not a work folder of likewise and is not empty; name another with --work")
        folder.mkdir(parents=True, exist_ok=True)
        work = cls(folder, in_memory)
        work._lock()
        if (folder / MADE).exists() and not resume:
            work.close(remove=False)
            raise UsageError(f"{folder}: an interrupted run left this work folder; go on with --resume, or delete the folder to start anew")
        return work

    def begin(self, description: Mapping[str, Any]) -> None:
        """Say what the run is; a run that is resumed must be the same."""
        made = self.folder / MADE
        if made.exists():
            compare(self.folder, self._read(made.read_bytes(), made), json.loads(json.dumps(description)))
            self._recover()
        else:
            self._journal.truncate(0)
            new = self.folder / f"{MADE}.new"
            new.write_text(json.dumps(description, indent=1, sort_keys=True))
            new.replace(made)

    def _lock(self) -> None:
        """One run at a time in a work folder. The lock dies with the process."""
        self._journal = open(self.folder / JOURNAL, "ab", buffering=0)  # noqa: SIM115 - open as long as the run
        if fcntl is not None:
            try:
                fcntl.flock(self._journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                self._journal.close()
                raise UsageError(f"{self.folder}: another run is working in this folder; wait for it, or name another folder with --work") from error

    def _recover(self) -> None:
        text = (self.folder / JOURNAL).read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        gone: set[str] = set()
        for line in whole.splitlines():
            entry = self._read(line, self.folder / JOURNAL)
            self.lengths.update(entry.pop("columns", {}))
            gone.update(entry.get("discarded", ()))
            self.steps.append(entry)
        self._journal.truncate(len(whole))
        for path in self.folder.glob("*.col"):
            if path.stem not in self.lengths:
                path.unlink()
        for path in self.folder.glob("scratch-*"):
            path.unlink()
        for name in self.lengths.keys() - gone:
            path, valid = self.folder / f"{name}.col", self.lengths[name]
            size = path.stat().st_size if path.exists() else 0
            if size < valid:
                raise FormatError(f"{path}: {valid} bytes were written here and {size} are left; delete {self.folder} and start anew")
            if path.exists():
                os.truncate(path, valid)

    def _read(self, text: bytes, path: Path) -> dict[str, Any]:
        try:
            value = json.loads(text)
            if isinstance(value, dict):
                return value
        except ValueError:
            pass
        raise FormatError(f"{path}: is damaged; delete {self.folder} and start anew")

    def append(self, columns: Mapping[str, Any], **step: Any) -> None:
        """Append to columns, then journal the step. Values are arrays or bytes."""
        for name, values in columns.items():
            file = self._columns.get(name)
            if file is None:
                file = self._columns[name] = open(self.folder / f"{name}.col", "ab", buffering=0)  # noqa: SIM115 - open as long as the run
            view = memoryview(values).cast("B") if len(values) else b""
            self.lengths[name] = self.lengths.get(name, 0) + len(view)
            while len(view):
                view = view[file.write(view) :]
        entry = {**step, "columns": {name: self.lengths[name] for name in columns}}
        line = memoryview(json.dumps(entry).encode() + b"\n")
        while len(line):
            line = line[self._journal.write(line) :]
        self.steps.append(step)

    def done(self, step: str) -> list[dict[str, Any]]:
        """The journal's entries for a step."""
        return [entry for entry in self.steps if entry.get("step") == step]

    def column(self, name: str, dtype: Any) -> np.ndarray:
        """A column as a read-only array mapped from its file."""
        dtype = np.dtype(dtype)
        if not self.lengths.get(name):
            return np.frombuffer(b"", dtype.base).reshape(-1, *dtype.shape)  # read-only as the others are: kernels compile once
        if name not in self._maps or len(self._maps[name]) < self.lengths[name]:
            with open(self.folder / f"{name}.col", "rb") as file:
                self._maps[name] = mmap.mmap(file.fileno(), self.lengths[name], access=mmap.ACCESS_READ)
        return np.frombuffer(self._maps[name], dtype.base).reshape(-1, *dtype.shape)

    def rest(self, name: str) -> None:
        """Let the memory go that a mapped column takes; where it is looked at again, it is read again."""
        if name in self._maps and hasattr(mmap, "MADV_DONTNEED"):
            self._maps[name].madvise(mmap.MADV_DONTNEED)

    def read_once(self, name: str, dtype: Any) -> np.ndarray:
        """A column in memory, with no file left open for it."""
        path = self.folder / f"{name}.col"
        return np.fromfile(path, dtype) if path.exists() else np.empty(0, dtype)

    def settle(self) -> None:
        """Close the columns that were appended to: a run has one for each band, and a process only so many open files."""
        for file in self._columns.values():
            file.close()
        self._columns.clear()

    def opened(self, name: str, dtype: Any) -> tuple[int, np.ndarray]:
        """(open file, no values) of a column that is to be read piece by piece; (-1, values) where a file cannot be read at a place (Windows)."""
        path = self.folder / f"{name}.col"
        if not hasattr(os, "pread") or not path.exists():
            return -1, self.column(name, dtype)
        file = self._readers.get(name)
        if file is None:
            file = self._readers[name] = open(path, "rb")  # noqa: SIM115 - open as long as the run
        return file.fileno(), np.frombuffer(b"", dtype)

    def discard(self, *names: str) -> None:
        """Delete columns that no later step needs: what of them has not reached the disk yet never has to."""
        self.append({}, step="discard", discarded=names)
        for name in names:
            for opened in (self._columns, self._readers):
                if name in opened:
                    opened.pop(name).close()
            self._maps.pop(name, None)
            (self.folder / f"{name}.col").unlink(missing_ok=True)

    def scratch(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        """An array of no initial value: in memory while that is allowed, else in a file that the system pages."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if size <= self.in_memory:
            self.in_memory -= size
            return np.empty(shape, dtype)
        path = self.folder / f"scratch-{len(list(self.folder.glob('scratch-*')))}"
        return np.memmap(path, dtype, "w+", shape=shape)

    def staged(self) -> Path:
        path = self.folder / "staged"
        path.mkdir(exist_ok=True)
        return path

    def close(self, *, remove: bool) -> None:
        """Let go of the folder. It is removed under another name, so that half of it is never taken for a work folder."""
        gone = self.folder.resolve()
        if remove:
            try:
                gone = gone.rename(gone.with_name(f".{gone.name}.{os.getpid()}"))
            except OSError:  # a mount point has to stay what it is
                (gone / MADE).unlink(missing_ok=True)
        for file in [*self._columns.values(), *self._readers.values(), self._journal]:
            file.close()
        if remove:
            shutil.rmtree(gone, ignore_errors=True)


def is_free(folder: Path) -> bool:
    """Nothing in the folder but what a run puts there before it begins."""
    return all(path.name in BEFORE for path in folder.iterdir())


#: Of the many values that one flag changes, those that the user typed are named first.
TYPED = ("verb", "by", "normalize", "plan", "threshold_exact", "target", "bands", "rows")


def compare(folder: Path, made: Any, now: Any, place: str = "") -> None:
    """Refuse to go on when the run that left the folder was another one; say in what."""
    if isinstance(made, dict) and isinstance(now, dict):
        for key in sorted(made.keys() | now.keys(), key=lambda key: (key not in TYPED, key)):
            compare(folder, made.get(key), now.get(key), f"{place}.{key}" if place else key)
    elif isinstance(made, list) and isinstance(now, list) and len(made) == len(now):
        for i, (left, right) in enumerate(zip(made, now, strict=True)):
            compare(folder, left, right, f"{place}[{i}]")
    elif made != now:
        raise UsageError(
            f"{folder}: cannot resume, since {place} differs: the interrupted run had {json.dumps(made)}, this one has {json.dumps(now)}; "
            "run with what it had, or delete the folder to start anew"
        )
