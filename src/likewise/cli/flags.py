"""Every flag of the command line, once: name, group, help, and how its value is read. Verbs name the flags that they have.

Defaults and choices are those of options.py; a flag that is not given is not passed on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from itertools import groupby
from typing import Any

import click

from likewise import config, kinds
from likewise.choices import CHOICES
from likewise.kinds import kind_of
from likewise.methods import STEPS, UNITS
from likewise.options import KEEP_POLICIES, Options, checked
from likewise.planning.families import findable
from likewise.planning.presets import PRESETS

GROUPS = ("Input", "What is similar", "What to do about it", "How to run", "Messages")
INPUT, SIMILARITY, ACTION, RUN, MESSAGES = GROUPS


@dataclass(frozen=True)
class Flag:
    group: str
    names: str  # "-o --out"
    help: str | Callable[[], str]  # a function where it names what is registered
    metavar: str | None = None  # None: the choices in options.py, or nothing where it is a switch
    shown: str | Callable[[], str] | None = None  # the default in words, where it is no value of options.py
    settings: dict[str, Any] = field(default_factory=dict)  # more for click.Option

    @property
    def said(self) -> str:
        """The help."""
        return self.help if isinstance(self.help, str) else self.help()

    @property
    def default(self) -> str:
        """The default in words; empty if options.py has it, or if the flag has no default."""
        return self.shown() if callable(self.shown) else self.shown or ""


SWITCH: dict[str, Any] = {"is_flag": True, "default": None}
LIST: dict[str, Any] = {"multiple": True}


class One(click.types.StringParamType):
    """A text. In the environment, spaces do not separate several, although the flag may be repeated."""

    def split_envvar_value(self, rv: str) -> list[str]:
        return [rv]


WHEN: dict[str, Any] = {"type": click.Choice(["auto", "always", "never"])}


def measures() -> str:
    """The measures that items are found by, with what they compare."""
    return "; ".join(f"{', '.join(names)} ({kind})" for kind, names in groupby(findable(), lambda name: kind_of(name).name))


def listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"


FLAGS: dict[str, Flag] = {
    "field": Flag(
        INPUT,
        "--field --text",
        "Column or JSON path to compare: a.b is a nested field, A+B joins two fields, A|B takes the first that a record has, A@GLOB applies to the "
        "inputs that match GLOB (repeatable).",
        "F",
        lambda: f"{listed(dict.fromkeys(kind.field for kind in kinds.kinds().values()))}, by --by",
        {"multiple": True, "type": One()},
    ),
    "records": Flag(INPUT, "--records", "The list inside a JSON document that contains the records, as in --records data or response.items.", "PATH"),
    "id": Flag(INPUT, "--id", "Column or JSON path of the id.", "F", "id, else the position"),
    "per": Flag(INPUT, "--per", "Compare only items with the same value of this field (a language, a shop).", "F"),
    "min_tokens": Flag(INPUT, "--min-tokens", "Keep shorter items uncompared, and count them.", "N", settings={"type": int}),
    "on_error": Flag(INPUT, "--on-error", "What to do about a record that cannot be decoded; skip sets it aside and counts it."),
    "max_record": Flag(INPUT, "--max-record", "Refuse a longer line, element, value or text file, whatever it is compressed to.", "SIZE", "64M"),
    "limit": Flag(INPUT, "--limit", "Only the first N items.", "N", settings={"type": int}),
    "query": Flag(INPUT, "--query", "The items to look for; without it each item of INPUT. Repeatable.", "QUERY", settings=LIST),
    "groups": Flag(INPUT, "--groups", "A table that maps each element to a group; sets of groups are compared.", "FILE"),
    "vectors": Flag(INPUT, "--vectors", "Vectors of tokens: .parquet, .npz, or .txt as of word2vec and GloVe. The inputs are texts then.", "FILE"),
    "most": Flag(INPUT, "--most", "The strongest N features of an image.", "N", "500", {"type": int}),
    "every": Flag(INPUT, "--every", "A key frame of a video each so many seconds.", "SECONDS", "0.5", {"type": float}),
    "against": Flag(INPUT, "--against", "List pairs of INPUT with these files, not pairs inside INPUT. Repeatable.", "INPUT", settings=LIST),
    "by": Flag(
        SIMILARITY,
        "--by",
        lambda: (
            f"Of texts, what a token is, and how many make a shingle: {', '.join(UNITS)}; /bag counts repeats. Of other items the measure: "
            f"{measures()}. In pairs, /containment behind texts or elements: what share of a is in b."
        ),
        "UNIT:K",
    ),
    "threshold": Flag(SIMILARITY, "--threshold", "Least similarity, above 0 and up to 1; equality counts.", "S", "0.8"),
    "within": Flag(SIMILARITY, "--within", "Greatest distance, in place of --threshold; for texts 1 - similarity.", "D"),
    "preset": Flag(SIMILARITY, "--preset", f"By, bands, rows and threshold of a published recipe: {', '.join(PRESETS)}.", "NAME"),
    "recall": Flag(SIMILARITY, "--recall", "Least chance that a pair exactly at the threshold is found.", "R", settings={"type": float}),
    "normalize": Flag(SIMILARITY, "--normalize", f"Steps before the text is cut: {', '.join(STEPS)}; or none.", "LIST", "by unit"),
    "exact": Flag(SIMILARITY, "--exact", "Miss nothing: an exact join of sets or strings, a scan of all pairs of other items.", settings=SWITCH),
    "k": Flag(SIMILARITY, "-k --k", "Neighbors of each query.", "K", "10", {"type": int}),
    "bands": Flag(SIMILARITY, "--bands", "Set the number of bands by hand.", "B", "planned", {"type": int}),
    "rows": Flag(SIMILARITY, "--rows", "Set the rows of a band by hand.", "R", "planned", {"type": int}),
    "slots": Flag(SIMILARITY, "--slots", "At most so many slots in a signature.", "K", "planned", {"type": int}),
    "layouts": Flag(SIMILARITY, "--layouts", "Compare several layouts: BANDSxROWS,...", "LIST"),
    "sketch": Flag(SIMILARITY, "--sketch", "How signatures are made."),
    "family": Flag(SIMILARITY, "--family", "Hash family, where a measure has several.", "NAME", "the measure's first"),
    "dimension": Flag(SIMILARITY, "--dimension", "Numbers of a vector, or bits of a code.", "N", settings={"type": int}),
    "tune": Flag(SIMILARITY, "--tune", "Plan for the recall, or for the least weighted error (which promises no recall)."),
    "verify": Flag(SIMILARITY, "--verify", "How candidates are checked; anything but exact is named in every output."),
    "seed": Flag(SIMILARITY, "--seed", "Same seed, same bytes; random draws one and records it.", "N|random"),
    "sample": Flag(SIMILARITY, "--sample", "Items whose pairs are all searched.", "N", "1000", {"type": int}),
    "items": Flag(SIMILARITY, "--items", "Plan for so many items.", "N", "1,000,000", {"type": int}),
    "keep": Flag(ACTION, "--keep", f"Which of similar items stays: {', '.join(KEEP_POLICIES)}, max:F or min:F of a field.", "POLICY"),
    "prefer": Flag(ACTION, "--prefer", "Items of these files stay before all others. Repeatable, in order.", "GLOB", settings=LIST),
    "copies": Flag(ACTION, "--copies", "empty: items without any token are copies of each other."),
    "output": Flag(ACTION, "--output", "Whole kept records, their ids only, a mask, or all records with cluster, witness and similarity added."),
    "pairs": Flag(ACTION, "--pairs", "Also write pairs.parquet: the verified pairs that were compared.", settings=SWITCH),
    "removed_records": Flag(ACTION, "--removed-records", "Also write what was removed, record by record, under OUT/removed/.", settings=SWITCH),
    "star": Flag(ACTION, "--star", "List members against their leader only.", settings=SWITCH),
    "max_pairs": Flag(ACTION, "--max-pairs", "Refuse to list more than N pairs.", "N", settings={"type": int}),
    "out": Flag(RUN, "-o --out", "Where the result goes.", "OUT"),
    "svg": Flag(RUN, "--svg", "Draw the curve into this file.", "FILE"),
    "csv_formulas": Flag(
        RUN,
        "--csv-formulas",
        "In CSV, write ' before texts that a spreadsheet would take for formulas, or write them raw.",
        "escape|raw",
        "escape",
        {"type": click.Choice(CHOICES["csv_formulas"])},
    ),
    "overwrite": Flag(RUN, "--overwrite", "Replace OUT once the new one is complete.", settings=SWITCH),
    "resume": Flag(RUN, "--resume", "Go on where an interrupted run stopped.", settings=SWITCH),
    "dry_run": Flag(RUN, "--dry-run", "Print the plan and the inputs, and stop.", settings=SWITCH),
    "threads": Flag(RUN, "--threads", "Threads to use; the result never depends on it.", "N", "all", {"type": int}),
    "memory": Flag(
        RUN,
        "--memory",
        "Memory for the data, as in 1.5G; Python, the libraries and the kernels take 220 MB more.",
        "SIZE",
        "75 % of available memory",
    ),
    "work": Flag(
        RUN,
        "--work",
        "Folder for intermediate files, new or empty. A new one is deleted at the end, an existing one is left empty.",
        "DIR",
        "OUT.work",
    ),
    "config": Flag(RUN, "--config", "Settings file.", "FILE", "likewise.toml or [tool.likewise] here or above"),
    "json": Flag(MESSAGES, "--json", "One JSON document on standard output.", settings=SWITCH),
    "exit_code": Flag(MESSAGES, "--exit-code", "Exit with status 1 when something was found.", settings=SWITCH),
    "quiet": Flag(MESSAGES, "-q --quiet", "No messages; results and errors only.", settings=SWITCH),
    "verbose": Flag(MESSAGES, "-v --verbose", "Say more.", settings=SWITCH),
    "color": Flag(MESSAGES, "--color", "Colors: auto (on a terminal), always or never.", "WHEN", "auto", WHEN),
    "progress": Flag(MESSAGES, "--progress", "A bar: auto (on a terminal, else a line now and then), always or never.", "WHEN", "auto", WHEN),
}

#: How config.py reads each flag's value. The file that is read cannot name another.
KINDS = {
    name: config.SWITCH if flag.settings.get("is_flag") else config.LIST if flag.settings.get("multiple") else config.VALUE
    for name, flag in FLAGS.items()
    if name != "config"
}


class FlagOption(click.Option):
    """A click option that knows its group."""

    def __init__(self, name: str, **changes: Any):
        self.flag, self.own = FLAGS[name], (changes.pop("help", None), changes.pop("shown", None))
        metavar = self.flag.metavar or "|".join(CHOICES.get(name, ()))
        settings = {"metavar": metavar or None, "envvar": variable(name), **self.flag.settings, **changes}
        super().__init__([*self.flag.names.split(), name], **settings)
        self.group = self.flag.group

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The help, made when it is asked for: it may name measures, whose kinds are loaded then."""
        said, shown = self.own
        default = (self.flag.default if shown is None else shown) or shown_default(str(self.name))
        self.help = (said or self.flag.said) + (f"  [{default}]" if default else "")
        return super().get_help_record(ctx)


def variable(name: str) -> str:
    """The environment variable that sets a flag."""
    return f"LIKEWISE_{name.upper()}"


@cache
def defaults() -> dict[str, Any]:
    """The defaults of options.py, by name."""
    kept = {each.name: each.default for each in fields(Options) if each.default is not MISSING}
    read = {each.name: each.default for each in inspect.signature(checked).parameters.values() if each.default is not inspect.Parameter.empty}
    return kept | read


def shown_default(name: str) -> str:
    value = defaults().get(name)
    if value is None or value is False or value == ():
        return ""
    return f"{value:,}" if isinstance(value, int) else str(value)
