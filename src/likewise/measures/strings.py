"""The measures of strings: values of pairs, exact limits, and bounds from lengths and signs (items.strings)."""

from __future__ import annotations

from likewise.measures.edit import EDITS, Edits
from likewise.measures.jaro_winkler import JaroWinkler

StringMeasure = Edits | JaroWinkler

#: The measures by name.
MEASURES: dict[str, StringMeasure] = {**EDITS, "jaro-winkler": JaroWinkler()}
