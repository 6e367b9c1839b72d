"""The options of each verb, with their Python types; None means not given. `options` checks the values.

The command line has the same names, with ``-`` for ``_``, and further flags for its output (cli/).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args

from likewise.errors import UsageError
from likewise.messages import option
from likewise.methods import Measure, Text

#: Separator of a field and the glob of its sources (NAME@GLOB).
AT = "@"

OnError = Literal["fail", "skip"]
Sketch = Literal["oph", "classic"]
Tune = Literal["recall", "error"]
Verify = Literal["exact", "estimate", "none"]
Copies = Literal["none", "empty"]
Output = Literal["copy", "ids", "mask", "annotate"]
CsvFormulas = Literal["escape", "raw"]
CHOICES: dict[str, tuple[str, ...]] = {
    name: get_args(one)
    for name, one in (
        ("sketch", Sketch),
        ("tune", Tune),
        ("verify", Verify),
        ("copies", Copies),
        ("output", Output),
        ("on_error", OnError),
        ("csv_formulas", CsvFormulas),
    )
}


class Rows(TypedDict, total=False):
    """Options of reading the inputs."""

    field: str | Sequence[str] | None
    records: str | None
    id: str | None
    on_error: OnError | None
    max_record: int | str | None
    limit: int | None


class Limit(TypedDict, total=False):
    """The minimum similarity or maximum distance, and the recall."""

    threshold: float | str | Fraction | Decimal | None
    within: float | str | Fraction | Decimal | None
    recall: float | None


class Alike(Limit, total=False):
    """Options that define similarity."""

    per: str | None
    by: str | Text | Measure | None
    exact: bool | None
    normalize: str | None
    groups: str | Path | Mapping[Any, Any] | None
    seed: int | str | None


class Layout(TypedDict, total=False):
    """Options of the bands by which candidates are found."""

    bands: int | None
    rows: int | None
    slots: int | None
    sketch: Sketch | None
    tune: Tune | None


class Machine(TypedDict, total=False):
    """Resources of the run, which never change a byte of the result."""

    threads: int | None
    memory: int | str | None
    work: str | Path | None


class OfAudit(Rows, Alike, Layout, Machine, total=False):
    """Options of `audit`."""

    min_tokens: int | None
    preset: str | None


class Chosen(OfAudit, total=False):
    """Common options of `dedup` and `pairs`."""

    verify: Verify | None
    keep: str | None
    prefer: str | Sequence[str] | None
    copies: Copies | None


class OfDedup(Chosen, total=False):
    """Options of `dedup`."""

    output: Output | None
    pairs: bool | None
    removed_records: bool | None
    overwrite: bool | None
    resume: bool | None


class OfPairs(Chosen, total=False):
    """Options of `pairs`."""

    star: bool | None
    max_pairs: int | None


class OfNeighbors(Rows, Alike, Machine, total=False):
    """Options of `neighbors`."""


class OfPlan(Limit, Layout, total=False):
    """Options of `plan`."""

    family: str | None
    dimension: int | None


class OfFeatures(Rows, total=False):
    """Options of `features`."""

    by: str | Text | None
    normalize: str | None
    threads: int | None


#: Verb -> its options: those above, and further parameters of its function.
TAKES: dict[str, str] = {
    verb: " ".join([own, *choices.__annotations__])
    for verb, choices, own in (
        ("dedup", OfDedup, "out"),
        ("pairs", OfPairs, "against"),
        ("neighbors", OfNeighbors, "query k"),
        ("plan", OfPlan, "by normalize field records seed items preset"),
        ("audit", OfAudit, "sample"),
        ("features", OfFeatures, "vectors most every work"),
    )
}


def check_choices(given: Mapping[str, object]) -> None:
    """Raise UsageError for a value that its option does not allow."""
    for name, value in given.items():
        if name in CHOICES and value not in CHOICES[name]:
            raise UsageError(f"{option(name, value)}: choose one of {', '.join(CHOICES[name])}")


def refuse_empty(**given: object) -> None:
    """Raise UsageError for empty strings: as a path, one would mean the current folder."""
    for name, value in given.items():
        if isinstance(value, str) and not value:
            raise UsageError(empty(option(name, value)))


def empty(given: str) -> str:
    """Return the message about an empty string. given: the option with its value."""
    return f"{given}: this is an empty string, perhaps from a variable that is not set; give a value or leave it out"


#: Names in other libraries and on the command line -> names of options here.
MEANT = {"text": "field", "column": "field", "top_k": "k", "K": "k", "num_perm": "slots"}


def refuse_others(verb: str, names: Iterable[str]) -> None:
    """Raise UsageError for options that a verb does not take, with the verbs that take them, or else the closest name."""
    known = TAKES[verb].split()
    for name in sorted(set(names) - set(known)):
        if MEANT.get(name) in known:
            raise UsageError(f"unknown option {name!r}; use {option(MEANT[name])}")
        others = [other for other, taken in TAKES.items() if name in taken.split()]
        if not others:
            valid = sorted({*known, "progress"} - ({"progress"} if verb == "plan" else set()))
            near = difflib.get_close_matches(name, valid, 1)
            raise UsageError(f"unknown option {name!r}; {f'did you mean {option(near[0])}?' if near else 'valid options: ' + ', '.join(valid)}")
        instead = "; write the result with its method write(path)" if name == "out" and verb in ("pairs", "neighbors") else ""
        raise UsageError(f"{verb} has no option {name!r}, which is for {', '.join(others)}{instead}")
