"""The space in which features are compared: relative to a center, and along principal axes, both fitted to a sample of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.checks import index
from likewise.items.features import Features, features
from likewise.items.lengths import Run, blocks
from likewise.items.sets import read_only
from likewise.items.vectors import vectors
from likewise.kernels.directions import STEP
from likewise.kernels.features import move

#: An axis whose variance is below this fraction of the largest is only rounding.
LEAST_VARIANCE = 1e-10


@dataclass(frozen=True, eq=False, slots=True)
class Space:
    """Features are mapped to (feature - center) · axes, and with ``unit`` scaled to length 1. Without axes they are only moved to the center.

    Planes through the origin do not separate features that all lie on one side of it, such as those without negative numbers (SIFT, histograms,
    colors): nearly all fall into one bin. A center among them solves that, and `fit` finds one.

    >>> space = Space.fit([[1.0, 5.0], [1.0, 7.0], [3.0, 5.0], [3.0, 7.0]])
    >>> space.center
    array([2., 6.], dtype=float32)
    """

    center: NDArray[np.float32]  #: [d]
    axes: NDArray[np.float32] | None = None  #: [d, k]
    unit: bool = False

    def __post_init__(self) -> None:
        center = vectors([self.center])[0]
        axes = None if self.axes is None else vectors(self.axes)
        if axes is not None and len(axes) != len(center):
            raise UsageError(f"Space: the center has {len(center)} dimensions, but the axes have {len(axes)} rows; the two must be equal")
        object.__setattr__(self, "center", read_only(np.ascontiguousarray(center, np.float32)))
        object.__setattr__(self, "axes", None if axes is None else read_only(np.ascontiguousarray(axes, np.float32)))

    @classmethod
    def fit(cls, sample: Any, axes: int | None = None, *, unit: bool = False) -> Space:
        """Fit the mean of a sample, and with ``axes`` so many of its principal axes, the widest first, each scaled to variance 1 (whitening).

        sample: features, float[n, d], or sets of them, of the kind that is compared, though not necessarily from the same collection. Whitening
        separates features that differ along narrow axes. The last digits are those of numpy's linear algebra, which may differ on another machine:
        keep the fitted space. Raises UsageError for an empty sample, and for more axes than the sample varies along.
        """
        found = vectors(sample) if is_flat(sample) else features(sample)[0]
        if not len(found):
            raise UsageError("Space.fit: the sample has no features")
        values = found.astype(np.float64)
        center = values.mean(axis=0)
        if axes is None:
            return cls(center.astype(np.float32), unit=unit)
        values -= center
        variances, turned = np.linalg.eigh(values.T @ values / len(values))
        wide = int((variances > LEAST_VARIANCE * variances[-1]).sum()) if variances[-1] > 0 else 0
        many = index(axes)
        if many is None or not 1 <= many <= wide:
            raise UsageError(f"Space.fit axes {axes!r}: give a whole number from 1 to {wide}, the number of axes along which this sample varies")
        chosen = turned[:, ::-1][:, :many]
        chosen = chosen * np.sign(chosen[abs(chosen).argmax(axis=0), np.arange(many)])  # the sign of an axis is arbitrary: fix it
        return cls(center.astype(np.float32), (chosen / np.sqrt(variances[::-1][:many])).astype(np.float32), unit)

    @property
    def dimension(self) -> int:
        """The dimension of features in this space."""
        return len(self.center) if self.axes is None else self.axes.shape[1]

    def __call__(self, sets: Any, run: Run = map) -> Features:
        """The same sets in this space: values float32[total, k] and offsets. ``run`` maps over blocks of features, on threads as well.

        Raises UsageError for features of another dimension.
        """
        values, offsets = features(sets)
        return self.moved(values, run), offsets

    def moved(self, values: NDArray[np.float32], run: Run = map) -> NDArray[np.float32]:
        """Features float32[n, d] in this space: float32[n, k]. Raises UsageError for features of another dimension."""
        if len(values) and values.shape[1] != len(self.center):
            raise UsageError(
                f"item 0 has features of {values.shape[1]} dimensions, but this space is for {len(self.center)}; fit a space on such features"
            )
        out = np.empty((len(values), self.dimension), np.float32)
        axes = np.zeros((-(-len(self.center) // STEP) * STEP, 0 if self.axes is None else self.axes.shape[1]), np.float32)
        if self.axes is not None:
            axes[: len(self.axes)] = self.axes
        list(run(lambda rows: move(values, self.center, axes, self.unit, *rows, out), blocks(len(values))))
        return read_only(out)


def is_flat(sample: Any) -> bool:
    """True if a sample is features, and not sets of features."""
    if isinstance(sample, np.ndarray):
        return sample.ndim == 2
    return isinstance(sample, list) and len(sample) > 0 and np.ndim(sample[0]) == 1
