"""Edit and Hamming distances, with the alignment."""

from __future__ import annotations

from dataclasses import dataclass

from likewise.errors import UsageError

GAP = "-"


@dataclass(frozen=True, repr=False)
class Alignment:
    """Two strings, one above the other, with gaps. Each column is equal, or has a gap on one side.

    >>> edit("abcde", "acfdeg")
    abc-de-
    a-cfdeg
    longest common subsequence acde: 5 + 6 - 2 x 4 = 3
    """

    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def common(self) -> str:
        """The longest common subsequence."""
        return "".join(a for a, b in zip(self.first, self.second, strict=True) if a == b)

    @property
    def deleted(self) -> int:
        """Characters of the first string that the second does not have."""
        return sum(b == "" for b in self.second)

    @property
    def inserted(self) -> int:
        """Characters of the second string that the first does not have."""
        return sum(a == "" for a in self.first)

    @property
    def distance(self) -> int:
        """The edit distance: the number of inserted and deleted characters."""
        return self.inserted + self.deleted

    def __repr__(self) -> str:
        lines = ("".join(char or GAP for char in side) for side in (self.first, self.second))
        lengths = [len(self.first) - self.inserted, len(self.second) - self.deleted]
        formula = f"{lengths[0]} + {lengths[1]} - 2 x {len(self.common)} = {self.distance}"
        return "\n".join((*lines, f"longest common subsequence {self.common}: {formula}"))


def edit(a: str, b: str) -> Alignment:
    """The alignment with the fewest inserts and deletes, by the longest common subsequence (Mining of Massive Datasets 3.5.5).

    >>> edit("Catherine", "Kathryn").distance
    6
    """
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]  # of a[i:] and b[j:]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            longest[i][j] = longest[i + 1][j + 1] + 1 if a[i] == b[j] else max(longest[i + 1][j], longest[i][j + 1])
    i = j = 0
    columns = []
    while i < len(a) or j < len(b):
        if i < len(a) and j < len(b) and a[i] == b[j]:
            columns.append((a[i], b[j]))
            i, j = i + 1, j + 1
        elif j == len(b) or (i < len(a) and longest[i + 1][j] >= longest[i][j + 1]):
            columns.append((a[i], ""))
            i += 1
        else:
            columns.append(("", b[j]))
            j += 1
    first, second = zip(*columns, strict=True) if columns else ((), ())
    return Alignment(first, second)


def hamming(a: str, b: str) -> list[int]:
    """The positions, from 1, at which two strings of one length differ; their number is the Hamming distance. Raises UsageError for other lengths.

    >>> hamming("10101", "11110")
    [2, 4, 5]
    """
    if len(a) != len(b):
        raise UsageError(f"strings of {len(a)} and {len(b)} characters have no Hamming distance; give strings of one length")
    return [place for place, (x, y) in enumerate(zip(a, b, strict=True), 1) if x != y]
