"""Expansion of patterns such as ``crawl/**/*.jsonl``: like Python's glob without hidden files, except that circular links cannot loop forever."""

from __future__ import annotations

import fnmatch
import glob
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from likewise.io import storage
from likewise.io.address import Address, Place

#: Any number of nested folders, including none.
ANY_DEPTH = "**"


def expanded(pattern: Place) -> list[Any]:
    """Return the matching paths, sorted. A pattern that ends in ``**`` matches the folders at which it begins, which stand for all their content."""
    *parts, last = pattern.parts
    found: list[Any] = [Path()]
    if isinstance(pattern, Address):
        found, parts = [pattern.at("")], parts[1:]
    for part in parts if last == ANY_DEPTH else (*parts, last):
        if part == ANY_DEPTH:
            found = list(dict.fromkeys(folder for start in found for folder in below(start)))
        elif glob.has_magic(part):
            found = [folder / name for folder in found for name in names(folder) if fnmatch.fnmatch(name, part) and shown(name, part)]
        else:
            found = [path for folder in found if (path := storage.entry(folder / part))]
    return sorted((path for path in found if last != ANY_DEPTH or is_folder(path)), key=lambda path: path.parts)


def below(start: Path) -> Iterator[Path]:
    """Yield a folder and all folders below it, each once, although links may lead to a folder in many ways or in circles."""
    seen: set[tuple[int, int]] = set()
    ahead = [start]
    while ahead:
        folder = ahead.pop()
        if is_folder(folder) and is_new(folder, seen):
            yield folder
            ahead += [folder / name for name in sorted(names(folder), reverse=True) if shown(name, "")]


def is_folder(path: Path) -> bool:
    """Return whether a path leads to a folder; False for circular links and unreadable paths."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_new(folder: Path, seen: set[tuple[int, int]]) -> bool:
    """Return whether a folder is missing from ``seen``, whatever its name, and add it."""
    state = folder.stat()
    before = len(seen)
    seen.add((state.st_dev, state.st_ino))
    return len(seen) > before


def names(folder: Path) -> list[str]:
    """Return the names in a folder; an empty list if it cannot be read."""
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def shown(name: str, part: str) -> bool:
    """Return whether a part of a pattern may match a name: hidden names need a pattern that begins with a dot."""
    return part.startswith(".") or not name.startswith(".")
