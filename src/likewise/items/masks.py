"""Masks: steps that replace values in texts, such as dates and addresses, by the word 0."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from likewise.items import tables, unicode
from likewise.items.automata import automaton
from likewise.items.expressions import replaced
from likewise.kernels import tokens
from likewise.kernels.masks import SPARE, WORD, mask
from likewise.methods import HEADER, MASKS, PATTERN

#: A number with leading zero or without, up to the given one.
MONTH, DAY, TWO = "(0?[1-9]|1[0-2])", "(0?[1-9]|[12][0-9]|3[01])", "(0[1-9]|[12][0-9]|3[01])"
YEAR, HOUR, SIXTY = "[12][0-9]{3}", "([01]?[0-9]|2[0-3])", "[0-5][0-9]"
HEX, GROUP, OCTET = "[0-9a-fA-F]", "[0-9a-fA-F]{1,4}", "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"

V4 = rf"{OCTET}(\.{OCTET}){{3}}"
V6 = "|".join(
    [
        f"({GROUP}:){{7}}{GROUP}",
        f"({GROUP}:){{6}}{V4}",
        *(f"({GROUP}:){{{left}}}:({GROUP}:){{0,{6 - left}}}{GROUP}" for left in range(1, 7)),
        *(f"({GROUP}:){{{left}}}:({GROUP}:){{0,{5 - left}}}{V4}" for left in range(1, 6)),
        f"::({GROUP}:){{0,6}}{GROUP}",
        f"::({GROUP}:){{0,5}}{V4}",
        f"({GROUP}:){{1,7}}:",
    ]
)
ZONE = "(%[0-9a-zA-Z.-]+)?"

JAN = "(?i:jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sep(t|tember)?|oct(ober)?|nov(ember)?|dec(ember)?)\\.?"
MON = "(?i:mon(day)?|tue(sday)?|wed(nesday)?|thu(rsday)?|fri(day)?|sat(urday)?|sun(day)?)"
OFFSET = f"[+-](0[0-9]|1[0-4]):?{SIXTY}"
NAMED = f" ?(Z|(UTC|GMT)({OFFSET}|[+-][0-9]{{1,2}})?|[ECMP][SD]T|CES?T)"
SHIFT = f"({NAMED}| ?{OFFSET}|[+-][01][0-9])?"
FRACTION = "([.,:][0-9]{1,9})?"
CLOCK = f"{HOUR}:{SIXTY}(:({SIXTY}|60){FRACTION})?( ?[AaPp][Mm])?"
#: A time after a date, where minutes and seconds may have one digit.
TIME = f"{HOUR}:[0-5]?[0-9](:([0-5]?[0-9]|60){FRACTION})?( ?[AaPp][Mm])?"
YMD = "|".join(f"{YEAR}{mark}{MONTH}{mark}{DAY}" for mark in ("-", "/", "\\."))
DATE = "|".join(
    [
        YMD,
        f"(19|20)[0-9]{{2}}(0[1-9]|1[0-2]){TWO}",
        *(f"{DAY}{mark}{DAY}{mark}{YEAR}" for mark in ("-", "/", "\\.")),
        f"[0-9]{{2}}/{TWO}/[0-9]{{2}}",
        rf"{TWO}\.{TWO}\.[0-9]{{2}}",
        f"{DAY}(?i:st|nd|rd|th)?[ /-]{JAN}([ /-]|, ){YEAR}",
        f"{DAY}(?i:st|nd|rd|th)? {JAN}",
        f"{JAN}  ?{DAY}(?i:st|nd|rd|th)?(,? {YEAR})?",
        f"{JAN},? {YEAR}",
        f"{YEAR}[/-](0[1-9]|1[0-2])",
    ]
)
NUMBER = "([0-9]+([.,][0-9]+)*|\\.[0-9]+)"
#: Units of time, of which several may follow one another, and other units, both with the case of their letters.
SPAN = "(ns|us|µs|μs|ms|s|secs?|m|mins?|h|hrs?|d)"
UNIT = "([kKMGTPE]i?[bB]?|[bB])(/s|ps)?|[kKMGT]?bits?(/s)?|[kMG]?Hz|[nµμmck]m|[mk]?g|[mk]?V|m?A|[mkMG]?W|[kMG]?Wh|%|‰|°[CF]?|px|pt|x"

#: The values of each mask. A value is neither preceded nor followed by a letter or digit; of several that begin at one place, the longest counts.
PATTERNS = {
    "uuid": f"{HEX}{{8}}(-{HEX}{{4}}){{3}}-{HEX}{{12}}",
    "ip": rf"{V4}(:[0-9]{{1,5}}|/[0-9]{{1,2}})?|({V6}){ZONE}(/[0-9]{{1,3}})?|\[({V6}){ZONE}\]:[0-9]{{1,5}}",
    "dates": "|".join(
        [
            rf"({MON}[,.]? )?({DATE})(([T _:-]|, | at ){TIME}{SHIFT})?",
            f"({MON} )?{JAN}  ?{DAY} {TIME}{SHIFT} {YEAR}",
            rf"({YMD})-{HOUR}\.{SIXTY}\.{SIXTY}(\.[0-9]{{1,9}})?",
            f"{YEAR}(0[1-9]|1[0-2]){TWO}[T_-]?([01][0-9]|2[0-3]){SIXTY}({SIXTY}{FRACTION})?{SHIFT}",
            f"{TWO}[./-]{TWO} {CLOCK}",
            f"{CLOCK}({NAMED})?",
            "(1[0-2]|[1-9])[AaPp][Mm]",
        ]
    ),
    "hex": "|".join(
        [
            f"0[xX]{HEX}+",
            *(f"[a-fA-F]{{{before}}}[0-9]{HEX}{{{6 - before},}}" for before in range(6)),
            f"[a-fA-F]{{6,}}[0-9]{HEX}*",
            *(f"{HEX}{{2}}({mark}{HEX}{{2}}){{5,}}" for mark in ":-"),
        ]
    ),
    "numbers": f"[+−-]?{NUMBER}([eE][+-]?[0-9]+)?({SPAN}({NUMBER}{SPAN})*|{UNIT})?",
}


class Parts(NamedTuple):
    """The steps in groups, which are applied in this order."""

    header: bool
    patterns: list[str]
    masks: tuple[str, ...]
    changes: tuple[str, ...]  # of characters

    @property
    def edited(self) -> bool:
        """True if regular expressions are applied."""
        return self.header or bool(self.patterns)

    @property
    def copies(self) -> int:
        """Copies of a text that these steps make, beyond those of any run."""
        return 3 * self.edited + 2 * bool(self.masks)


def parts(steps: Iterable[str]) -> Parts:
    """Steps in groups."""
    given = tuple(steps)
    patterns = [step.removeprefix(PATTERN) for step in given if step.startswith(PATTERN)]
    masks = tuple(step for step in MASKS if step in given)
    changes = tuple(step for step in given if step not in (*MASKS, HEADER) and not step.startswith(PATTERN))
    return Parts(HEADER in given, patterns, masks, changes)


@lru_cache(maxsize=16)
def automaton_of(masks: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arguments ``classes``, ``moves`` and ``accepts`` of kernels.masks.mask. Decimal digits of all scripts count as those of ASCII."""
    found = automaton("|".join(f"({PATTERNS[name]})" for name in masks))
    kinds = tables.classes("words")
    classes = np.where((kinds == tokens.LETTER) | (kinds == tokens.MARK), WORD, np.uint8(0))
    classes[ord("_")] = 0
    for char, number in found.symbols.items():
        classes[ord(char)] |= number
    digits = np.flatnonzero(unicode.digits())  # each script has them in order, from 0 to 9
    classes[digits] = classes[ord("0") + np.arange(len(digits)) % 10]
    return classes, found.moves, found.accepts


def masked(text: str, steps: Iterable[str]) -> str:
    """A text after the steps before those that change characters.

    >>> masked("2024-05-01 10.0.0.1: 3.5GB in 20ms, job-7", ("dates", "ip", "numbers"))
    '0 0: 0 in 0, job-0'
    """
    of = parts(steps)
    raw = text.encode("utf-8", "surrogatepass")
    if of.edited:
        raw = replaced(pa.array([raw], pa.large_binary()), of.patterns, header=of.header)[0].as_py()
    if of.masks:
        data = np.frombuffer(raw, np.uint8)
        out = np.empty(len(data) + SPARE, np.uint8)
        _, length, _ = mask(data, np.zeros(1, np.int64), np.array([len(raw)]), *automaton_of(of.masks), out, None)
        raw = out[: length[0]].tobytes()
    return raw.decode("utf-8", "surrogatepass")
