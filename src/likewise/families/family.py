"""Common methods of all families: probabilities, sensitivity, estimates and band keys; and families amplified by AND and OR."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from likewise.drawing.drawable import Drawable, Points
from likewise.errors import UsageError
from likewise.families.checks import check_layout, index, whole
from likewise.items.sets import read_only
from likewise.kernels.minhash import band_keys
from likewise.messages import quoted
from likewise.planning.curves import Curve, Step, amplified, checked_kind, mapped, number_of

if TYPE_CHECKING:
    from likewise.drawing.curves import Chart

Signature = NDArray[Any]


class Sensitivity(NamedTuple):
    """(d1, d2, p1, p2)-sensitivity: a function agrees with probability p1 or more at distances up to d1, and p2 or less from d2 on.

    Leskovec, Rajaraman and Ullman, Mining of Massive Datasets 3.6.1.
    """

    d1: float
    d2: float
    p1: float
    p2: float


class Probabilities(Drawable):
    """Collision probabilities that follow from a curve alone, of a family or of an AND-OR construction of it."""

    __slots__ = ()

    @property
    @abstractmethod
    def collision(self) -> Curve:
        """The collision probability of one function, by value."""

    def probability_of(self, p: float) -> float:
        """The probability of agreement, given that of one function."""
        return p

    def probability(self, value: Any = None, *, distance: Any = None) -> Any:
        """The probability that two items of this similarity agree, or of this distance if the family's values are distances.

        ``distance=`` takes a distance for any family: 1 - J for Jaccard similarities, degrees for cosines. An array gives float64 of its shape.
        Raises UsageError for an invalid value, with its place in an array.
        """
        if (value is None) == (distance is None):
            raise UsageError(f"probability: give one {self.collision.measure}, or distance=")
        at, given = (self.collision.at, value) if distance is None else (self.collision.at_distance, distance)
        return mapped(lambda one: self.probability_of(at(one)), given)

    def sensitivity(self, d1: float, d2: float) -> Sensitivity:
        """(d1, d2, p1, p2) for two distances. Raises UsageError unless d1 < d2."""
        if not number_of(d1) < number_of(d2):
            raise UsageError(f"sensitivity({quoted(d1)}, {quoted(d2)}): give the smaller distance first")
        return Sensitivity(d1, d2, self.probability(distance=d1), self.probability(distance=d2))

    def chart(self, others: tuple[Any, ...], points: Points, threshold: float | None) -> Chart:
        from likewise.drawing.curves import COLLISION, Drawn, charted, check_others

        check_others(self, others, Probabilities, "family", "families")
        curve = self.collision
        span = (max(curve.least, 0.0) if curve.distances else curve.least, curve.most)
        drawn = [Drawn(one.title if others else "", one.probability) for one in (self, *others)]
        at = None if threshold is None else number_of(threshold)
        return charted(drawn, at, axis=curve.measure, span=span, falling=curve.distances, event=COLLISION, points=points)

    @property
    def title(self) -> str:
        """The title of the chart, and the name of its curve: the family with the parameters that the curve depends on."""
        parameters = ", ".join(
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in self.collision.parameters.items()
        )
        return self.collision.family + (f"({parameters})" if parameters else "")


class Family(Probabilities):
    """A locality-sensitive hash family: a frozen dataclass with ``slots``, ``seed``, `collision` and `signature`.

    A signature has one value in each slot, that of one function of the family.
    """

    __slots__ = ()
    dtype: ClassVar[type] = np.uint32  # of a signature's values
    slots: int
    seed: int

    def __post_init__(self) -> None:
        whole(self, "slots", 1, 2**31 - 1)
        whole(self, "seed", 0, 2**64 - 1)

    @abstractmethod
    def signature(self, batch: Any) -> Signature:
        """Signatures, ``dtype[n, slots]``, one row per item."""

    def all_of(self, count: int) -> Amplified:
        """AND: agrees if ``count`` functions of this family all agree."""
        return Amplified(self, (("all", count),))

    def any_of(self, count: int) -> Amplified:
        """OR: agrees if at least one of ``count`` functions of this family agrees."""
        return Amplified(self, (("any", count),))

    def estimate(self, a: Signature, b: Signature) -> Any:
        """The similarity or distance at which functions agree as often as these signatures do.

        One row each gives a float, rows give float64[n]; one row against rows compares it with each. A distance is infinite if no more slots agree
        than by chance.
        """
        agree = self.agreement(a, b)
        values, places = np.unique(agree, return_inverse=True)
        found = np.array([self.collision.value(float(share)) for share in values])[places].reshape(np.shape(agree))
        return float(found) if found.ndim == 0 else found

    def standard_error(self, value: float) -> float:
        """The standard error of an estimate at this true value, for independent slots.

        It is that of the fraction of agreeing slots, divided by the curve's slope: 0 where all slots agree or all differ, and infinite where the
        curve is flat, so that the fraction does not identify the value.
        """
        p = self.collision.at(value)
        if math.isinf(number_of(value)):
            return math.inf
        error = math.sqrt(p * (1 - p) / self.slots)
        return error * spread(self.collision, p) if error else 0.0

    def agreement(self, a: Signature, b: Signature) -> Any:
        """The fraction of slots that agree, 0 to 1: a float, or float64[n]. Two empty sets agree everywhere, though their similarity is undefined.

        Raises UsageError for signatures of another family, and for different numbers of rows.
        """
        share = same(self.checked(a), self.checked(b)).mean(axis=-1)
        return float(share) if share.ndim == 0 else share

    def band_keys_of(self, signatures: Signature, bands: int, rows: int) -> NDArray[np.uint64]:
        """A key for each band of ``rows`` slots: uint64[bands, n]. Two items share it if all slots of the band agree.

        Raises UsageError for signatures of another family, and for more bands and rows than there are slots.
        """
        signatures = np.ascontiguousarray(np.atleast_2d(self.checked(signatures)))
        bands, rows = check_layout(bands, rows, self.slots)
        keys: NDArray[np.uint64] = band_keys(read_only(signatures), bands, rows, np.uint64(self.seed))
        return keys

    def checked(self, signature: Signature) -> Signature:
        """The signature itself. Raises UsageError if it cannot be one of this family.

        A shorter signature could be the beginning of a longer one, and compare without an error.
        """
        name = np.dtype(self.dtype).name
        if not isinstance(signature, np.ndarray) or signature.dtype != self.dtype:
            kind = f"an array of {signature.dtype}" if isinstance(signature, np.ndarray) else type(signature).__name__
            raise UsageError(f"a signature is an array of {name}, got {kind}")
        if signature.ndim not in (1, 2) or signature.shape[-1] != self.slots:
            raise UsageError(f"a signature of this family has {self.slots} slots, got the shape {signature.shape}; use the family that made it")
        return signature

    def with_slots(self, slots: int) -> Self:
        """The same family with another number of slots."""
        return replace(self, slots=slots)  # type: ignore[type-var]


@dataclass(frozen=True, repr=False)
class Amplified(Probabilities):
    """A family amplified by steps of AND and OR, the innermost first; `all_of` and `any_of` add one, in any order and depth.

    Raises UsageError without steps, and for steps other than ("all", count) and ("any", count).

    >>> from likewise.families import MinHash
    >>> cascade = MinHash().all_of(4).any_of(4)
    >>> a, b = cascade.signature([range(100), range(5, 100)])
    >>> cascade.functions, round(cascade.probability(0.8), 4), cascade.agree(a, b)
    (16, 0.8785, True)
    """

    family: Family
    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.family, Family):
            raise UsageError(f"{self.family!r} is not a family; amplify a family with its all_of and any_of")
        if not self.steps:
            raise UsageError("no step; amplify a family with all_of(r), any_of(b) or both")
        object.__setattr__(self, "steps", tuple(map(checked_step, self.steps)))
        object.__setattr__(self, "family", self.family.with_slots(self.functions))

    def __repr__(self) -> str:
        return f"<{self.functions:,} functions of {self.family!r}: {self.construction}>"

    @property
    def construction(self) -> str:
        """The steps in words: ``AND of 4, then OR of 4``."""
        return ", then ".join(f"{'AND' if kind == 'all' else 'OR'} of {count:,}" for kind, count in self.steps)

    @property
    def title(self) -> str:
        return f"{self.construction} by {self.family.title}"

    @property
    def functions(self) -> int:
        """The number of functions of the family that it takes."""
        return math.prod(count for _, count in self.steps)

    @property
    def collision(self) -> Curve:
        return self.family.collision

    def probability_of(self, p: float) -> float:
        return amplified(p, self.steps)

    def all_of(self, count: int) -> Amplified:
        """AND of ``count`` amplified functions."""
        return Amplified(self.family, (*self.steps, ("all", count)))

    def any_of(self, count: int) -> Amplified:
        """OR of ``count`` amplified functions."""
        return Amplified(self.family, (*self.steps, ("any", count)))

    def signature(self, batch: Any) -> Signature:
        """Signatures, uint64[n, functions / first AND]: each group of an innermost AND is hashed to one key. Compare two rows with `agree`."""
        slots = self.family.signature(batch)
        rows = self.folded
        return np.ascontiguousarray(self.family.band_keys_of(slots, self.functions // rows, rows).T)

    @property
    def folded(self) -> int:
        """The number of functions that one key stands for."""
        kind, count = self.steps[0]
        return count if kind == "all" else 1

    def agree(self, a: Signature, b: Signature) -> Any:
        """True if the amplified function agrees: a bool for one row each, bool[n] for rows, or for one row against rows.

        Two empty sets agree, though their similarity is undefined. Raises UsageError for signatures of another family, and for different numbers of
        rows.
        """
        keys = self.functions // self.folded
        for side in (a, b):
            if not isinstance(side, np.ndarray) or side.dtype != np.uint64 or side.shape[-1:] != (keys,):
                raise UsageError(f"a signature of this family is an array of uint64 with {keys} keys per row; use the family that made it")
        agreed = same(a, b)
        steps = self.steps[1:] if self.folded > 1 else self.steps
        for kind, count in steps:
            groups = agreed.reshape(*agreed.shape[:-1], -1, count)
            agreed = groups.all(axis=-1) if kind == "all" else groups.any(axis=-1)
        agreed = agreed[..., 0]
        return bool(agreed) if agreed.ndim == 0 else agreed


def same(a: Signature, b: Signature) -> Any:
    """Where two signatures agree, or the rows of two tables, or one signature and the rows of a table.

    Raises UsageError for unequal numbers of rows.
    """
    if a.ndim == b.ndim == 2 and len(a) != len(b) and 1 not in (len(a), len(b)):
        raise UsageError(f"{len(a)} signatures cannot be compared with {len(b)} row by row; give the same number, or one")
    return a == b


def checked_step(step: Any) -> Step:
    """A step as ("all" or "any", an int of 1 or more). Raises UsageError for anything else."""
    if not isinstance(step, tuple | list) or len(step) != 2:
        raise UsageError(f"step {step!r}: give ('all', r) or ('any', b)")
    kind, count = checked_kind(step[0]), index(step[1])
    if count is None or count < 1:
        raise UsageError(f"{kind}_of({quoted(step[1])}): give a whole number of 1 or more")
    return kind, count


#: Distance from a probability at which the curve's slope is measured.
NEAR = 1e-6


def spread(curve: Curve, p: float) -> float:
    """The absolute change of the value with the probability, where that is neither 0 nor 1; infinite where the curve is flat.

    It is computed from the inverse: near a distance of 0, or for very wide buckets, probabilities differ too little for a slope at the value.
    """
    ends = [curve.value(min(1.0, max(0.0, near))) for near in (p - NEAR, p + NEAR)]
    low, high = (curve.probability(end) for end in ends)
    return abs(ends[0] - ends[1]) / (high - low) if all(map(math.isfinite, ends)) and high > low else math.inf
