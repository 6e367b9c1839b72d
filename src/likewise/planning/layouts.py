"""Plans for several layouts from the options given: presets are looked up, and options that a fixed layout ignores are recorded in the plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from likewise import methods
from likewise.methods import Measure, Text
from likewise.planning.choose import choose
from likewise.planning.plan import Plan
from likewise.planning.presets import named, with_preset


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
