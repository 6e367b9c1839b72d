"""Image files: each file is an item, and all image files of a run form one source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from likewise.errors import DataError
from likewise.io.formats import text
from likewise.io.formats.text import Files, few, plan, write
from likewise.io.ranges import WHOLE, Range
from likewise.items import binary
from likewise.items.images import of_bytes
from likewise.kinds import of_payload
from likewise.kinds.kind import loaded
from likewise.records import REJECTED, TEXT, Chunk, Records, Rejected, Want

__all__ = ["chunks", "few", "holds", "known", "parse", "plan", "schema", "write"]

FIELD, FORMAT = "image", "images"
#: Bytes of files in a chunk, few because decoding takes far longer than reading.
CHUNK_BYTES = 1 << 23


def holds(want: Want) -> bool:
    """Return True if images are wanted."""
    return of_payload(want.kind).files == FORMAT


def chunks(path: Files, want: Want, start: int = 0, part: Range = WHOLE) -> Iterator[Chunk]:
    """Yield whole files, together about CHUNK_BYTES; ``start`` counts files."""
    return text.chunks(path, want, start, part, CHUNK_BYTES)


def schema(path: Files, want: Want) -> pa.Schema:
    """Return the schema: one field, image."""
    return pa.schema({FIELD: pa.large_binary()})


def known(chunk: Chunk) -> Sequence[str]:
    """Return the name of the only field."""
    return (FIELD,)


def parse(chunk: Chunk, want: Want, where: str) -> Records:
    """Return the files of a chunk as rows, decoded. The id of a file is its name."""
    names, raw = chunk.data.columns
    failures, payloads, make = dict(chunk.state), [], loaded(of_payload(want.kind).made_of)
    for row, data in enumerate(raw):
        try:
            payloads.append(b"" if row in failures else of_bytes(data.as_py(), want.most, make))
        except DataError as error:
            failures[row] = error.marked
            payloads.append(b"")
    rows = len(raw)
    kind = np.full(rows, TEXT, np.uint8)
    kind[list(failures)] = REJECTED
    return Records(
        kind=kind,
        start=np.arange(chunk.start, chunk.start + rows),
        length=np.diff(binary.parts(raw)[0]),
        text=binary.from_list(payloads),
        id=names if want.id else None,
        per=pa.nulls(rows, binary.TYPE) if want.per else None,
        score=np.full(rows, np.nan) if want.score else None,
        rejected=[Rejected(row, failures[row], b"") for row in sorted(failures)],
        fields=(FIELD,),
        found=want.text == FIELD,
    )
