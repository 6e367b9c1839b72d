"""All options of a run, checked once, for the command line and for Python.

Options form three groups: the meaning of "similar" (`method` to `seed`), the input and the output (`field` to `max_pairs`), and the machine
(`threads` to `master`). The last never changes a byte of the result.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral
from pathlib import Path
from typing import Any

from likewise import methods
from likewise.choices import AT, check_choices, refuse_empty
from likewise.errors import UsageError
from likewise.kinds.kind import NOT_GUARANTEED
from likewise.messages import SWITCHES, either, option, quoted
from likewise.methods import Measure, Text
from likewise.planning import Plan, choose
from likewise.planning.choose import NoLayoutError, check, limit_of
from likewise.planning.presets import named, with_preset
from likewise.planning.recipes import with_recipe
from likewise.planning.threshold import written

#: Fields of `Options` that never change a byte of the result; and fields derived from the given options.
OF_THE_MACHINE = {"threads", "memory", "work", "resume", "overwrite", "engine", "master"}
MADE = {"fields", "method", "bound", "plan", "asked", "limited"}
#: Default maximum bytes of a record. All of it is in memory at once, and data derived from it take up to about 40 times as much. `records.Want` has
#: the same default.
MOST_BYTES = 64 << 20
KEEP_POLICIES = ("first", "last", "longest", "shortest")
MOST_THREADS = 4096
#: Up to so many tokens of either text between two runs of a passage: each is compared with each of the other text.
MOST_GAP = 10_000
UNITS_OF_SIZE = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
#: Minimum of ``memory``, which does not include what Python, the libraries and the compiler take (`engines.threads.OVERHEAD`).
LEAST_MEMORY = 256 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    method: Text | Measure
    bound: Fraction | None  # the minimum similarity, or the maximum distance; None: no limit, the nearest are wanted
    plan: Plan | None  # the bands; None: they depend on the data, or items are joined
    limited: bool = True  # pairs within a limit are wanted; else the nearest items, with or without a limit
    asked: dict[str, Any] = dataclasses.field(default_factory=dict)  # for the plan
    exact: bool | None = None  # no missed pairs; None: if that is cheaper
    groups: Path | Mapping[Any, Any] | None = None  # maps elements to groups
    ignore: Any = None  # inputs whose shingles are ignored: paths as a tuple, or data
    ignore_common: Fraction | None = None  # shingles in more than this share of the items are ignored
    min_run: int | None = None  # passages: tokens of a run that is found surely, and that agree at least
    gap: int | None = None  # passages: tokens between two runs, at most
    common: Fraction | None = None  # passages in more than this share of the documents are listed
    verify: str = "exact"
    seed: int = 0

    field: str = "text"
    fields: tuple[str, ...] = ()  # NAME@GLOB: the field of sources that match the glob, in place of ``field``
    records: str | None = None  # path of keys to the list of records inside a JSON document
    html: str | None = None  # what is read of the web pages of an archive; None: their text
    id: str | None = None  # None: "id" if rows have it
    per: str | None = None
    min_tokens: int = 0
    level: str | None = None  # parts of documents are compared, and removed: "line", "paragraph" or "passage"; None: whole documents
    preset: str | None = None  # passages: a name in planning.recipes; other presets stand for their options
    min_left: int | None = None  # documents that lose a part and keep fewer tokens are removed; None: those that keep none
    copies: str = "none"
    keep: str = "first"
    prefer: tuple[str, ...] = ()
    also_inside: bool = False  # with a second collection: remove also for kept items of the first
    output: str = "copy"
    pairs: bool = False
    removed_records: bool = False
    sketches: bool = False  # also write what an index keeps of the kept records
    on_error: str = "fail"
    max_record: int = MOST_BYTES
    limit: int | None = None
    star: bool = False
    max_pairs: int = 100_000_000

    threads: int | None = None
    memory: int | None = None
    work: Path | None = None
    resume: bool = False
    overwrite: bool = False
    engine: str = "local"  # or "spark"
    master: str | None = None  # URL of the Spark master; None: the active session

    @property
    def by_hand(self) -> bool:
        """True if the layout of the bands was given, not only their recall."""
        return any(self.asked.get(name) for name in ("bands", "rows", "slots")) or self.asked.get("tune") == "error"

    @property
    def score(self) -> str | None:
        """The field that a ``keep`` of ``max:F`` or ``min:F`` orders by."""
        policy, _, name = self.keep.partition(":")
        return name if policy in ("max", "min") else None


def resolve(*, limited: bool = True, one_way: bool = False, alone: bool = False, **choices: Any) -> Options:
    """Make the options of a run from the given values: apply a preset, parse text forms, make the plan. Raises UsageError before any work is done.

    limited: pairs within a limit are wanted, by default the default threshold; if False, only a given limit applies.
    one_way: the verb accepts ordered pairs, as containment gives.
    alone: a second collection is possible but missing.
    """
    full = with_recipe(choices, alone=alone) if choices.get("level") == "passage" else with_preset(choices)
    options = checked(limited=limited, one_way=one_way, **full)
    return replace(options, plan=named(options.plan, choices)) if options.plan else options


def checked(
    *,
    limited: bool = True,
    one_way: bool = False,
    by: str | Text = "words:5",
    normalize: str | Sequence[str] | None = None,
    threshold: object = None,
    within: object = None,
    recall: float | None = None,
    bands: int | None = None,
    rows: int | None = None,
    slots: int | None = None,
    sketch: str = "oph",
    tune: str = "recall",
    seed: int | str = 0,
    memory: int | str | None = None,
    max_record: int | str | None = None,
    **rest: Any,
) -> Options:
    check_choices({"sketch": sketch, "tune": tune, **rest})
    rest = checked_types(rest)
    method = method_of(by, normalize, one_way)
    if method.bandless:
        refuse_layout(method, recall, sketch, tune, bands=bands, rows=rows, slots=slots)
    recall = 0.99 if recall is None else recall
    if method.bandless and recall != 1:  # the recall of a join
        check(recall, sketch, tune)
    if method.containment or method.base.bandless:
        rest["exact"] = True
    if method.containment and rest.get("star"):
        raise UsageError(f"{option('star')}: containment is not symmetric, so clusters have no representative; leave out {option('star')}")
    if "groups" in rest and not method.kind.grouped:
        raise UsageError(
            f"{option('groups')}: only sets have groups, with {option('by', 'elements')}; {option('by', str(method))} compares {method.kind.name}"
        )
    check_ignored(rest, method)
    threshold = check_level(rest, method, threshold, within)
    if rest.get("sketches"):
        check_sketched(rest)
    rest["field"], rest["fields"] = named_fields(rest.get("field"), method.kind.field)
    asked: dict[str, Any] = {"threshold": threshold, "recall": recall, "within": within, "bands": bands, "rows": rows, "slots": slots}
    asked |= {"sketch": sketch, "tune": tune}
    rest.setdefault("on_error", method.kind.on_error)
    bound = limit_of(method, threshold, within) if limited or threshold is not None or within is not None else None
    ready = bound is not None and not method.kind.needs_data and not method.bandless
    return Options(
        method=method,
        bound=bound,
        plan=planned(method, asked, wanted=limited and rest.get("exact") is not True) if ready else None,
        limited=limited,
        asked=asked,
        seed=parse_seed(seed),
        memory=memory_of(memory),
        max_record=MOST_BYTES if max_record is None else parse_size(max_record, "max_record"),
        **rest,
    )


def checked_types(rest: dict[str, Any]) -> dict[str, Any]:
    """The options whose values need nothing but the right type and range, converted. Raises UsageError."""
    rest = {name: integer(value) for name, value in rest.items() if value is not None}
    for name, least in {"min_tokens": 0, "min_left": 0, "limit": 0, "max_pairs": 0, "threads": 1, "min_run": 1, "gap": 0}.items():
        number = rest.get(name, least)
        if isinstance(number, bool) or not isinstance(number, int):
            raise UsageError(f"{option(name, number)}: give a whole number")
        if not least <= number < 2**63:
            raise UsageError(f"{option(name, number)}: give a whole number from {least} to 2^63 - 1")
    if rest.get("threads", 1) > MOST_THREADS:
        raise UsageError(f"{option('threads', rest['threads'])}: give {MOST_THREADS:,} or fewer; more threads than cores do not help")
    if rest.get("gap", 0) > MOST_GAP:
        raise UsageError(f"{option('gap', rest['gap'])}: give {MOST_GAP:,} or fewer; passages that are farther apart have separate rows")
    for name in ("records", "id", "per", "keep", "master"):
        if name in rest and not isinstance(rest[name], str):
            raise UsageError(f"{option(name, rest[name])}: give {'a URL' if name == 'master' else 'a name'} as a string")
    if "master" in rest and rest.get("engine") != "spark":
        raise UsageError(f"{option('master')}: only Spark has a master; add {option('engine', 'spark')}")
    for name in SWITCHES:
        if not isinstance(rest.get(name, False), bool):
            raise UsageError(f"{option(name, rest[name])}: give True or False")
    if "prefer" in rest:
        rest["prefer"] = globs(rest["prefer"])
    if "work" in rest:
        if not isinstance(rest["work"], str | os.PathLike):
            raise UsageError(f"{option('work', rest['work'])}: give the path of a folder")
        rest["work"] = Path(rest["work"])
    check_keep(rest.get("keep", "first"))
    if isinstance(rest.get("groups"), str):
        rest["groups"] = Path(rest["groups"])
    return rest


def refuse_layout(method: Text | Measure, recall: float | None, sketch: str, tune: str, **layout: int | None) -> None:
    """Raises UsageError for options of bands with a measure that has none."""
    scanned, name = method.base.bandless, method.kind.name
    given: dict[str, Any] = {**layout}
    if scanned:
        given |= {"recall": recall, "sketch": None if sketch == "oph" else sketch, "tune": None if tune == "recall" else tune}
    if refused := [option(one, value) for one, value in given.items() if value is not None]:
        exactly = "without bands" if method.compared.recall == NOT_GUARANTEED else "exactly, without bands"
        how = f"compares all {name}, and finds every pair" if scanned else f"joins {name} {exactly}"
        these = "this option" if len(refused) == 1 else "these options"
        raise UsageError(f"{' and '.join(refused)}: {option('by', str(method))} {how}; leave out {these}, and {option('preset')} if it is given")


def check_ignored(rest: dict[str, Any], method: Text | Measure) -> None:
    """Check and convert the options of what is ignored, in place."""
    for name in ("ignore", "ignore_common"):
        if name in rest and not method.kind.sets:
            what = f"only texts and sets have shingles or elements to ignore; {option('by', str(method))} compares {method.kind.name}"
            raise UsageError(f"{option(name)}: {what}")
    if "ignore" in rest:
        rest["ignore"] = given_inputs(rest["ignore"])
    for name in {"ignore_common", "common"} & rest.keys():
        rest[name] = parse_share(rest[name], name)


def check_level(rest: dict[str, Any], method: Text | Measure, threshold: object, within: object) -> object:
    """Check and convert the options of parts of documents, in place. Returns the threshold, by default 1: parts with the same shingles."""
    level = rest.pop("level", "document")
    if level == "document":
        if "min_left" in rest:
            needs = f"it needs {option('level', 'line')} or paragraph"
            raise UsageError(f"{option('min_left', rest['min_left'])}: whole documents are compared, and none becomes shorter; {needs}")
        return threshold
    rest["level"], asked = level, option("level", level)
    if not isinstance(method, Text) or method.unit == "tokens":
        raise UsageError(f"{asked}: only texts have {level}s; {option('by', str(method))} compares {method.kind.name}")
    names = rest.get("field") or ()
    for name in [names] if isinstance(names, str) else names:
        if isinstance(name, str) and {"+", "|"} & {*name}:
            one = f"{level}s are cut out of one field; name a single one, or one for each file as NAME{AT}GLOB"
            raise UsageError(f"{asked} with {option('field', name)}: {one}")
    if rest.get("output") == "annotate":
        what = "a document has several parts, with a representative each; removed.parquet lists them all"
        raise UsageError(f"{asked} with {option('output', 'annotate')}: {what}; choose copy, ids or mask")
    if rest.get("copies") == "empty":
        raise UsageError(f"{asked} with {option('copies', 'empty')}: blank lines are always kept; leave {option('copies')} out")
    return 1 if threshold is None and within is None else threshold


def check_sketched(rest: Mapping[str, Any]) -> None:
    """Raises UsageError for options whose items an index cannot compare."""
    without = {"level": "parts of documents", "ignore": "sets without ignored shingles", "ignore_common": "sets without ignored shingles"}
    for name, what in without.items():
        if name in rest:
            raise UsageError(f"{option('sketches')} with {option(name)}: an index compares whole items, not {what}; leave one of them out")
    if rest.get("verify", "exact") != "exact":
        why = "an index compares exactly, by sets that this run does not keep"
        raise UsageError(f"{option('sketches')} with {option('verify', rest['verify'])}: {why}; leave one of them out")


def given_inputs(given: Any) -> Any:
    """Paths as a tuple; data unchanged."""
    if isinstance(given, str | os.PathLike):
        return (Path(given),)
    paths = isinstance(given, list | tuple) and len(given) > 0 and all(isinstance(one, os.PathLike) for one in given)
    return tuple(map(Path, given)) if paths else given


def parse_share(given: object, name: str = "ignore_common") -> Fraction:
    """A share of the items above 0 and below 1, given by an option: ``0.01``, ``1%`` or ``1/100``.

    >>> parse_share("1%"), parse_share(0.01)
    (Fraction(1, 100), Fraction(1, 100))
    """
    text = given.strip() if isinstance(given, str) else given
    try:
        share = written(text[:-1]) / 100 if isinstance(text, str) and text.endswith("%") else written(text)
        if not 0 < share < 1:
            raise ValueError
    except (ValueError, ArithmeticError):
        raise UsageError(f"{option(name, given)}: give a share of the items above 0 and below 1, such as 0.01 or 1%") from None
    return share


def planned(method: Text | Measure, asked: Mapping[str, Any], *, wanted: bool) -> Plan | None:
    """The plan, or None unless ``wanted``. The options that a plan depends on are checked in both cases."""
    try:
        plan = choose(method=method, **asked)
    except NoLayoutError:
        if wanted:
            raise
    return plan if wanted else None


def named_fields(given: object, default: str) -> tuple[str, tuple[str, ...]]:
    """The field of all sources, and the fields given as NAME@GLOB for sources that match the glob."""
    several = [default] if given is None else [given] if isinstance(given, str) else given
    if not isinstance(several, list | tuple) or not several or not all(isinstance(one, str) for one in several):
        raise UsageError(f"{option('field', given)}: give a name, or a list of names as NAME@GLOB")
    plain_ones = [one for one in several if AT not in one]
    if len(plain_ones) > 1:
        meant = f"{plain_ones[1]}@*.parquet"
        raise UsageError(f"{option('field', plain_ones)}: give one name for all sources, and the others as NAME@GLOB, for example {meant!r}")
    return (plain_ones or [default])[0], tuple(one for one in several if AT in one)


def integer(value: Any) -> Any:
    """An integer of numpy as int; other values unchanged."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else value


def method_of(by: str | Text | Measure, normalize: str | Sequence[str] | None, one_way: bool) -> Text | Measure:
    """The method of a run. Containment is not symmetric, so it cannot remove or rank items; its join is exact, so there is nothing to audit."""
    method = methods.parse(by, normalize)
    if method.containment and not one_way:
        verbs = either("lw.pairs or lw.similarity", "likewise pairs")
        raise UsageError(f"{option('by', str(method))}: containment is not symmetric; use it with {verbs}, or leave out /containment")
    return method


def check_keep(policy: str) -> None:
    name, colon, field = policy.partition(":")
    if (name in KEEP_POLICIES and not colon) or (name in ("max", "min") and field):
        return
    raise UsageError(f"{option('keep', policy)}: choose one of {', '.join(KEEP_POLICIES)}, max:FIELD or min:FIELD")


def globs(given: object) -> tuple[str, ...]:
    """One glob or several. Each is a str, as the manifest lists them."""
    several = (given,) if isinstance(given, str) else given
    if not isinstance(several, list | tuple) or not all(isinstance(one, str) for one in several):
        raise UsageError(f"{option('prefer', given)}: give a glob of file names as a string, or a list of globs")
    for one in several:
        refuse_empty(prefer=one)
    return tuple(several)


def parse_seed(seed: int | str) -> int:
    """A seed of 64 bits; ``random`` draws one from the system."""
    if seed == "random":
        return int.from_bytes(os.urandom(8)) >> 1
    try:
        number = int(str(seed))
    except ValueError:
        number = -1
    if not 0 <= number < 2**64:
        raise UsageError(f"{option('seed', seed)}: give a whole number from 0 to 2^64 - 1, or random")
    return number


def parse_size(size: int | str, name: str = "memory") -> int:
    """Bytes from ``1500000``, ``512M``, ``1.5G`` or ``2GiB`` (powers of 1024).

    >>> parse_size("1.5G"), parse_size("512MiB")
    (1610612736, 536870912)
    """
    match = re.fullmatch(
        r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]?)(?:i?B)?\s*", size if isinstance(size, str) else quoted(integer(size)), re.IGNORECASE
    )
    found = int(float(match[1]) * UNITS_OF_SIZE[match[2].upper()]) if match else 0
    if not 1 <= found < 2**62:
        raise UsageError(f"{option(name, size)}: give a size such as 512M or 1.5G")
    return found


def memory_of(size: int | str | None) -> int | None:
    """The bytes of ``memory``. Raises UsageError below LEAST_MEMORY."""
    if size is None:
        return None
    found = parse_size(size)
    if found < LEAST_MEMORY:
        least = f"{LEAST_MEMORY >> 20}M"
        raise UsageError(
            f"{option('memory', size)}: give {least} or more; Python and the libraries need another 170 MB, or 370 MB in a run that compiles kernels"
        )
    return found
