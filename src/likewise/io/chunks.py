"""The chunks of a source and their rows; damage is an error or, if it is skipped, a reason."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from likewise.errors import DataError, has_gone
from likewise.io.inputs import STDIN, Source
from likewise.io.ranges import WHOLE, Range
from likewise.items import binary
from likewise.kinds import of_payload
from likewise.records import REJECTED, Chunk, Records, Rejected, Want


def chunks(source: Source, want: Want, start: int = 0, part: Range = WHOLE, *, skip: bool) -> Iterator[Chunk | str]:
    """Yield the chunks of a source, or of a range of it. With ``skip``, the rest of a damaged source is replaced by the reason."""
    try:
        yield from source.chunks(want, start, part)
    except DataError as error:
        if has_gone(error) or (not skip and source.name != STDIN):
            raise
        reason = error.marked.replace(str(source.path), source.name)  # the result must not depend on the input's location
        if not skip:
            raise DataError(reason) from error
        yield reason


def chunk_at(source: Source, want: Want, start: int) -> Chunk:
    """Return the chunk that begins at ``start``, read again."""
    return next(source.chunks(want, start))


def parsed(source: Source, chunk: Chunk, want: Want, *, skip: bool) -> Records | str:
    """Return the rows of a chunk. With ``skip``, the reason is returned for damage that shows only in the values."""
    try:
        return source.parse(chunk, want)
    except DataError as error:
        if not skip or has_gone(error):
            raise
        return error.marked


def failed(reason: str, want: Want) -> Records:
    """Return one rejected row in place of the unreadable rest of a source."""
    zero, rejected = np.zeros(1, np.int64), [Rejected(0, reason, None)]
    width = zero if of_payload(want.kind).wide else None
    return Records(np.full(1, REJECTED, np.uint8), zero, zero, binary.from_list([b""]), width=width, rejected=rejected, found=False)
