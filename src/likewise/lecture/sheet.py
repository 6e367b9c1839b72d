"""A small table that prints as a slide shows it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from likewise.drawing.markup import Html, tag
from likewise.drawing.preview import length, padded
from likewise.drawing.style import NOTEBOOK
from likewise.errors import UsageError

#: Decimals of a float that has more.
DECIMALS = 5


def written(value: Any) -> str:
    """A value as a slide writes it.

    >>> [written(value) for value in (Fraction(3, 4), Fraction(2), math.inf, 0.80190, (1, math.inf), 6e-05)]
    ['3/4', '2', '∞', '0.8019', '(1, ∞)', '0.00006']
    """
    if isinstance(value, tuple):
        return f"({', '.join(map(written, value))})"
    if isinstance(value, float) and not isinstance(value, bool):
        if math.isinf(value):
            return "∞" if value > 0 else "-∞"
        return f"{value:.{DECIMALS}f}".rstrip("0").rstrip(".") if value else "0"
    return str(value)


class Printed(ABC):
    """Base of objects that are shown as a table: as text by ``repr`` and ``str``, as HTML in a notebook."""

    @property
    @abstractmethod
    def sheet(self) -> Sheet:
        """The table."""

    def __repr__(self) -> str:
        return repr(self.sheet)

    def _repr_html_(self) -> str:
        return self.sheet._repr_html_()


@dataclass(frozen=True, repr=False)
class Sheet:
    """A table of named columns. The first column names the rows.

    >>> Sheet(("row", "C1"), ((1, 0), (2, 1)))
    row  C1
    1     0
    2     1
    """

    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Any]:
        """The values of a column. Raises UsageError for an unknown name."""
        if name not in self.names:
            raise UsageError(f"no column {name!r}; choose one of {', '.join(self.names)}")
        place = self.names.index(name)
        return [row[place] for row in self.rows]

    def cells(self) -> list[tuple[str, ...]]:
        """The rows as text. The finite floats of a column have equally many decimals, so that a rounded 1 is seen to be rounded."""
        columns = [[row[place] for row in self.rows] for place in range(len(self.names))]
        return [*zip(*map(in_column, columns), strict=True)] if self.rows else []

    def __repr__(self) -> str:
        lines = [self.names, *self.cells()]
        widths = [max(map(length, column)) for column in zip(*lines, strict=True)]
        right = [False, *(aligned_right([row[place] for row in self.rows]) for place in range(1, len(self.names)))]
        return "\n".join("  ".join(map(padded, line, widths, right)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head = tag("tr", *(tag("th", name) for name in self.names))
        body = [tag("tr", *(tag("td", tag("bdi", value)) for value in row)) for row in self.cells()]
        return tag("div", tag("style", Html(NOTEBOOK)), tag("table", tag("thead", head), tag("tbody", *body)), class_="likewise")


def in_column(values: Sequence[Any]) -> list[str]:
    """The values of a column as text.

    >>> in_column([0.5, 0.99964, 1.0]), in_column([0.0, 5.0, math.inf]), in_column([1, Fraction(2, 3)])
    (['0.50000', '0.99964', '1.00000'], ['0', '5', '∞'], ['1', '2/3'])
    """
    finite = [value for value in values if isinstance(value, float) and math.isfinite(value)]
    decimals = max((len(written(value).partition(".")[2]) if float(written(value)) == value else DECIMALS for value in finite), default=0)
    return [f"{value:.{decimals}f}" if isinstance(value, float) and math.isfinite(value) else written(value) for value in values]


def aligned_right(values: Sequence[Any]) -> bool:
    """True for numbers and vectors of numbers, also with empty cells."""
    return all(isinstance(value, int | float | Fraction | tuple) or value == "" for value in values)
