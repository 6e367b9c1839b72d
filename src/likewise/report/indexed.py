"""An index that is named as a second collection, and the options of a run that compares with it: those by which the index was made."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from likewise.errors import DataError, UsageError
from likewise.index.opened import SCHEMES, opened
from likewise.index.settings import Settings
from likewise.index.source import Indexed
from likewise.index.stored_settings import restored
from likewise.io.address import place
from likewise.io.groups import Groups
from likewise.io.manifest import is_index as has_index
from likewise.messages import option
from likewise.planning.presets import with_preset
from likewise.report.canonical import canonical

#: Options that need what an index does not keep of its items: why they cannot be given.
NEEDS = {
    "exact": "an index finds items by its bands",
    "verify": "the index keeps whole sets, which are compared exactly",
    "ignore": "the sets in the index have all their shingles",
    "ignore_common": "the sets in the index have all their shingles",
    "level": "the index has whole documents, without their text",
}
#: Values of these options that change nothing.
IDLE = {"exact": False, "verify": "exact", "level": "document"}


def indexed(given: Any) -> Indexed | None:
    """The index that is given: by its path or address, or open (`likewise.Index`); None for anything else."""
    if isinstance(getattr(given, "settings", None), Settings):
        return Indexed(name_of(given.store.where), given.store.where, given.settings, stores=[given.store])
    if not isinstance(given, str | os.PathLike) or not is_index(given):
        return None
    reopen = partial(opened, given, read_only=True)
    store = reopen()
    try:
        settings, where = restored(store.settings), store.where
    finally:
        store.close()
    return Indexed(name_of(where), where, settings, reopen)


def is_index(given: str | os.PathLike[str]) -> bool:
    """True for the address of an index, and for the path of a folder with one."""
    return has_address(given) if "://" in os.fspath(given) else has_index(Path(given))


def second_of(given: Sequence[str]) -> Any:
    """The second collection that was typed: paths, or the address of an index; None without one."""
    return given[0] if len(given) == 1 and has_address(given[0]) else [place(one) for one in given] or None


def has_address(given: Any) -> bool:
    """True for the address of an index."""
    return isinstance(given, str) and "://" in given and given.partition("://")[0].lower() in SCHEMES


def name_of(where: str) -> str:
    """The name of an index as a source, from `Store.where`."""
    return re.split(r"/|\?index=", where)[-1] or "memory.index"


def choices_of(index: Indexed, typed: dict[str, Any]) -> dict[str, Any]:
    """The options of a run that compares with an index. Raises UsageError for one that was given and contradicts it, DataError without sets."""
    name, settings = option("against", index.where or index.name), index.settings
    if not settings.exact:
        raise DataError(f"{name}: this index has no sets, so its items cannot be compared exactly; query it for estimates, or build it with sets")
    given, had = with_preset(typed), made_by(settings)
    for one in [one for one in NEEDS if one in given and given[one] != IDLE.get(one)]:
        value = option(one) if one == "ignore" else option(one, given[one])
        raise UsageError(f"{value}: {NEEDS[one]}; leave this option out to compare with {index.name}")
    if settings.options.per and given.get("copies") == "empty":
        raise UsageError(f"{option('copies', 'empty')}: the index has groups, and none for empty items; leave this option out")
    limits = {"threshold", "within"}
    for one in [one for one in given if one in {*had, *limits, "per"}]:
        other = one if one in had else (limits - {one}).pop() if one in limits else one
        if one not in had or canonical(one, given[one], {**had, **given}) != canonical(one, had[one], had):
            mine = float(Fraction(had[other])) if other in had and other in limits else had.get(other)
            own = option(other, mine) if other in had else f"no {option(other)}"
            raise UsageError(f"{option(one, given[one])}: {index.name} was made with {own}; leave this option out")
    grouped, groups = settings.grouped, given.pop("groups", None)
    if groups is not None and (grouped is None or Groups(groups, settings.options.seed).digest != grouped.digest):
        raise UsageError(f"{option('groups', groups)}: {index.name} was made with {'other' if grouped else 'no'} groups; leave this option out")
    return {**had, **given}


def made_by(settings: Settings) -> dict[str, Any]:
    """The options of an index that hold for a comparison with it."""
    made = settings.described()
    method, limit = settings.options.method, "within" if "within" in made else "threshold"
    found = {name: made[name] for name in ("by", limit, "recall", "seed", "per") if made[name] is not None}
    found |= {name: made["plan"][name] for name in ("bands", "rows", "sketch", "tune") if made["plan"][name]}
    if method.kind.cut or method.kind.normalized:
        found["normalize"] = made["normalize"] or "none"
    return found
