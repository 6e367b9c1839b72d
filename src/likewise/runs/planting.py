"""Measured decontamination: test items are planted in copies of training documents, in forms that hide them, and searched for as a run does."""

from __future__ import annotations

import math
import random
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from likewise.drawing.controls import in_line
from likewise.drawing.markup import tag
from likewise.drawing.numbers import counted, percent
from likewise.drawing.preview import Preview, as_text, grid, listed, output

#: Characters of a training document that are used at most, and of a line of the wrapped kind.
LONGEST, WIDTH = 20_000, 40
#: The quantile of the normal distribution for 95 percent.
Z = 1.959964


def wrapped(text: str, words: list[str], numbers: random.Random) -> str:
    """The text in lines of WIDTH characters, with other line ends."""
    lines, line = list[str](), ""
    for word in text.split():
        if line and len(line) + len(word) >= WIDTH:
            lines.append(line)
            line = ""
        line = f"{line} {word}".lstrip()
    return "\r\n    ".join([*lines, line])


def punctuated(text: str, words: list[str], numbers: random.Random) -> str:
    """The text with commas in place of its punctuation between words, and without quotes."""
    kept = "".join(character for character in text if character not in "\"“”„«»'")
    return " ".join(f"{word.rstrip('.,;:!?')},".replace(",,", ",") if unicodedata.category(word[-1])[0] == "P" else word for word in kept.split())


def edited(share: float) -> Callable[[str, list[str], random.Random], str]:
    """A function that replaces a share of the words by words of training documents."""

    def change(text: str, words: list[str], numbers: random.Random) -> str:
        mine = text.split()
        for place in numbers.sample(range(len(mine)), max(1, round(share * len(mine)))):
            mine[place] = numbers.choice(words)
        return " ".join(mine)

    return change


#: Kinds of leaks: how a test item (text, words of training documents, random numbers) is changed before it is planted.
KINDS: dict[str, Callable[[str, list[str], random.Random], str]] = {
    "verbatim": lambda text, words, numbers: text,
    "wrapped": wrapped,
    "upper case": lambda text, words, numbers: text.upper(),
    "punctuation": punctuated,
    "decomposed": lambda text, words, numbers: unicodedata.normalize("NFD", text),
    "edited 5%": edited(0.05),
    "edited 10%": edited(0.1),
}


@dataclass
class Kind:
    """The outcome of the planted leaks of a kind."""

    kind: str
    planted: int
    found: int
    low: float  # 95% confidence interval of the share that is found
    high: float
    characters: int  # planted
    removed: int  # of these characters


@dataclass(repr=False)
class Planted:
    """The result of `audit` with planted leaks."""

    items: int  #: test items that are long enough
    documents: int  #: training documents without a leak, from which hosts are drawn
    removes: bool  #: the run removes text; else it judges test items
    kinds: list[Kind]  #: forms of leaks: how many were planted and found
    warnings: list[str] = field(default_factory=list)  #: remarks about the items

    @property
    def headline(self) -> str:
        """The result in one line."""
        shares = ", ".join(f"{one.kind} {percent(one.found / one.planted)}" for one in self.kinds if one.planted)
        return f"leaks found: {shares}" if shares else "no leak could be planted: no test item is long enough"

    def _table(self) -> Preview:
        rows = [[one.kind, one.planted, one.found, interval(one), removed(one) if self.removes else "nothing"] for one in self.kinds]
        return Preview("Planted leaks", ["kind", "planted", "found", "share, with 95% confidence", "text removed"], rows, len(rows))

    def __repr__(self) -> str:
        lines = [f"Planted: {self.headline}", *(f"warning: {in_line(said)}" for said in self.warnings)]
        return "\n".join([*lines, as_text(self._table())])

    def _repr_html_(self) -> str:
        heading = tag("p", tag("b", "Planted"), f": {self.headline}")
        return output("Planted", heading, listed(self.warnings), grid(self._table()))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def interval(one: Kind) -> str:
    """The share of leaks that are found."""
    return f"{percent(one.found / one.planted)} ({percent(one.low)} to {percent(one.high)})" if one.planted else "none planted"


def removed(one: Kind) -> str:
    """The share of the planted characters that are removed."""
    return percent(one.removed / one.characters) if one.characters else "nothing"


def wilson(found: int, of: int) -> tuple[float, float]:
    """A 95 percent interval of a share (Wilson, Probable Inference, JASA 1927).

    >>> [round(end, 3) for end in wilson(50, 100)], wilson(200, 200)[1]
    ([0.404, 0.596], 1.0)
    """
    if not of:
        return 0.0, 1.0
    share, weight = found / of, Z * Z / of
    middle, spread = share + weight / 2, Z * math.sqrt(share * (1 - share) / of + weight / (4 * of))
    low, high = (middle - spread) / (1 + weight), (middle + spread) / (1 + weight)
    return low if found else 0.0, high if found < of else 1.0


@dataclass
class Leak:
    """A training document with a planted test item."""

    text: str
    begin: int
    end: int
    item: int  # row of the test item in its collection


def planted(kind: str, items: dict[int, str], hosts: list[str], seed: int) -> Iterator[Leak]:
    """Yield each item, changed in a way, in a copy of a training document. Determined by the seed."""
    numbers = random.Random(f"{seed} {kind}")  # noqa: S311 - not for secrets
    words = [word for host in hosts for word in host.split()] or ["word"]
    for item, text in items.items():
        changed = KINDS[kind](text, words, numbers)
        host = numbers.choice(hosts) if hosts else ""
        places = [place for place, character in enumerate(host) if character.isspace()] or [len(host)]
        at = numbers.choice(places)
        yield Leak(f"{host[:at]}\n{changed}\n{host[at:]}", at + 1, at + 1 + len(changed), item)


def outcome(kind: str, leaks: list[Leak], cut: list[tuple[int, int, int]], gone: set[int], judged: dict[int, bool] | None) -> Kind:
    """The outcome of the leaks: cut are (document, begin, end), gone the documents that were removed; judged: contaminated by item, if nothing is."""
    removed = [0] * len(leaks)
    for document, begin, end in cut:
        leak = leaks[document]
        removed[document] += max(0, min(end, leak.end) - max(begin, leak.begin))
    for document in gone:
        removed[document] = leaks[document].end - leaks[document].begin
    found = sum(map(bool, removed)) if judged is None else sum(judged[leak.item] for leak in leaks)
    return Kind(kind, len(leaks), found, *wilson(found, len(leaks)), sum(leak.end - leak.begin for leak in leaks), sum(removed))


def said(one: Planted) -> str:
    """The numbers of test items and documents, in words."""
    return f"{counted(one.items, 'test item')} long enough to judge, {counted(one.documents, 'training document')} without a leak"
