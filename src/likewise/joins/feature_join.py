"""Similar pairs of feature sets by measures without a hash family: encodings generate candidates, the measure decides.

A set becomes one vector (families.Encoding), and vectors with a high enough cosine are a candidate pair. No theory gives the necessary cosine. It is
estimated from planted copies of some sets: with noise on all features, with some features replaced by those of other sets, or with some left out,
each as dissimilar to its set as the threshold allows. So a recall is a target that can be measured, but not guaranteed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.families.encoding import Encoding
from likewise.families.space import Space
from likewise.items.features import Features
from likewise.items.sets import read_only
from likewise.joins.hamming_join import TableJoin, all_pairs_join, checker, named
from likewise.joins.vector_join import choose_layout, prepare, vector_join
from likewise.kinds import measure as facts_of
from likewise.kinds.kind import loaded
from likewise.measures.chamfer import of_sets
from likewise.measures.feature_sets import chamfer_of_pairs, directed
from likewise.nearest.candidates import Candidates, best
from likewise.nearest.neighbors import neighbors
from likewise.nearest.search import Found
from likewise.stages.workers import ALONE, Workers, ignored

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Encodings: bits of a bin, tables, and dimensions of a feature; features of more are projected onto this many random directions.
BITS, TABLES, AXES = 4, 8, 16
#: The center's distance from the origin as a share of that of the features' mean; below 1, so that every feature has a direction from it.
TOWARDS = 0.999
#: The fewest and most sets that get planted copies; the noise, as shares of a feature's length; and the shares of features replaced or left out.
SAMPLE, NOISE, SHARES = (8, 64), np.geomspace(0.03, 3.0, 12), np.linspace(1 / 12, 1.0, 12)
#: A lower cosine separates hardly any encodings, so all pairs are compared.
LEAST = 0.1
#: Nanoseconds of one core of 2026: for each product of two numbers in a pair of sets; and for matching features, by size³.
PRODUCT_COST, PAIRING_COST = 0.015, 0.4
#: The maximum cost of comparing planted copies, except for the fewest sets above.
PLANTING_COST = 10e9
#: Candidates of a query, by nearest encodings: this many, or this many times k.
CANDIDATES, TIMES = 100, 5


@dataclass(frozen=True)
class Encoded:
    """Sets of features of length 1, with a vector for each: float32[n, d]."""

    sets: Features
    space: Space
    seed: int
    vectors: NDArray[np.float32]

    @classmethod
    def of(cls, sets: Features, seed: int, workers: Workers = ALONE) -> Encoded:
        values = sets[0]
        dimension = values.shape[1]
        axes = None
        if dimension > AXES:
            axes = (np.random.default_rng(seed).normal(size=(dimension, AXES)) / np.sqrt(AXES)).astype(np.float32)
        space = Space((TOWARDS * values.mean(axis=0, dtype=np.float64)).astype(np.float32), axes)
        return cls(sets, space, seed, encode(sets, space, seed, workers))

    def least_cosine(self, limit: float, recall: float) -> float:
        """The cosine that pairs at the limit reach with this probability, estimated from planted copies.

        Chamfer measures the copies. The assignment measure is never greater and takes far longer, so the cosine suffices for it too.
        """
        draw = np.random.default_rng(self.seed)
        copies_of_one = len(NOISE) + 2 * len(SHARES)
        size = float((np.diff(self.sets[1]).astype(float) ** 2).mean())
        number = int(np.clip(PLANTING_COST / (copies_of_one * PRODUCT_COST * 2 * size * self.sets[0].shape[1]), *SAMPLE))
        some = np.unique(draw.integers(0, len(self.vectors), number))
        sample, vectors = of_sets(self.sets, some), self.vectors[some]
        found = []
        for kind in (noisy, replaced, reduced):
            points = [(np.ones(len(some)), np.ones(len(some)))]
            for copies in kind(sample, self.sets[0], draw):
                points.append((chamfer_of_pairs(sample, copies), cosines(vectors, encode(copies, self.space, self.seed))))
            values, cosine = (np.array(parts) for parts in zip(*points, strict=True))
            order = np.argsort(values, axis=0, kind="stable")
            values, cosine = np.take_along_axis(values, order, 0), np.take_along_axis(cosine, order, 0)
            found += [np.interp(limit, values[:, place], cosine[:, place]) for place in range(len(some))]
        return float(np.quantile(found, 1 - recall, method="lower"))


def encode(sets: Features, space: Space, seed: int, workers: Workers = ALONE) -> NDArray[np.float32]:
    """The encodings of sets as vectors: float32[n, d]."""
    return Encoding(BITS, TABLES, seed, space).documents(sets, run=workers.run)


def cosines(a: NDArray[np.float32], b: NDArray[np.float32]) -> Floats:
    """The cosines of the i-th vectors, float64[n]; 0 for a zero vector."""
    products, lengths = np.einsum("ij,ij->i", a, b, dtype=np.float64), [np.linalg.norm(side.astype(np.float64), axis=1) for side in (a, b)]
    return np.divide(products, lengths[0] * lengths[1], out=np.zeros(len(a)), where=lengths[0] * lengths[1] > 0)


# Copies of sets, less and less similar. others: features that may replace some.


def noisy(sample: Features, others: NDArray[np.float32], draw: np.random.Generator) -> Iterator[Features]:
    """Yield copies with more and more noise on all features."""
    values, offsets = sample
    noise = draw.normal(size=values.shape) / np.sqrt(values.shape[1])
    for share in NOISE:
        yield directed(((values + share * noise).astype(np.float32), offsets))


def replaced(sample: Features, others: NDArray[np.float32], draw: np.random.Generator) -> Iterator[Features]:
    """Yield copies with more and more features replaced by others."""
    values, offsets = sample
    turn, strange = turns(offsets, draw), others[draw.integers(0, len(others), len(values))]
    for share in SHARES:
        yield read_only(np.where((turn < share)[:, None], strange, values)), offsets


def reduced(sample: Features, others: NDArray[np.float32], draw: np.random.Generator) -> Iterator[Features]:
    """Yield copies with more and more features left out; at least one stays."""
    values, offsets = sample
    turn = turns(offsets, draw)
    for share in SHARES[:-1]:
        stays = turn >= share
        stays[offsets[:-1]] |= np.add.reduceat(stays, offsets[:-1]) == 0  # at least one
        yield read_only(values[stays]), read_only(np.concatenate([[0], np.cumsum(stays, dtype=np.int64)])[offsets])


def turns(offsets: Longs, draw: np.random.Generator) -> Floats:
    """A random rank of each feature in its set, scaled to [0, 1): float64[m]."""
    sizes = np.diff(offsets)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((draw.random(len(owner)), owner))
    place = np.empty(len(owner))
    place[order] = (np.arange(len(owner)) - np.repeat(offsets[:-1], sizes)) / np.repeat(sizes, sizes)
    return place


def exact_join(sets: Features, name: str, limit: float, *, workers: Workers = ALONE, **how: Any) -> TableJoin:
    """All similar pairs, by comparing all. ``how``: per, as for `joins.hamming_join.TableJoin`."""
    check = checker(partial(of_pairs(name), sets, sets), limit, workers.advance)
    return all_pairs_join(len(sets[1]) - 1, check, cost(sets, name), sets[0].shape[1], workers=workers, **how)


def encoded_join(encoded: Encoded, name: str, limit: float, recall: float, *, walk: bool = False, workers: Workers = ALONE, **how: Any) -> TableJoin:
    """Similar pairs with similar encodings; compares all pairs if the necessary cosine is too low to help."""
    least = encoded.least_cosine(limit, recall)
    if least < LEAST:
        found = exact_join(encoded.sets, name, limit, workers=workers, **how)
        least = -1.0
    else:
        prepared = prepare(encoded.vectors, "cosine", least, encoded.seed, workers)
        found = vector_join(prepared, choose_layout(prepared, recall, encoded.seed, walk=walk), workers=workers, **how)
        compare = partial(of_pairs(name), encoded.sets, encoded.sets)
        found = replace(found, check=checker(compare, limit, workers.advance, found.check))
    return replace(found, recall=None, reported=named("encodings", encoded.vectors.shape[1], least_cosine=least), counted="computed")


def of_pairs(name: str) -> Callable[..., Floats]:
    """The function that computes a measure for pairs of sets, given as row numbers."""
    found: Callable[..., Floats] = loaded(facts_of(name).pairs)
    return found


def cost(sets: Features, name: str) -> float:
    """The predicted cost of all pairs, in nanoseconds of one core."""
    sizes, dimension = np.diff(sets[1]).astype(float), sets[0].shape[1]
    pairs = len(sizes) * (len(sizes) - 1) / 2
    size = float(sizes.mean()) if len(sizes) else 0.0
    return pairs * (PRODUCT_COST * 2 * size**2 * dimension + (PAIRING_COST * size**3 if facts_of(name).paired else 0.0))


def feature_neighbors(
    base: Features,
    queries: Features,
    name: str,
    k: int,
    *,
    recall: float,
    exact: bool,
    limit: float | None,
    seed: int,
    workers: Workers,
    same: bool,
) -> Found:
    """The k sets of ``base`` most similar to each query, as `nearest.neighbors.neighbors` returns them: among all, or among the nearest encodings."""
    n, asking = len(base[1]) - 1, len(queries[1]) - 1
    wanted = max(CANDIDATES, TIMES * k) + same
    found = None
    if not exact and wanted < n:
        encoded = Encoded.of(base, seed, workers)
        asked = encoded.vectors if same else encode(queries, encoded.space, seed, workers)
        found = neighbors(encoded.vectors, asked, "cosine", wanted, recall=recall, seed=seed, workers=replace(workers, advance=ignored), same=same)

    def compare(query: Longs, item: Longs) -> Floats:
        return of_pairs(name)(queries, base, query, item)

    return best(compare, Candidates(asking, n, found), k, limit=limit, same=same, workers=workers)
