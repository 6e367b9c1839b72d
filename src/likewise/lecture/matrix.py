"""The characteristic matrix of sets, and three ways to their MinHash signatures."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from likewise.errors import UsageError
from likewise.lecture.hashing import name_of
from likewise.lecture.sets import in_order, jaccard, ratio
from likewise.lecture.sheet import Printed, Sheet
from likewise.lecture.signatures import Signatures, named

Row = Hashable

#: A digit of a row -> its value; True and numpy's integers equal 1 as keys.
DIGITS: dict[Any, int] = {"0": 0, "1": 1, 0: 0, 1: 1}


class RowTypes(NamedTuple):
    """The numbers of rows by type: a: both columns have a 1; b: only the first; c: only the second; d: neither."""

    a: int
    b: int
    c: int
    d: int

    @property
    def similarity(self) -> Fraction:
        """a / (a + b + c): rows of type d, which are most of them, do not count."""
        return ratio(self.a, self.a + self.b + self.c)


class Step(NamedTuple):
    """A row of the one-pass algorithm: the values of the hash functions, and all signatures after the row."""

    row: Row
    values: tuple[int, ...]
    signatures: dict[str, tuple[float, ...]]


@dataclass(frozen=True, repr=False)
class Matrix(Printed):
    """Sets as columns, elements as rows; a 1 where the set contains the element.

    >>> m = Matrix.of({"S1": "ABFG", "S2": "CDE", "S3": "AEFG", "S4": "BCDE"})
    >>> m
    row  S1  S2  S3  S4
    A     1   0   1   0
    B     1   0   0   1
    C     0   1   0   1
    D     0   1   0   1
    E     0   1   1   1
    F     1   0   1   0
    G     1   0   1   0
    >>> m.similarity("S1", "S3"), m.types("S1", "S3")
    (Fraction(3, 5), RowTypes(a=3, b=1, c=1, d=2))
    """

    rows: tuple[Row, ...]
    sets: dict[str, frozenset[Row]]

    @classmethod
    def of(cls, sets: Mapping[str, Collection[Row]] | Sequence[Collection[Row]], rows: Iterable[Row] | None = None) -> Matrix:
        """The matrix of sets, by name or numbered from C1. rows: all possible elements in order; by default those that occur, sorted.

        Raises UsageError for an element that is not among the rows, and for a row that occurs twice.
        """
        columns = {name: frozenset(given) for name, given in named(sets, "C").items()}
        there = in_order(frozenset().union(*columns.values())) if rows is None else list(rows)
        if len(set(there)) < len(there):
            raise UsageError(f"rows {there}: give each row once")
        for name, elements in columns.items():
            if missing := elements - set(there):
                raise UsageError(f"{name} contains {min(missing, key=repr)!r}, which is not among the rows")
        return cls(tuple(there), columns)

    @classmethod
    def of_bits(cls, lines: Sequence[str | Sequence[int]], rows: Iterable[Row] | None = None) -> Matrix:
        """The matrix of its rows, as 0 and 1: ``["1010", "1001"]`` or ``[[1, 0, 1, 0], [1, 0, 0, 1]]``. rows: their names; by default 1, 2, ...

        Raises UsageError for anything but 0 and 1, and for rows of different lengths.
        """
        bits = [[DIGITS.get(bit, -1) for bit in line] for line in lines]
        if any(-1 in line for line in bits) or len({len(line) for line in bits}) != 1:
            raise UsageError(f"rows {list(lines)!r}: give rows of one length with the digits 0 and 1")
        there = tuple(range(1, len(bits) + 1)) if rows is None else tuple(rows)
        if len(there) != len(bits):
            raise UsageError(f"{len(there)} names for {len(bits)} rows: give as many names as rows")
        return cls.of([{there[row] for row, line in enumerate(bits) if line[column]} for column in range(len(bits[0]))], there)

    @property
    def sheet(self) -> Sheet:
        return Sheet(("row", *self.sets), tuple((row, *(int(row in elements) for elements in self.sets.values())) for row in self.rows))

    def column(self, name: str) -> frozenset[Row]:
        """The set of this name. Raises UsageError for an unknown name."""
        if name not in self.sets:
            raise UsageError(f"no column {name!r}; choose one of {', '.join(self.sets)}")
        return self.sets[name]

    def similarity(self, a: str, b: str) -> Fraction:
        """The Jaccard similarity of two columns."""
        return jaccard(self.column(a), self.column(b))

    def similarities(self) -> dict[tuple[str, str], Fraction]:
        """The Jaccard similarity of each pair of columns."""
        return {pair: self.similarity(*pair) for pair in combinations(self.sets, 2)}

    def types(self, a: str, b: str) -> RowTypes:
        """The numbers of rows of types a, b, c and d of two columns."""
        one, other = self.column(a), self.column(b)
        both, either = len(one & other), len(one | other)
        return RowTypes(both, len(one) - both, len(other) - both, len(self.rows) - either)

    def permuted(self, *permutations: Sequence[int]) -> Signatures:
        """MinHash signatures by permutations. A permutation gives the place of each row; the MinHash of a column is its least place.

        Raises UsageError for places that are not those of all rows.

        >>> m = Matrix.of_bits(["1010", "1001", "0101", "0101", "0101", "1010", "1010"])
        >>> m.permuted((2, 3, 7, 6, 1, 5, 4), (4, 2, 1, 3, 6, 7, 5), (3, 4, 7, 2, 6, 1, 5))
            C1  C2  C3  C4
        π1   2   1   2   1
        π2   2   1   4   1
        π3   1   2   1   2
        """
        for places in permutations:
            if len(set(places)) != len(self.rows) or len(places) != len(self.rows):
                raise UsageError(f"permutation {tuple(places)}: give a different place for each of the {len(self.rows)} rows")
        ranks = [dict(zip(self.rows, places, strict=True)) for places in permutations]
        return self._signed([f"π{number}" for number in range(1, len(ranks) + 1)], ranks)

    def ordered(self, *orders: Sequence[Row]) -> Signatures:
        """MinHash signatures by orders. An order lists the rows; the MinHash of a column is the place, from 1, of its first row in this order.

        >>> m = Matrix.of({"S1": "ABFG", "S2": "CDE", "S3": "AEFG", "S4": "BCDE"})
        >>> m.ordered("ACGFBED", "DBACFGE", "CDGFABE")
                 S1  S2  S3  S4
        ACGFBED   1   2   1   2
        DBACFGE   2   1   3   1
        CDGFABE   3   1   3   1
        """
        for order in orders:
            if set(order) != set(self.rows) or len(order) != len(self.rows):
                raise UsageError(f"order {order!r}: list each of the {len(self.rows)} rows once")
        return self._signed([name_of_order(order) for order in orders], [{row: place for place, row in enumerate(order, 1)} for order in orders])

    def firsts(self, *orders: Sequence[Row]) -> Signatures:
        """The same signatures with elements as MinHashes: the first row of each order that the column contains (``None`` for an empty column).

        >>> Matrix.of({"S1": "ad", "S2": "c", "S3": "bde", "S4": "acd"}).firsts("beadc")
               S1  S2  S3  S4
        beadc  a   c   b   a
        """
        placed = self.ordered(*orders)
        columns = {name: tuple(next((row for row in order if row in rows), None) for order in orders) for name, rows in self.sets.items()}
        return Signatures(placed.functions, columns)

    def _signed(self, names: Sequence[str], ranks: Sequence[Mapping[Row, int]]) -> Signatures:
        """For each column and each ranking, the least rank of its rows; infinite for an empty column."""
        columns = {name: tuple(min((rank[row] for row in rows), default=math.inf) for rank in ranks) for name, rows in self.sets.items()}
        return Signatures(tuple(names), columns)

    def one_pass(self, *functions: Callable[[Any], int]) -> OnePass:
        """MinHash signatures by hash functions of the rows, in one pass over the rows (Mining of Massive Datasets 3.3.5).

        Raises UsageError for rows that a function does not take, such as letters, and for anything but functions.

        >>> from likewise.lecture import Universal
        >>> m = Matrix.of({"C1": {1, 3, 4}, "C2": {2, 3, 5}})
        >>> m.one_pass(Universal(1, 0, 5), Universal(2, 1, 5))
        row  x mod 5  (2x + 1) mod 5      C1      C2
                                      (∞, ∞)  (∞, ∞)
        1          1               3  (1, 3)  (∞, ∞)
        2          2               0  (1, 3)  (2, 0)
        3          3               2  (1, 2)  (2, 0)
        4          4               4  (1, 2)  (2, 0)
        5          0               1  (1, 2)  (0, 0)
        """
        if wrong := [given for given in functions if not callable(given)]:
            raise UsageError(f"{wrong[0]!r} is not a hash function; give functions of a row, such as Universal(2, 1, 5)")
        slots: dict[str, list[float]] = {name: [math.inf] * len(functions) for name in self.sets}
        steps = []
        for row in self.rows:
            try:
                values = tuple(function(row) for function in functions)
            except TypeError as error:
                raise UsageError(f"row {row!r}: a hash function does not take it; number the rows, such as 0, 1, 2, ...") from error
            for name, elements in self.sets.items():
                if row in elements:
                    slots[name] = [min(slot, value) for slot, value in zip(slots[name], values, strict=True)]
            steps.append(Step(row, values, {name: tuple(slot) for name, slot in slots.items()}))
        return OnePass(tuple(name_of(function, place) for place, function in enumerate(functions, 1)), tuple(self.sets), tuple(steps))


def name_of_order(order: Sequence[Row]) -> str:
    """How an order is named in a table: ``ACGFBED``, or ``3, 1, 2``."""
    return order if isinstance(order, str) else ", ".join(map(str, order))


@dataclass(frozen=True, repr=False)
class OnePass(Printed):
    """The trace of the one-pass algorithm, row by row, and the signatures after the last row."""

    functions: tuple[str, ...]
    columns: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def signatures(self) -> Signatures:
        """The signatures after all rows; infinite slots if there are no rows."""
        last = self.steps[-1].signatures if self.steps else {name: (math.inf,) * len(self.functions) for name in self.columns}
        return Signatures(self.functions, last)

    @property
    def sheet(self) -> Sheet:
        start = ("", *("" for _ in self.functions), *((math.inf,) * len(self.functions) for _ in self.columns))
        rows = [(step.row, *step.values, *(step.signatures[name] for name in self.columns)) for step in self.steps]
        return Sheet(("row", *self.functions, *self.columns), (start, *rows))
