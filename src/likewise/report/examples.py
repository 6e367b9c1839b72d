"""Removed items next to the kept ones, with differences marked: words, elements, characters or digits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from likewise.drawing.markup import Html, join, named, table, tag
from likewise.drawing.numbers import counted
from likewise.kinds import of_payload
from likewise.kinds.kind import DIGITS, NUMBERS, SIGNS, WORDS
from likewise.report import diff, differences
from likewise.report.pictures import LARGE, Pictures, none
from likewise.report.wording import amount
from likewise.runs.shown import shortened

#: Words kept at each end of an elided run, by kind of run.
CONTEXT = {"equal": 12, "delete": 40, "insert": 40}
#: Maximum number of runs shown of a text.
MOST_RUNS = 200
MARKS = {"delete": "del", "insert": "ins"}
#: Lines that a box shows, and about how many characters a line has in half of a page.
ROOM, LINE = 12, 60
#: Limits of the differences in report.json: runs, characters of a differing run, and characters at each end of an equal one.
RUNS, DIFFERENT, SAME = 12, 120, 40


@dataclass(frozen=True)
class Example:
    """A removed item and the item kept in its place, as text of `runs.shown.written`. Positions, if given, distinguish items with equal ids."""

    kept_id: object
    kept_source: str
    removed_id: object
    removed_source: str
    similarity: float | None  # or distance; None or NaN: not checked
    reason: str  # of schema.REASONS
    kept_text: str
    removed_text: str
    kept_position: int | None = None
    removed_position: int | None = None
    kind: str = "text"  # of payload
    value: str = "similarity"  # or distance
    by: str = "words:5"
    groups: differences.Groups | None = None  # of elements
    group: str = ""  # of stages.removed.GROUPS

    @cached_property
    def runs(self) -> list[tuple[str, str]] | None:
        """The equal and the different runs as (equal, delete or insert, text); None for kinds of items without runs."""
        return differences.runs(self.kind, self.removed_text, self.kept_text, self.groups)

    @property
    def excerpt(self) -> list[tuple[str, str]] | None:
        """The runs from the first difference on, as `excerpt_of`."""
        return excerpt_of(self.runs)


def excerpt_of(runs: list[tuple[str, str]] | None) -> list[tuple[str, str]] | None:
    """Return the runs from the first difference on, shortened, with a little of the text before it; None without runs."""
    if not runs:
        return None
    begin = next((number for number, (what, _) in enumerate(runs) if what != "equal"), 0)
    some = runs[max(0, begin - 1) : begin + RUNS]
    return [(what, cut(text, what, first=number == 0, last=number == len(some) - 1)) for number, (what, text) in enumerate(some)]


def cut(text: str, what: str, *, first: bool, last: bool) -> str:
    """Return the text of a run, shortened: equal text to the ends that are next to differences."""
    if what != "equal":
        return text if len(text) <= DIFFERENT else f"{text[:DIFFERENT]} …"
    if len(text) <= 2 * SAME:
        return text
    return ("" if first else text[:SAME]) + " … " + ("" if last else text[-SAME:])


def side_by_side(example: Example, number: int, estimated: bool, pictures: Pictures = none) -> Html:
    """Return an example as markup: words only in the removed item are marked as deleted, words only in the kept one as inserted."""
    runs = example.runs

    def body(text: str, own: str) -> Html:
        if runs is None:
            return join([shortened(example.kind, text)])
        return join(marked(runs, own, whole=of_payload(example.kind).look not in (WORDS, SIGNS)))

    look = "text digits" if of_payload(example.kind).look in (NUMBERS, DIGITS) else "text"
    stays, gone = body(example.kept_text, "insert"), body(example.removed_text, "delete")
    long = max(room(stays), room(gone)) > ROOM
    shown = [pictures(source, LARGE) for source in (example.kept_source, example.removed_source)]
    kept = side("Kept", example.kept_id, example.kept_source, example.kept_position, stays, look, long, shown[0])
    removed = side("Removed", example.removed_id, example.removed_source, example.removed_position, gone, look, long, shown[1])
    whole = tag("label", tag("input", type="checkbox"), " Show all of both", class_="whole") if long else None
    title = tag("h3", f"Example {number}: {verdict(example, estimated)}")
    known = example.similarity is not None and not math.isnan(example.similarity) and example.reason == "near"
    pair = tag("div", kept, removed, class_="pair")
    return tag("article", title, pair, whole, *below(example, number), data_value=f"{example.similarity:.9g}" if known else None)


def below(example: Example, number: int) -> Iterator[Html]:
    """Yield what two rows of parts or numbers do not show at a glance: how many differ, and which numbers most."""
    kind, removed, kept = example.kind, example.removed_text, example.kept_text
    if remark := differences.remark(kind, removed, kept):
        yield tag("p", f"{remark[0].upper()}{remark[1:]}.", class_="faint")
    if found := differences.parts(kind, removed, kept, example.groups):
        counts = f"{counted(len(found.both), found.unit)} in both, {len(found.removed):,} only in the removed item, "
        counts += f"{len(found.kept):,} only in the kept one"
        yield tag("p", counts + (f", {len(found.other):,} with different weights." if found.other else "."), class_="faint")
    if rows := differences.farthest(kind, removed, kept):
        listed = table(f"Numbers of example {number} that differ most", ["index", "removed", "kept", "difference"], rows)
        yield tag("details", tag("summary", "The numbers that differ most"), listed)


def room(text: str) -> int:
    """Return about how many lines a text takes in half of a page."""
    return text.count("\n") + len(text) // LINE


def verdict(example: Example, estimated: bool) -> str:
    """Return the reason of a removal in words."""
    if example.reason == "exact":
        differs = example.removed_text != example.kept_text
        return "exact copy" + (" after normalization" * differs if of_payload(example.kind).cut else " by groups" if example.groups else "")
    if example.reason == "equal":
        return "same shingles"
    if example.reason in ("passage", "rest"):
        return "shared passage" if example.reason == "passage" else "short rest beside a shared passage"
    if example.similarity is None or math.isnan(example.similarity):
        return "near-duplicate, not checked"
    how_much = amount(example.similarity, example.value, example.by)
    return f"near-duplicate, {example.value} {'about ' * estimated}{how_much}{' (an estimate)' * estimated}"


def side(title: str, identity: object, source: str, position: int | None, body: Html, look: str, long: bool, shown: Html | None = None) -> Html:
    """Return one item of an example, with its id, its place, and a picture of it if there is one; a long one in a box that scrolls."""
    place = f", position {position:,}" if position is not None else ""
    heading = tag("h4", f"{title}: ", named(identity))
    where = tag("p", tag("bdi", source), place, class_="faint") if str(identity) != source else None  # a file that is an item
    scrolls = {"tabindex": 0, "role": "group", "aria_label": f"{title} item"} if long else {}
    return tag("section", heading, where, shown, tag("p", body, class_=f"{look} limited" if long else look, dir="auto", **scrolls))


def marked(runs: list[tuple[str, str]], own: str, *, whole: bool) -> Iterator[Html]:
    """Yield one side of the runs: equal text, and its own words marked; long runs are elided unless ``whole``."""
    mine = [(what, text) for what, text in runs if what in ("equal", own)]
    if not mine:
        yield tag("span", "(empty)", class_="cut")
    for what, text in mine[:MOST_RUNS]:
        kind = "equal" if what == "equal" else "further"
        for part in [text] if whole else elided(text, CONTEXT[what], kind):
            yield part if isinstance(part, Html) else join([part]) if what == "equal" else tag(MARKS[what], visible(part))
    if (more := len(mine) - MOST_RUNS) > 0:
        yield tag("span", f" … and {counted(more, 'further run', 'further runs')} of this item …", class_="cut")


def elided(text: str, context: int, kind: str) -> list[str]:
    """Return the text, or its first and last words with a note of how many are left out."""
    found = diff.shortened(text, context, context, context, kind)
    return [found[0], tag("span", f"… {found[1]} …", class_="cut"), " ", found[2]] if found else [text]


def visible(text: str) -> str:
    """Mark line breaks with a sign, so that differences in them are visible."""
    return text.replace("\n", "↵\n")
