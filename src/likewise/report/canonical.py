"""Values of options in a form in which equal ones are equal, to compare those of two runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from likewise import methods
from likewise.options import given_inputs, parse_share
from likewise.planning.threshold import written

#: Options whose values have several forms; those of others are compared as text.
FORMS: dict[str, Callable[[Any], Any]] = {
    "by": lambda value: str(methods.parse(value)),
    "threshold": written,
    "within": written,
    "recall": written,
    "groups": lambda value: Path(value).read_bytes() if isinstance(value, str | Path) and Path(value).is_file() else value,
    "ignore": given_inputs,
    "ignore_common": parse_share,
}


def canonical(name: str, value: Any, choices: dict[str, Any]) -> Any:
    """The value of an option in a form in which equal ones are equal. choices: the options that it was given with."""
    if name == "normalize":
        return methods.parse(choices.get("by", "words:5"), value).normalize
    return FORMS.get(name, str)(value)
