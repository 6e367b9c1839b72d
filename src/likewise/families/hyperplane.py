"""Random hyperplanes: two vectors lie on the same side of one with chance 1 - angle/180 (SPEC 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from likewise.curves import Curve, angle
from likewise.families.checks import one_of, whole
from likewise.families.family import Family, Signature
from likewise.items.vectors import nonzero, vectors
from likewise.kernels.directions import directions
from likewise.kernels.projections import sides

MODES = ("gaussian", "signs", "orthogonal")


@dataclass(frozen=True, slots=True)
class Hyperplane(Family):
    """Signatures of ``slots`` bits, uint8 0 or 1: the sign of v·x, 0 counting as +. Values are cosines, distances degrees.

    ``gaussian``: independent Gaussian normals v; the curve holds for any vectors (Goemans and Williamson 1995; Charikar 2002).
    ``signs``: coordinates of v are +1 or -1. The curve is then a limit, for many coordinates of like size: (1, 0) and (2, 1) always agree,
    26.6 degrees apart. A choice for teaching, and for vectors that were rotated at random first.
    ``orthogonal``: normals at right angles in blocks of as many as the dimension. Estimates vary less than with independent ones, but
    functions of one block agree less often together (Ji, Li, Yan, Zhang and Tian 2012). A slot's block is its number modulo ``spread``, so
    any ``spread`` slots in a row are independent: an AND of up to so many rows keeps its promise, and an OR of those finds what it says or more.

    Vectors count by direction alone: x and 2x agree in all slots. A zero vector has none, and is refused. Sums are in float32, so a
    plane that passes within 10^-7 of a vector may be taken to lie on its other side.

    >>> family = Hyperplane(1024)
    >>> a, b = family.signature([[1.0, 0.0], [1.0, 1.0]])
    >>> abs(family.estimate(a, b) - 0.5**0.5) < 4 * family.standard_error(0.5**0.5)
    True
    """

    slots: int = 256
    mode: str = "gaussian"
    seed: int = 0
    spread: int = 32

    dtype: ClassVar[type] = np.uint8

    def __post_init__(self) -> None:
        Family.__post_init__(self)
        one_of(self, "mode", MODES)
        whole(self, "spread", 1, 2**31 - 1)

    @property
    def curve(self) -> Curve:  # type: ignore[override]
        return angle()

    def signature(self, batch: Any) -> Signature:
        """One row a vector, uint8[n, slots]. Raises UsageError with the row of a zero vector."""
        items = nonzero(vectors(batch), "its angle")
        kind = "signs" if self.mode == "signs" else "gaussian"
        spread = self.spread if self.mode == "orthogonal" else 0
        bits: Signature = sides(items, directions(kind, self.seed, items.shape[1], self.slots, narrow=True, spread=spread))
        return bits
