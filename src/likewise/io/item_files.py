"""Files that are items of a kind, such as images, among the files of other inputs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from likewise.io import formats
from likewise.kinds import of_files
from likewise.kinds.kind import Kind
from likewise.messages import option


def items_among(paths: Iterable[Path]) -> tuple[Kind | None, list[Path]]:
    """Return the kind whose items some files are, judged from extensions, and their paths; (None, []) without such files."""
    places = [(kind, path) for path in paths if (kind := of_files(formats.by_name(path))) and path.is_file()]  # not a pipe, nor a broken link
    return (places[0][0], [path for _, path in places]) if places else (None, [])


def compared_by(kind: Kind) -> str:
    """Return the advice for files that are items of a kind."""
    return f"{option('by', kind.measures[0].name)} compares {kind.name}"
