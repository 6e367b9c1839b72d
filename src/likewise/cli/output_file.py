"""Checks, before any work, that the output file of a verb can and may be written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.io.placing import apart, check_file

if TYPE_CHECKING:
    from likewise.records import Want

Files = list[tuple[str, Path]]  # names and paths


def check(target: Path, reads: Iterable[str], wanted: Want, more: Files, *, overwrite: bool, formats: Sequence[str], flag: str = "-o") -> None:
    """Check a target. reads: the inputs as given; wanted: their fields that are read; more: other files that are read. Raises UsageError."""
    check_file(target, overwrite=overwrite, formats=formats, flag=flag)
    if target.exists():
        apart(target, [*read_from(reads, wanted), *more], flag)


def read_from(inputs: Iterable[str], wanted: Want) -> Files:
    """The name and path of each input file."""
    from likewise.io.inputs import STDIN, resolve

    files = [given for given in inputs if given != STDIN]
    return [place for source in (resolve(files, want=wanted) if files else []) for place in source.files]
