"""The options of each verb, and the types of their values. The signatures of the verbs list them too; `options` checks the values.

The command line has the same names, with ``-`` for ``_``, and further flags for its output (cli/).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, get_args

from likewise.errors import UsageError
from likewise.messages import option

#: A similarity or a distance; strings, fractions and decimals are exact.
Number = float | str | Fraction | Decimal
#: Separator of a field and the glob of its sources (NAME@GLOB).
AT = "@"

OnError = Literal["fail", "skip"]
Sketch = Literal["oph", "classic"]
Tune = Literal["recall", "error"]
Verify = Literal["exact", "estimate", "none"]
Copies = Literal["none", "empty"]
Output = Literal["copy", "ids", "mask", "annotate"]
CsvFormulas = Literal["escape", "raw"]
Html = Literal["text", "main", "raw"]
Level = Literal["document", "paragraph", "line", "passage"]
Engine = Literal["local", "spark"]
Hash = Literal["phash", "dhash", "ahash"]
HashBits = Literal[64, 256]
#: The content of an item that an index keeps for comparisons: its words; their upper bits; or a shortened signature, for estimates.
Kept = Literal["full", "compact", "none"]
#: The rule for items whose ids an index has: nothing is written; they are left out; they take the places of the old ones.
Existing = Literal["refuse", "skip", "replace"]
ExistingNew = Literal["refuse", "skip"]  # of add_new
#: The rule for ids that it does not have.
Missing = Literal["ignore", "refuse"]
#: "commit": an acknowledged change survives power loss. "relaxed": it survives the end of the process, however it ends, but not power loss.
Durability = Literal["commit", "relaxed"]
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
        ("html", Html),
        ("level", Level),
        ("engine", Engine),
        ("kind", Hash),
        ("sets", Kept),
        ("existing", Existing),
        ("missing", Missing),
        ("durability", Durability),
    )
}


#: Options, in groups: reading the inputs; the similarity of items; the bands that find candidates; the machine and the cluster, which do not change
#: the result; and the files that `dedup` writes.
READING = "field records html id on_error max_record limit"
LIMIT = "threshold within recall"
SIMILARITY = f"by {LIMIT} exact normalize ignore ignore_common groups per seed"
LAYOUT = "bands rows slots sketch tune"
MACHINE = "threads memory work"
CLUSTER = "engine master"
SEARCH = f"{SIMILARITY} {READING} min_tokens {LAYOUT} preset {MACHINE}"
WRITTEN = "output pairs removed_records sketches"
QUOTED = READING.replace(" limit", "")
#: Verb -> its options.
TAKES = {
    "dedup": f"out against also_inside {SEARCH} level min_run min_left verify keep prefer copies {WRITTEN} overwrite resume {CLUSTER}",
    "pairs": f"against {SEARCH} verify keep prefer copies star max_pairs {CLUSTER}",
    "neighbors": f"query k {SIMILARITY} {READING} {MACHINE} {CLUSTER}",
    "quotes": f"suspects by threshold min_run gap normalize ignore ignore_common seed {QUOTED} {MACHINE}",
    "repeats": f"by min_run common normalize seed {QUOTED} {MACHINE}",
    "plan": f"by {LIMIT} normalize field records html {LAYOUT} layouts preset family dimension items seed",
    "audit": f"sample plant level {SEARCH}",
    "features": f"vectors most every kind bits by normalize {READING} threads work",
}


def given(verb: str, arguments: Mapping[str, Any], own: str = "") -> dict[str, Any]:
    """Return the options of a call that are not None, without those named in ``own``. arguments: the arguments of the verb, by name (``locals()``).

    Raises UsageError for names that the verb does not have (its argument ``unknown``), and for empty strings.
    """
    refuse_others(verb, arguments["unknown"])
    refuse_empty(**arguments)
    names = set(TAKES[verb].split()) - set(own.split())
    return {name: value for name, value in arguments.items() if name in names and value is not None}


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
    return f"{given}: this is an empty string, perhaps from an unset variable; give a value or leave it out"


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
        raise UsageError(f"{verb} has no option {name!r}, which belongs to {', '.join(others)}{instead}")
