"""Random lines divided into buckets, for L2 and L1, and the parity of the bucket as one bit (Datar, Immorlica, Indyk and Mirrokni 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.checks import one_of, positive
from likewise.families.family import Family, Signature
from likewise.families.onebit import OneBit
from likewise.families.sparse import on_directions
from likewise.items.sparse import Sparse, is_sparse, sparse
from likewise.items.vectors import vectors
from likewise.kernels.directions import directions
from likewise.kernels.projections import buckets
from likewise.planning.curves import Curve, cauchy_line, gaussian_line, stripe

#: The curve of each norm, and the distribution of a line's coordinates that is stable for it.
NORMS = {"l2": (gaussian_line, "gaussian"), "l1": (cauchy_line, "cauchy")}

#: If the absolute coordinates of a vector sum to more widths than this, float64 cannot separate a bucket from the next.
REACH = 2.0**40
#: If they sum to more than this, projections may overflow float64, on a direction with large coordinates.
GREATEST = 1e280


@dataclass(frozen=True, slots=True)
class Line(Family):
    """Signatures of ``slots`` bucket numbers modulo 2^32, uint32: floor((a·x + u)/width), u uniform. Values are L2 or L1 distances.

    a is Gaussian for ``l2``, Cauchy for ``l1`` (Datar, Immorlica, Indyk and Mirrokni 2004, section 3). A good width is a few times the distance
    within which items count as near. Estimates of distances far beyond the width are unreliable, and infinite if no slot agrees.

    >>> family = Line(4.0, 1000)
    >>> a, b = family.signature([[0.0, 0.0], [3.0, 0.0]])
    >>> abs(family.estimate(a, b) - 3) < 4 * family.standard_error(3)
    True
    """

    width: float
    slots: int = 128
    norm: str = "l2"
    seed: int = 0

    def __post_init__(self) -> None:
        Family.__post_init__(self)
        positive(self, "width")
        one_of(self, "norm", tuple(NORMS))

    @property
    def collision(self) -> Curve:
        return NORMS[self.norm][0](self.width)

    def signature(self, batch: Any) -> Signature:
        """Signatures, uint32[n, slots], one row per vector.

        Raises UsageError with the row of a vector whose absolute coordinates sum to more than 2^40 widths.
        """
        return on_lines(batch, NORMS[self.norm][1], self)


@dataclass(frozen=True, slots=True)
class Stripe(OneBit):
    """Signatures of ``slots`` bits, uint8: 1 if a Gaussian line's bucket is odd. Values are L2 distances; far vectors agree half of the time.

    A one-bit family for histograms of sets of vectors (Dong, Wang, Charikar and Li 2008, section 4.1): the bit of `Line` with the same width and
    seed.
    """

    width: float
    slots: int = 256
    seed: int = 0

    dtype: ClassVar[type] = np.uint8

    def __post_init__(self) -> None:
        Family.__post_init__(self)
        positive(self, "width")

    @property
    def collision(self) -> Curve:
        return stripe(self.width)

    def signature(self, batch: Any) -> Signature:
        """Signatures, uint8[n, slots], 0 or 1, one row per vector.

        Raises UsageError with the row of a vector whose absolute coordinates sum to more than 2^40 widths.
        """
        return (on_lines(batch, "gaussian", self) & 1).astype(np.uint8)

    def between(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """L2 distances."""
        return np.linalg.norm(left[:, None] - right, axis=2)


def on_lines(batch: Any, kind: str, family: Line | Stripe) -> NDArray[np.uint32]:
    """The bucket of each vector on each line, modulo 2^32: uint32[n, slots].

    kind: the distribution of a line's coordinates. Raises UsageError with the row of a vector whose coordinates are too large.
    """
    items = sparse(batch) if is_sparse(batch) else vectors(batch)
    with np.errstate(over="ignore"):
        reached = items.sums(np.abs(items.values)) if isinstance(items, Sparse) else np.abs(items).sum(axis=1, dtype=float)
    far = reached > min(REACH * family.width, GREATEST)
    if far.any():
        row = int(far.argmax())
        if reached[row] > GREATEST:
            raise UsageError(
                f"row {row}: its coordinates add up to {reached[row]:.3g}, more than {GREATEST:g}; multiply all vectors by one small number"
            )
        most = f"more than 2^40 buckets of width {family.width:g}"
        raise UsageError(f"row {row}: its coordinates add up to {reached[row]:.6g}, {most}; give a larger width")
    shifts = directions("uniform", family.seed, 1, family.slots)[0] * family.width
    found: NDArray[np.uint32]
    if isinstance(items, Sparse):
        found = np.empty((len(items), family.slots), np.uint32)
        for slots, sums in on_directions(items, items.values, kind, family.seed, family.slots):
            bucket = np.floor((sums + shifts[slots]) / family.width)
            found[:, slots] = (bucket - 2.0**32 * np.floor(bucket * 2.0**-32)).astype(np.int64)
    else:
        found = buckets(items, directions(kind, family.seed, items.shape[1], family.slots), shifts, float(family.width))
    return found
