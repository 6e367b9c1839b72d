"""Two items next to each other on a terminal, with differences marked: words, characters, elements, groups, numbers or bits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from likewise.cli.screen import Screen, counted, harmless
from likewise.kinds import of_payload
from likewise.kinds.kind import DIGITS, NUMBERS

#: Words shown at each end of a long passage that is equal in both; -v shows all.
CONTEXT = 15
#: Marks of a difference: kind of run -> (begin, end) without colors, and the style with colors.
MARKS = {"delete": ("[-", "-]"), "insert": ("{+", "+}")}
STYLES: dict[str, dict[str, Any]] = {"delete": {"fg": "red", "strikethrough": True}, "insert": {"fg": "green", "underline": True}}


def laid(screen: Screen, originals: Any, removed: str, kept: str, runs: list[tuple[str, str]] | None) -> None:
    """Print a removed item and the kept one, both as `runs.shown.written` returns them. runs: the differences of words or characters."""
    from likewise.report import differences
    from likewise.report.wording import UNGROUPED
    from likewise.runs.shown import shortened

    kind, shown = originals.want.kind, of_payload(originals.want.kind)
    if removed == kept and shown.same:
        screen.data(shown.same + "\n")
        whole = "".join(view([("equal", removed)], False, whole=screen.verbose))
        screen.data(whole if runs is not None or screen.verbose else harmless(shortened(kind, removed)))
    elif runs is not None:
        show_runs(screen, runs)
        if remark := differences.remark(kind, removed, kept):
            screen.data(f"\n{remark}.")
    elif (parts := differences.parts(kind, removed, kept, originals.groups)) is not None:
        screen.rows(members(parts, whole=screen.verbose), data=True)
        if originals.method.get("groups") and not originals.groups:
            screen.data(f"\n{UNGROUPED.strip()}")
    else:
        screen.rows(columns(kind, removed, kept, whole=screen.verbose), data=True)
        if shown.remark:
            screen.data(f"\n{shown.remark}")


def show_runs(screen: Screen, runs: list[tuple[str, str]]) -> None:
    """Print two texts as one, with differences marked."""
    colored = screen.colored(sys.stdout)
    if all(kind == "equal" for kind, _ in runs):
        screen.data("The two differ only in white space.\n")
    else:
        screen.data(" ".join(marked(kind, f"only in the {name} item", colored) for kind, name in (("delete", "removed"), ("insert", "kept"))) + "\n")
    screen.data("".join(view(runs, colored, whole=screen.verbose)))


def members(parts: Any, *, whole: bool) -> Iterator[tuple[str, str]]:
    """The elements of two sets: those of both, and those of one only."""
    from likewise.runs.shown import listed

    weights = [f"{name}: {removed} in removed, {kept} in kept" for name, removed, kept in parts.other]
    other = "other value" if parts.unit == "coordinate" else "other weight"
    rows = [("in both", parts.both), (other, weights), ("only in removed", parts.removed), ("only in kept", parts.kept)]
    for name, elements in rows:
        if elements or name != other:
            text = ", ".join(elements) if whole else listed(elements, parts.unit)
            yield name, f"{counted(len(elements), parts.unit)}{': ' * bool(elements)}{harmless(text)}"


def columns(kind: str, removed: str, kept: str, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Two vectors or codes in aligned columns, and a summary of the difference."""
    from likewise.report import differences
    from likewise.runs.shown import shortened

    rows = [removed, kept] if whole else [shortened(kind, text) for text in (removed, kept)]
    look = of_payload(kind).look
    if look == NUMBERS:
        cells = [row.split("  ") for row in rows]
        wide = [max(map(len, column)) for column in zip(*cells, strict=False)]
        rows = ["  ".join(map(str.rjust, row, wide)) for row in cells]
    yield from zip(("removed", "kept"), map(harmless, rows), strict=True)
    if look == DIGITS and len(removed) == len(kept) == len(rows[0]):
        yield "", "".join(" ^"[left != right] for left, right in zip(removed, kept, strict=True)).rstrip()
    if remark := differences.remark(kind, removed, kept):
        yield "differ", remark


def view(runs: list[tuple[str, str]], colored: bool, *, whole: bool) -> Iterator[str]:
    """The runs of a word diff, formatted for one text."""
    for number, (kind, text) in enumerate(runs):
        if kind == "equal":
            yield harmless(text if whole else shortened(text, first=number == 0, last=number == len(runs) - 1))
        else:
            yield marked(kind, text, colored)


def shortened(text: str, *, first: bool, last: bool) -> str:
    """An equal passage without the words that are far from a difference."""
    from likewise.report import diff

    found = diff.shortened(text, 0 if first and not last else CONTEXT, 0 if last and not first else CONTEXT, CONTEXT + 1, "equal")
    return f"{found[0]}... {found[1]} ... {found[2]}" if found else text


def marked(kind: str, text: str, colored: bool) -> str:
    """A run of one of the two texts. Its line breaks are shown, because they may be the only difference."""
    text = harmless(text)
    if colored:
        return click.style(text.replace("\n", "↵\n"), **STYLES[kind])
    begin, end = MARKS[kind]
    body = text.rstrip()
    return f"{begin}{body or text}{end}{text[len(body) :] if body else ''}"
