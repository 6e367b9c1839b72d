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
#: Standard input is copied here before the run begins, and may be there when it does.
SPOOL = ("stdin", "stdin.part")


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
    def open(cls, folder: Path, description: Mapping[str, Any], *, resume: bool, in_memory: int = 2**62) -> Work:
        """A new work folder, or with ``resume`` the one that an interrupted run left, if it was made in the same way."""
        work = cls(folder, in_memory)
        made = folder / "work.json"
        if made.exists() and not resume:
            raise UsageError(f"{folder}: an interrupted run left this work folder; go on with --resume, or delete the folder to start anew")
        if not made.exists():
            if folder.exists() and any(path.name not in SPOOL for path in folder.iterdir()):
                raise UsageError(f"{folder}: this folder is not a work folder of likewise and is not empty; name another with --work")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "work.json.new").write_text(json.dumps(description, indent=1, sort_keys=True))
        try:
            work._lock()
            if made.exists():
                compare(folder, json.loads(made.read_text()), json.loads(json.dumps(description)))
                work._recover()
            else:
                (folder / "work.json.new").replace(made)
        except BaseException:
            work.close(remove=False)
            raise
        return work

    def _lock(self) -> None:
        """One run at a time in a work folder. The lock dies with the process."""
        self._journal = open(self.folder / "journal.jsonl", "ab", buffering=0)  # noqa: SIM115 - open as long as the run
        if fcntl is not None:
            try:
                fcntl.flock(self._journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise UsageError(f"{self.folder}: another run is working in this folder; wait for it, or name another folder with --work") from error

    def _recover(self) -> None:
        text = (self.folder / "journal.jsonl").read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        for line in whole.splitlines():
            entry = json.loads(line)
            self.lengths.update(entry.pop("columns", {}))
            self.steps.append(entry)
        self._journal.truncate(len(whole))
        for path in self.folder.glob("*.col"):
            valid = self.lengths.get(path.stem, 0)
            if path.stat().st_size < valid:
                raise FormatError(f"{path}: {valid} bytes were written here and fewer are left; delete {self.folder} and start anew")
            os.truncate(path, valid)

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
        self._journal.write(json.dumps(entry).encode() + b"\n")
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
        for file in [*self._columns.values(), *self._readers.values(), self._journal]:
            file.close()
        if remove:
            shutil.rmtree(self.folder, ignore_errors=True)


def compare(folder: Path, made: Any, now: Any, place: str = "") -> None:
    """Refuse to go on when the run that left the folder was another one; say in what."""
    if isinstance(made, dict) and isinstance(now, dict):
        for key in sorted(made.keys() | now.keys()):
            compare(folder, made.get(key), now.get(key), f"{place}.{key}" if place else key)
    elif isinstance(made, list) and isinstance(now, list) and len(made) == len(now):
        for i, (left, right) in enumerate(zip(made, now, strict=True)):
            compare(folder, left, right, f"{place}[{i}]")
    elif made != now:
        raise UsageError(
            f"{folder}: cannot resume, since {place} differs: the interrupted run had {json.dumps(made)}, this one has {json.dumps(now)}; "
            "run with what it had, or delete the folder to start anew"
        )
