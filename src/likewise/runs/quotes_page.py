"""The page of passages: each suspect's text, and beside it the passages of the corpus, linked in both directions. It needs no other file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from likewise.drawing.markup import Html, join, named, table, tag
from likewise.drawing.numbers import counted, percent, share
from likewise.drawing.page import document
from likewise.drawing.style import BASE

#: Suspects on a page, and passages of each; the others are counted.
MOST_SUSPECTS, MOST_PASSAGES = 200, 100
#: Characters of a suspect that are shown as a whole; else those before and after passages, AROUND. The same around passages of the corpus.
WHOLE, AROUND = 2_000, 160
#: Characters of a passage; of a longer one the middle is left out.
LONGEST = 4_000

STYLE = (
    BASE
    + """\
main { max-width: 80rem; }
h2 { font-size: 1.2rem; }
h3 { margin: 0 0 .3rem; font-size: .9rem; overflow-wrap: anywhere; }
meter { width: 8rem; max-width: 100%; vertical-align: middle; }
meter::-webkit-meter-optimum-value { background: var(--accent); }
meter::-moz-meter-bar { background: var(--accent); }
.pair .text { font-size: .92rem; margin: .2rem 0; }
article { margin: 0 0 1.2rem; }
mark { background: var(--ins); color: inherit; border-bottom: 1px solid var(--accent); print-color-adjust: exact; -webkit-print-color-adjust: exact; }
mark .cut { color: inherit; }
a.number { text-decoration: none; font-size: .75rem; font-weight: 600; vertical-align: super; line-height: 0; padding: .3rem; color: var(--accent); }
:target { outline: 3px solid var(--near); outline-offset: 2px; }
@media print { .pair > * { break-inside: auto; } article { break-inside: avoid; } }
"""
)


class Passage(NamedTuple):
    """A passage of a suspect, and what it is like in the corpus."""

    start: int
    end: int
    corpus: object  # the id
    source: str
    place: tuple[int, int]  # first character and end in the corpus
    agreed: int
    similarity: float
    before: str  # the text of the corpus before, in and after the passage
    text: str
    after: str


class Suspect(NamedTuple):
    """A suspect with its passages, by their beginnings."""

    id: object
    source: str
    text: str
    covered: int  # characters in passages
    length: int  # characters
    passages: Sequence[Passage]
    number: int  # of all its passages


class Entry(NamedTuple):
    """A suspect in the table of contents."""

    id: object
    covered: int  # characters in passages
    length: int  # characters


def render(headline: str, warnings: Sequence[str], contents: Sequence[Entry], suspects: Iterator[Suspect], number: int) -> Iterator[str]:
    """Return the parts of the page. number: of suspects with passages, of which only the first MOST_SUSPECTS are given, also in the contents."""
    return document(f"likewise: {headline}", body(headline, warnings, contents, suspects, number), style=STYLE)


def body(headline: str, warnings: Sequence[str], contents: Sequence[Entry], suspects: Iterator[Suspect], number: int) -> Iterator[Html]:
    """Yield the parts of the page below its head, as `render`."""
    yield tag("header", tag("h1", headline))
    if warnings:
        yield tag("section", tag("ul", *(tag("li", said) for said in warnings)), class_="banner")
    if len(contents) > 1:
        order = sorted(range(len(contents)), key=lambda place: -contents[place].covered / max(1, contents[place].length))
        rows = [line(contents[place], place + 1) for place in order]
        yield table("Suspects, the largest share in passages first", ["suspect", "in passages", "characters"], rows)
    for place, suspect in enumerate(suspects, 1):
        yield section(suspect, place)
    if number > MOST_SUSPECTS:
        yield tag("p", f"{counted(number - MOST_SUSPECTS, 'more suspect')} with passages; the table has all of them.", class_="faint")


def cover_of(suspect: Suspect | Entry) -> str:
    """The share of its characters in passages, in words."""
    return percent(suspect.covered / suspect.length) if 0 < suspect.covered < suspect.length else share(suspect.covered, suspect.length)


def line(entry: Entry, place: int) -> list[object]:
    """A suspect in the table of contents, linked to its first passage."""
    return [tag("a", named(entry.id), href=f"#s{place}-1"), cover_of(entry), entry.length]


def section(suspect: Suspect, place: int) -> Html:
    """A suspect beside the passages of the corpus."""
    cover = cover_of(suspect)
    said = f"{cover} of {counted(suspect.length, 'character')} in {counted(suspect.number, 'passage')}"
    bar = tag("meter", cover, min=0, max=max(1, suspect.length), value=suspect.covered)
    where = None if str(suspect.id) == suspect.source else join([" in ", named(suspect.source)])
    rest = suspect.number - len(suspect.passages)
    more = tag("p", f"{counted(rest, 'more passage')}; the table has all of them.", class_="faint") if rest else None
    text = marked(suspect.text, [(one.start, one.end) for one in suspect.passages], lambda number: numbered(place, number))
    left = tag("div", tag("h3", "Suspect"), tag("div", *text, class_="text"))
    right = tag("div", *(article(passage, place, number) for number, passage in enumerate(suspect.passages, 1)), more)
    return tag("section", tag("h2", named(suspect.id), where), tag("p", bar, " ", said), tag("div", left, right, class_="pair"))


def numbered(place: int, number: int) -> Html:
    """The number of a passage where it begins in the suspect, linked to the passage of the corpus."""
    return tag("a", str(number), id=f"s{place}-{number}", href=f"#c{place}-{number}", class_="number")


def article(passage: Passage, place: int, number: int) -> Html:
    """A passage as it occurs in the corpus."""
    back = tag("a", str(number), href=f"#s{place}-{number}", class_="number")
    where = None if str(passage.corpus) == passage.source else join([" in ", named(passage.source)])
    low, high = passage.place
    whole = passage.similarity == 1
    like = (
        f"{counted(passage.agreed, 'token')}, all equal"
        if whole
        else f"{counted(passage.agreed, 'equal token')}, similarity {passage.similarity:.2f}"
    )
    said = f"characters {low:,} to {high:,}; {like}"
    text = tag("div", passage.before, tag("mark", shortened(passage.text)), passage.after, class_="text")
    return tag("article", tag("h3", back, " ", named(passage.corpus), where), tag("p", said, class_="faint"), text, id=f"c{place}-{number}")


def shortened(text: str) -> Html:
    """The text, or its beginning and end."""
    if len(text) <= LONGEST:
        return join([text])
    half = LONGEST // 2
    return join([text[:half], left_out(len(text) - 2 * half), text[-half:]])


def left_out(number: int) -> Html:
    """A mark in place of characters that are not shown."""
    return tag("span", f" … {counted(number, 'character')} … ", class_="cut")


def marked(text: str, spans: Sequence[tuple[int, int]], number_of: Callable[[int], Html], *, whole: bool = False) -> Iterator[object]:
    """Yield a text in pieces, those in spans of characters marked; of a long text only what is around them, or all of it.

    number_of: makes the number of a span, from 1, which stands where it begins.
    """
    begins: dict[int, list[int]] = {}
    for number, (start, _) in enumerate(spans, 1):
        begins.setdefault(start, []).append(number)
    edges = sorted({0, len(text), *chain.from_iterable(spans)})
    starts, ends = (sorted(one[edge] for one in spans) for edge in range(2))
    open_ = began = ended = 0
    for low, high in pairwise(edges):
        while began < len(starts) and starts[began] <= low:
            began, open_ = began + 1, open_ + 1
        while ended < len(ends) and ends[ended] <= low:
            ended, open_ = ended + 1, open_ - 1
        yield from map(number_of, begins.get(low, ()))
        piece = text[low:high]
        if open_:
            yield tag("mark", piece if whole else shortened(piece))
        elif whole or len(text) <= WHOLE or len(piece) <= 3 * AROUND:
            yield piece
        else:
            before = piece[:AROUND] if low else ""
            after = piece[-AROUND:] if high < len(text) else ""
            yield join([before, left_out(len(piece) - len(before) - len(after)), after])
