"""Values of rows as arrays, however they were stored: checked, joined, and written as payloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from likewise.items import binary
from likewise.kinds import of_payload
from likewise.messages import option
from likewise.records import NO_TEXT, REJECTED, TEXT, Rejected, Want

#: An element of a weighted set, and an entry of a sparse vector.
WEIGHTED = np.dtype([("word", "<u8"), ("weight", "<f8")])
ENTRY = np.dtype([("index", "<u8"), ("value", "<f8")])


#: The total weight of a set with a signature must be between these, well within the cells that darts are drawn in (families.weighted).
LEAST, MOST = 1e-30, 1e30
BEYOND = f"signatures need a total from {LEAST} to {MOST:g}; multiply the weights of all sets by one number"


class Fault(NamedTuple):
    """The reason why the value of a row is invalid; and which of how many items in it is at fault, from 0."""

    what: str
    item: int = -1
    of: int = 0


@dataclass
class Rows:
    """A list of items for each row, end to end: row i has values[offsets[i] : offsets[i + 1]], or no value if ``gone``."""

    gone: NDArray[np.bool_]  # [n]
    offsets: NDArray[np.int64]  # [n + 1]; may begin above 0
    values: NDArray[Any]
    width: NDArray[np.int64] | None = None  # [n], as in Records
    faults: dict[int, Fault] = field(default_factory=dict)
    nulls: NDArray[np.int64] | None = None  # [n], missing elements that were left out of each row
    matrix: int = 0  # the length of all rows if they look like a matrix of 0 and 1 (items.sets.is_matrix)
    other: str = ""  # description (`unusable.held`) of the first value of another type than wanted

    def __len__(self) -> int:
        return len(self.gone)

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    @property
    def used(self) -> NDArray[Any]:
        """The values that belong to rows."""
        return self.values[self.offsets[0] : self.offsets[-1]]

    @property
    def begins(self) -> NDArray[np.int64]:
        """The beginning of each row in ``used``, and the end of the last: int64[n + 1]."""
        return self.offsets - self.offsets[0]

    def refuse(self, bad: NDArray[np.bool_], why: Callable[[int], str]) -> None:
        """Add a fault to each row with a ``bad`` item, bool by place in ``values``, for the first of them."""
        places = np.flatnonzero(bad[self.offsets[0] : self.offsets[-1]]) + self.offsets[0]
        rows, first = np.unique(np.searchsorted(self.offsets, places, side="right") - 1, return_index=True)
        for row, place in zip(rows.tolist(), places[first].tolist(), strict=True):
            if not self.gone[row]:
                self.faults.setdefault(row, Fault(why(place), place - int(self.offsets[row]), int(self.sizes[row])))

    def without(self, rows: NDArray[np.bool_]) -> Rows:
        """These rows, without the items of the selected ones."""
        sizes = np.where(rows, 0, self.sizes)
        if (sizes == self.sizes).all():
            return self
        values = self.used[np.repeat(~rows, self.sizes)]
        return replace(self, offsets=ends(sizes), values=values)

    def thinned(self, missing: NDArray[np.bool_]) -> Rows:
        """These rows without the ``missing`` items of ``values``, which are counted in ``nulls``. The offsets must begin at 0."""
        if not missing.any():
            return self
        before = ends(missing)
        return replace(self, offsets=self.offsets - before[self.offsets], values=self.values[~missing], nulls=np.diff(before[self.offsets]))


def ends(sizes: Any) -> NDArray[np.int64]:
    """Offsets from sizes: int64[n + 1]."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def nothing(n: int, dtype: Any) -> Rows:
    """n rows without a value."""
    return Rows(np.ones(n, bool), np.zeros(n + 1, np.int64), np.zeros(0, dtype))


def joined(parts: Sequence[Rows], *, whole: bool) -> Rows:
    """The parts of each row, concatenated. whole: a row has no value if any part is missing, else only if all are."""
    if len(parts) == 1:
        return parts[0]
    gone = (np.logical_or if whole else np.logical_and).reduce([part.gone for part in parts])
    parts = [part.without(part.gone | gone) for part in parts]
    sizes = np.array([part.sizes for part in parts])
    offsets = ends(sizes.sum(axis=0))
    values = np.empty(int(offsets[-1]), parts[0].values.dtype)
    begin = offsets[:-1].copy()
    for part, size in zip(parts, sizes, strict=True):
        used = part.used
        values[np.arange(len(used)) + np.repeat(begin - part.offsets[:-1] + part.offsets[0], size)] = used
        begin += size
    nulls = sum((part.nulls for part in parts if part.nulls is not None), np.zeros(len(gone), np.int64))
    faults = {row: fault for part in reversed(parts) for row, fault in part.faults.items()}
    other = next((part.other for part in parts if part.other), "")
    return Rows(gone, offsets, values, faults=faults, nulls=nulls, other=other)


def fit(rows: Rows, want: Want) -> None:
    """Add a fault to each row whose width differs from that of the first item, if that is known."""
    if not want.width or rows.width is None:
        return
    kind = of_payload(want.kind)
    first, all_must = kind.widths
    place = f" ({want.first})" if want.first else ""
    for row in np.flatnonzero(~rows.gone & (rows.width > 0) & (rows.width != want.width)).tolist():
        width = int(rows.width[row])
        rows.faults.setdefault(row, Fault(f"has {kind.width_of(width)}, but {first}{place} has {kind.width_of(want.width)}; {all_must}"))


def signable(rows: Rows) -> None:
    """Add a fault to each row of WEIGHTED whose total is too small or too large for a signature."""
    with np.errstate(over="ignore", invalid="ignore"):
        totals = np.bincount(np.repeat(np.arange(len(rows)), rows.sizes), rows.used["weight"], len(rows))
    for row in np.flatnonzero(~rows.gone & (totals != 0) & ~((totals >= LEAST) & (totals <= MOST))).tolist():
        rows.faults.setdefault(row, Fault(f"its weights add up to {totals[row]:.3g}; {BEYOND}, or use {option('exact')}"))


def laid(rows: Rows, want: Want) -> tuple[NDArray[np.uint8], pa.LargeBinaryArray, NDArray[np.int64] | None]:
    """(kind, text, width) for Records. The payload is a view of the values unless some are rejected."""
    fit(rows, want)
    of_payload(want.kind).check_rows(rows, want)
    kind = np.where(rows.gone, NO_TEXT, TEXT).astype(np.uint8)
    kind[list(rows.faults)] = REJECTED
    good = rows.without(kind != TEXT)
    values = np.ascontiguousarray(good.values)
    width = rows.width if rows.width is None else np.where(kind == TEXT, rows.width, 0)
    return kind, binary.build(good.offsets * values.itemsize, values.view(np.uint8) if len(values) else b""), width


def refused(
    rows: Rows,
    names: Sequence[str],
    column: str,
    ids: pa.LargeBinaryArray | None,
    place: Callable[[int, Fault], str],
    raw: Callable[[int], bytes],
) -> list[Rejected]:
    """The rejected rows, with messages.

    column: the noun for a name. place: describes the location of a row or an item at fault. raw: the bytes of a row.
    """
    found = []
    for row, fault in sorted(rows.faults.items()):
        if fault.item >= 0 and len(names) == fault.of:
            where = f"{column} {names[fault.item]!r}"
        else:
            where = f"{column} {'+'.join(names)!r}" + (f", item {fault.item + 1} of {fault.of}" if fault.item >= 0 else "")
        called = ids[row].as_py() if ids is not None else None
        name = f", id {called.decode('utf-8', 'replace')}" if called else ""
        found.append(Rejected(row, f"{place(row, fault)}{name}, {where}: {fault.what}", raw(row)))
    return found


def item(want: Want) -> Any:
    """The dtype of an item of a payload; for codes a byte."""
    return of_payload(want.kind).item_type(want)
