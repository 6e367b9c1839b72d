"""Sketches of vectors by given hyperplanes, and buckets on a given line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from likewise.errors import UsageError
from likewise.lecture.sheet import Sheet
from likewise.lecture.signatures import Signatures, named

Vector = Sequence[float]


def product(x: Vector, y: Vector) -> float:
    """The dot product. Raises UsageError for different lengths."""
    if len(x) != len(y):
        raise UsageError(f"vectors of {len(x)} and {len(y)} numbers; give vectors of one length")
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


def degrees(x: Vector, y: Vector) -> float:
    """The angle of two vectors, 0 to 180. Raises UsageError for a zero vector.

    >>> round(degrees([1, 2, -1], [2, 1, 1]), 6)
    60.0
    """
    product(x, y)  # of one length
    if not any(x) or not any(y):
        raise UsageError("a zero vector has no direction; leave it out")
    units = [[number / math.hypot(*vector) for number in vector] for vector in (x, y)]
    apart, together = (math.hypot(*(a + sign * b for a, b in zip(*units, strict=True))) for sign in (-1, 1))
    return math.degrees(2 * math.atan2(apart, together))  # the arc cosine of nearly 1 would lose half of the digits


def sides(vectors: Mapping[str, Vector] | Sequence[Vector], normals: Sequence[Vector]) -> Signatures:
    """The sketch of each vector: +1 or -1 for each hyperplane, the sign of v·x, where 0 counts as +1 (Mining of Massive Datasets 3.7.2).

    180 degrees times the share of hyperplanes that separate two vectors estimates their angle.

    >>> sketch = sides({"x": [3, 4, 5, 6], "y": [4, 3, 2, 1]}, [[1, -1, 1, 1], [-1, 1, -1, 1], [1, 1, -1, -1]])
    >>> sketch
         x   y
    v1   1   1
    v2   1  -1
    v3  -1   1
    >>> 180 * (1 - sketch.similarity("x", "y")), round(degrees([3, 4, 5, 6], [4, 3, 2, 1]), 1)
    (Fraction(120, 1), 38.0)
    """
    columns = {name: tuple(1 if product(normal, vector) >= 0 else -1 for normal in normals) for name, vector in named(vectors, "x").items()}
    return Signatures(tuple(f"v{number}" for number in range(1, len(normals) + 1)), columns)


def on_line(vectors: Mapping[str, Vector] | Sequence[Vector], direction: Vector, width: float, shift: float = 0) -> Sheet:
    """The projection of each vector on a line and its bucket, floor((a·x + shift) / width) (Mining of Massive Datasets 3.7.4).

    direction: of length 1; a vector of another length stretches the projections by it. Raises UsageError for a zero vector, for vectors of different
    lengths, and for a width that is not above 0.

    >>> on_line({"x": [0, 0], "y": [3, 4], "z": [6, 8]}, direction=[0.6, 0.8], width=4)
    vector  projection  bucket
    x                0       0
    y                5       1
    z               10       2
    """
    if not width > 0:
        raise UsageError(f"a width of {width}: give a number above 0")
    if not any(direction):
        raise UsageError("a zero vector has no direction; give another one")
    rows = ((name, product(direction, vector) + shift) for name, vector in named(vectors, "x").items())
    return Sheet(("vector", "projection", "bucket"), tuple((name, at, math.floor(at / width)) for name, at in rows))
