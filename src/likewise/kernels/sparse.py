"""Sparse vectors: measures of two, projections on random directions, and overlaps of many with a few.

No function needs a dimension. A missing coordinate is 0, which changes no sum: each sum equals, to the last bit, that of the same vectors as dense
ones.
"""

from __future__ import annotations

import math

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.directions import fill, room, streams
from likewise.kernels.distances import angle, cosine, distance
from likewise.kernels.lanes import LANES
from likewise.kernels.projections import scaled

COSINE, ANGLE, NORM = 0, 1, 2


@inline
def side_by_side(indices, values, others, weights):
    """Two sparse vectors as dense ones without most of the coordinates where both are 0: float64[m] twice, m at most eight times the entries.

    Index i goes to a place of lane i mod 8, in ascending order, as `kernels.lanes` adds the coordinates of dense vectors: so all sums of lanes equal
    the dense ones.
    """
    most = LANES * (len(indices) + len(others))
    x, y = np.empty(most), np.empty(most)
    height = np.zeros(LANES, np.int64)  # places used in each lane
    used = a = b = 0
    while a < len(indices) or b < len(others):
        left = b == len(others) or (a < len(indices) and indices[a] <= others[b])
        right = a == len(indices) or (b < len(others) and others[b] <= indices[a])
        index = indices[a] if left else others[b]
        lane = np.int64(index & np.uint64(LANES - 1))
        place = LANES * height[lane] + lane
        height[lane] += 1
        if place >= used:
            x[used : used + LANES] = 0
            y[used : used + LANES] = 0
            used += LANES
        if left:
            x[place] = values[a]
            a += 1
        if right:
            y[place] = weights[b]
            b += 1
    return x[:used], y[:used]


@inline
def measured(indices, values, others, weights, measure, order):
    """A measure of two sparse vectors: a cosine, an angle in degrees, or an L_order distance. For cosine and angle neither may be empty."""
    x, y = side_by_side(indices, values, others, weights)
    if measure == COSINE:
        return cosine(x, y)
    return math.degrees(angle(x, y)) if measure == ANGLE else distance(x, y, order)


@kernel
def measures(a, b, left, right, measure, order):
    """Measures of vectors left[i] of ``a`` and right[i] of ``b``: float64[m].

    a, b: (indices uint64[m], values float64[m], offsets int64[n + 1]). left, right: int64[m]. measure: COSINE, ANGLE or NORM; order: the r of L_r.
    """
    out = np.empty(len(left))
    for i in range(len(left)):
        x, y = slice(a[2][left[i]], a[2][left[i] + 1]), slice(b[2][right[i]], b[2][right[i] + 1])
        out[i] = measured(a[0][x], a[1][x], b[0][y], b[1][y], measure, order)
    return out


@kernel
def directed(values, offsets):
    """The values of each vector divided by a power of two: float32[m] (projections.scaled)."""
    out = np.empty(len(values), np.float32)
    for i in range(len(offsets) - 1):
        scaled(values[offsets[i] : offsets[i + 1]], False, out[offsets[i] : offsets[i + 1]])
    return out


@kernel
def projections(kind, seed, coordinates, place, values, offsets, begin, count):
    """Products of vectors with the directions of the slots begin..begin + count of kernels.directions: [n, count], of the type of the values.

    coordinates: uint64[u], the indices that occur. place: int64[m], the position in ``coordinates`` of each entry's index. Entries of the directions
    are made for these alone, once for all vectors, and a vector's products are added in the order of its indices.
    """
    columns, work = streams(kind, seed, begin, count), room(count)
    directions = np.empty((len(coordinates), count), values.dtype)
    for i in range(len(coordinates)):
        fill(kind, columns, coordinates[i], work, directions[i])
    sums = np.zeros((len(offsets) - 1, count), values.dtype)
    for i in range(len(sums)):
        row = sums[i]
        for at in range(offsets[i], offsets[i + 1]):
            x, direction = values[at], directions[place[at]]
            for c in range(count):
                row[c] += x * direction[c]
    return sums


@kernel
def in_common(ranks, values, offsets, begin, end, queries, begins, holders, weights, sizes):
    """Σ xy, or with ``sizes`` Σ |x| + |y| - |x - y|, of the vectors begin..end with each query: float64[end - begin, queries].

    ranks: int64[m], the position of each entry's index among those of the queries, -1 for others. The queries that have the index of rank r are
    holders[begins[r] : begins[r + 1]], with these weights.
    """
    out = np.zeros((end - begin, queries))
    for i in range(begin, end):
        row = out[i - begin]
        for at in range(offsets[i], offsets[i + 1]):
            rank, x = ranks[at], values[at]
            if rank >= 0:
                for k in range(begins[rank], begins[rank + 1]):
                    y = weights[k]
                    row[holders[k]] += abs(x) + abs(y) - abs(x - y) if sizes else x * y
    return out


@kernel
def nearest(base, sizes, queries, values, own, ranks, lists, rule, same, begin, end, out_items, out_values, out_counts, counters):
    """Find the vectors of ``base`` nearest to the queries begin..end, nearest first, ties by the earlier.

    base, queries: (indices, values, offsets). sizes, own: float64[n], the squared lengths of either, or 1/2 each for cosines.
    values: float64[m], of the queries, normalized for cosines. ranks: int64[m], of their indices in ``lists``, (begins, holders, values) of the base.
    rule: (measure, order, most, slack). most: the maximum value, a distance or a negated cosine; cosines of 0 or below are never wanted. slack: the
    error of a cost computed from inner products, relative to the sum of both sizes. same: the queries are the base, and not their own neighbors.
    Fills out_items, out_values and out_counts. counters: int64[queries, 3]: vectors examined, 0, and values computed.
    """
    begins, holders, weights = lists
    measure, order, most, slack = rule
    k = out_items.shape[1]
    common = np.empty(len(sizes))
    for query in range(begin, end):
        common[:] = 0
        first, last = queries[2][query], queries[2][query + 1]
        for at in range(first, last):
            if ranks[at] >= 0:
                for place in range(begins[ranks[at]], begins[ranks[at] + 1]):
                    common[holders[place]] += values[at] * weights[place]
        found, nearer, items = 0, out_values[query], out_items[query]
        for item in range(len(sizes)):
            if (same and item == query) or (measure == COSINE and common[item] == 0):
                continue
            bound = nearer[k - 1] if found == k else most
            both = sizes[item] + own[query]
            if measure == COSINE:
                over = -common[item] > bound + slack
            else:
                over = order == 2 and both - 2 * common[item] > bound * bound + slack * both
            if over:
                continue
            x, y = slice(first, last), slice(base[2][item], base[2][item + 1])
            value = measured(queries[0][x], queries[1][x], base[0][y], base[1][y], measure, order)
            value = -value if measure == COSINE else value
            counters[query, 2] += 1
            if value > most or (measure == COSINE and value >= 0) or (found == k and value >= nearer[k - 1]):
                continue
            at = min(found, k - 1)
            while at > 0 and nearer[at - 1] > value:
                nearer[at], items[at] = nearer[at - 1], items[at - 1]
                at -= 1
            nearer[at], items[at] = value, item
            found = min(found + 1, k)
        out_counts[query] = found
        counters[query, 0] = len(sizes)
