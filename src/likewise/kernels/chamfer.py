"""Chamfer comparison of sets of feature vectors: four features of one set with all of the other at a time, 32 to a vector.

A cost is a squared L2 distance or a negated inner product: lower is nearer. It is a float32, whose terms are added in the order of the
coordinates, each by a fused multiply-add. Lanes are features of the other set, so sums do not depend on the width of the machine's vectors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from likewise.compiled.jit import cgutils, inline, intrinsic, ir, kernel, types

#: Features of one set compared at a time, and features of the other set in a vector.
ROWS, LANES = 4, 32


def _floats():
    """The type of a vector of features' numbers."""
    return ir.VectorType(ir.FloatType(), LANES)


def _constant(number: float):
    """A number in all lanes."""
    return ir.Constant(_floats(), [number] * LANES)


def _call(builder, name, result, *arguments):
    """Call an LLVM intrinsic."""
    function = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), arguments)


def _block(builder, array, at):
    """A pointer to a vector of LANES floats."""
    return builder.bitcast(builder.gep(array, [at]), _floats().as_pointer())


def _smaller(builder, x, y):
    """Elementwise minima."""
    return builder.select(builder.fcmp_ordered("<", x, y), x, y)


def _costs_of(distances: bool, keep: bool) -> Any:
    """Make an intrinsic: costs of ROWS features, which begin at values[places[r]], with the ``groups`` * LANES features that begin at packed[at].

    With ``keep`` all costs are stored, that of column c at costs[r * stride + c]. Otherwise least[r] becomes the minimum of a row, and costs[c] the
    minimum of its old value and column c.
    """

    def typed(typingctx, values, places, packed, at, groups, dimension, costs, stride, least):
        def codegen(context, builder, signature, args):
            def data(place):
                return context.make_array(signature.args[place])(context, builder, args[place]).data

            values, packed, costs, least = (data(place) for place in (0, 2, 6, 8))
            places = cgutils.unpack_tuple(builder, args[1])
            at, groups, dimension, stride = (args[place] for place in (3, 4, 5, 7))
            word = dimension.type
            sums = [cgutils.alloca_once(builder, _floats()) for _ in range(ROWS)]
            rows = [cgutils.alloca_once(builder, _floats()) for _ in range(ROWS)]
            for row in rows:
                builder.store(_constant(np.inf), row)
            with cgutils.for_range(builder, groups) as group:
                first = builder.add(at, builder.mul(builder.mul(group.index, dimension), ir.Constant(word, LANES)))
                for one in sums:
                    builder.store(_constant(0), one)
                with cgutils.for_range(builder, dimension) as coordinate:
                    y = builder.load(_block(builder, packed, builder.add(first, builder.mul(coordinate.index, ir.Constant(word, LANES)))), align=4)
                    for place, one in zip(places, sums, strict=True):
                        number = builder.load(builder.gep(values, [builder.add(place, coordinate.index)]))
                        single = builder.insert_element(_constant(0), number, ir.Constant(ir.IntType(32), 0))
                        x = builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))
                        factors = [builder.fsub(x, y)] * 2 if distances else [x, y]
                        builder.store(_call(builder, f"llvm.fma.v{LANES}f32", _floats(), *factors, builder.load(one)), one)
                found = [builder.load(one) if distances else builder.fneg(builder.load(one)) for one in sums]
                column = builder.mul(group.index, ir.Constant(word, LANES))
                if keep:
                    for number, cost in enumerate(found):
                        target = _block(builder, costs, builder.add(column, builder.mul(stride, ir.Constant(word, number))))
                        builder.store(cost, target, align=4)
                else:
                    lowest = builder.load(_block(builder, costs, column), align=4)
                    for cost, row in zip(found, rows, strict=True):
                        lowest = _smaller(builder, cost, lowest)
                        builder.store(_smaller(builder, cost, builder.load(row)), row)
                    builder.store(lowest, _block(builder, costs, column), align=4)
            if not keep:
                for number, row in enumerate(rows):
                    lowest = _call(builder, f"llvm.vector.reduce.fmin.v{LANES}f32", ir.FloatType(), builder.load(row))
                    builder.store(lowest, builder.gep(least, [ir.Constant(word, number)]))
            return context.get_dummy_value()

        count = types.int64
        return types.void(values, places, packed, count, count, count, costs, count, least), codegen

    return intrinsic(typed)


_least_distances, _least_products = _costs_of(True, False), _costs_of(False, False)
_all_distances, _all_products = _costs_of(True, True), _costs_of(False, True)


@kernel
def pack(values, offsets, starts, begin, end, packed):
    """Lay out the features of the sets ``begin`` to ``end`` in ``packed``, float32: set s takes the groups starts[s] to starts[s + 1].

    A group is d * LANES floats: LANES features, coordinate by coordinate. The last feature of a set is repeated to fill its last group, which
    changes no minimum. values: float32[m, d]; set s is values[offsets[s]:offsets[s + 1]].
    """
    dimension = values.shape[1]
    for s in range(begin, end):
        for group in range(starts[s], starts[s + 1]):
            for lane in range(LANES):
                row = min(offsets[s] + (group - starts[s]) * LANES + lane, offsets[s + 1] - 1)
                at = group * dimension * LANES + lane
                for z in range(dimension):
                    packed[at + z * LANES] = values[row, z]


@inline
def places_of(row, last, dimension):
    """Where four features begin in the flat array, from ``row`` on; the last feature is repeated."""
    return row * dimension, min(row + 1, last) * dimension, min(row + 2, last) * dimension, min(row + 3, last) * dimension


@inline
def mean(costs, count, distances):
    """The mean of the distances or inner products that ``costs`` stand for."""
    total = 0.0
    for i in range(count):
        total += math.sqrt(costs[i]) if distances else -np.float64(costs[i])
    return total / count


@kernel
def chamfers(values, offsets, packed, starts, other_offsets, left, right, most, most_groups, distances, both, begin, end, out):
    """Fill out[begin:end], float64[m], with the mean distance, or inner product, of each feature of set left[i] and its nearest in set right[i].

    values, offsets: float32[features, d] and int64[sets + 1], the sets on the left. packed, starts: the sets on the right as `pack` lays them out,
    other_offsets their offsets. left, right: int64[m]. most, most_groups: features of the largest set on the left, groups of that on the right.
    distances: mean L2 distances, else inner products. both: add the mean over the features of set right[i].
    """
    dimension = values.shape[1]
    flat = values.reshape(-1)
    rows = np.empty(most + ROWS, np.float32)
    columns = np.empty(most_groups * LANES, np.float32)
    for i in range(begin, end):
        s, t = left[i], right[i]
        first, last = offsets[s], offsets[s + 1] - 1
        at, groups = starts[t] * dimension * LANES, starts[t + 1] - starts[t]
        columns[: groups * LANES] = np.inf
        for row in range(first, last + 1, ROWS):
            places = places_of(row, last, dimension)
            if distances:
                _least_distances(flat, places, packed, at, groups, dimension, columns, 0, rows[row - first :])
            else:
                _least_products(flat, places, packed, at, groups, dimension, columns, 0, rows[row - first :])
        out[i] = mean(rows, last + 1 - first, distances)
        if both:
            out[i] += mean(columns, other_offsets[t + 1] - other_offsets[t], distances)
