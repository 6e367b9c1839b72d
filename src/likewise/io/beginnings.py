"""Facts from the beginnings of sources that a plan needs, read before the run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from likewise.io.inputs import Source
from likewise.io.source_names import printable
from likewise.records import Want

#: Errors that end only their source: a damaged source is skipped here, and reported when it is read.
Spared = tuple[type[Exception], ...]


def decimal_codes(sources: Sequence[Source], asked: Want, spared: Spared) -> bool:
    """Return True if the codes of some CSV file can only be decimal; then codes of undecided files are decimal too."""
    for source in sources:
        if forms := getattr(source.format, "code_forms", None):
            with suppress(*spared):
                if "decimal" in forms(source.path, source.asked(asked)).values():
                    return True
    return False


def first_width(sources: Sequence[Source], asked: Want, spared: Spared) -> tuple[int | None, str]:
    """Return the dimension or bits of the first item that has any, and its place; (None, "") without such an item."""
    for source in sources:
        rows = 0
        with suppress(*spared):
            for chunk in source.chunks_from_few(asked):
                width = source.parse(chunk, asked).width
                if width is not None and width.any():
                    row = int(np.argmax(width > 0))
                    return int(width[row]), f"{printable(source.name)}, item {rows + row + 1}"
                rows += 0 if width is None else len(width)
    return None, ""
