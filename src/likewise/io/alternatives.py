"""A field with several alternative names (``text|content``): each row uses the first that it has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow.compute as pc

from likewise.io import fields
from likewise.io.field_names import literals, top
from likewise.items import binary
from likewise.items.wrapped import wrapped
from likewise.records import NO_TEXT, TEXT, Chunk, Records, Want


def parse(format: Any, chunk: Chunk, want: Want, where: str) -> Records:
    """Return the rows of a chunk, each with its first alternative that has a value. The value of a row does not depend on other rows."""
    found: Records | None = None
    for asked in _asked(format, chunk, want):
        records = format.parse(chunk, asked, where)
        found = records if found is None else _filled(found, records, _vacant(found, format))
        if not _vacant(found, format).any():
            break
    assert found is not None
    return found


def _vacant(records: Records, format: Any) -> np.ndarray:
    """Return bool[n]: rows without a value. In CSV this includes empty cells, because CSV cannot leave a value out."""
    vacant = records.kind == NO_TEXT
    if getattr(format, "EMPTY_IS_MISSING", False):
        vacant |= (records.kind == TEXT) & (np.diff(binary.parts(records.text)[0]) == 0)
    return vacant


def _asked(format: Any, chunk: Chunk, want: Want) -> list[Want]:
    """Return the alternatives in order. If columns are not known, names that contain the signs come first, if the chunk mentions them."""
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
    """Return ``first``, with the rows of ``second`` where it is ``vacant`` (bool[n]) and the second has a value."""
    open_ = vacant & (second.kind != NO_TEXT)
    kind = np.where(open_, second.kind, first.kind)
    text = pc.if_else(wrapped(open_ & (second.kind == TEXT)), second.text, first.text)
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
