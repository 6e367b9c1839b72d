"""Every flag of the command line, defined once: name, group, help, and how its value is read. Each verb lists the flags that it has.

Defaults and valid values are those of options.py; a flag that is not given is not passed on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from likewise import config, kinds
from likewise.choices import CHOICES
from likewise.kinds import kind_of
from likewise.methods import ALL_MASKS, MASKS, PATTERN, STEPS, UNITS
from likewise.options import KEEP_POLICIES
from likewise.planning.families import FAMILIES
from likewise.planning.presets import PRESETS
from likewise.planning.recipes import RECIPES

GROUPS = ("Input", "Similarity", "Output", "Run", "Messages")
INPUT, SIMILARITY, OUTPUT, RUN, MESSAGES = GROUPS

#: Maximum length of a default on the page of basic flags.
SHORT = 20

#: Values that the shell completes itself (the types of click's CompletionItem).
FILE, FOLDER = "file", "dir"


@dataclass(frozen=True)
class Flag:
    group: str
    names: str  # "-o --out"
    help: str | Callable[[], str]  # a function if it lists registered names
    metavar: str | None = None  # None: the valid values in options.py, or nothing for a switch
    shown: str | Callable[[], str] | None = None  # the default in words, if options.py has none
    settings: dict[str, Any] = field(default_factory=dict)  # more for click.Option
    brief: str | None = None  # the help on the page of basic flags; "": the same; None: the flag is not on it
    values: Callable[[], Iterable[str]] | str | None = None  # for shell completion; None: the valid values in options.py

    @property
    def text(self) -> str:
        """The help."""
        return self.help if isinstance(self.help, str) else self.help()

    @property
    def default(self) -> str:
        """The default in words; empty if options.py has it, or if the flag has no default."""
        return self.shown() if callable(self.shown) else self.shown or ""


SWITCH: dict[str, Any] = {"is_flag": True, "default": None}
LIST: dict[str, Any] = {"multiple": True}
PATHS: dict[str, Any] = {"multiple": True, "type": click.Path(path_type=Path)}


class One(click.types.StringParamType):
    """A string that may contain spaces in an environment variable, although the flag can be repeated."""

    def split_envvar_value(self, rv: str) -> list[str]:
        return [rv]


WHEN: dict[str, Any] = {"type": click.Choice(["auto", "always", "never"])}
REPLACES = "Use --threshold with similarities and --within with distances."


def measures() -> str:
    """The measures that similar items can be found by, with their data types."""
    return "; ".join(f"{', '.join(names)} ({kind})" for kind, names in groupby(kinds.measures(), lambda name: kind_of(name).name))


def listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"


FLAGS: dict[str, Flag] = {
    "field": Flag(
        INPUT,
        "--field --text",
        "Column or JSON path to compare. a.b is a nested field, A+B joins two fields, A|B takes the first field that a record has, A@GLOB applies "
        "only to inputs that match GLOB. Repeatable.",
        "F",
        lambda: f"{listed(dict.fromkeys(kind.field for kind in kinds.kinds().values()))}, by data type",
        {"multiple": True, "type": One()},
        brief="Column or JSON path to compare.",
    ),
    "records": Flag(INPUT, "--records", "Path of the list of records inside a JSON document, such as data or response.items.", "PATH"),
    "html": Flag(
        INPUT,
        "--html",
        "Part of the HTML pages in web archives to compare: the text of the whole page, the main text without menus and footers, or the raw source.",
        shown="text",
    ),
    "id": Flag(INPUT, "--id", "Column or JSON path of the id.", "F", "id, else the position", brief=""),
    "per": Flag(INPUT, "--per", "Compare only items with the same value of this field, such as a language or a shop.", "F"),
    "min_tokens": Flag(INPUT, "--min-tokens", "Keep items of fewer than N tokens without comparing them; count them.", "N", settings={"type": int}),
    "level": Flag(
        SIMILARITY,
        "--level",
        "The part to compare and remove: document; paragraph or line, which are cut out of the documents, with a default --threshold of 1: the same "
        "shingles; or passage, a run of tokens (--min-run) that occurs before, or with --against in the second collection.",
        "PART",
        "document",
        brief="Remove each repeated document, paragraph, line or passage.",
    ),
    "min_left": Flag(
        OUTPUT,
        "--min-left",
        "With --level line, paragraph or passage: remove documents that lose parts and keep fewer than N tokens.",
        "N",
        "1",
        settings={"type": int},
    ),
    "on_error": Flag(
        INPUT, "--on-error", "If a record cannot be decoded, stop the run (fail), or reject and count the record (skip; the default for images)."
    ),
    "max_record": Flag(INPUT, "--max-record", "Maximum size of a line, element, value or text file, after decompression.", "SIZE", "64M"),
    "limit": Flag(INPUT, "--limit", "Read only the first N items.", "N", settings={"type": int}),
    "query": Flag(
        INPUT,
        "--query",
        "Items to find neighbors for. Repeatable.",
        "QUERY",
        "each item of INPUT",
        LIST,
        brief="",
        values=FILE,
    ),
    "groups": Flag(INPUT, "--groups", "Table that maps each element to a group; the sets of groups are compared.", "FILE", values=FILE),
    "vectors": Flag(
        INPUT,
        "--vectors",
        "Token vectors: .parquet, .npz, or .txt in the format of word2vec and GloVe. INPUT then holds documents.",
        "FILE",
        brief="",
        values=FILE,
    ),
    "most": Flag(INPUT, "--most", "Maximum number of features per image; the strongest are kept.", "N", "500", {"type": int}, brief=""),
    "every": Flag(INPUT, "--every", "Seconds between the key frames of a video.", "SECONDS", "0.5", {"type": float}, brief=""),
    "kind": Flag(
        INPUT,
        "--kind",
        "Extract perceptual hashes instead of local features (images) or colors (videos): by frequencies (phash), differences (dhash) "
        "or averages (ahash).",
        shown="none",
        brief="",
    ),
    "bits": Flag(INPUT, "--bits", "Number of bits of a perceptual hash: 64 or 256.", "N", "64", {"type": int}, brief=""),
    "against": Flag(
        INPUT,
        "--against",
        "Compare INPUT with these files, or with an index, instead of with itself. Repeatable.",
        "INPUT",
        settings=LIST,
        brief="",
        values=FILE,
    ),
    "also_inside": Flag(
        INPUT,
        "--also-inside",
        "With --against, also remove items that are similar to a kept item of INPUT.",
        settings=SWITCH,
    ),
    "suspects": Flag(
        INPUT,
        "--in --suspects",
        "Texts to search for passages of CORPUS. Repeatable.",
        "SUSPECT",
        settings=LIST,
        brief="",
        values=FILE,
    ),
    "existing": Flag(
        INPUT,
        "--existing",
        "If the id of a record is taken: stop with an error (refuse), leave the record out (skip), or replace the old one (replace).",
        shown="refuse",
        brief="If an id is taken: stop, leave the record out, or replace the old one.",
    ),
    "ids_from": Flag(
        INPUT,
        "--ids-from",
        "Also take the ids of these records. Repeatable.",
        "INPUT",
        settings=LIST,
        brief="",
        values=FILE,
    ),
    "missing": Flag(
        INPUT, "--missing", "If an id is not in the index: leave it out (ignore), or stop and remove nothing (refuse).", shown="ignore", brief=""
    ),
    "by": Flag(
        SIMILARITY,
        "--by",
        lambda: (
            f"How similarity is measured. For documents, the kind of token ({', '.join(UNITS)}) and the number of tokens in a shingle; the suffix "
            f"/bag counts repeats. For other data types, a measure: {measures()}; l3, l2.5 ... are other L_r. In pairs, the suffix "
            "/containment (documents and elements) measures the share of a that b contains."
        ),
        "UNIT:K",
        brief="Shingles of documents (words:5, chars:9, ...), or a measure (cosine, ...).",
        values=lambda: [*(f"{unit}:{k}" for unit, (k, _) in UNITS.items()), *kinds.measures()],
    ),
    "threshold": Flag(
        SIMILARITY,
        "--threshold",
        f"Minimum similarity, above 0 and up to 1, inclusive. {REPLACES}",
        "S",
        "0.8; by image/region 0.5",
        brief="Minimum similarity, inclusive.",
    ),
    "within": Flag(
        SIMILARITY,
        "--within",
        f"Maximum distance, inclusive. {REPLACES} For documents the distance is 1 - similarity.",
        "D",
        brief=f"Maximum distance, inclusive. {REPLACES}",
    ),
    "preset": Flag(
        SIMILARITY,
        "--preset",
        f"Use the --by, --bands, --rows and --threshold of a published pipeline: {', '.join(PRESETS)}. "
        f"With --level passage and --against, the recipe to remove test data: {', '.join(RECIPES)}.",
        "NAME",
        values=lambda: (*PRESETS, *RECIPES),
    ),
    "recall": Flag(
        SIMILARITY,
        "--recall",
        "Minimum probability that a pair exactly at the threshold is found.",
        "R",
        "0.99",
        settings={"type": float},
    ),
    "normalize": Flag(
        SIMILARITY,
        "--normalize",
        "Normalization steps to apply before a text is cut into tokens, or a string is compared, instead of the default ones: "
        f"{', '.join(STEPS)}; or none. "
        f"{ALL_MASKS} stands for {', '.join(MASKS)}. Their values, and the matches of {PATTERN}REGEX, which extends to the end of LIST, become 0. "
        "--normalize lower applies this step only. The order of the names does not matter. Repeatable.",
        "LIST",
        lambda: f"{','.join(UNITS['words'][1])} for words; none for strings",
        {"multiple": True, "type": One()},
        brief="Normalization steps instead of the default ones: lower,punct, ... or none.",
        values=lambda: (ALL_MASKS, *STEPS),
    ),
    "ignore": Flag(
        SIMILARITY,
        "--ignore",
        "Leave out the shingles, or elements, of these inputs, such as a license notice or template. Repeatable.",
        "INPUT",
        settings=PATHS,
        values=FILE,
    ),
    "ignore_common": Flag(
        SIMILARITY,
        "--ignore-common",
        "Leave out shingles, or elements, in more than this share of the distinct items, such as 0.01 or 1%. The inputs are read twice.",
        "F",
    ),
    "exact": Flag(
        SIMILARITY,
        "--exact",
        "Find every pair: by an exact similarity join for sets and strings, by comparing all pairs for other items.",
        settings=SWITCH,
        brief="Find every pair (recall 1), even if that takes longer.",
    ),
    "min_run": Flag(
        SIMILARITY,
        "--min-run",
        "Find every run of N equal tokens or more. At least N tokens agree in a passage.",
        "N",
        "12; 60 characters; 3 lines",
        {"type": int},
        brief="",
    ),
    "gap": Flag(
        SIMILARITY,
        "--gap",
        "A passage continues after a difference of at most N tokens in either text.",
        "N",
        "12; 60 characters; 3 lines",
        {"type": int},
    ),
    "common": Flag(
        SIMILARITY,
        "--common",
        "List only passages in more than this share of the documents, such as 0.01 or 1%.",
        "F",
        brief="",
    ),
    "k": Flag(SIMILARITY, "-k --k", "Neighbors per query.", "K", "10", {"type": int}, brief=""),
    "bands": Flag(SIMILARITY, "--bands", "Number of bands.", "B", "planned", {"type": int}),
    "rows": Flag(SIMILARITY, "--rows", "Rows per band.", "R", "planned", {"type": int}),
    "slots": Flag(SIMILARITY, "--slots", "Maximum number of slots in a signature.", "K", "planned", {"type": int}),
    "layouts": Flag(SIMILARITY, "--layouts", "Compare several layouts: BANDSxROWS,...", "LIST", brief=""),
    "sketch": Flag(SIMILARITY, "--sketch", "Compute signatures by one permutation hashing (oph), or with one hash function per slot (classic)."),
    "family": Flag(SIMILARITY, "--family", "Hash family, if the measure has several.", "NAME", "the first of the measure", values=lambda: FAMILIES),
    "dimension": Flag(SIMILARITY, "--dimension", "Dimension of the vectors, or number of bits of the codes.", "N", settings={"type": int}),
    "wide": Flag(SIMILARITY, "--wide", "Store vectors as float64 instead of float32.", settings=SWITCH),
    "sparse": Flag(SIMILARITY, "--sparse", "Store sparse vectors, which have no --dimension.", settings=SWITCH),
    "sets": Flag(
        SIMILARITY,
        "--sets",
        "Parts of each item to store for comparisons: its complete set (full), 48 bits of each shingle or element (compact), or a short signature "
        "(none), so that answers are estimates.",
        shown="full",
        brief="Store complete sets, 48 bits of each element, or signatures for estimates.",
    ),
    "force": Flag(
        SIMILARITY,
        "--force",
        "Answer even at a --threshold or --within at which the bands of the index find less than half of the similar items.",
        settings=SWITCH,
    ),
    "tune": Flag(SIMILARITY, "--tune", "Plan for a target recall, or for the minimum weighted error, which guarantees no recall."),
    "verify": Flag(SIMILARITY, "--verify", "How candidates are compared: exactly, by an estimate from signatures, or not at all."),
    "seed": Flag(
        SIMILARITY, "--seed", "Seed of the hash functions; the same seed gives the same bytes. random draws and records a seed.", "N|random"
    ),
    "sample": Flag(SIMILARITY, "--sample", "Size of the sample.", "N", "1000", {"type": int}, brief=""),
    "plant": Flag(
        SIMILARITY,
        "--plant",
        "For --level passage --against: plant N test items in copies of training documents, in each of several forms, and count those found.",
        "N",
        settings={"type": int},
    ),
    "items": Flag(SIMILARITY, "--items", "Number of items to plan for.", "N", "1,000,000", {"type": int}, brief=""),
    "keep": Flag(
        OUTPUT,
        "--keep",
        f"Which item of a cluster to keep: {', '.join(KEEP_POLICIES)}, or the one with the highest (max:F) or lowest (min:F) value of field F.",
        "POLICY",
        brief=f"Which item of a cluster to keep: {', '.join(KEEP_POLICIES)}, max:F or min:F.",
        values=lambda: (*KEEP_POLICIES, "max:", "min:"),
    ),
    "prefer": Flag(OUTPUT, "--prefer", "Prefer to keep items from files that match GLOB. Repeatable, in order of preference.", "GLOB", settings=LIST),
    "copies": Flag(OUTPUT, "--copies", "With empty, items without tokens count as exact copies of each other."),
    "output": Flag(
        OUTPUT,
        "--output",
        "copy: the kept records; ids: their ids; mask: a table of all records, kept or not; annotate: all records with cluster, representative and "
        "similarity added.",
    ),
    "pairs": Flag(OUTPUT, "--pairs", "Also write pairs.parquet with the similar pairs found during the run.", settings=SWITCH),
    "removed_records": Flag(OUTPUT, "--removed-records", "Also write the removed records to OUT/removed/.", settings=SWITCH),
    "sketches": Flag(
        OUTPUT,
        "--sketches",
        "Also write the band keys and sets of the kept records to OUT/sketches/, from which an index can be built without reading the texts again.",
        settings=SWITCH,
    ),
    "star": Flag(OUTPUT, "--star", "List each member of a cluster only with its representative.", settings=SWITCH),
    "max_pairs": Flag(OUTPUT, "--max-pairs", "Stop with an error if there are more than N pairs.", "N", settings={"type": int}),
    "out": Flag(OUTPUT, "-o --out", "Output folder.", "OUT", brief="", values=FOLDER),
    "svg": Flag(OUTPUT, "--svg", "Write the curve to this file.", "FILE", brief="", values=FILE),
    "page": Flag(
        OUTPUT,
        "--page",
        "Also write an HTML page with the passages of both texts side by side.",
        "FILE",
        brief="",
        values=FILE,
    ),
    "csv_formulas": Flag(
        OUTPUT,
        "--csv-formulas",
        "In CSV, put ' before text that a spreadsheet would run as a formula, or write it raw.",
        "escape|raw",
        "escape",
        {"type": click.Choice(CHOICES["csv_formulas"])},
    ),
    "overwrite": Flag(OUTPUT, "--overwrite", "Replace OUT when the new one is complete.", settings=SWITCH, brief=""),
    "resume": Flag(RUN, "--resume", "Continue an interrupted run.", settings=SWITCH, brief=""),
    "dry_run": Flag(RUN, "--dry-run", "Print the plan and the inputs; write nothing.", settings=SWITCH, brief=""),
    "threads": Flag(RUN, "--threads", "Number of threads. The result does not depend on it.", "N", "all", {"type": int}),
    "memory": Flag(
        RUN,
        "--memory",
        "Memory for the data, such as 1.5G. Python and the libraries need another 170 MB, or 370 MB in a run that compiles kernels.",
        "SIZE",
        "75% of available memory",
        brief="Memory for the data, such as 1.5G.",
    ),
    "durability": Flag(
        RUN,
        "--durability",
        "An acknowledged write survives a power loss (commit), or only the end of the process, even by a crash (relaxed).",
        shown="commit",
    ),
    "work": Flag(
        RUN,
        "--work",
        "Folder for intermediate files, new or empty. A new one is deleted at the end; an existing one is left empty.",
        "DIR",
        "OUT.work",
        values=FOLDER,
    ),
    "engine": Flag(RUN, "--engine", "Compute on this machine (local), or on a Spark cluster, with the same result (spark).", shown="local"),
    "master": Flag(
        RUN,
        "--master",
        "Cluster for --engine spark: local[4], spark://HOST:7077, yarn, k8s://https://HOST:6443, or sc://HOST:15002 for Spark Connect.",
        "URL",
        "the session of spark-submit or Databricks",
    ),
    "host": Flag(
        RUN, "--host", "Address to serve at. If other machines can reach it, an index and --token-file are required.", "HOST", "127.0.0.1", brief=""
    ),
    "port": Flag(RUN, "--port", "Port to serve at; 0 chooses a free one, which the log names.", "PORT", "8080", {"type": int}, brief=""),
    "token_file": Flag(
        RUN,
        "--token-file",
        "File with a line `read TOKEN` or `write TOKEN` for each token. Without it, only reads from this machine are served.",
        "FILE",
        brief="",
        values=FILE,
    ),
    "config": Flag(RUN, "--config", "Settings file.", "FILE", "likewise.toml or [tool.likewise] in this folder or a parent", values=FILE),
    "compile": Flag(RUN, "--compile", "Compile all kernels now, so that later runs do not wait for it.", settings=SWITCH),
    "json": Flag(MESSAGES, "--json", "Print one JSON document (likewise schema describes it).", settings=SWITCH, brief=""),
    "exit_code": Flag(MESSAGES, "--exit-code", "Exit with status 1 if anything was found.", settings=SWITCH),
    "quiet": Flag(MESSAGES, "-q --quiet", "Print results and errors only.", settings=SWITCH),
    "verbose": Flag(MESSAGES, "-v --verbose", "Print the time of each step.", settings=SWITCH),
    "color": Flag(MESSAGES, "--color", "Colors: auto (on a terminal), always or never.", "WHEN", "auto", WHEN),
    "progress": Flag(
        MESSAGES,
        "--progress",
        "Progress bar: auto (on a terminal; elsewhere a line every 10 seconds), always or never.",
        "WHEN",
        "auto",
        WHEN,
    ),
}

#: How config.py reads each flag's value. A settings file cannot name another one.
KINDS = {
    name: config.SWITCH if flag.settings.get("is_flag") else config.LIST if flag.settings.get("multiple") else config.VALUE
    for name, flag in FLAGS.items()
    if name != "config"
}
