"""One-to-one pairings of two sets with the least total cost (the linear assignment problem).

Rows are assigned one after another by a shortest augmenting path (Jonker and Volgenant 1987), in the variant for rectangular matrices of Crouse
(2016).
"""

from __future__ import annotations

import math

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.chamfer import LANES, ROWS, _all_distances, _all_products, places_of


@inline
def start(costs, row_price, row_of, column_of):
    """Give each row its cheapest column unless an earlier row has it. Prices of rows are their minima, so that no reduced cost is negative.

    costs: float64[rows, columns]. Fills row_price float64[rows], row_of int64[columns] and column_of int64[rows]; -1 means unassigned.
    """
    row_of[:] = -1
    column_of[:] = -1
    for i in range(costs.shape[0]):
        cheapest = 0
        for j in range(costs.shape[1]):
            if costs[i, j] < costs[i, cheapest]:
                cheapest = j
        row_price[i] = costs[i, cheapest]
        if row_of[cheapest] < 0:
            row_of[cheapest], column_of[i] = i, cheapest


@inline
def augment(costs, free, row_price, column_price, row_of, column_of, shortest, before, unseen):
    """Assign a column to row ``free`` along the shortest augmenting path, and update the prices, which prove that the assignment is optimal.

    shortest float64[columns], before int64[columns] and unseen int64[columns] are scratch; the others are those of `start`.
    """
    columns = costs.shape[1]
    for j in range(columns):
        unseen[j] = j
        shortest[j] = np.inf
    left, row, length, end = columns, free, 0.0, -1
    while end < 0:
        nearest = 0
        base = length - row_price[row]
        for k in range(left):
            j = unseen[k]
            reach = base + costs[row, j] - column_price[j]
            if reach < shortest[j]:
                shortest[j], before[j] = reach, row
            least = shortest[unseen[nearest]]
            if shortest[j] < least or (shortest[j] == least and row_of[j] < 0 <= row_of[unseen[nearest]]):
                nearest = k
        column = unseen[nearest]
        length = shortest[column]
        left -= 1
        unseen[nearest], unseen[left] = unseen[left], column  # visited columns are moved behind ``left``
        if row_of[column] < 0:
            end = column
        else:
            row = row_of[column]
    row_price[free] += length
    for k in range(left, columns):
        column = unseen[k]
        if column != end:
            row_price[row_of[column]] += length - shortest[column]
            column_price[column] -= length - shortest[column]
    while True:
        row = before[end]
        row_of[end] = row
        column_of[row], end = end, column_of[row]
        if row == free:
            break


@inline
def pair_up(costs, column_of):
    """Fill column_of, int64[rows], with each row's column in the assignment of least total cost. costs: float64[rows, columns], rows <= columns."""
    rows, columns = costs.shape
    row_price, column_price = np.zeros(rows), np.zeros(columns)
    row_of, shortest = np.empty(columns, np.int64), np.empty(columns)
    before, unseen = np.empty(columns, np.int64), np.empty(columns, np.int64)
    start(costs, row_price, row_of, column_of)
    for i in range(rows):
        if column_of[i] < 0:
            augment(costs, i, row_price, column_price, row_of, column_of, shortest, before, unseen)


@kernel
def assignments(values, offsets, packed, starts, other_offsets, left, right, most, most_groups, distances, begin, end, out):
    """Fill out[begin:end], float64[m], with the mean over the pairs of the best one-to-one pairing of feature sets left[i] and right[i].

    The mean is of L2 distances if ``distances``, else of inner products. All features of the smaller set are paired.
    Other parameters are those of `chamfer.chamfers`.
    """
    dimension = values.shape[1]
    flat = values.reshape(-1)
    found = np.empty((most + ROWS) * most_groups * LANES, np.float32)
    for i in range(begin, end):
        s, t = left[i], right[i]
        first, rows, columns = offsets[s], offsets[s + 1] - offsets[s], other_offsets[t + 1] - other_offsets[t]
        at, groups = starts[t] * dimension * LANES, starts[t + 1] - starts[t]
        stride = groups * LANES
        for row in range(0, rows, ROWS):
            places = places_of(first + row, first + rows - 1, dimension)
            if distances:
                _all_distances(flat, places, packed, at, groups, dimension, found[row * stride :], stride, found[:0])
            else:
                _all_products(flat, places, packed, at, groups, dimension, found[row * stride :], stride, found[:0])
        few = min(rows, columns)
        costs = np.empty((few, max(rows, columns)))
        for row in range(rows):
            for column in range(columns):
                cost = found[row * stride + column]
                at = (row, column) if rows <= columns else (column, row)
                costs[at] = math.sqrt(cost) if distances else cost
        column_of = np.empty(few, np.int64)
        pair_up(costs, column_of)
        total = 0.0
        for row in range(few):
            total += costs[row, column_of[row]]
        out[i] = (total if distances else -total) / few
