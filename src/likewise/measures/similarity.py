"""From what a caller gives to a measure's values: what kind of items they are, and whether each side is one item or a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from likewise.errors import DataError, UsageError
from likewise.items import codes, features, sets, sparse, texts, vectors, weighted
from likewise.measures import measure
from likewise.methods import Measure

Convert = Callable[[Any], Any]  # from a batch as given to one that a measure takes


def of_sets(a: Any, b: Any) -> Convert:
    """As bits, one for each possible element, where both are 2-D arrays of as many booleans in a row."""
    bits = all(isinstance(side, np.ndarray) and side.dtype == bool and side.ndim == 2 and side.shape[1] for side in (a, b))
    return codes.codes if bits and a.shape[1] == b.shape[1] and not any(isinstance(side, np.ma.MaskedArray) for side in (a, b)) else sets.sets


def of_codes(a: Any, b: Any) -> Convert:
    """Raises UsageError where both batches are lists of 0 and 1 alone, which could be as many codes or the bits of one."""
    if codes.ambiguous(a) and codes.ambiguous(b):
        raise UsageError(
            f"a list of {len(a)} whole numbers, all 0 or 1, may be the bits of one code or {len(a)} codes of 64 bits; "
            "give bits as bool, [bit == 1 for bit in bits], and codes as np.array(codes, np.uint64)"
        )
    return codes.codes


def vectors_or_sparse(batch: Any) -> Any:
    return sparse.sparse(batch) if sparse.is_sparse(batch) else vectors.vectors(batch)


@dataclass(frozen=True)
class Kind:
    """A kind of items, as a caller may give them."""

    name: str  # of one
    alone: Callable[[Any], bool | None]  # whether this is one item and not a batch; None where it may be either
    reader: Callable[[Any, Any], Convert]  # of two batches


KINDS = {
    "sets": Kind("set", sets.alone, of_sets),
    "weighted sets": Kind("weighted set", weighted.alone, lambda a, b: partial(weighted.weighted, own=False)),
    "vectors": Kind("vector", lambda given: sparse.alone(given) or vectors.alone(given), lambda a, b: vectors_or_sparse),
    "codes": Kind("code", codes.alone, of_codes),
    "feature sets": Kind("set of features", features.alone, lambda a, b: features.features),
    "strings": Kind("string", texts.is_string, lambda a, b: texts.strings),
}


def kind_of(method: Measure) -> Kind:
    return KINDS[method.kind.name]


def function_of(method: Measure) -> Callable[[Any, Any], Any]:
    """What compares two batches, once they are read."""
    function = measure(method.name + "/containment" * method.containment)
    return partial(function, order=method.order) if method.name == "lr" else function


def batch_of(method: Measure, given: Any) -> Any:
    """One batch, read so that it can be compared with itself. Raises UsageError for one item alone, and with the row for what is no item."""
    kind = kind_of(method)
    if kind.alone(given):
        raise UsageError(f"one {kind.name} alone is given where many are wanted: give a list of them")
    return sets.sets(given) if kind.name == "set" else kind.reader(given, None)(given)


def values_of(method: Measure, a: Any, b: Any, groups: Callable[[Any], Any] | None = None) -> Any:
    """The measure of two items, or of two batches item by item. ``groups`` maps the words of elements to those of their groups.

    Raises UsageError, naming the side and the row.
    """
    kind = kind_of(method)
    if groups is not None:
        kind = replace(kind, reader=lambda a, b: partial(of_groups, groups=groups))
    return compared(kind, function_of(method), a, b)


def of_groups(batch: Any, groups: Callable[[Any], Any]) -> Any:
    """Sets of the groups of elements; different sets with the same groups are equal."""
    values, offsets = sets.sets(batch)
    return sets.distinct(groups(values), offsets)


def compared(kind: Kind, function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """``function`` of the two sides read as items of a kind: a float or int for one item each, an array for batches."""
    alone = [kind.alone(a), kind.alone(b)]
    one, many = True in alone, False in alone or alone == [None, None]
    if one and many:
        read(kind.reader(a, b), *((a, "left") if alone[1] else (b, "right")))  # which may be neither
        which = ("left", "right") if alone[0] else ("right", "left")
        raise UsageError(
            f"one {kind.name} on the {which[0]} and a batch on the {which[1]}; give the one as often as there are others: [{kind.name}] * n"
        )
    left, right = ([a], [b]) if one else (a, b)
    convert = kind.reader(left, right)
    values = function(read(convert, left, "left"), read(convert, right, "right"))
    return values[0].item() if one else values


def read(convert: Convert, batch: Any, name: str) -> Any:
    try:
        return convert(batch)
    except (UsageError, DataError) as error:
        raise type(error)(f"on the {name}, {error}") from None
