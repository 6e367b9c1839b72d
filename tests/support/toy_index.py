"""A small program that stores numbers as the embedded index stores items: a log in SQLite, and files beside it that the log names.

``without`` leaves out one step of what keeps it safe, by which the tests of power failures are tested themselves.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Callable, Collection
from pathlib import Path

STEPS = ("sync of the log", "sync of a segment", "sync of the folder", "sync of the parent", "commit before the answer", "segment before its name")
MANIFEST = b"a toy index"


def sync(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


class Toy:
    def __init__(self, folder: Path, without: Collection[str] = (), create: bool = False) -> None:
        self.folder, self.without = folder, without
        if create:
            folder.mkdir()
        self.log = sqlite3.connect(folder / "index.db", isolation_level=None)
        self.log.execute("pragma journal_mode=wal")
        self.log.execute(f"pragma synchronous={'off' if 'sync of the log' in without else 'full'}")
        self.log.execute("pragma wal_autocheckpoint=0")
        if create:
            self.log.execute("begin immediate")
            self.log.execute("create table items (number integer primary key) strict")
            self.log.execute("create table segments (name text primary key) strict")
            self.log.execute("commit")
            (folder / "manifest").write_bytes(MANIFEST)
            sync(folder / "manifest")
            sync(folder)
            if "sync of the parent" not in without:
                sync(folder.parent)

    def add(self, numbers: Collection[int], say: Callable[[], None]) -> None:
        if "commit before the answer" in self.without:
            say()
        self.log.execute("begin immediate")
        self.log.executemany("insert into items values (?)", [(number,) for number in numbers])
        self.log.execute("commit")
        if "commit before the answer" not in self.without:
            say()

    def flush(self) -> None:
        numbers = [number for (number,) in self.log.execute("select number from items order by number")]
        name = f"{numbers[0]:08}.numbers"
        data = b"".join(number.to_bytes(8, "little") for number in numbers)
        data += zlib.crc32(data).to_bytes(8, "little")
        late = "segment before its name" in self.without
        if not late:
            self.segment(name, data)
        self.log.execute("begin immediate")
        self.log.execute("insert into segments values (?)", [name])
        self.log.execute("delete from items")
        self.log.execute("commit")
        if late:
            self.segment(name, data)
        self.log.execute("pragma wal_checkpoint(restart)")

    def segment(self, name: str, data: bytes) -> None:
        with open(self.folder / name, "wb") as file:
            file.write(data)
            file.flush()
            if "sync of a segment" not in self.without:
                os.fdatasync(file.fileno())
        if "sync of the folder" not in self.without:
            sync(self.folder)

    def numbers(self) -> list[int]:
        """All numbers; raises ValueError if a file is damaged."""
        found = [number for (number,) in self.log.execute("select number from items")]
        for (name,) in self.log.execute("select name from segments"):
            path = self.folder / name
            data = path.read_bytes() if path.exists() else b""
            if zlib.crc32(data[:-8]).to_bytes(8, "little") != data[-8:]:
                raise ValueError(f"{name} is damaged")
            found += [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data) - 8, 8)]
        return sorted(found)
