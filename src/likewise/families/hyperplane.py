"""Random hyperplanes: two vectors lie on the same side of one with probability 1 - angle/180 (Charikar 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.checks import one_of, whole
from likewise.families.family import Signature
from likewise.families.onebit import OneBit
from likewise.families.sparse import on_directions
from likewise.items.lengths import lengths_of, squared_lengths, to_unit
from likewise.items.sparse import Sparse, is_sparse, nonempty, sparse
from likewise.items.vectors import Vectors, nonzero, vectors
from likewise.kernels.directions import directions
from likewise.kernels.projections import sides
from likewise.kernels.signs import code_bits, sign_codes, turns
from likewise.kernels.sparse import directed
from likewise.planning.curves import Curve, angle

MODES = ("gaussian", "signs", "orthogonal", "rotated")


@dataclass(frozen=True, slots=True)
class Hyperplane(OneBit):
    """Signatures of ``slots`` bits, uint8 0 or 1: the sign of v·x, 0 counting as +. Values are cosines, distances degrees.

    ``gaussian``: independent Gaussian normals v; the curve holds for any vectors (Goemans and Williamson 1995; Charikar 2002).
    ``signs``: coordinates of v are +1 or -1. The curve is then a limit, for many coordinates of similar size: (1, 0) and (2, 1) always agree, though
    they are 26.6 degrees apart. For teaching, and for vectors that were rotated at random first.
    ``orthogonal``: normals at right angles in blocks as large as the dimension. Estimates vary less than with independent ones, but functions of one
    block agree less often together (Ji, Li, Yan, Zhang and Tian 2012). A slot's block is its number modulo ``spread``, so any ``spread`` consecutive
    slots are independent: an AND of up to so many rows has its predicted probability, and an OR of those at least that.
    ``rotated``: orthogonal normals from structured rotations, d log d additions for d bits: seven times faster for 1,024 bits of 256 dimensions;
    `joins.vector_join` uses them. Adjacent slots come from different rotations, of which there are 1,024 / D, where D is the dimension padded to a
    power of two of at least 256; then the rotations repeat. Bands of up to two dozen rows have their predicted probability, measured to 1%.

    Only the direction of a vector counts: x and 2x agree in all slots. Zero vectors have no direction and are refused. Sums are in float32, so a
    vector within 10^-7 of a plane may be assigned to its other side. Sparse vectors, with ``gaussian`` or ``signs``, have the bits of the same
    vectors in dense form.

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
        OneBit.__post_init__(self)
        one_of(self, "mode", MODES)
        whole(self, "spread", 1, 2**31 - 1)

    @property
    def collision(self) -> Curve:
        return angle()

    def signature(self, batch: Any) -> Signature:
        """Signatures, uint8[n, slots], one row per vector. Raises UsageError with the row of a zero vector."""
        if is_sparse(batch):
            return self._of_sparse(nonempty(sparse(batch), "its angle"))
        items = nonzero(vectors(batch), "its angle")
        if self.mode == "rotated":
            return rotated(items, self.slots, self.seed)
        kind = "signs" if self.mode == "signs" else "gaussian"
        spread = self.spread if self.mode == "orthogonal" else 0
        bits: Signature = sides(items, directions(kind, self.seed, items.shape[1], self.slots, narrow=True, spread=spread))
        return bits

    def between(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cosines."""
        units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (left, right)]
        return np.clip(units[0] @ units[1].T, -1, 1)

    def _of_sparse(self, items: Sparse) -> Signature:
        """Signatures of sparse vectors. Raises UsageError for modes that need all coordinates."""
        if self.mode not in ("gaussian", "signs"):
            raise UsageError(f"Hyperplane(mode={self.mode!r}): it rotates dense vectors, and sparse vectors are not expanded; leave mode out")
        bits = np.empty((len(items), self.slots), np.uint8)
        for slots, sums in on_directions(items, directed(items.values, items.offsets), self.mode, self.seed, self.slots):
            bits[:, slots] = sums >= 0
        return bits


def rotated(items: Vectors, slots: int, seed: int) -> Signature:
    """Bits from structured rotations: uint8[n, slots]. items: nonzero vectors [n, d]."""
    dimension = items.shape[1]
    bits = code_bits(dimension, slots)
    codes = np.empty((len(items), bits // 64), np.uint64)
    center = np.zeros_like(items, shape=dimension)
    scale = to_unit(lengths_of(items, center, squared_lengths(items, center)))
    sign_codes(items, center.astype(float), scale, turns(seed, dimension, bits), np.zeros(bits, np.float32), 0, len(items), codes)
    return np.unpackbits(codes.astype("<u8").view(np.uint8), axis=1, count=slots, bitorder="little")
