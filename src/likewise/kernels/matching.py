"""Histograms matched without pairing their features: sums of minima and of products, for counts of 8, 16 or 32 bits, and for single bits.

Whole numbers are summed exactly, 64 bytes at a time, in LLVM vectors, since Numba has none: a plain loop over bytes takes five times as long.
Floats are added in float64, in lanes and one fixed order, so that a sum depends on the two histograms alone.
"""

from __future__ import annotations

from typing import Any

from likewise.compiled.jit import cgutils, intrinsic, ir, kernel, types

#: Bits of a vector of whole numbers; lanes of a sum of floats.
WIDTH, LANES = 512, 32
#: Bytes of histograms that stay in the cache while one row after the other is matched with them.
TILE = 2**18


def _numbers(bits: int) -> ir.VectorType:
    """The type of a vector of unsigned numbers of ``bits`` bits."""
    return ir.VectorType(ir.IntType(bits), WIDTH // bits)


def _call(builder, name, result, argument):
    """Call an LLVM intrinsic."""
    function = ir.FunctionType(result, [argument.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), [argument])


def _widened(builder, vector, bits):
    """Add neighbors until numbers have ``bits`` bits: each step halves their number and doubles their width."""
    while vector.type.element.width < bits:
        half = vector.type.element.width
        wide = _numbers(2 * half)
        pairs = builder.bitcast(vector, wide)
        low = builder.and_(pairs, ir.Constant(wide, [2**half - 1] * wide.count))
        vector = builder.add(low, builder.lshr(pairs, ir.Constant(wide, [half] * wide.count)))
    return vector


def _smaller(builder, x, y, floats):
    """Elementwise minima."""
    less = builder.fcmp_ordered("<", x, y) if floats else builder.icmp_unsigned("<", x, y)
    return builder.select(less, x, y)


def _sum_over(product: bool) -> Any:
    """Make an intrinsic (x, y): Σ min(x_i, y_i), or Σ x_i y_i for ``product``. x, y: 1-D, C-contiguous, of one type and size, float32 or unsigned.

    uint64 stands for 64 bins of one bit. Bytes are summed in lanes of 32 bits, which suffice for 2^26 bins, all other counts in lanes of 64.
    """

    def typed(typingctx, x, y):
        floats = isinstance(x.dtype, types.Float)
        bits = x.dtype.bitwidth
        one_bit = bits == 64
        wide = 2 * bits if product and not one_bit else bits  # of a term
        lanes = LANES if floats else WIDTH // wide
        total = 32 if bits == 8 else 64  # of a lane of the sum
        sums = ir.VectorType(ir.DoubleType(), LANES) if floats else _numbers(total)

        def term(builder, x, y):
            if floats:
                x, y = (builder.fpext(side, sums) for side in (x, y))
                return builder.fmul(x, y) if product else _smaller(builder, x, y, True)
            if one_bit:
                return _call(builder, "llvm.ctpop.v8i64", x.type, builder.and_(x, y))
            if product:
                return builder.mul(*(builder.zext(side, _numbers(wide)) for side in (x, y)))
            return _smaller(builder, x, y, False)

        def codegen(context, builder, signature, args):
            left, right = (context.make_array(kind)(context, builder, value) for kind, value in zip(signature.args, args, strict=True))
            number = context.get_data_type(x.dtype)
            loaded = ir.VectorType(number, lanes)
            size = builder.extract_value(left.shape, 0)
            step = ir.Constant(size.type, lanes)
            whole = builder.sub(size, builder.srem(size, step))
            result = cgutils.alloca_once_value(builder, ir.Constant(sums, [0] * sums.count))

            def add(pointers):
                found = term(builder, *(builder.load(builder.bitcast(pointer, loaded.as_pointer()), align=1) for pointer in pointers))
                before = builder.load(result)
                builder.store(builder.fadd(before, found) if floats else builder.add(before, _widened(builder, found, total)), result)

            with cgutils.for_range_slice(builder, ir.Constant(size.type, 0), whole, step) as (at, _):
                add([builder.gep(side.data, [at]) for side in (left, right)])
            with builder.if_then(builder.icmp_signed("<", whole, size)):  # the remainder, padded with zeros
                rest = [cgutils.alloca_once_value(builder, ir.Constant(loaded, [0] * lanes)) for _ in range(2)]
                places = [builder.bitcast(place, number.as_pointer()) for place in rest]
                with cgutils.for_range_slice(builder, whole, size, ir.Constant(size.type, 1)) as (at, _):
                    for side, place in zip((left, right), places, strict=True):
                        builder.store(builder.load(builder.gep(side.data, [at])), builder.gep(place, [builder.sub(at, whole)]))
                add(places)
            added = builder.load(result)
            if not floats:
                return _call(builder, "llvm.vector.reduce.add.v8i64", ir.IntType(64), _widened(builder, added, 64))
            parts = [builder.extract_element(added, ir.Constant(ir.IntType(32), lane)) for lane in range(LANES)]
            while len(parts) > 1:  # lane 0 with lane 16 and so on, in halves
                half = len(parts) // 2
                parts = [builder.fadd(low, high) for low, high in zip(parts[:half], parts[half:], strict=True)]
            return parts[0]

        return (types.float64 if floats else types.int64)(x, y), codegen

    return intrinsic(typed)


_minima, _products = _sum_over(False), _sum_over(True)


@kernel
def match_rows(a, b, product, out):
    """Fill out[i] with the match of the i-th rows of a and b; either may have a single row, which is matched with each row of the other.

    a, b: [n, bins] of one type. product: sums of products, else of minima. out: [n], float64 for float counts, else int64.
    """
    for i in range(out.size):
        x, y = a[min(i, len(a) - 1)], b[min(i, len(b) - 1)]
        out[i] = _products(x, y) if product else _minima(x, y)


@kernel
def match_all(a, b, product, begin, end, out):
    """Fill out[i, j] with the match of row i of ``a``, for i from ``begin`` to ``end``, with row j of ``b``; see `match_rows`."""
    step = max(1, TILE // max(1, b.shape[1] * b.itemsize))
    for first in range(0, len(b), step):
        for i in range(begin, end):
            for j in range(first, min(first + step, len(b))):
                out[i, j] = _products(a[i], b[j]) if product else _minima(a[i], b[j])
