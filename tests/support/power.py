"""The possible states of a disk after a power failure, at any moment of a recording (`traced`).

Synced changes are there. Unsynced ones are there in part, and in no order: each sector of 512 bytes of a file has its content after any of them,
the size is any that the file had since, and each new, renamed or deleted name in a folder is written or not. A sync covers the changes that had
ended when it began, of its own file or folder alone: it does not cover the name of a file.
"""

from __future__ import annotations

import hashlib
import random
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from traced import Call

SECTOR = 512
#: True if a change reached the disk. Arguments: its place among the unsynced changes, 0 for the last one; "name", "size", or the number of a sector.
Mood = Callable[[int, str | int], bool]


def drawn(seed: int, whole: bool) -> Mood:
    """Each change, or each sector and size of it, by a coin."""

    def mood(back: int, what: str | int) -> bool:
        return random.Random(f"{seed} {back} {isinstance(what, int) if whole else what}").random() < 0.5

    return mood


#: The first two are harmless for most programs, the others reorder and tear.
MOODS: dict[str, Mood] = {
    "nothing": lambda back, what: False,
    "all": lambda back, what: True,
    "names alone": lambda back, what: what == "name",
    "names and sizes": lambda back, what: what in ("name", "size"),
    "contents alone": lambda back, what: what != "name",
    "all but the last": lambda back, what: back > 0,
    "the last alone": lambda back, what: back == 0,
    "the last one torn": lambda back, what: back > 0 or (what == "size") or (isinstance(what, int) and what % 2 == 0),
    "all torn": lambda back, what: isinstance(what, str) or what % 2 == 1,
}
FEW = ("nothing", "all", "names and sizes", "contents alone", "the last alone", "the last one torn")


class Change(NamedTuple):
    """An unsynced change of a file (data at an offset, or a new size) or of names: (folder, name, file or None)."""

    call: Call
    names: tuple[tuple[int, str, int | None], ...] = ()


@dataclass
class File:
    """The bytes of a file that are safe, and what came after."""

    safe: bytearray = field(default_factory=bytearray)
    later: list[Change] = field(default_factory=list)


class Image(NamedTuple):
    """The files and folders of a disk, by their paths; None for a folder."""

    tree: dict[str, bytes | None]

    @property
    def digest(self) -> bytes:
        summed = hashlib.sha256()
        for path, data in sorted(self.tree.items()):
            summed.update(f"{path} {-1 if data is None else len(data)}\n".encode() + (data or b""))
        return summed.digest()

    def write(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        for path, data in self.tree.items():  # folders come before what they hold
            if data is None:
                (root / path).mkdir(exist_ok=True)
            else:
                (root / path).write_bytes(data)


@dataclass
class Disk:
    """A disk that is empty at first, or holds what was synced before, and takes the calls of a recording one after the other."""

    files: dict[int, File] = field(default_factory=dict)
    folders: dict[int, dict[str, int]] = field(default_factory=lambda: {0: {}})  # the root has the number 0; safe names alone
    now: dict[int, dict[str, int]] = field(default_factory=lambda: {0: {}})  # names as a program sees them
    later: list[Change] = field(default_factory=list)  # of names, in order

    @classmethod
    def holding(cls, root: Path) -> Disk:
        """A disk with the files that are below a folder now; `traced` gives the same numbers to them."""
        disk = cls()
        numbers = {place: number for number, place in enumerate([root, *sorted(root.rglob("*"))])}
        for place, number in numbers.items():
            if place.is_dir():
                disk.folders[number] = {}
            else:
                disk.files[number] = File(bytearray(place.read_bytes()))
            if number:
                disk.folders[numbers[place.parent]][place.name] = number
        disk.now = {folder: dict(names) for folder, names in disk.folders.items()}
        return disk

    def take(self, call: Call) -> None:
        if call.result < 0 or call.end < 0 or call.what == "said":
            return
        match call.what:
            case "open" if call.new:
                self.files[call.file] = File()
                self.rename((self.at(call.path, call.file),), call)
            case "open":
                self.files[call.file].later.append(Change(call))  # cut to no bytes
            case "mkdir":
                self.folders[call.file], self.now[call.file] = {}, {}
                self.rename((self.at(call.path, call.file),), call)
            case "write" | "size":
                self.files[call.file].later.append(Change(call))
            case "rename":
                self.rename((self.at(call.path, None if call.other < 0 else call.other), self.at(call.to, call.file)), call)
            case "link":
                self.rename((self.at(call.to, call.file),), call)
            case "unlink":
                self.rename((self.at(call.path, None),), call)
            case "sync" if call.file in self.folders:
                self.sync_names(call, {call.file})
            case "sync":
                self.sync_bytes(call, self.files[call.file])
            case "sync all":
                self.sync_names(call, {*self.folders})
                for file in self.files.values():
                    self.sync_bytes(call, file)
            case _:
                raise ValueError(call.what)

    def at(self, path: str, file: int | None) -> tuple[int, str, int | None]:
        folder, parts = 0, path.split("/")
        for part in parts[:-1]:
            folder = self.now[folder][part]
        return folder, parts[-1], file

    def rename(self, names: tuple[tuple[int, str, int | None], ...], call: Call) -> None:
        put(self.now, names)
        self.later.append(Change(call, names))

    def sync_bytes(self, call: Call, file: File) -> None:
        for change in [change for change in file.later if change.call.end < call.begin]:
            apply(file.safe, change.call)
        file.later = [change for change in file.later if change.call.end >= call.begin]

    def sync_names(self, call: Call, folders: set[int]) -> None:
        left = []
        for change in self.later:
            if change.call.end < call.begin and any(folder in folders for folder, *_ in change.names):
                put(self.folders, change.names)
            else:
                left.append(change)
        self.later = left

    def image(self, mood: Mood) -> Image:
        """A state of the disk if the power fails now."""
        unsynced = sorted(change.call.end for changes in (self.later, *(file.later for file in self.files.values())) for change in changes)
        back = {end: len(unsynced) - 1 - place for place, end in enumerate(unsynced)}
        folders = {folder: dict(names) for folder, names in self.folders.items()}
        for change in self.later:
            if mood(back[change.call.end], "name"):
                put(folders, change.names)
        tree: dict[str, bytes | None] = {}

        def walk(folder: int, prefix: str) -> None:
            for name, number in sorted(folders[folder].items()):
                if number in folders:
                    tree[prefix + name] = None
                    walk(number, f"{prefix}{name}/")
                else:
                    tree[prefix + name] = after(self.files[number], back, mood)

        walk(0, "")
        return Image(tree)


def put(folders: dict[int, dict[str, int]], names: tuple[tuple[int, str, int | None], ...]) -> None:
    for folder, name, file in names:
        if file is None:
            folders[folder].pop(name, None)
        else:
            folders[folder][name] = file


def apply(content: bytearray, call: Call) -> None:
    """Make a change in the bytes of a file."""
    if call.what == "write":
        resize(content, max(len(content), call.offset + len(call.data)))
        content[call.offset : call.offset + len(call.data)] = call.data
    else:
        resize(content, 0 if call.what == "open" else call.size)


def resize(content: bytearray, size: int) -> None:
    del content[size:]
    content.extend(bytes(size - len(content)))


def after(file: File, back: dict[int, int], mood: Mood) -> bytes:
    """The bytes of a file: each sector, and the size, as they were in the memory of the system at one moment."""
    memory, content = bytearray(file.safe), bytearray(file.safe)
    states = []
    for change in file.later:
        call, before = change.call, len(memory)
        apply(memory, call)
        low, high = (call.offset, call.offset + len(call.data)) if call.what == "write" else sorted((before, len(memory)))
        states.append((back[call.end], bytes(memory), range(low // SECTOR, -(-high // SECTOR))))
    resize(content, next((len(state) for number, state, _ in reversed(states) if mood(number, "size")), len(content)))
    for number, state, touched in states:
        for sector in touched:
            begin, end = sector * SECTOR, min((sector + 1) * SECTOR, len(content))
            if begin < end and mood(number, sector):
                content[begin:end] = state[begin:end].ljust(end - begin, b"\0")
    return bytes(content)


def failures(calls: list[Call], moods: dict[str, Mood], every: int = 1, disk: Disk | None = None) -> Iterator[tuple[int, int, str, Image]]:
    """The images of a disk after each call, or each so many and each line of the work. Yields the moment, the number of lines that the work had said
    before, the mood, and the image. disk: as it was before the calls; empty if it is left out.

    An image that is equal to another one, with as many lines said, is not repeated. A line counts as said from the moment when it began to be.
    """
    disk, seen = disk or Disk(), set()
    said = sorted(call.begin for call in calls if call.what == "said")
    for place, call in enumerate(sorted((call for call in calls if call.end >= 0), key=lambda call: call.end)):
        disk.take(call)
        if call.what != "said" and place % every:
            continue
        lines = bisect_right(said, call.end)
        for name, mood in moods.items():
            image = disk.image(mood)
            if (key := (lines, image.digest)) not in seen:
                seen.add(key)
                yield call.end, lines, name, image
