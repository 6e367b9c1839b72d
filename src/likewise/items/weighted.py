"""Weighted sets as arrays: elements end to end, their weights in parallel, and where each set begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.arrow import PAIR, filled, listed, numbers_of, unpacked
from likewise.items.elements import element, hasher, is_element, without_wrong, words_of
from likewise.items.given import SINGLE, refuse_masked
from likewise.items.json_values import Texts, Thinned, as_float, decoded, lists_of, nulls_of, rows_of, thinned
from likewise.items.payloads import WEIGHTED, Rows, ends
from likewise.items.python_values import UNFIT, as_json, as_pairs, of_lists
from likewise.items.reader import Reader, read
from likewise.items.sets import read_only
from likewise.records import Want

#: values uint64[m], ascending and distinct within a set; weights float64[m], above 0; offsets int64[n + 1].
Weighted = tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.int64]]


def weighted(batch: Any, seed: int = 0, *, own: bool = True) -> Weighted:
    """A batch of weighted sets as (values, weights, offsets). Weights of repeated elements add up; weights of 0 are left out.

    batch: a list of mappings from element to weight, or of lists of (element, weight), or three arrays (values, weights, offsets).
    Elements become words as in `items.sets.ragged`. Raises UsageError with the set's row for a weight that is negative, NaN or infinite.
    """
    rows = read(batch, READER, Want(kind=READER.kind, seed=seed, own=own))
    pairs = rows.used
    return merged(pairs["word"], pairs["weight"], rows.begins)


def from_python(rows: list[Any]) -> pa.Array:
    """A column of lists of (element, weight), or of JSON texts."""
    pairs = [list(map(list, row.items())) if isinstance(row, Mapping) else unpacked(row) for row in rows]
    for row, one in enumerate(pairs):
        refuse_masked(one, f"row {row} is an array")
    listed = [[] if row is None else row for row in pairs]
    if any(isinstance(row, SINGLE) or not isinstance(row, Sequence | AbstractSet | np.ndarray) for row in listed):
        return as_json(pairs)
    try:
        elements, weights = (pa.array([pair[side] for row in listed for pair in row]) for side in (0, 1))
        good = all(len(pair) == 2 for row in listed for pair in row) and is_element(elements.type) and not elements.null_count
    except (TypeError, IndexError, KeyError, *UNFIT):
        return as_json(pairs)
    if not good or not (pa.types.is_floating(weights.type) or pa.types.is_integer(weights.type) or pa.types.is_null(weights.type)):
        return as_json(pairs)
    return of_lists(ends([len(row) for row in listed]), pa.StructArray.from_arrays([elements, weights], PAIR), [row is None for row in pairs])


def from_arrow(values: pa.Array, want: Want) -> Rows | None:
    """Weighted sets from maps, or from lists of structs with the fields element and weight, or with any two fields; None for other types."""
    if (lists := listed(values)) is None or not pa.types.is_struct(lists[1].type):
        return None
    found, flat = lists
    fields = flat.type.names
    if not set(PAIR) <= set(fields) and len(fields) != 2:
        return None
    element, weight = (pc.struct_field(flat, [fields.index(name) if set(PAIR) <= set(fields) else place]) for place, name in enumerate(PAIR))
    elements, weights = words_of(element, hasher(want)), numbers_of(weight, np.float64)
    if elements is None or weights is None:
        return None
    pairs = np.empty(len(weights), WEIGHTED)
    pairs["word"], pairs["weight"] = elements.words, weights
    return without_wrong(filled(found, pairs, weight), elements.wrong).thinned(elements.missing)


class Pair(msgspec.Struct):
    element: int | str
    weight: float


def from_json(texts: Texts, want: Want) -> Rows:
    """Weighted sets from objects, or from lists of pairs or of objects with element and weight."""

    def other(value: Any) -> Any:
        if isinstance(value, dict):
            pairs = list(value.items())
        elif isinstance(value, list):
            pairs = [(one["element"], one.get("weight")) if isinstance(one, dict) and "element" in one else one for one in value]
        else:
            return None
        if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
            return None
        found = thinned(pairs, lambda pair: pair[0])
        found[:] = [(element(one), as_float(weight)) for one, weight in found]
        return None if any(None in pair for pair in found) else found

    def plain(value: Any) -> Any:
        if isinstance(value, Thinned):
            return value
        if isinstance(value, dict):
            return list(value.items())
        return [(one.element, one.weight) if isinstance(one, Pair) else one for one in value] if isinstance(value, list) else value

    def laid(pairs: list[Any]) -> Any:
        array = np.empty(len(pairs), WEIGHTED)
        array["word"] = hasher(want).listed([one for one, _ in pairs])
        array["weight"] = [weight for _, weight in pairs]
        return array

    values = [plain(value) for value in decoded(texts, dict[str, float] | list[tuple[int | str, float] | Pair], other)]
    return replace(rows_of(values, lists_of(values), laid), nulls=nulls_of(values))


def checked(rows: Rows, want: Want) -> Rows:
    """Return rows of WEIGHTED. Weights that are negative or not finite are faults."""
    weights = rows.values["weight"]
    rows.refuse(~((weights >= 0) & (weights < np.inf)), lambda at: f"the weight {weights[at]}; a weight is a finite number of 0 or more")
    return rows


def merged(values: NDArray[np.uint64], weights: NDArray[np.float64], offsets: NDArray[np.int64]) -> Weighted:
    """The sets with elements ascending and distinct. Raises UsageError if weights add up beyond float64.

    Repeats are added in ascending order of weights, so that their order in the input does not change the rounded sum.
    """
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if ((row[1:] != row[:-1]) | (values[1:] > values[:-1])).all() and (weights > 0).all():
        return read_only(values), read_only(weights), read_only(offsets)  # nothing to do
    order = np.lexsort((weights, values, row))
    order = order[weights[order] > 0]
    row, values, weights = row[order], values[order], weights[order]
    first = np.flatnonzero(np.r_[True, (row[1:] != row[:-1]) | (values[1:] != values[:-1])][: len(row)])
    with np.errstate(over="ignore"):
        weights = np.add.reduceat(weights, first) if len(first) else weights
    row, values = row[first], values[first]
    if not np.isfinite(weights).all():
        at = int(np.isinf(weights).argmax())
        raise UsageError(f"row {row[at]}: the weights of one element add up beyond the range of float64; scale the weights")
    ends = np.searchsorted(row, np.arange(len(offsets)))
    return read_only(values), read_only(weights), read_only(ends.astype(np.int64))


def alone(given: Any) -> bool | None:
    """True for a single weighted set, a mapping or a list of pairs; None for an empty list, which could also be a batch."""
    if isinstance(given, Mapping):
        return True
    if not isinstance(given, Sequence) or isinstance(given, SINGLE):
        return False
    if len(given) == 0:
        return None
    for one in given:  # the first item of a pair is an element, that of a set in a batch is a pair
        if isinstance(one, Mapping):
            return False
        if isinstance(one, Sequence) and len(one):
            return not isinstance(one[0], Sequence) or isinstance(one[0], SINGLE)
    return False


#: A payload is pairs of a uint64 word and a float64 weight, finite and >= 0, in any order, with repeats and weights of 0.
READER = Reader(
    "weighted",
    "weighted set",
    "weighted sets: a list of mappings element -> weight, or of lists of pairs (element, weight), or three arrays (values, weights, offsets)",
    from_python,
    from_arrow,
    from_json,
    single=(Mapping,),
    arrays=3,
    from_csr=as_pairs,
    checked=checked,
)
