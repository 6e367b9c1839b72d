"""Similarities of sets, as fractions."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from likewise.errors import UsageError


def ratio(part: int | Fraction, whole: int | Fraction) -> Fraction:
    """part / whole. Raises UsageError if there is nothing to compare."""
    if not whole:
        raise UsageError("the similarity of empty sets is undefined; give at least one element")
    return Fraction(part) / Fraction(whole)


def in_order(elements: Iterable[Hashable]) -> list[Hashable]:
    """Distinct elements in ascending order, those of different types by type.

    >>> in_order([3, "b", 1, "a", 3])
    [1, 3, 'a', 'b']
    """
    distinct = set(elements)
    try:
        return sorted(distinct)  # type: ignore[type-var]
    except TypeError:
        types = sorted({type(element).__name__ for element in distinct})
        return [element for name in types for element in in_order(e for e in distinct if type(e).__name__ == name)]


def jaccard(a: Collection[Hashable], b: Collection[Hashable]) -> Fraction:
    """The number of shared elements divided by the number of elements in either set. Raises UsageError for two empty sets.

    >>> jaccard({0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9})
    Fraction(3, 8)
    """
    one, other = set(a), set(b)
    return ratio(len(one & other), len(one | other))


def clustered_jaccard(a: Collection[Hashable], b: Collection[Hashable], groups: Mapping[str, Collection[Hashable]]) -> Fraction:
    """The Jaccard similarity of the sets of groups that the elements belong to. groups: name -> its elements.

    Raises UsageError for an element without a group, and for one in two groups.

    >>> groups = {"C1": {0, 1, 2}, "C2": {3, 4}, "C3": {5, 6}, "C4": {7, 8, 9}}
    >>> clustered_jaccard({0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9}, groups)
    Fraction(1, 2)
    """
    group: dict[Hashable, str] = {}
    for name, elements in groups.items():
        for element in elements:
            if group.setdefault(element, name) != name:
                raise UsageError(f"element {element!r} belongs to {group[element]} and to {name}; give each element one group")
    if missing := [element for element in (*a, *b) if element not in group]:
        raise UsageError(f"element {missing[0]!r} belongs to no group; give a mapping from each name to its elements")
    return jaccard({group[element] for element in a}, {group[element] for element in b})


def containment(a: Collection[Hashable], b: Collection[Hashable]) -> Fraction:
    """The share of the elements of ``a`` that ``b`` contains. Raises UsageError if ``a`` is empty.

    >>> containment({1, 2, 3, 4}, {2, 3, 4, 5, 6})
    Fraction(3, 4)
    """
    return ratio(len(set(a) & set(b)), len(set(a)))


def weighted_jaccard(a: Mapping[Any, float] | Sequence[float], b: Mapping[Any, float] | Sequence[float]) -> Fraction:
    """The sum of the smaller weights divided by the sum of the larger ones: of bags, if the weights are counts. A list has a weight per element.

    Raises UsageError for negative weights, and if all weights are 0.

    >>> weighted_jaccard({"ab": 2, "bc": 1, "ca": 1}, {"ab": 1, "bc": 1, "ca": 1})
    Fraction(3, 4)
    """
    one, other = (dict(given) if isinstance(given, Mapping) else dict(enumerate(given)) for given in (a, b))
    each = [(Fraction(one.get(element, 0)), Fraction(other.get(element, 0))) for element in {*one, *other}]
    if negative := [weight for pair in each for weight in pair if weight < 0]:
        raise UsageError(f"weight {negative[0]}: give weights of 0 or more")
    return ratio(sum(map(min, each), Fraction()), sum(map(max, each), Fraction()))
