"""HTML that cannot be broken by data: a string is escaped unless it is `Html`, and only `tag` and `join` make `Html`."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence

VOID = frozenset({"meta", "br"})
#: What HTML cannot carry (NUL, lone surrogates, noncharacters), what a terminal or reader would act on (controls), and the signs that reorder
#: the text after them. Tab, line feed and carriage return stay.
UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")


class Html(str):
    """Markup that is ready. Every other string is data."""

    __slots__ = ()


def text(data: object) -> Html:
    """Data as markup; what cannot be shown stands as its escape, as in ``\\x00`` or ``\\ud800``.

    >>> text('<b title="x">'), text("a" + chr(0) + "b")
    ('&lt;b title=&quot;x&quot;&gt;', 'a\\\\x00b')
    """
    return Html(html.escape(UNSHOWABLE.sub(written, str(data)), quote=True))


def written(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1]


def join(children: Iterable[object], between: str = "") -> Html:
    """Markup of the children, each escaped unless it is Html; None is left out."""
    return Html(text(between).join(child if isinstance(child, Html) else text(child) for child in children if child is not None))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """An element. ``_`` in an attribute's name stands for ``-``, and a last ``_`` is dropped (``class_``); None leaves the attribute out.

    >>> tag("p", "1 < 2", class_="note")
    '<p class="note">1 &lt; 2</p>'
    """
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items() if value is not None)
    return Html(f"<{name}{given}>" if name in VOID else f"<{name}{given}>{join(children)}</{name}>")


def named(identity: object) -> Html:
    """An id or name of the user's, kept from turning around the text beside it."""
    return tag("bdi", "(no id)" if identity is None else str(identity))


def table(caption: object, head: list[str], rows: Iterable[Sequence[object]], foot: Sequence[object] | None = None) -> Html:
    """A table; whole numbers get thousands separators, and all numbers stand right. The first cell of a row is its heading."""
    rows = list(rows)
    numeric = [any(is_number(row[column]) for row in rows) for column in range(len(head))]
    top = tag("tr", *(tag("th", name, scope="col", class_="number" if number else None) for name, number in zip(head, numeric, strict=True)))
    body = tag("tbody", *(table_row(row) for row in rows))
    bottom = tag("tfoot", table_row(foot)) if foot else None
    return tag("div", tag("table", tag("caption", caption), tag("thead", top), body, bottom), class_="wide")


def table_row(cells: Sequence[object]) -> Html:
    first, *rest = cells
    return tag("tr", tag("th", cell(first), scope="row"), *(tag("td", cell(value), class_="number" if is_number(value) else None) for value in rest))


def cell(value: object) -> object:
    return count(value) if is_number(value) else value


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def count(number: object) -> str:
    """A number for a reader: 1234 is 1,234; fractions have four significant digits.

    >>> count(1234), count(0.25), count(float("nan"))
    ('1,234', '0.25', 'not known')
    """
    if isinstance(number, float):
        return f"{number:,.4g}" if math.isfinite(number) else "not known"
    return f"{number:,}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """
    >>> counted(1, "pair"), counted(1200, "copy", "copies")
    ('1 pair', '1,200 copies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def share(part: float, whole: float) -> str:
    """A share in per cent that says 0 or 100 only where it is so.

    >>> share(1, 8), share(99999, 100000), share(1, 100000), share(0, 0)
    ('12.5%', 'over 99.9%', 'under 0.1%', '0%')
    """
    if not part or not whole:
        return "0%"
    if part == whole:
        return "100%"
    per_cent = 100 * part / whole
    return "under 0.1%" if per_cent < 0.1 else "over 99.9%" if per_cent > 99.9 else f"{per_cent:.1f}%"


def percent(chance: float, *, down: bool = False) -> str:
    """A chance as a percentage whose distance from 0 and from 1 shows; ``down`` never rounds up, for what is promised.

    >>> percent(0.99964), percent(0.0064), percent(0.4701), percent(1.0), percent(0.9929, down=True)
    ('99.96 %', '0.64 %', '47.0 %', '100 %', '99.2 %')
    """
    if chance in (0.0, 1.0):
        return f"{chance * 100:.0f} %"
    room = min(chance, 1 - chance)
    if room < 1e-7:
        return "< 0.00001 %" if chance < 0.5 else "> 99.99999 %"
    places = max(1, -math.floor(math.log10(room * 100)) + (chance < 0.5))
    value = math.floor(chance * 100 * 10**places + 1e-6) / 10**places if down else chance * 100
    return f"{value:.{places}f} %"


def at_least(chance: float) -> str:
    """A promised chance, cut and not rounded to four digits, so that it never says more than is so.

    >>> at_least(0.99996), at_least(0.5), at_least(1.0)
    ('0.9999', '0.5', '1')
    """
    return f"{math.floor(chance * 10_000 + 1e-9) / 10_000:g}"


def shown(threshold: float) -> str:
    """A threshold in few digits, but never so few that it looks like another, or like 1.

    >>> shown(0.8), shown(3.0), shown(1 / 3), shown(1 - 1e-10)
    ('0.8', '3', '0.333333', '0.9999999999')
    """
    for digits in range(6, 18):
        short = f"{threshold:.{digits}g}"
        if abs(float(short) - threshold) <= 1e-4 * min(abs(threshold), abs(1 - threshold)):
            return short
    return repr(threshold)
