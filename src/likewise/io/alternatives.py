"""A field that may have several names (``text|content``): each row takes the first that it has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.io import fields
from likewise.io.field_names import literals, top
from likewise.items import binary
from likewise.records import NO_TEXT, TEXT, Chunk, Records, Want


def parse(format: Any, chunk: Chunk, want: Want, where: str) -> Records:
    """The rows of a chunk; of each row the first alternative that has a value. What a row holds does not depend on the others."""
    found: Records | None = None
    for asked in _asked(format, chunk, want):
        records = format.parse(chunk, asked, where)
        found = records if found is None else _filled(found, records, _vacant(found, format))
        if not _vacant(found, format).any():
            break
    assert found is not None
    return found


def _vacant(records: Records, format: Any) -> np.ndarray:
    """bool[n]: the rows without a value. In CSV an empty cell is one, since CSV has no other way to leave a value out."""
    vacant = records.kind == NO_TEXT
    if getattr(format, "EMPTY_IS_MISSING", False):
        vacant |= (records.kind == TEXT) & (np.diff(binary.parts(records.text)[0]) == 0)
    return vacant


def _asked(format: Any, chunk: Chunk, want: Want) -> list[Want]:
    """The alternatives in their order. Where no columns are known, names with signs in them come first, if the chunk mentions them at all."""
    if want.whole or ("|" not in want.text and "+" not in want.text):
        return [want]
    if (there := format.known(chunk)) is not None:
        ones = fields.each(want, there)
        return [one for one in ones if any(top(name, there) in there for name in fields.names(one, there))] or ones
    found = []
    mentions = format.mentioned(chunk, literals(want.text))
    if want.text in mentions:
        found.append(want._replace(whole=True))
    for asked in fields.each(want):
        if asked.text in mentions and asked.text != want.text:
            found.append(asked._replace(whole=True))
        found.append(asked)
    return found


def _filled(first: Records, second: Records, vacant: np.ndarray) -> Records:
    """``first``, with the rows of ``second`` where it is ``vacant`` (bool[n]) and the second has a value."""
    open_ = vacant & (second.kind != NO_TEXT)
    kind = np.where(open_, second.kind, first.kind)
    text = pc.if_else(pa.array(open_ & (second.kind == TEXT)), second.text, first.text)
    width = first.width
    if width is not None and second.width is not None:
        width = np.where(open_, second.width, width)
    rejected = sorted([*first.rejected, *(entry for entry in second.rejected if open_[entry.row])])
    nulls = first.nulls
    if second.nulls is not None:
        nulls = np.where(open_, second.nulls, 0 if nulls is None else nulls)
    matrices = {records.matrix for records in (first, second) if (records.kind == TEXT).any()}
    seen = tuple(dict.fromkeys((*first.fields, *second.fields)))
    text = binary.build(*binary.parts(text))
    return replace(
        first,
        kind=kind,
        text=text,
        width=width,
        rejected=rejected,
        nulls=nulls,
        matrix=matrices.pop() if len(matrices) == 1 else 0,
        other=first.other or second.other,
        fields=seen,
        found=first.found or second.found,
    )
