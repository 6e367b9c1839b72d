"""Layouts published by other projects, in their true unit. Their recall is computed like that of any other layout, not taken from their authors.

Sources: the projects' code and documents of 2023 to 2026. Only what determines the curve is reproduced, not text cleaning and hash functions.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from likewise.errors import UsageError
from likewise.messages import option
from likewise.planning.recipes import RECIPES

if TYPE_CHECKING:
    from likewise.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Preset:
    """A recipe: the shingle, the layout, and the similarity stated by its authors."""

    by: str
    bands: int
    rows: int
    threshold: str
    says: str  # statement of its authors, where it differs from what the layout does


PRESETS = {
    "fineweb": Preset("words:5", 14, 8, "0.75", "about 0.72 to 0.75; run on each crawl separately, nothing verified"),
    "refinedweb": Preset("words:5", 450, 20, "0.8", "9,000 hashes; printed as 20 buckets of 450, which would find nothing below 0.99"),
    "slimpajama": Preset("chars:13", 9, 13, "0.8", "13-grams, which are characters in its code, not words"),
    "redpajama-v2": Preset("words:13", 9, 13, "0.8", "128 hashes, the layout tuned for minimum error"),
    "the-stack": Preset("words:5", 25, 10, "0.7", "tokens of letters and digits; nothing verified"),
    "nemo-curator": Preset("chars:24", 20, 13, "0.8", "about 0.8; 24 characters are four to five words"),
    "data-juicer": Preset("whitespace:5", 25, 10, "0.7", "256 hashes, the layout tuned for minimum error"),
    "daft": Preset("whitespace:5", 8, 8, "0.7", "64 hashes, from its tutorial"),
    "gaoya": Preset("words:1", 20, 5, "0.75", "single words; candidates are checked by signature"),
    "datasketch": Preset("words:5", 5, 25, "0.9", "128 hashes, the layout tuned for minimum error; the shingle is the user's"),
    "rensa": Preset("words:5", 8, 16, "0.8", "128 hashes; the shingle is the user's"),
}


def named(plan: Plan, typed: dict[str, Any]) -> Plan:
    """Return the plan with the preset whose layout it has, and the options that the fixed layout ignores."""
    if plan.chosen_by != "hand":
        return plan
    typed = {name: value for name, value in typed.items() if value is not None}
    own = "preset" in typed and not {"bands", "rows"} & set(typed)
    ignored = [(name, typed[name]) for name in ("recall", "tune") if name in typed and typed[name] != "recall"]
    return replace(plan, chosen_by=f"preset {typed['preset']}" if own else "hand", ignored=tuple(ignored))


def with_preset(choices: dict[str, Any]) -> dict[str, Any]:
    """Return the options completed by those of the named preset; explicit options override it.

    Raises UsageError for an unknown name, and for fewer slots than its layout takes.
    """
    choices = {name: value for name, value in choices.items() if value is not None}
    name = choices.pop("preset", None)
    if name is None:
        return choices
    if name in RECIPES:
        needs = f"{option('level', 'passage')} and {option('against', placeholder='INPUT')}"
        raise UsageError(f"{option('preset', name)}: this preset removes test data from training data; it needs {needs}")
    if not isinstance(name, str) or name not in PRESETS:
        near = difflib.get_close_matches(str(name), PRESETS, 1)
        raise UsageError(f"{option('preset', name)}: {f'did you mean {near[0]}? ' if near else ''}choose one of {', '.join(PRESETS)}")
    preset = PRESETS[name]
    under: dict[str, Any] = {"by": preset.by, "bands": preset.bands, "rows": preset.rows, "threshold": preset.threshold}
    if "within" in choices:
        del under["threshold"]
    chosen = under | choices
    bands, rows, slots = chosen["bands"], chosen["rows"], choices.get("slots")
    own = not {"bands", "rows"} <= set(choices)
    if own and all(isinstance(number, int) for number in (bands, rows, slots)) and bands * rows > slots:
        layout = f"{bands} bands of {rows} rows take {bands * rows:,} slots, more than {option('slots', slots)}"
        raise UsageError(f"{option('preset', name)}: its {layout}; leave out {option('slots')}, or give {option('bands')} and {option('rows')}")
    return chosen
