"""Sums over the coordinates of two vectors, in eight lanes of float64.

Coordinate i goes to lane i mod 8, lanes are added in one fixed order, and nothing is fused: a sum depends on the two vectors alone, not on the
batch or on how wide the machine's vectors are. LLVM must not reorder a plain loop, so it runs at a quarter of the speed; with fastmath its order
would depend on the machine. Hence intrinsics.

Each takes (x, y, p, q): two 1-D C-contiguous arrays of one type, float32 or float64, and equally long; and two factors, which only `chords` uses.
"""

from __future__ import annotations

from typing import Any

from likewise.compiled.jit import cgutils, intrinsic, ir, types

LANES = 8


def _vector():
    """The type of eight lanes."""
    return ir.VectorType(ir.DoubleType(), LANES)


def _zero():
    """Zero in all lanes."""
    return ir.Constant(_vector(), [0.0] * LANES)


def _fold(terms, join, count: int) -> Any:
    """Make an intrinsic with ``count`` results: ``join`` over the coordinates of each of ``terms`` (builder, u, v, p, q), vectors of eight lanes."""

    def typed(typingctx, x, y, p, q):
        result = types.UniTuple(types.float64, count) if count > 1 else types.float64

        def codegen(context, builder, signature, args):
            left, right = (context.make_array(kind)(context, builder, value) for kind, value in zip(signature.args[:2], args[:2], strict=True))
            p, q = (_all(builder, factor) for factor in args[2:])
            number = context.get_data_type(signature.args[0].dtype)
            size = builder.extract_value(left.shape, 0)
            step = ir.Constant(size.type, LANES)
            whole = builder.sub(size, builder.srem(size, step))
            totals = [cgutils.alloca_once_value(builder, _zero()) for _ in range(count)]

            def add(u, v):
                for total, term in zip(totals, terms(builder, u, v, p, q), strict=True):
                    builder.store(join(builder, builder.load(total), term), total)

            with cgutils.for_range_slice(builder, ir.Constant(size.type, 0), whole, step) as (at, _):
                add(*(_eight(builder, builder.gep(array.data, [at]), number) for array in (left, right)))
            with builder.if_then(builder.icmp_signed("<", whole, size)):  # the remainder, padded with zeros
                rest = [cgutils.alloca_once(builder, ir.ArrayType(number, LANES)) for _ in range(2)]
                for place in rest:
                    builder.store(ir.Constant(ir.ArrayType(number, LANES), [0.0] * LANES), place)
                with cgutils.for_range_slice(builder, whole, size, ir.Constant(size.type, 1)) as (at, _):
                    for array, place in zip((left, right), rest, strict=True):
                        target = builder.gep(place, [ir.Constant(size.type, 0), builder.sub(at, whole)])
                        builder.store(builder.load(builder.gep(array.data, [at])), target)
                add(*(_eight(builder, builder.bitcast(place, number.as_pointer()), number) for place in rest))
            results = [_across(builder, builder.load(total), join) for total in totals]
            return context.make_tuple(builder, signature.return_type, results) if count > 1 else results[0]

        return result(x, y, types.float64, types.float64), codegen

    return intrinsic(typed)


def _eight(builder, pointer, number):
    """Eight coordinates, as float64."""
    vector = ir.VectorType(number, LANES)
    loaded = builder.load(builder.bitcast(pointer, vector.as_pointer()), align=4)  # an array may begin at any multiple of a number's size
    return loaded if number == ir.DoubleType() else builder.fpext(loaded, _vector())


def _all(builder, factor):
    """A number in all lanes."""
    one = builder.insert_element(_zero(), factor, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, _zero(), ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _across(builder, vector, join):
    """Join lanes in halves: 0 with 4, 1 with 5 and so on, then 0 with 2 and 1 with 3, then 0 with 1."""
    lanes = [builder.extract_element(vector, ir.Constant(ir.IntType(32), lane)) for lane in range(LANES)]
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [join(builder, low, high) for low, high in zip(lanes[:half], lanes[half:], strict=True)]
    return lanes[0]


def _sum(builder, a, b):
    """Elementwise sums."""
    return builder.fadd(a, b)


def _most(builder, a, b):
    """Elementwise maxima."""
    return builder.select(builder.fcmp_ordered("<", a, b), b, a)


def _size(builder, a):
    """Magnitudes."""
    return builder.select(builder.fcmp_ordered("<", a, _zero()), builder.fsub(_zero(), a), a)


def _square(builder, a):
    """Squares."""
    return builder.fmul(a, a)


#: (Σ x², Σ xy, Σ y²)
products: Any = _fold(lambda b, u, v, p, q: (b.fmul(u, u), b.fmul(u, v), b.fmul(v, v)), _sum, 3)
#: (Σ (px - qy)², Σ (px + qy)²)
chords: Any = _fold(
    lambda b, u, v, p, q: tuple(_square(b, join(b.fmul(u, p), b.fmul(v, q))) for join in (b.fsub, b.fadd)),
    _sum,
    2,
)
#: Σ (x - y)²
squares: Any = _fold(lambda b, u, v, p, q: (_square(b, b.fsub(u, v)),), _sum, 1)
#: Σ |x - y|
sizes: Any = _fold(lambda b, u, v, p, q: (_size(b, b.fsub(u, v)),), _sum, 1)
#: max |x - y|
largest: Any = _fold(lambda b, u, v, p, q: (_size(b, b.fsub(u, v)),), _most, 1)
