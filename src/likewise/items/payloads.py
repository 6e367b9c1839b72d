"""Values of rows as arrays, however they were stored: checked, joined, and laid down as the payloads of records.PAYLOADS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items import binary
from likewise.items.sets import is_matrix
from likewise.items.sparse import summed
from likewise.items.weighted import BEYOND, LEAST, MOST
from likewise.items.words import Hasher
from likewise.messages import counted
from likewise.records import NO_TEXT, REJECTED, TEXT, Rejected, Want

#: An element of a weighted set, and an entry of a sparse vector.
WEIGHTED = np.dtype([("word", "<u8"), ("weight", "<f8")])
ENTRY = np.dtype([("index", "<u8"), ("value", "<f8")])
#: What a hexadecimal digit counts, by its byte.
NO_DIGIT = 255
DIGITS = np.full(256, NO_DIGIT, np.uint8)
DIGITS[list(b"0123456789abcdef")] = DIGITS[list(b"0123456789ABCDEF")] = range(16)
#: Why a list of numbers is no set of features.
FLAT = "a list of numbers is one feature; a set of features is a list of such lists, [[...], ...]; single vectors compare by cosine"
#: The kinds in which one missing part leaves no value; of a set the other parts are left.
WHOLE = ("vector", "code")


class Fault(NamedTuple):
    """Why the value of a row has no meaning; and which of how many items in it is to blame, from 0."""

    what: str
    item: int = -1
    of: int = 0


@dataclass
class Rows:
    """A list of items for each row, end to end: row i has values[offsets[i] : offsets[i + 1]], or no value where ``gone``."""

    gone: NDArray[np.bool_]  # [n]
    offsets: NDArray[np.int64]  # [n + 1]; may begin above 0
    values: NDArray[Any]
    width: NDArray[np.int64] | None = None  # [n], as Records has it
    faults: dict[int, Fault] = field(default_factory=dict)
    nulls: NDArray[np.int64] | None = None  # [n], missing elements that were left out of each row
    matrix: int = 0  # the length of each row where all are flags, as in a matrix of 0 and 1 (items.sets.is_matrix)
    other: str = ""  # description (`unusable.held`) of the first value of another type than wanted

    def __len__(self) -> int:
        return len(self.gone)

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    def refuse(self, bad: NDArray[np.bool_], why: Callable[[int], str]) -> None:
        """A fault for the first of its items in ``values`` that is ``bad``, in each row that has one."""
        places = np.flatnonzero(bad[self.offsets[0] : self.offsets[-1]]) + self.offsets[0]
        rows, first = np.unique(np.searchsorted(self.offsets, places, side="right") - 1, return_index=True)
        for row, place in zip(rows.tolist(), places[first].tolist(), strict=True):
            if not self.gone[row]:
                self.faults.setdefault(row, Fault(why(place), place - int(self.offsets[row]), int(self.sizes[row])))

    def without(self, rows: NDArray[np.bool_]) -> Rows:
        """The same, but some rows have no items."""
        sizes = np.where(rows, 0, self.sizes)
        if (sizes == self.sizes).all():
            return self
        values = self.values[self.offsets[0] : self.offsets[-1]][np.repeat(~rows, self.sizes)]
        return replace(self, offsets=ends(sizes), values=values)

    def thinned(self, missing: NDArray[np.bool_]) -> Rows:
        """The same without the items of ``values`` that are ``missing``, which are counted. The offsets must begin at 0."""
        if not missing.any():
            return self
        before = ends(missing)
        return replace(self, offsets=self.offsets - before[self.offsets], values=self.values[~missing], nulls=np.diff(before[self.offsets]))


def ends(sizes: Any) -> NDArray[np.int64]:
    """Offsets from sizes."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def nothing(n: int, dtype: Any) -> Rows:
    """Rows without a value."""
    return Rows(np.ones(n, bool), np.zeros(n + 1, np.int64), np.zeros(0, dtype))


def joined(parts: Sequence[Rows], *, whole: bool) -> Rows:
    """The parts of each row one after the other. ``whole``: a row that lacks one part has no value, else only one that lacks all."""
    if len(parts) == 1:
        return parts[0]
    gone = (np.logical_or if whole else np.logical_and).reduce([part.gone for part in parts])
    parts = [part.without(part.gone | gone) for part in parts]
    sizes = np.array([part.sizes for part in parts])
    offsets = ends(sizes.sum(axis=0))
    values = np.empty(int(offsets[-1]), parts[0].values.dtype)
    begin = offsets[:-1].copy()
    for part, size in zip(parts, sizes, strict=True):
        used = part.values[part.offsets[0] : part.offsets[-1]]
        values[np.arange(len(used)) + np.repeat(begin - part.offsets[:-1] + part.offsets[0], size)] = used
        begin += size
    nulls = sum((part.nulls for part in parts if part.nulls is not None), np.zeros(len(gone), np.int64))
    faults = {row: fault for part in reversed(parts) for row, fault in part.faults.items()}
    other = next((part.other for part in parts if part.other), "")
    return Rows(gone, offsets, values, faults=faults, nulls=nulls, other=other)


#: Kind of payload -> the first item as a message names it, the width of an item, and that all items must share it.
WIDTHS: dict[str, tuple[str, Callable[[int], str], str]] = {
    "vector": ("the first vector", lambda width: counted(width, "number"), "all vectors must have the same length"),
    "code": ("the first code", lambda width: counted(width, "bit"), "all codes must have the same length"),
    "sparse": ("the first vector that has one", lambda width: f"dimension {width:,}", "all vectors must have the same dimension"),
    "features": ("the first item", lambda width: f"features of {counted(width, 'number')}", "all features must have the same length"),
}


def fit(rows: Rows, want: Want) -> None:
    """A fault for each row of another width than that of the first item, where that is known."""
    if not want.width or rows.width is None:
        return
    first, told, all_must = WIDTHS[want.kind]
    place = f" ({want.first})" if want.first else ""
    for row in np.flatnonzero(~rows.gone & (rows.width > 0) & (rows.width != want.width)).tolist():
        width = int(rows.width[row])
        rows.faults.setdefault(row, Fault(f"has {told(width)}, but {first}{place} has {told(want.width)}; {all_must}"))


def laid(rows: Rows, want: Want) -> tuple[NDArray[np.uint8], pa.LargeBinaryArray, NDArray[np.int64] | None]:
    """(kind, text, width) for Records; the payload is the values' own memory where all of them are good."""
    fit(rows, want)
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
    """The faults of rows as users read them. ``column``: what a name is the name of. ``place``: where the row, or the item at fault, is."""
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


def vector(rows: Rows) -> Rows:
    """Rows of numbers, all finite."""
    if not np.isfinite(rows.values).all():
        rows.refuse(~np.isfinite(rows.values), lambda at: f"{rows.values[at]} is no coordinate of a vector; give a finite number")
    rows.width = rows.sizes
    return rows


def features(rows: Rows, sizes: NDArray[np.int64], numbers: NDArray[np.float32]) -> Rows:
    """Rows of numbers from rows of features, of which feature i has the next sizes[i]."""
    begins, count, first = ends(sizes), rows.sizes, rows.offsets[:-1]
    own = np.zeros(len(rows), np.int64)
    own[count > 0] = sizes[first[count > 0]]
    row = np.repeat(np.arange(len(rows)), count)
    used = np.arange(int(rows.offsets[0]), int(rows.offsets[-1]))
    found = Rows(rows.gone, begins[rows.offsets], numbers, own, rows.faults)

    def refuse(bad: NDArray[np.int64], why: Callable[[int, int], str]) -> None:
        """A fault for the first of the features ``bad``, as places in ``used``, of each row."""
        rows_at, places = np.unique(row[bad], return_index=True)
        for at, feature in zip(rows_at.tolist(), used[bad[places]].tolist(), strict=True):
            found.faults.setdefault(at, Fault(f"feature {feature - int(first[at]) + 1} of {count[at]} {why(at, feature)}"))

    refuse(np.flatnonzero(sizes[used] == 0), lambda at, feature: "has no numbers; give one at least")
    odd = np.flatnonzero(sizes[used] != own[row])
    refuse(odd, lambda at, feature: f"has {counted(sizes[feature], 'number')} and the first has {own[at]:,}; all must have the same length")
    if not np.isfinite(numbers).all():
        places = np.flatnonzero(~np.isfinite(numbers))
        holders, which = np.unique(np.searchsorted(begins, places, side="right") - 1, return_index=True)
        wrong = dict(zip(holders.tolist(), numbers[places[which]].tolist(), strict=True))
        refuse(
            np.flatnonzero(np.isin(used, holders)), lambda at, feature: f"holds {wrong[feature]}; give finite numbers, within the range of float32"
        )
    return found


def weighted(rows: Rows) -> Rows:
    """Rows of WEIGHTED, all weights finite and not negative, and their total neither too small nor too great to be signed."""
    weights = rows.values["weight"]
    rows.refuse(~((weights >= 0) & (weights < np.inf)), lambda at: f"the weight {weights[at]}; a weight is a finite number of 0 or more")
    used = weights[rows.offsets[0] : rows.offsets[-1]]
    with np.errstate(over="ignore", invalid="ignore"):
        totals = np.bincount(np.repeat(np.arange(len(rows)), rows.sizes), used, len(rows))
    for row in np.flatnonzero(~rows.gone & (totals != 0) & ~((totals >= LEAST) & (totals <= MOST))).tolist():
        rows.faults.setdefault(row, Fault(f"its weights add up to {totals[row]:.3g}; {BEYOND}"))
    return rows


def sparse(indices: Rows, values: Rows, dim: NDArray[np.int64], said: NDArray[np.bool_]) -> Rows:
    """Rows of ENTRY from rows of indices and rows of float64: ascending, repeats added up, without zeros.

    dim: int64[n], where ``said``. Repeats are added from the least value up, so that their order in the file changes nothing.
    """
    gone = indices.gone | values.gone
    faults = {**indices.faults, **values.faults}
    uneven = ~gone & (indices.sizes != values.sizes)
    for at in np.flatnonzero(uneven).tolist():
        faults.setdefault(at, Fault(f"{indices.sizes[at]} indices and {values.sizes[at]} values; a sparse vector has a value for each index"))
    for at in np.flatnonzero(~gone & said & (dim < 0)).tolist():
        faults.setdefault(at, Fault(f"a dimension of {dim[at]}; give 0 or more"))
    bad = gone | uneven
    indices, values = indices.without(bad), values.without(bad)
    index, value = (part.values[part.offsets[0] : part.offsets[-1]] for part in (indices, values))
    found = Rows(gone, ends(indices.sizes), np.zeros(0, ENTRY), np.where(said, dim, 0), faults)
    row = np.repeat(np.arange(len(gone)), indices.sizes)
    word = index.astype(np.uint64)
    below = index < 0 if index.dtype.kind == "i" else np.zeros(len(index), bool)
    out = below | (said[row] & (word >= dim.astype(np.uint64)[row]))
    found.refuse(
        out, lambda at: f"index {index[at]} is out of range: " + (f"the dimension is {dim[row[at]]}" if said[row[at]] else "it counts from 0")
    )
    found.refuse(~np.isfinite(value), lambda at: f"{value[at]} is no coordinate of a vector; give a finite number")
    good = np.ones(len(gone), bool)
    good[list(faults)] = False
    return merged(found, row[good[row]], word[good[row]], value[good[row]])


def merged(found: Rows, row: NDArray[np.int64], index: NDArray[np.uint64], value: NDArray[np.float64]) -> Rows:
    """``found`` with the entries (row, index, value), rows ascending."""
    row, index, value = summed(row, index, value)
    for at in np.flatnonzero(np.isinf(value)).tolist():
        found.faults.setdefault(int(row[at]), Fault(f"the values at index {index[at]} add up beyond the range of float64; scale the vectors"))
    some = value != 0
    found.values = np.empty(int(some.sum()), ENTRY)
    found.values["index"], found.values["value"] = index[some], value[some]
    found.offsets = ends(np.bincount(row[some], minlength=len(found)))
    return found


def positions(rows: Rows, words: Callable[[NDArray[np.uint64]], NDArray[np.uint64]]) -> Rows:
    """The indices of sparse vectors as elements of sets."""
    return replace(rows, values=words(rows.values["index"]), width=None)


def code(rows: Rows) -> Rows:
    """Rows of bytes, padded to whole words."""
    sizes = rows.sizes
    width = 8 * sizes
    words = -(-sizes // 8)
    if (sizes % 8).any():
        offsets = ends(8 * words)
        values = np.zeros(int(offsets[-1]), np.uint8)
        used = rows.values[rows.offsets[0] : rows.offsets[-1]]
        if (sizes == sizes[0]).all():
            values.reshape(len(sizes), -1)[:, : sizes[0]] = used.reshape(len(sizes), -1)
        else:
            values[np.arange(len(used)) + np.repeat(offsets[:-1] - rows.offsets[:-1] + rows.offsets[0], sizes)] = used
        return Rows(rows.gone, offsets, values, width, rows.faults)
    rows.width = width
    return rows


def bits(rows: Rows) -> Rows:
    """Rows of bools, or of 0 and 1, as codes."""
    sizes = rows.sizes
    if rows.values.dtype != bool:
        other = (rows.values != 0) & (rows.values != 1)
        rows.refuse(other, lambda at: f"{rows.values[at]} is no bit; a list of integers is the bits of a code, 0 or 1")
    offsets = ends(-(-sizes // 64) * 64)
    spread = np.zeros(int(offsets[-1]), bool)
    used = rows.values[rows.offsets[0] : rows.offsets[-1]]
    spread[np.arange(len(used)) + np.repeat(offsets[:-1] - rows.offsets[:-1] + rows.offsets[0], sizes)] = used
    return Rows(rows.gone, offsets // 8, np.packbits(spread, bitorder="little"), sizes, rows.faults)


def hexadecimal(texts: pa.LargeBinaryArray) -> Rows:
    """Texts such as ``0xff00`` or ``FF00`` as codes: two digits a byte, the first byte first."""
    if pc.any(pc.starts_with(texts, b"0x")).as_py():
        texts = binary.from_list(text and text.removeprefix(b"0x") for text in texts.to_pylist())
    offsets, data = binary.parts(texts)
    rows = Rows(texts.is_null().to_numpy(zero_copy_only=False), offsets, DIGITS[data])
    rows.refuse(rows.values == NO_DIGIT, lambda at: f"{chr(data[at])!r} is no hexadecimal digit; a string is the bytes of a code in hexadecimal")
    for row in np.flatnonzero(rows.sizes % 2 == 1).tolist():
        rows.faults.setdefault(row, Fault(f"{rows.sizes[row]} hexadecimal digits; two make a byte"))
    dropped = rows.gone.copy()
    dropped[list(rows.faults)] = True
    rows = rows.without(dropped)
    used = rows.values[rows.offsets[0] : rows.offsets[-1]]
    return code(Rows(rows.gone, (rows.offsets - rows.offsets[0]) // 2, used[::2] << 4 | used[1::2], faults=rows.faults))


#: What is checked of rows once their parts are joined. Sparse vectors, codes and sets are checked as they are read.
CHECKS: dict[str, Callable[[Rows], Rows]] = {"vector": vector, "weighted": weighted}


def compared(parts: Sequence[Rows], kind: str) -> Rows:
    """What is compared, from its parts."""
    if kind == "features" and len(parts) > 1:
        raise UsageError("--field: a set of features is one field; name it alone, without +")
    rows = CHECKS.get(kind, lambda rows: rows)(joined(parts, whole=kind in WHOLE))
    if rows.width is None and kind in ("sparse", "code", "features"):
        rows.width = np.zeros(len(rows), np.int64)
    return rows


def checked(rows: Rows, want: Want) -> Rows:
    """The same rows; of sets with the mark of a matrix, if all that have a value look like one."""
    if want.kind != "elements":
        return rows
    there = ~rows.gone
    there[list(rows.faults)] = False
    good = rows.without(~there)
    offsets = ends(good.sizes[there]) + good.offsets[0]
    if is_matrix(good.values, offsets, Hasher(want.seed).integers(np.arange(2))):
        rows.matrix = int(good.sizes[there][0])
    return rows


def item(want: Want) -> Any:
    """The dtype of an item of a payload; of codes a byte."""
    number = np.float64 if want.wide else np.float32
    kinds = {"tokens": np.int64, "elements": np.uint64, "weighted": WEIGHTED, "vector": number, "sparse": ENTRY, "features": np.float32}
    return {**kinds, "code": np.uint8}[want.kind]
