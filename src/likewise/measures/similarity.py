"""Compute a measure for a caller's values: decide if each side is one item or a batch, and read both as batches of a kind of item."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from likewise.errors import DataError, UsageError
from likewise.items import sets
from likewise.items.ignored import Ignored
from likewise.measures import CONTAINMENT, measure
from likewise.methods import Measure, Text

Convert = Callable[[Any], Any]  # from a caller's batch to one that a measure takes


def function_of(method: Text | Measure) -> Callable[[Any, Any], Any]:
    """The function that compares two batches once they have been read."""
    function = measure(method.facts.name + CONTAINMENT * method.containment)
    return partial(function, order=method.order) if isinstance(method, Measure) and method.facts.order else function


def batch_of(method: Measure, given: Any) -> Any:
    """A caller's batch, read for comparisons within it. Raises UsageError for a single item, and with the row for an invalid one."""
    kind = method.kind
    if kind.alone(given):
        raise UsageError(f"got a single {kind.noun} where a batch is expected; give a list of them")
    return kind.converter(given, None, method)(given)


def of_groups(batch: Any, groups: Callable[[Any], Any]) -> Any:
    """Sets of the groups of elements; different sets with equal groups become equal."""
    values, offsets = sets.sets(batch)
    return sets.distinct(groups(values), offsets)


def of_rest(batch: Any, method: Text, ignored: Ignored) -> Any:
    """Texts as sets of shingles without ignored ones."""
    shingled = method.kind.shingled(batch, method, 0, ignored)
    return shingled.values, shingled.offsets


def values_of(method: Text | Measure, a: Any, b: Any, groups: Callable[[Any], Any] | None = None, ignored: Ignored | None = None) -> Any:
    """The measure of two items, a float or int, or of two batches item by item, an array.

    groups: maps the words of elements to those of their groups. ignored: shingles or elements that are left out. Raises UsageError, naming
    the side and the row.
    """
    kind = method.kind

    def converter(a: Any, b: Any) -> Convert:
        if isinstance(method, Text) and ignored is not None:
            return partial(of_rest, method=method, ignored=ignored)
        convert = partial(of_groups, groups=groups) if groups is not None else sets.sets if ignored is not None else kind.converter(a, b, method)
        return convert if ignored is None else lambda batch: ignored.without(*convert(batch))

    alone = [kind.alone(a), kind.alone(b)]
    one, many = True in alone, False in alone or alone == [None, None]
    if one and many:
        read(converter(a, b), *((a, "left") if alone[1] else (b, "right")))  # it may be neither an item nor a batch
        which = ("left", "right") if alone[0] else ("right", "left")
        raise UsageError(f"one {kind.noun} on the {which[0]} and a batch on the {which[1]}; repeat the single one: [{kind.noun}] * n")
    left, right = ([a], [b]) if one else (a, b)
    convert = converter(left, right)
    values = function_of(method)(read(convert, left, "left"), read(convert, right, "right"))
    return values[0].item() if one else values


def read(convert: Convert, batch: Any, name: str) -> Any:
    """The converted batch. Errors name its side."""
    try:
        return convert(batch)
    except (UsageError, DataError) as error:
        raise type(error)(f"on the {name}, {error.marked}") from None
