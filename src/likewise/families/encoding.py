"""Fixed-dimensional encodings of sets of feature vectors: Chamfer similarity from one inner product (MUVERA: Dhulipala and others 2024)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.checks import whole
from likewise.families.hyperplane import Hyperplane
from likewise.families.partition import Partition, Run
from likewise.families.space import Space
from likewise.items.features import features
from likewise.kernels.features import gather


@dataclass(frozen=True, slots=True)
class Encoding:
    """Sets of features as one vector each. Their inner product approximates Chamfer similarity: Σ over a query's features of the largest product.

    As in `Histograms`, ``bits`` hyperplanes divide the space into 2^bits bins, in each of ``tables`` tables. In each bin a query has the sum of its
    features, and a document their mean; an empty bin of a document takes the value of its nearest bin, by the bits of their codes (section 2 of the
    paper). A vector has tables · 2^bits · d dimensions and suits any index for inner products. The product is a mean over tables, and at most the
    exact sum; divided by the number of the query's features, it approximates `measures.chamfer` by product.

    Features, and so the products, are those in ``space``: relative to its center, along its axes, of length 1 if it says so. Features without
    negative numbers need a center: planes through the origin leave nearly all of them in a few bins, and rankings are then far worse. They are
    refused without a space.

    >>> space = Space(np.array([0.5, 0.5]))
    >>> family = Encoding(bits=2, tables=4, space=space)
    >>> family.queries([[[0.0, 1.0], [1.0, 1.0]]]).shape
    (1, 32)
    """

    bits: int = 5
    tables: int = 20
    seed: int = 0
    space: Space | None = None

    def __post_init__(self) -> None:
        whole(self, "bits", 1, 12)
        whole(self, "tables", 1, 2**16)
        whole(self, "seed", 0, 2**64 - 1)
        if not isinstance(self.space, Space | None):
            raise UsageError(f"Encoding space {self.space!r:.60}: give a Space, such as Space.fit(sample), or None")

    @property
    def partition(self) -> Partition:
        """The bins of features: 2^bits in each table."""
        return Partition(Hyperplane(seed=self.seed), self.bits, self.tables, 1, self.space)

    def queries(self, sets: Any, run: Run = map) -> NDArray[np.float32]:
        """Encodings of queries, float32[n, tables · 2^bits · d]: sums of features, divided by the number of tables.

        ``run`` maps over blocks of sets, on threads as well. Raises UsageError for features without negative numbers if there is no space.
        """
        return self.made(sets, run, False) / np.float32(self.tables)

    def documents(self, sets: Any, run: Run = map) -> NDArray[np.float32]:
        """Encodings of documents, float32[n, tables · 2^bits · d]: means of features, without empty bins. Other details are those of `queries`."""
        return self.made(sets, run, True)

    def made(self, sets: Any, run: Run, means: bool) -> NDArray[np.float32]:
        """The encodings of sets, with means or with sums."""
        sets = features(sets)
        values, offsets = sets
        if self.space is None and len(values) > 1 and values.min() >= 0:
            raise UsageError(
                "these features have no negative numbers, so planes through the origin hardly separate them; give a center, such as "
                "space=Space.fit(sample, unit=True); space=Space(np.zeros(dimension)) leaves the features unchanged"
            )
        dimension = values.shape[1] if self.space is None else self.space.dimension
        out = np.empty((len(offsets) - 1, (self.tables << self.bits) * dimension), np.float32)

        def work(begin: int, end: int, ends: NDArray[np.int64], moved: NDArray[np.float32], codes: NDArray[np.uint32]) -> None:
            gather(codes, moved, ends, 1 << self.bits, means, out[begin:end])

        self.partition.each(sets, work, run)
        return out
