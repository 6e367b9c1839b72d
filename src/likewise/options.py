"""Every choice of a run, checked once; the command line and Python both end here.

Three groups that never mix: what is similar (`Options.method`, `plan`, `verify`), what to do about it (`keep` to `max_pairs`),
and where it runs (`threads` to `overwrite`), which never changes a byte of the result.
"""

from __future__ import annotations

import difflib
import re
import secrets
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from likewise import methods
from likewise.errors import UsageError
from likewise.methods import Text
from likewise.planning import Plan, choose
from likewise.planning.presets import with_preset

CHOICES: dict[str, tuple[str, ...]] = {
    "sketch": ("oph", "classic"),
    "tune": ("recall", "error"),
    "verify": ("exact", "estimate", "none"),
    "copies": ("none", "empty"),
    "output": ("copy", "ids", "mask", "annotate"),
    "on_error": ("fail", "skip"),
}
KEEP_POLICIES = ("first", "last", "longest", "shortest")
UNITS_OF_SIZE = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    method: Text
    plan: Plan
    verify: str = "exact"
    seed: int = 0

    field: str = "text"
    id: str | None = None  # None: "id" where there is one
    per: str | None = None
    min_tokens: int = 0
    copies: str = "none"
    keep: str = "first"
    prefer: tuple[str, ...] = ()
    output: str = "copy"
    pairs: bool = False
    removed_records: bool = False
    on_error: str = "fail"
    limit: int | None = None
    star: bool = False
    max_pairs: int = 100_000_000

    threads: int | None = None
    memory: int | None = None
    work: Path | None = None
    resume: bool = False
    overwrite: bool = False

    @property
    def score(self) -> str | None:
        """The field that ``--keep max:F`` or ``min:F`` orders by."""
        policy, _, name = self.keep.partition(":")
        return name if policy in ("max", "min") else None

    def described(self) -> dict[str, Any]:
        """All that fixes the bytes of the result, as plain values for the manifest; nothing about where it ran."""
        machine = ("threads", "memory", "work", "resume", "overwrite", "method", "plan")
        chosen = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in machine}
        text = {"by": str(self.method), "normalize": list(self.method.normalize)}
        return {**text, "plan": self.plan.to_dict(), **{name: list(value) if isinstance(value, tuple) else value for name, value in chosen.items()}}


def resolve(**choices: Any) -> Options:
    """Options from what was typed: a preset is looked up, text forms are read, the plan is made, all is checked before any work is done."""
    return checked(**with_preset(choices))


def checked(
    *,
    by: str | Text = "words:5",
    normalize: str | None = None,
    threshold: object = None,
    within: object = None,
    recall: float = 0.99,
    bands: int | None = None,
    rows: int | None = None,
    slots: int | None = None,
    sketch: str = "oph",
    tune: str = "recall",
    seed: int | str = 0,
    memory: int | str | None = None,
    **rest: Any,
) -> Options:
    for name, value in {"sketch": sketch, "tune": tune, **rest}.items():
        if name in CHOICES and value not in CHOICES[name]:
            raise UsageError(f"{flag(name)} {value!r}: choose one of {', '.join(CHOICES[name])}")
    known = sorted({f.name for f in fields(Options)} - {"method", "plan"} | {"preset", *(checked.__kwdefaults__ or ())})
    if unknown := sorted(set(rest) - set(known)):
        near = difflib.get_close_matches(unknown[0], known, 1)
        raise UsageError(f"no option {unknown[0]!r}; {f'did you mean {near[0]}?' if near else 'there are ' + ', '.join(known)}")
    rest = {name: value for name, value in rest.items() if value is not None}
    for name in ("min_tokens", "limit", "max_pairs", "threads"):
        if name in rest and (isinstance(rest[name], bool) or not isinstance(rest[name], int)):
            raise UsageError(f"{flag(name)} {rest[name]!r}: give a whole number")
    for name in ("field", "id", "per", "keep"):
        if name in rest and not isinstance(rest[name], str):
            raise UsageError(f"{flag(name)} {rest[name]!r}: give a name")
    if "prefer" in rest:
        rest["prefer"] = (rest["prefer"],) if isinstance(rest["prefer"], str) else tuple(rest["prefer"])
    if "work" in rest:
        rest["work"] = Path(rest["work"])
    check_keep(rest.get("keep", "first"))
    for name, least in {"min_tokens": 0, "limit": 0, "max_pairs": 0, "threads": 1}.items():
        if rest.get(name, least) < least:
            raise UsageError(f"{flag(name)} {rest[name]}: give {least} or more")
    method = text_of(by, normalize)
    return Options(
        method=method,
        plan=choose(threshold, recall, within=within, method=method, bands=bands, rows=rows, slots=slots, sketch=sketch, tune=tune),
        seed=parse_seed(seed),
        memory=parse_size(memory),
        **rest,
    )


def text_of(by: str | Text, normalize: str | None) -> Text:
    """The shingling of texts that a run works by."""
    method = methods.text(by, normalize)
    if method.containment:
        raise UsageError(f"--by {by}: containment is what `similarity` tells of two texts; leave /containment out")
    return method


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def check_keep(policy: str) -> None:
    name, colon, field = policy.partition(":")
    if (name in KEEP_POLICIES and not colon) or (name in ("max", "min") and field):
        return
    raise UsageError(f"--keep {policy!r}: choose one of {', '.join(KEEP_POLICIES)}, max:FIELD or min:FIELD")


def parse_seed(seed: int | str) -> int:
    """A seed is a whole number of 64 bits; ``random`` draws one from the system."""
    if seed == "random":
        return secrets.randbits(63)
    try:
        number = int(str(seed))
    except ValueError:
        number = -1
    if not 0 <= number < 2**64:
        raise UsageError(f"--seed {seed!r}: give a whole number from 0 to 2^64-1, or random")
    return number


def parse_size(size: int | str | None) -> int | None:
    """Bytes from ``1500000``, ``512M``, ``1.5G`` or ``2GiB`` (powers of 1024).

    >>> parse_size("1.5G"), parse_size("512MiB")
    (1610612736, 536870912)
    """
    if size is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", str(size), re.IGNORECASE)
    if not match or float(match[1]) == 0:
        raise UsageError(f"--memory {size!r}: give a size such as 512M or 1.5G")
    return int(float(match[1]) * UNITS_OF_SIZE[match[2].upper()])
