"""Plans for several layouts from the options given: presets are looked up, and options that a fixed layout ignores are recorded in the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from likewise import methods
from likewise.errors import UsageError
from likewise.messages import option
from likewise.methods import Measure, Text
from likewise.planning.choose import choose
from likewise.planning.plan import Plan
from likewise.planning.presets import named, with_preset

#: Maximum number of layouts in one chart, and of digits in one number.
MOST_LAYOUTS, LONGEST = 6, 9


def parse_layouts(given: str | Sequence[tuple[int, int]] | None, others: Mapping[str, Any]) -> list[dict[str, int]]:
    """Bands and rows of each layout; without any, one layout that the plan chooses. others: the other options that were given.

    >>> parse_layouts("2x25, 5x10", {}), parse_layouts([(2, 25)], {})
    ([{'bands': 2, 'rows': 25}, {'bands': 5, 'rows': 10}], [{'bands': 2, 'rows': 25}])
    """
    if given is None:
        return [{}]
    if both := [name for name in ("bands", "rows") if name in others]:
        raise UsageError(f"{option('layouts')} and {option(both[0])} exclude each other; give one of them")
    try:
        layouts = [layout.strip().lower().split("x") for layout in given.split(",")] if isinstance(given, str) else list(given)
        pairs = [(int(bands), int(rows)) for bands, rows in layouts if is_count(bands) and is_count(rows)]
    except (TypeError, ValueError):  # no layouts, or none of two numbers
        layouts, pairs = [], []
    if not 1 <= len(layouts) == len(pairs) <= MOST_LAYOUTS:
        raise UsageError(f"{option('layouts', given)}: give up to {MOST_LAYOUTS} layouts as BANDSxROWS, such as 2x25,5x10,10x5")
    return [{"bands": bands, "rows": rows} for bands, rows in pairs]


def is_count(given: Any) -> bool:
    return str(given).isdecimal() and len(str(given)) <= LONGEST


def planned(
    typed: dict[str, Any],
    layouts: Sequence[dict[str, int]],
    normalize: str | Sequence[str] | None = None,
    sampled: Callable[[Text | Measure], dict[str, Any]] = lambda method: {},
) -> list[Plan]:
    """Return a plan per layout. Raises UsageError.

    typed: options of `choose`, and ``by`` and ``preset``. layouts: for each, ``bands`` and ``rows``, or {} to have them planned.
    sampled: returns the facts of a sample for a method, as parameters of `choose`; called once.
    """
    choices = [with_preset(typed | layout) for layout in layouts]
    method = methods.parse(choices[0].get("by", "words:5"), normalize)
    known = sampled(method)
    made = [choose(**known | {name: value for name, value in chosen.items() if name != "by"}, method=method) for chosen in choices]
    return [named(plan, typed | layout) for plan, layout in zip(made, layouts, strict=True)]
