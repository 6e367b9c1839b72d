"""b-bit MinHash: a few bits of each slot, for signatures that are stored or sent (Li and König 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.checks import index, one_of
from likewise.families.minhash import MODES, MinHash, Slots
from likewise.families.onebit import OneBit, flags
from likewise.items.sets import Batch, read_only
from likewise.kernels import bbit as kernels
from likewise.planning.curves import Curve, b_bit

Packed = NDArray[np.uint8]

BITS = tuple(kernels.LOWEST)


@dataclass(frozen=True, slots=True)
class BBit(OneBit):
    """Signatures of ``slots`` groups of ``bits`` bits (1, 2, 4, 8 or 16), packed: uint8[n, ceil(slots * bits / 8)].

    For compact storage and for checks; bands are planned for whole slots. The bits are taken from slots of ``MinHash(slots, mode, seed)``. Signatures
    are comparable if all four fields are equal. At similarity 0.8, 8 bits add 0.5% to the variance of an estimate from whole slots, at a quarter of
    their size; 1 bit needs 2.25 times the slots, at a thirty-second. Signatures cannot be merged, and do not tell whether a set was empty: two empty
    sets agree in all slots. Leave empty sets out.

    >>> family = BBit(256, bits=2)
    >>> a, b = family.signature([range(100), range(50, 150)])
    >>> a.nbytes, abs(family.estimate(a, b) - 1 / 3) < 4 * family.standard_error(1 / 3)
    (64, True)
    """

    dtype: ClassVar[type] = np.uint8
    slots: int = 128
    bits: int = 8
    mode: str = "oph"
    seed: int = 0

    def __post_init__(self) -> None:
        OneBit.__post_init__(self)
        one_of(self, "mode", MODES)
        bits = index(self.bits)
        if bits not in BITS:
            raise UsageError(f"BBit bits {self.bits!r}: choose one of {', '.join(map(str, BITS))}")
        object.__setattr__(self, "bits", bits)

    @property
    def collision(self) -> Curve:
        return b_bit(self.bits)

    @property
    def whole(self) -> MinHash:
        """The family of whole slots from which the bits are taken."""
        return MinHash(self.slots, self.mode, self.seed)

    @property
    def scheme(self) -> str:
        """Identifies the computation of signatures; those of different schemes are not comparable."""
        return f"{kernels.SCHEME}/{self.bits}/{self.whole.scheme}"

    @property
    def width(self) -> int:
        """The number of bytes of a signature."""
        return -(-self.slots * self.bits // 8)

    def signature(self, batch: Batch) -> Packed:
        """Signatures, uint8[n, width], one row per set."""
        return self.of(self.whole.signature(batch))

    def bits_of(self, features: Any) -> Packed:
        """The bits of sets given as features of 0 and 1, one number for each possible element. For families of one bit."""
        return self.unpacked(self.signature(flags(features))).astype(np.uint8)

    def between(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Jaccard similarities of features of 0 and 1; 1 for two empty sets, whose bits all agree."""
        shared = left @ right.T
        either = left.sum(axis=1)[:, None] + right.sum(axis=1) - shared
        return np.divide(shared, either, out=np.ones_like(shared), where=either > 0)

    def of(self, signatures: Slots) -> Packed:
        """Packed bits of signatures of `whole`: one row gives one row, rows give rows."""
        rows = read_only(np.ascontiguousarray(np.atleast_2d(self.whole.checked(signatures))))
        packed: Packed = kernels.pack(rows, self.bits, np.uint64(self.seed))
        return packed.reshape(*signatures.shape[:-1], self.width)

    def unpacked(self, signatures: Packed) -> Slots:
        """The groups of bits, one in each slot: uint32[..., slots]."""
        packed = np.ascontiguousarray(self.checked(signatures))
        if self.bits == 16:
            return packed.view("<u2").astype(np.uint32)
        shifts = np.arange(0, 8, self.bits, dtype=np.uint8)
        groups = packed[..., np.newaxis] >> shifts & np.uint8(2**self.bits - 1)
        return groups.reshape(*packed.shape[:-1], self.width * len(shifts))[..., : self.slots].astype(np.uint32)

    def agreement(self, a: Packed, b: Packed) -> Any:
        """The fraction of slots whose bits agree: a float, or float64[n]. Different slots agree with probability 2^-bits.

        Two empty sets agree everywhere. Raises UsageError for signatures of another family, and for different numbers of rows.
        """
        left, right = (read_only(np.ascontiguousarray(np.atleast_2d(self.checked(side)))) for side in (a, b))
        rows = len(right) if len(left) == 1 else len(left)
        if len(right) not in (1, rows):
            raise UsageError(f"{len(left)} signatures cannot be compared with {len(right)} row by row; give the same number, or one")
        share = kernels.agreeing(left, right, rows, self.slots, self.bits, np.uint64(kernels.LOWEST[self.bits])) / self.slots
        return float(share[0]) if a.ndim == b.ndim == 1 else share

    def estimate(self, a: Packed, b: Packed) -> Any:
        """An unbiased estimate of Jaccard similarity: (f - 2^-bits) / (1 - 2^-bits) of the fraction f of agreeing slots.

        It is slightly negative for dissimilar sets that agree less often than by chance; clipping it would bias it. Two empty sets give 1. One row
        each gives a float, rows give float64[n]; one row against rows compares it with each.
        """
        by_chance = 2.0**-self.bits
        return (self.agreement(a, b) - by_chance) / (1 - by_chance)

    def band_keys_of(self, signatures: Packed, bands: int, rows: int) -> NDArray[np.uint64]:
        """A key for each band of ``rows`` slots: uint64[bands, n]. Bands of few bits collide by chance, with probability 2^-(rows * bits).

        Raises UsageError for signatures of another family, and for more bands and rows than there are slots.
        """
        return self.whole.band_keys_of(self.unpacked(signatures), bands, rows)

    def checked(self, signature: Packed) -> Packed:
        """The signature itself. Raises UsageError if it cannot be one of this family."""
        if not isinstance(signature, np.ndarray) or signature.dtype != self.dtype:
            kind = f"an array of {signature.dtype}" if isinstance(signature, np.ndarray) else type(signature).__name__
            hint = "; of(signatures) packs those of MinHash" if getattr(signature, "dtype", None) == np.uint32 else ""
            raise UsageError(f"a signature is an array of uint8, got {kind}{hint}")
        if signature.ndim not in (1, 2) or signature.shape[-1] != self.width:
            raise UsageError(f"a signature of this family has {self.width} bytes, got the shape {signature.shape}; use the family that made it")
        return signature
