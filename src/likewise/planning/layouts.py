"""A plan for each of several layouts, from what was typed: the preset is looked up, and what was typed in vain is told of the plan."""

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
    normalize: str | None = None,
    sampled: Callable[[Text | Measure], dict[str, Any]] = lambda method: {},
) -> list[Plan]:
    """typed: choices of `choose`, ``by`` and ``preset``. layouts: of each ``bands`` and ``rows``, or nothing where they are to be planned.

    sampled: what is known of the items that are compared by a method, as `choose` takes it; asked once. Raises UsageError.
    """
    choices = [with_preset(typed | layout) for layout in layouts]
    method = methods.parse(choices[0].get("by", "words:5"), normalize)
    known = sampled(method)
    made = [choose(**known | {name: value for name, value in chosen.items() if name != "by"}, method=method) for chosen in choices]
    return [named(plan, typed | layout) for plan, layout in zip(made, layouts, strict=True)]
