"""Names of sources: paths relative to the common folder of the inputs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from pathlib import Path


def printable(name: str | Path) -> str:
    """Return a file name as text; bytes that are not UTF-8 are shown as \\xNN."""
    return str(name).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def below(folder: str, place: Path) -> str:
    """Return the path of a place relative to a folder, with / as separator. Both are absolute."""
    return os.path.relpath(place, folder).replace(os.sep, "/")


def distinct(names: Sequence[str], free: Sequence[bool]) -> list[str]:
    """Return distinct names, which also differ from the folders in other names. Only names that are ``free`` are changed.

    >>> distinct(["a.csv", "a.csv", "b", "b/c"], [True] * 4)
    ['a-2.csv', 'a.csv', 'b-2', 'b/c']
    """
    found = list(names)
    taken = Counter(chain.from_iterable(map(with_folders, found)))
    for number in filter(free.__getitem__, range(len(found))):
        again, (folder, slash, last) = 1, found[number].rpartition("/")
        while taken[found[number]] > 1:
            again += 1
            stem, dot, extension = last.partition(".")
            taken.subtract(with_folders(found[number]))
            found[number] = f"{folder}{slash}{stem}-{again}{dot}{extension}"
            taken.update(with_folders(found[number]))
    return found


def with_folders(name: str) -> Iterator[str]:
    """Yield a name, and the names of the folders in it."""
    return accumulate(name.split("/"), "{}/{}".format)
