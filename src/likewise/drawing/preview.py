"""The first rows of a table: aligned text for a terminal, HTML for a notebook. Only the rows that are shown have to exist."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from likewise.drawing.controls import in_line
from likewise.drawing.markup import Html, join, tag
from likewise.drawing.numbers import counted, figure
from likewise.drawing.style import NOTEBOOK

#: Rows shown of a table, and columns shown of it in HTML.
ROWS, COLUMNS = 10, 20
#: Characters shown of a value: in HTML, and at least in a terminal that is too narrow for the table.
LONGEST, SHORTEST = 120, 8
#: Characters of a text that gets a wide column in HTML.
LINE = 24
#: Between two columns of text.
GAP = "  "


class Preview(NamedTuple):
    """A table as it is shown: the values of its first rows, and its size."""

    title: str
    names: list[str]
    rows: Sequence[Sequence[object]]
    total: int  # rows of the table
    added: int = 0  # columns that the table lacks: contents that were read again

    @property
    def heading(self) -> str:
        """The title and the size of the table: ``Pairs: 3 rows, 3 columns``."""
        return f"{self.title}: {counted(self.total, 'row')}, {counted(len(self.names) - self.added, 'column')}"

    @property
    def rest(self) -> str:
        """The number of rows that are not shown, or ""."""
        return f"... and {counted(self.total - len(self.rows), 'more row', 'more rows')}" if self.total > len(self.rows) else ""


def cell(value: object, name: str, most: int = LONGEST) -> str:
    """A value as shown in a column of this name, with at most ``most`` characters.

    >>> cell(0.9999999, "similarity"), cell(2.0, "distance"), cell(1234567, "id"), cell(None, "id"), cell("a" * 9, "text", 5)
    ('> 0.9999', '2', '1234567', 'null', 'aaaa…')
    """
    if value is None:
        return "null"
    if isinstance(value, float):
        measure = name.partition("_")[0]
        return figure(value, measure) if measure in ("similarity", "distance") else f"{value:.6g}"
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def numeric(rows: Sequence[Sequence[object]], column: int) -> bool:
    """True for a column of numbers, which is aligned on the right."""
    held = [row[column] for row in rows if row[column] is not None]
    return bool(held) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in held)


def as_text(shown: Preview, width: int | None = None) -> str:
    """Aligned columns below the heading, as wide as the terminal at most; columns that do not fit are named in the last line."""
    room = width or shutil.get_terminal_size().columns
    names = [in_line(name) for name in shown.names]
    cells = [[in_line(cell(value, name)) for value, name in zip(row, shown.names, strict=True)] for row in shown.rows]
    columns = list(zip(*[names, *cells], strict=True))
    widths = fitted([max(map(length, column)) for column in columns], room)
    left_out = shown.names[len(widths) :]
    columns = [(shortened(name, width), *values) for (name, *values), width in zip(columns, widths, strict=False)]
    right = [numeric(shown.rows, number) for number in range(len(widths))]
    lines = [
        GAP.join(padded(columns[number][line], widths[number], right[number]) for number in range(len(widths))).rstrip()
        for line in range(len(cells) + 1)
    ]
    more = f"... and {counted(len(left_out), 'more column')}: {', '.join(map(in_line, left_out))}" if left_out else ""
    return "\n".join(line for line in (shown.heading, *(lines if shown.names else ()), shown.rest, more) if line)


def shortened(name: str, width: int) -> str:
    """The name of a column in at most ``width`` characters: its beginning and end, which tell columns of one beginning apart.

    >>> shortened("corpus_start", 8), shortened("corpus", 8)
    ('cor…tart', 'corpus')
    """
    return name if len(name) <= width else f"{name[: (width - 1) // 2]}…{name[len(name) - width // 2 :]}"


def fitted(widths: list[int], room: int) -> list[int]:
    """The widths of columns that fit into ``room``: the widest are narrowed first, to SHORTEST at least; then the last columns are left out.

    >>> fitted([4, 4, 10], 80), fitted([4, 40, 90], 50), fitted([10, 10, 10], 20)
    ([4, 4, 10], [4, 21, 21], [9, 9])
    """
    count = len(widths)
    while count > 1 and sum(sorted(min(width, SHORTEST) for width in widths[:count])) + len(GAP) * (count - 1) > room:
        count -= 1
    widths, left = widths[:count], room - len(GAP) * (count - 1)
    limit = max(widths, default=0)
    while limit > SHORTEST and sum(min(width, limit) for width in widths) > left:
        limit -= 1
    return [min(width, limit) for width in widths]


def length(text: str) -> int:
    """The columns that a text takes in a terminal: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text)


def padded(text: str, width: int, right: bool) -> str:
    """The text in at most this many columns of a terminal, cut if it is longer."""
    if length(text) > width:
        while length(text) > width - 1:
            text = text[:-1]
        text += "…"
    gap = " " * (width - length(text))
    return gap + text if right else text + gap


def as_html(shown: Preview, above: Html | None = None, below: Html | None = None) -> str:
    """The table as HTML for a notebook, with its own style; every value is escaped. above, below: further markup."""
    heading = join([tag("b", shown.title), shown.heading.removeprefix(shown.title)])
    return output(shown.title, above, grid(shown, heading), below)


def output(name: str, *parts: Html | None) -> Html:
    """Parts as HTML for a notebook, with its own style. Where they are too wide, they scroll, also by keyboard."""
    return tag("div", tag("style", Html(NOTEBOOK)), *parts, class_="likewise", tabindex=0, role="group", aria_label=name)


def grid(shown: Preview, caption: Html | None = None) -> Html:
    """The rows as a table below a caption, by default the title in bold, and the numbers of rows and columns that are not shown."""
    names, left_out = shown.names[:COLUMNS], shown.names[COLUMNS:]
    classes = [class_of(shown.rows, number) for number in range(len(names))]
    head = tag("tr", *(tag("th", name, scope="col", class_=class_) for name, class_ in zip(names, classes, strict=True)))
    body = [
        tag("tr", *(tag("td", tag("bdi", cell(value, name)), class_=class_) for value, name, class_ in zip(row, names, classes, strict=False)))
        for row in shown.rows
    ]
    more = [shown.rest, f"... and {counted(len(left_out), 'more column')}: {', '.join(left_out)}" if left_out else ""]
    content = tag("table", tag("caption", caption or tag("b", shown.title)), tag("thead", head), tag("tbody", *body))
    return tag("div", content, *(tag("p", said) for said in more if said))


def class_of(rows: Sequence[Sequence[object]], column: int) -> str:
    """The class of a column: of numbers, of texts, which need room, or of names, which stay on one line."""
    if numeric(rows, column):
        return "number"
    return "long" if any(isinstance(row[column], str) and len(str(row[column])) > LINE for row in rows) else "short"


def listed(warnings: Sequence[str]) -> Html | None:
    """Warnings as a list, or None."""
    return tag("div", tag("b", "Warnings"), tag("ul", *(tag("li", said) for said in warnings)), class_="banner") if warnings else None
