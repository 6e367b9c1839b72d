"""From what a caller gives to a measure's values: what kind of items they are, and whether each side is one item or a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from likewise.errors import DataError, UsageError
from likewise.items import codes, features, sets, sparse, strings, vectors, weighted
from likewise.items.arrow import unpacked
from likewise.items.elements import Numbering
from likewise.items.weighted import Weighted, merged
from likewise.measures import measure
from likewise.methods import Measure

Convert = Callable[[Any], Any]  # from a batch as given to one that a measure takes


def is_bits(batch: Any) -> bool:
    """Whether sets come as bits, one for each possible element: a 2-D array of bool, or a list of 1-D ones."""
    if isinstance(batch, np.ndarray):
        return batch.dtype == bool
    return isinstance(batch, list) and len(batch) > 0 and all(isinstance(row, np.ndarray) and row.dtype == bool for row in batch)


def of_codes(a: Any, b: Any) -> Convert:
    """Raises UsageError where both batches are lists of 0 and 1 alone, which could be as many codes or the bits of one."""
    if codes.ambiguous(a) and codes.ambiguous(b):
        raise UsageError(
            f"a list of {len(a)} whole numbers, all 0 or 1, may be the bits of one code or {len(a)} codes of 64 bits; "
            "give bits as bool, [bit == 1 for bit in bits], and codes as np.array(codes, np.uint64)"
        )
    return codes_or_strings


def codes_or_strings(batch: Any) -> Any:
    """Codes, or a list of strings as they are."""
    batch = unpacked(batch)
    first = batch[0] if isinstance(batch, Sequence) and len(batch) else batch.flat[0] if isinstance(batch, np.ndarray) and batch.size else None
    text = isinstance(first, str) and not isinstance(batch, str)
    return strings.strings(batch) if text else codes.codes(batch)


def vectors_or_sparse(batch: Any) -> Any:
    return sparse.sparse(batch) if sparse.is_sparse(batch) else vectors.vectors(batch)


@dataclass(frozen=True)
class Kind:
    """A kind of items, as a caller may give them."""

    name: str  # of one
    alone: Callable[[Any], bool | None]  # whether this is one item and not a batch; None where it may be either
    reader: Callable[[Any, Any], Convert]  # of two batches; one for both, because elements must be numbered together


KINDS = {
    "sets": Kind("set", sets.alone, lambda a, b: codes.codes if is_bits(a) and is_bits(b) else sets.reader(a, b)),
    "weighted sets": Kind("weighted set", weighted.alone, lambda a, b: weighted.weighted),
    "vectors": Kind("vector", lambda given: sparse.alone(given) or vectors.alone(given), lambda a, b: vectors_or_sparse),
    "codes": Kind("code", lambda given: codes.alone(given) or strings.alone(given), of_codes),
    "feature sets": Kind("set of features", features.alone, lambda a, b: features.features),
    "strings": Kind("string", strings.alone, lambda a, b: strings.strings),
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
    if method.name == "weighted" and not weighted.alike(given, given):
        return weighted.weighted(given, Numbering())
    return sets.reader(given, given)(given) if kind.name == "set" else kind.reader(given, given)(given)


def values_of(method: Measure, a: Any, b: Any, groups: Mapping[Any, Any] | None = None) -> Any:
    """The measure of two items, or of two batches item by item. Raises UsageError, naming the side and the row."""
    kind = kind_of(method)
    if groups is not None:
        if method.name != "elements" or not isinstance(groups, Mapping):
            raise UsageError("groups= is a mapping from element to group, and goes with by='elements'")
        return of_groups(kind, function_of(method), a, b, groups)
    if method.name == "weighted" and not weighted.alike(a, b):
        return of_weights(kind, function_of(method), a, b)
    return compared(kind, function_of(method), a, b)


def of_groups(kind: Kind, function: Callable[[Any, Any], Any], a: Any, b: Any, groups: Mapping[Any, Any]) -> Any:
    """A measure of the sets of groups. Elements have their numbers once both sides are read, and then so have those in ``groups``."""
    from likewise.measures.clustered import clustered

    number = Numbering()
    convert = partial(sets.numbered, number=number)
    return compared(replace(kind, reader=lambda a, b: convert), lambda left, right: function(*clustered(left, right, *number.table(groups))), a, b)


def of_weights(kind: Kind, function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """A measure of weighted sets with elements of any kind. Its sums run in the elements' own order, so that they depend on the two sets alone."""
    number = Numbering()
    convert = partial(weighted.weighted, number=number)

    def ordered(left: Weighted, right: Weighted) -> Any:
        ranks = number.ranks()
        return function(*(merged(ranks[values], weights, offsets) for values, weights, offsets in (left, right)))

    return compared(replace(kind, reader=lambda a, b: convert), ordered, a, b)


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
