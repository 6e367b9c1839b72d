"""Signatures of a few columns, their similarities, and the candidates among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Protocol, TypeVar

from likewise.errors import UsageError
from likewise.lecture.banding import Banding
from likewise.lecture.sheet import Printed, Sheet

T = TypeVar("T")


class Columns(Protocol):
    """Columns of sets, such as a `Matrix`."""

    def similarity(self, a: str, b: str) -> Fraction:
        """The Jaccard similarity of two columns."""


def named(given: Mapping[str, T] | Sequence[T], letter: str) -> dict[str, T]:
    """Columns by name; those of a list are numbered from 1."""
    return dict(given) if isinstance(given, Mapping) else {f"{letter}{number}": one for number, one in enumerate(given, 1)}


@dataclass(frozen=True, repr=False)
class Signatures(Printed):
    """A signature for each column: one value for each hash function.

    >>> s = Signatures.of([(1, 2, 1, 2), (2, 1, 3, 1), (3, 1, 3, 1)])
    >>> s.similarity("C1", "C3"), s.agreeing(2)
    (Fraction(2, 3), [('C1', 'C3'), ('C2', 'C4')])
    """

    functions: tuple[str, ...]
    columns: dict[str, tuple[Any, ...]]

    @classmethod
    def of(cls, rows: Sequence[Sequence[Any]]) -> Signatures:
        """A signature matrix from its rows, one for each hash function. Raises UsageError for rows of different lengths."""
        if len({len(row) for row in rows}) != 1:
            raise UsageError("signature matrix: give rows of one length")
        return cls(tuple(f"h{number}" for number in range(1, len(rows) + 1)), named(list(zip(*rows, strict=True)), "C"))

    @property
    def sheet(self) -> Sheet:
        rows = ((name, *(signature[place] for signature in self.columns.values())) for place, name in enumerate(self.functions))
        return Sheet(("", *self.columns), tuple(rows))

    def __getitem__(self, name: str) -> tuple[Any, ...]:
        if name not in self.columns:
            raise UsageError(f"no column {name!r}; choose one of {', '.join(self.columns)}")
        return self.columns[name]

    def pairs(self) -> Iterator[tuple[str, str]]:
        """All pairs of columns."""
        return combinations(self.columns, 2)

    def agreements(self, a: str, b: str) -> int:
        """The number of hash functions on which two columns agree."""
        return sum(x == y for x, y in zip(self[a], self[b], strict=True))

    def similarity(self, a: str, b: str) -> Fraction:
        """The share of hash functions on which two columns agree, which estimates their Jaccard similarity."""
        return Fraction(self.agreements(a, b), len(self.functions))

    def agreeing(self, least: int) -> list[tuple[str, str]]:
        """The pairs of columns that agree on at least ``least`` hash functions.

        >>> Signatures.of([(1, 2, 1), (2, 2, 1), (3, 4, 3)]).agreeing(2)
        [('C1', 'C3')]
        """
        return [pair for pair in self.pairs() if self.agreements(*pair) >= least]

    def compared(self, matrix: Columns) -> Sheet:
        """For each pair, the similarity of the columns beside that of the signatures.

        >>> from likewise.lecture import Matrix
        >>> m = Matrix.of_bits(["1010", "1001", "0101", "0101", "0101", "1010", "1010"])
        >>> m.permuted((2, 3, 7, 6, 1, 5, 4), (4, 2, 1, 3, 6, 7, 5), (3, 4, 7, 2, 6, 1, 5)).compared(m)
        pair    columns  signatures
        C1, C2        0           0
        C1, C3      3/4         2/3
        C1, C4      1/7           0
        C2, C3        0           0
        C2, C4      3/4           1
        C3, C4        0           0
        """
        rows = ((f"{a}, {b}", matrix.similarity(a, b), self.similarity(a, b)) for a, b in self.pairs())
        return Sheet(("pair", "columns", "signatures"), tuple(rows))

    def banded(self, bands: int, rows: int) -> Banding:
        """The buckets and candidates of the first ``bands * rows`` hash functions. Raises UsageError if there are fewer."""
        if bands < 1 or rows < 1 or bands * rows > len(self.functions):
            raise UsageError(f"{bands} bands of {rows} rows: give 1 or more of each, and at most {len(self.functions)} hash functions in all")
        return Banding(rows, tuple({name: values[band * rows : (band + 1) * rows] for name, values in self.columns.items()} for band in range(bands)))
