"""What a pattern such as ``crawl/**/*.jsonl`` matches: as Python's glob, hidden files left out, but links cannot make it run without end."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterator
from pathlib import Path

#: Any number of folders, none among it.
ANY_DEPTH = "**"


def expanded(pattern: str) -> list[Path]:
    """The paths that match, sorted. Of ``**`` at the end the folders in which it begins: all that is in them is meant."""
    *parts, last = Path(pattern).parts
    found = [Path()]
    for part in parts if last == ANY_DEPTH else (*parts, last):
        if part == ANY_DEPTH:
            found = list(dict.fromkeys(folder for start in found for folder in below(start)))
        elif glob.has_magic(part):
            found = [folder / name for folder in found for name in names(folder) if fnmatch.fnmatch(name, part) and shown(name, part)]
        else:
            found = [folder / part for folder in found if os.path.lexists(folder / part)]
    return sorted((path for path in found if last != ANY_DEPTH or is_folder(path)), key=lambda path: path.parts)


def below(start: Path) -> Iterator[Path]:
    """A folder and those in it, each once: by links there may be any number of ways to one, and ways in a circle."""
    met: set[tuple[int, int]] = set()
    ahead = [start]
    while ahead:
        folder = ahead.pop()
        if is_folder(folder) and is_new(folder, met):
            yield folder
            ahead += [folder / name for name in sorted(names(folder), reverse=True) if shown(name, "")]


def is_folder(path: Path) -> bool:
    """Whether a path is that of a folder; a link in a circle, or what may not be looked at, is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_new(folder: Path, met: set[tuple[int, int]]) -> bool:
    """Whether a folder is not among those that were met, by whatever name; it is now."""
    state = folder.stat()
    before = len(met)
    met.add((state.st_dev, state.st_ino))
    return len(met) > before


def names(folder: Path) -> list[str]:
    """What is in a folder; nothing where that cannot be told."""
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def shown(name: str, part: str) -> bool:
    """Whether a pattern is about a name: hidden ones have to be asked for."""
    return part.startswith(".") or not name.startswith(".")
