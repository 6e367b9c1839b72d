"""HTML that data cannot break: a string is escaped unless it is `Html`, and only `tag` and `join` make `Html`."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Sequence

from likewise.drawing.numbers import count

VOID = frozenset({"meta", "br", "img", "input"})
#: Characters that HTML cannot contain (NUL, lone surrogates, noncharacters), that act on a terminal or reader (controls), and that reorder the text
#: after them. Tab, line feed and carriage return are allowed.
UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")
#: Columns of a table that does not fit on a phone, and characters of a first cell beside which two numbers do not fit.
SEVERAL, LONG = 4, 120
#: Text of `numbers.share`, `numbers.percent` and `numbers.figure`, and other written numbers.
FIGURE = re.compile(r"(over |under |[<>] )?-?[0-9][0-9,.]*%?")


class Html(str):
    """Finished markup. Every other string is data."""

    __slots__ = ()

    def __html__(self) -> Html:
        """Tell Jinja that this is markup."""
        return self


def text(data: object) -> Html:
    """Data as markup; characters that cannot be shown become escapes such as ``\\x00`` or ``\\ud800``.

    >>> text('<b title="x">'), text("a" + chr(0) + "b")
    ('&lt;b title=&quot;x&quot;&gt;', 'a\\\\x00b')
    """
    return Html(html.escape(UNSHOWABLE.sub(written, str(data)), quote=True))


def written(match: re.Match[str]) -> str:
    """The escape of a character."""
    return ascii(match[0])[1:-1]


def join(children: Iterable[object], between: str = "") -> Html:
    """Join the markup of children, each escaped unless it is Html, without those that are None."""
    return Html(text(between).join(child if isinstance(child, Html) else text(child) for child in children if child is not None))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """An element. ``_`` in an attribute's name becomes ``-``, and a last ``_`` is dropped (``class_``). An attribute set to None does not appear.

    >>> tag("p", "1 < 2", class_="note")
    '<p class="note">1 &lt; 2</p>'
    """
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items() if value is not None)
    return Html(f"<{name}{given}>" if name in VOID else f"<{name}{given}>{join(children)}</{name}>")


def named(identity: object) -> Html:
    """An id or name from the user's data, isolated so that it cannot change the direction of the text next to it."""
    return tag("bdi", "(no id)" if identity is None else str(identity))


def picture(data: bytes, said: str) -> Html:
    """A JPEG image inside the page. said: its description for those who cannot see it."""
    return tag("img", src=f"data:image/jpeg;base64,{base64.b64encode(data).decode()}", alt=said)


def table(caption: object, head: list[str], rows: Iterable[Sequence[object]], foot: Sequence[object] | None = None) -> Html:
    """A table; whole numbers get thousands separators, and numeric columns are right-aligned. The first cell of a row is its heading.

    On a phone, a table of several columns, or of long texts, has each cell with the name of its column; others scroll sideways, also by keyboard.
    """
    rows = list(rows)
    numeric = [column > 0 and any(is_figure(row[column]) for row in rows) for column in range(len(head))]
    top = tag("tr", *(tag("th", name, scope="col", class_="number" if number else None) for name, number in zip(head, numeric, strict=True)))
    several = len(head) >= SEVERAL or (len(head) > 2 and any(len(str(row[0])) > LONG for row in rows))
    names = head[1:] if several else [None] * (len(head) - 1)
    body = tag("tbody", *(table_row(row, names) for row in rows))
    bottom = tag("tfoot", table_row(foot, names)) if foot else None
    made = tag("table", tag("caption", caption), tag("thead", top), body, bottom, class_="several" if several else None)
    return tag("div", made, class_="wide", tabindex=0, role="region", aria_label=caption)


def table_row(cells: Sequence[object], names: Sequence[str | None]) -> Html:
    """A row of a table, with its first cell as heading. names: of the columns of the others, where cells have them on a phone."""
    first, *rest = cells
    others = (tag("td", cell(value), class_="number" if is_figure(value) else None, data_name=name) for value, name in zip(rest, names, strict=True))
    return tag("tr", tag("th", cell(first), scope="row"), *others)


def cell(value: object) -> object:
    """A number with thousands separators; any other value unchanged."""
    return count(value) if is_number(value) else value


def is_figure(value: object) -> bool:
    """True for a number, and for one that is written already, such as a share in per cent (`numbers.share`)."""
    return is_number(value) or (isinstance(value, str) and FIGURE.fullmatch(value) is not None)


def is_number(value: object) -> bool:
    """True for an int or float, not for a bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)
