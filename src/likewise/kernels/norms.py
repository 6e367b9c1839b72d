"""Pairs of vectors within an L_r distance: most are given up after a few coordinates, the others are measured.

With t = |x_i - y_i| / limit, a pair is beyond the limit if one t is above 1, or if the sum of some t^r is. Both are tested for a few coordinates at a
time, in the vectors' own type and with slack for rounding. If t^r takes long to compute, a higher power takes its place, which is at most t^r.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from likewise.compiled.jit import cgutils, inline, intrinsic, ir, kernel, types
from likewise.kernels.brute_force import ROWS, conclude
from likewise.kernels.distances import distance
from likewise.kernels.top_k import SPARE, Best, bound_of, offer, value_of

#: Coordinates compared at a time. Vectors are padded with zeros to a multiple.
CHUNK = 16
#: Halves of the powers that are summed: that of t^r, or the next, which is at most t^r.
POWERS = (2, 3, 4, 5, 6, 7, 8, 16)
#: Limits between these, by the bytes of a number, have a safe reciprocal, and quotients by them are safe.
NARROW, WIDE = (1e-30, 1e30), (1e-290, 1e290)


class Norm(NamedTuple):
    """L_order as `beyond` tests it."""

    order: float
    halves: int  # t to half of this power is summed; 0: no sums are tested
    slack: float  # relative
    low: float  # limits from here to ``high`` are tested
    high: float


def norm_of(order: float, dimension: int, itemsize: int) -> Norm:
    """The test of L_order for vectors of this many numbers of 4 or 8 bytes."""
    halves = next((halves for halves in POWERS if halves >= 2 * order), 0)
    slack = (dimension + 2 * halves + 32) * 2.0 ** (-22 if itemsize == 4 else -51)
    return Norm(float(order), halves if slack < 0.5 else 0, min(slack, 0.5), *(NARROW if itemsize == 4 else WIDE))


def padded(vectors: np.ndarray) -> np.ndarray:
    """The numbers of vectors [n, d], one vector after another, each padded with zeros to a multiple of CHUNK."""
    n, dimension = vectors.shape
    out = np.zeros((n, -(-dimension // CHUNK) * CHUNK), vectors.dtype)
    out[:, :dimension] = vectors
    return out.reshape(-1)


def _apart(context, builder, kinds, x, at, y, other):
    """|x - y| of a chunk, and the vector types of its numbers and of its bits."""
    number = context.get_data_type(kinds[0].dtype)
    vector = ir.VectorType(number, CHUNK)

    def load(kind, array, at):
        place = builder.gep(context.make_array(kind)(context, builder, array).data, [at])
        return builder.load(builder.bitcast(place, vector.as_pointer()), align=kind.dtype.bitwidth // 8)

    return _call(builder, "fabs", builder.fsub(load(kinds[0], x, at), load(kinds[2], y, other)))


def _name(kind):
    """The name of a vector type in the names of LLVM's functions."""
    return f"v{CHUNK}f{32 if kind.element == ir.FloatType() else 64}"


def _call(builder, name, vector):
    """Call an LLVM function of a chunk."""
    function = ir.FunctionType(vector.type, [vector.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, function, f"llvm.{name}.{_name(vector.type)}"), [vector])


def _all(builder, factor):
    """A number in all places of a chunk."""
    vector = ir.VectorType(factor.type, CHUNK)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), factor, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), CHUNK), [0] * CHUNK))


@intrinsic
def apart(typingctx, x, at, y, other, most):
    """True if a coordinate of the chunks x[at:] and y[other:] differs by more than ``most``. All numbers are of one type."""

    def codegen(context, builder, signature, args):
        found = builder.fcmp_ordered(">", _apart(context, builder, signature.args, *args[:4]), _all(builder, args[4]))
        return builder.icmp_unsigned("!=", builder.bitcast(found, ir.IntType(CHUNK)), ir.Constant(ir.IntType(CHUNK), 0))

    return types.boolean(x, types.int64, y, types.int64, x.dtype), codegen


def _sum(halves: int) -> Any:
    """Make an intrinsic: the sum of t^(halves / 2) over the chunks x[at:] and y[other:], where t is the difference times ``inverse``."""

    def typed(typingctx, x, at, y, other, inverse):
        def codegen(context, builder, signature, args):
            square = builder.fmul(_apart(context, builder, signature.args, *args[:4]), _all(builder, args[4]))
            total, left = _call(builder, "sqrt", square) if halves % 2 else None, halves // 2
            while left:
                if left % 2:
                    total = square if total is None else builder.fmul(total, square)
                square, left = builder.fmul(square, square), left // 2
            number = square.type.element
            function = ir.FunctionType(number, [number, square.type])
            reduce = cgutils.get_or_insert_function(builder.module, function, f"llvm.vector.reduce.fadd.{_name(square.type)}")
            found = builder.call(reduce, [ir.Constant(number, 0.0), total], fastmath=("reassoc",))
            return found if number == ir.DoubleType() else builder.fpext(found, ir.DoubleType())

        return types.float64(x, types.int64, y, types.int64, x.dtype), codegen

    return intrinsic(typed)


_two, _three, _four, _five, _six, _seven, _eight, _sixteen = (_sum(halves) for halves in POWERS)


@inline
def powers(x, at, y, other, inverse, halves):
    """About Σ t^(halves / 2) over two chunks."""
    if halves == 2:
        return _two(x, at, y, other, inverse)
    if halves == 3:
        return _three(x, at, y, other, inverse)
    if halves == 4:
        return _four(x, at, y, other, inverse)
    if halves == 5:
        return _five(x, at, y, other, inverse)
    if halves == 6:
        return _six(x, at, y, other, inverse)
    if halves == 7:
        return _seven(x, at, y, other, inverse)
    return _eight(x, at, y, other, inverse) if halves == 8 else _sixteen(x, at, y, other, inverse)


@inline
def beyond(x, at, y, other, width, norm, most, inverse):
    """True if the vectors x[at : at + width] and y[other : other + width] are certainly beyond a limit from norm.low to norm.high.

    width: a multiple of CHUNK. most: the limit and its slack; inverse: its reciprocal; of the vectors' type.
    """
    total = 0.0
    for begin in range(0, width, CHUNK):
        if apart(x, at + begin, y, other + begin, most):
            return True
        if norm.halves:
            total += powers(x, at + begin, y, other + begin, inverse, norm.halves)
            if total > 1 + norm.slack:
                return True
    return False


@kernel
def ranges(group, key, groups, keys, limit):
    """The places (low, high), int64[n] both, of the items of the same group whose key differs by at most ``limit``.

    group: int64[n], key: float64[n], ascending, by group first. groups, keys: the same of the items searched.
    """
    low, high = np.empty(len(key), np.int64), np.empty(len(key), np.int64)
    first = last = 0
    for i in range(len(key)):
        while first < len(keys) and (groups[first] < group[i] or (groups[first] == group[i] and key[i] - keys[first] > limit)):
            first += 1
        last = max(last, first)
        while last < len(keys) and (groups[last] < group[i] or (groups[last] == group[i] and keys[last] - key[i] <= limit)):
            last += 1
        low[i], high[i] = first, last
    return low, high


@kernel
def nearest(rule, items, queries, norm, padded, asked, own, begin, end, out_items, out_values, out_counts, counters):
    """Find the k nearest items of the queries begin..end by L_order, nearest first, ties by the earlier.

    padded, asked: the numbers of items and queries, as for `close`. Other parameters are those of brute_force.one_by_one.
    """
    k, many, width = out_items.shape[1], end - begin, len(padded) // max(1, len(items.rows))
    heaps, states = np.empty((many, k)), np.zeros((many, 2), np.int64)
    found, costs = np.empty((many, 2 * k + SPARE), np.int64), np.empty((many, 2 * k + SPARE))
    about_bound = np.empty(2, items.rows.dtype)
    for first in range(0, len(items.rows), ROWS):
        for query in range(begin, end):
            i = query - begin
            best, tested, known = Best(heaps[i], found[i], costs[i], states[i]), False, -1.0
            for item in range(first, min(first + ROWS, len(items.rows))):
                if own and item == query:
                    continue
                bound = bound_of(rule, best)
                if bound != known:
                    known, tested = bound, norm.low < bound < norm.high
                    about_bound[0] = bound * (1 + norm.slack) if tested else 0
                    about_bound[1] = 1 / bound if tested else 0
                if tested and beyond(padded, item * width, asked, query * width, width, norm, about_bound[0], about_bound[1]):
                    continue
                cost = value_of(rule, items, item, queries, query, 0.0)
                counters[query, 2] += 1
                if cost <= bound:
                    offer(rule, best, items, item, queries, query, cost)
    conclude(rule, items, queries, begin, heaps, found, costs, states, out_items, out_values, out_counts)


@kernel
def close(vectors, norm, limit, rows, columns, padded, others, low, high, twice, twin, left, right, values):
    """Find the pairs of some rows and columns within the limit. Returns (how many, how many were compared).

    vectors: [n, d]. rows, columns: int64, the items. padded, others: their numbers one after another, in any common order of coordinates,
    padded to a multiple of CHUNK.
    low, high: int64[rows], the range of columns of each row. twice, twin: bool[rows] and bool[columns]; a pair of two such items occurs twice, and
    only that with the lower item as row counts. Fills left, right and values.
    """
    tested = norm.low < limit < norm.high
    about_limit = np.empty(2, vectors.dtype)
    about_limit[0] = limit * (1 + norm.slack) if tested else 0
    about_limit[1] = 1 / limit if tested else 0
    most, inverse = about_limit[0], about_limit[1]
    width = len(padded) // max(1, len(rows))
    count = compared = 0
    for i in range(len(rows)):
        for j in range(low[i], high[i]):
            if twice[i] and twin[j] and rows[i] >= columns[j]:
                continue
            compared += 1
            if tested and beyond(padded, i * width, others, j * width, width, norm, most, inverse):
                continue
            value = distance(vectors[rows[i]], vectors[columns[j]], norm.order)
            if value <= limit:
                left[count], right[count], values[count] = min(rows[i], columns[j]), max(rows[i], columns[j]), value
                count += 1
    return count, compared
