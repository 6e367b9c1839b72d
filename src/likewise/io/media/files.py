"""The image or video files of inputs: files, folders and globs in the given order, sorted by path within a folder or a glob."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from likewise.errors import UsageError
from likewise.io import patterns, source_names, storage
from likewise.io.claims import is_work
from likewise.io.manifest import is_output
from likewise.io.media import images, videos
from likewise.io.source_names import printable
from likewise.messages import option

KINDS = {"images": images.SUFFIXES, "videos": videos.SUFFIXES}


@dataclass(frozen=True)
class Media:
    """The files found, all of one kind."""

    kind: str  # a key of KINDS
    files: list[tuple[str, Path]]  # name (path relative to the common folder) and path
    skipped: list[Path]  # files of other kinds in named folders


def kind_of(path: Path) -> str | None:
    """Return a key of KINDS for the file's extension, or None."""
    return next((kind for kind, suffixes in KINDS.items() if path.suffix.lower() in suffixes), None)


def found(inputs: Sequence[Path]) -> Media:
    """Return the files, all of one kind by their extensions. Raises UsageError for mixed kinds, other files named, or no file."""
    files: dict[tuple[int, int], Path] = {}
    skipped: list[Path] = []
    for given in inputs:
        for path, named in paths(given):
            if kind_of(path) is None and named:
                known = ", ".join(sorted(suffix[1:] for suffix in (*images.SUFFIXES, *videos.SUFFIXES)))
                raise UsageError(
                    f"{path}: not the extension of an image or a video ({known}); for texts, give {option('vectors', placeholder='FILE')}"
                )
            if kind_of(path) is None:
                skipped.append(path)
            else:
                state = path.stat()
                files.setdefault((state.st_dev, state.st_ino), path)
    places = list(files.values())
    if not places:
        some = f", only others ({len(skipped)}, such as {skipped[0].name})" if skipped else ""
        raise UsageError(f"no image or video among the inputs{some}; for texts, give {option('vectors', placeholder='FILE')}")
    kinds = {kind_of(path): path for path in places}
    if len(kinds) > 1:
        raise UsageError(f"{kinds['images']} is an image and {kinds['videos']} a video; their features cannot be compared: make a file for each kind")
    common = os.path.commonpath([storage.placed(path).parent for path in places])
    listed = [(printable(source_names.below(common, storage.placed(path))), path) for path in places]
    return Media(str(next(iter(kinds))), listed, skipped)


def paths(given: Path) -> Iterator[tuple[Path, bool]]:
    """Yield the files of an input, and True if it names the file itself. Raises UsageError if it does not exist."""
    if os.fspath(given) == "-":
        raise UsageError(
            f"images and videos cannot be read from standard input (-); name files, or give {option('vectors', placeholder='FILE')} for texts"
        )
    if storage.is_pattern(given):
        matches = patterns.expanded(given)
        if not matches:
            raise UsageError(f"{given}: no file matches this pattern")
        yield from ((path, False) for match in matches for path in walked(match))
    elif given.is_dir():
        yield from ((path, False) for path in walked(given))
    elif given.is_file():
        yield given, True
    else:
        raise UsageError(f"{given}: " + ("is neither a file nor a folder" if given.exists() else "no such file or folder"))


def walked(start: Path) -> Iterator[Path]:
    """Yield a file, or the files below a folder, sorted by path, without hidden ones and outputs of likewise."""
    seen: set[tuple[int, int]] = set()
    ahead = [start]
    while ahead:
        path = ahead.pop()
        if patterns.is_folder(path):
            if patterns.is_new(path, seen) and not is_output(path) and not is_work(path):
                ahead += [path / name for name in sorted(patterns.names(path), reverse=True) if not name.startswith(".")]
        elif path.is_file():
            yield path
