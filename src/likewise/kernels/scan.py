"""Hamming distances of all codes to those of queries, for 64 items at a time.

Byte b of the codes of 64 items is stored together, in a plane: a vector of 64 bytes then holds 64 counts, and no sum runs across it. Numba has no
vector type, so three small functions are LLVM IR, as in kernels.blocks. They take places in flat arrays, never slices.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import cgutils, inline, intrinsic, ir, kernel, types

BLOCK = 64
#: Queries compared with a block at once, so that it is loaded once.
AT_ONCE = 4
#: Bytes of planes that stay in the cache while one query after the other is compared with them.
TILE = 2**18
#: Counts saturate here: so many bits, or more.
MOST = 255


def _bytes():
    """The type of a block."""
    return ir.VectorType(ir.IntType(8), BLOCK)


def _fours():
    """The type of a block as words of four bytes."""
    return ir.VectorType(ir.IntType(32), BLOCK // 4)


def _data(context, builder, kind, array):
    """The pointer to an array's first element."""
    return context.make_array(kind)(context, builder, array).data


def _block(builder, data, at):
    """A pointer to a block of 64 bytes."""
    return builder.bitcast(builder.gep(data, [at]), _bytes().as_pointer())


def _call(builder, name, *args):
    """Call an LLVM intrinsic on blocks of bytes."""
    function = ir.FunctionType(_bytes(), [_bytes()] * len(args))
    return builder.call(cgutils.get_or_insert_function(builder.module, function, f"llvm.{name}.v{BLOCK}i8"), args)


@intrinsic
def _differing(typingctx, planes, at, queries, query, width, out, to, stride):
    """Write the counts of the block whose planes begin at planes[at], for AT_ONCE queries: those of query q to out[to + q * stride :], 64 bytes.

    queries: uint32; byte b of the first query's code, four times, is queries[query + b]; the next query follows ``width`` later, a multiple of 8.
    """

    def codegen(context, builder, signature, args):
        planes, at, queries, query, width, out, to, stride = args
        planes, queries, out = (_data(context, builder, signature.args[i], args[i]) for i in (0, 2, 5))
        totals = [cgutils.alloca_once_value(builder, ir.Constant(_bytes(), [0] * BLOCK)) for _ in range(AT_ONCE)]
        with cgutils.for_range_slice(builder, ir.Constant(ir.IntType(64), 0), width, ir.Constant(ir.IntType(64), 8)) as (first, _):
            for step in range(8):
                byte = builder.add(first, ir.Constant(ir.IntType(64), step))
                plane = builder.load(_block(builder, planes, builder.add(at, builder.mul(byte, ir.Constant(ir.IntType(64), BLOCK)))), align=1)
                for number, total in enumerate(totals):
                    place = builder.add(builder.add(query, byte), builder.mul(width, ir.Constant(ir.IntType(64), number)))
                    four = builder.load(builder.gep(queries, [place]))
                    one = builder.insert_element(ir.Constant(_fours(), ir.Undefined), four, ir.Constant(ir.IntType(32), 0))
                    all_of_them = builder.bitcast(builder.shuffle_vector(one, one, ir.Constant(_fours(), [0] * _fours().count)), _bytes())
                    more = _call(builder, "ctpop", builder.xor(plane, all_of_them))
                    builder.store(_call(builder, "uadd.sat", builder.load(total), more), total)
        for number, total in enumerate(totals):
            place = builder.add(to, builder.mul(stride, ir.Constant(ir.IntType(64), number)))
            builder.store(builder.load(total), _block(builder, out, place), align=1)
        return context.get_dummy_value()

    return types.void(planes, types.int64, queries, types.int64, types.int64, out, types.int64, types.int64), codegen


@intrinsic
def least(typingctx, counts, begin, end):
    """The minimum of counts[begin:end], uint8, whole blocks."""

    def codegen(context, builder, signature, args):
        counts, begin, end = args
        counts = _data(context, builder, signature.args[0], counts)
        lowest = cgutils.alloca_once_value(builder, ir.Constant(_bytes(), [MOST] * BLOCK))
        with cgutils.for_range_slice(builder, begin, end, ir.Constant(ir.IntType(64), BLOCK)) as (at, _):
            builder.store(_call(builder, "umin", builder.load(_block(builder, counts, at), align=1), builder.load(lowest)), lowest)
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(8), [_bytes()]), f"llvm.vector.reduce.umin.v{BLOCK}i8")
        return builder.zext(builder.call(function, [builder.load(lowest)]), ir.IntType(64))

    return types.int64(counts, types.int64, types.int64), codegen


@intrinsic
def worth(typingctx, products, at, squares, begin, limit):
    """Mask, uint64, of the places i with squares[begin + i] - 2 products[at + i] <= limit, for 64 places; float32."""

    def codegen(context, builder, signature, args):
        floats = ir.VectorType(ir.FloatType(), BLOCK)

        def load(kind, array, at):
            place = builder.gep(_data(context, builder, kind, array), [at])
            return builder.load(builder.bitcast(place, floats.as_pointer()), align=4)

        products, at, squares, begin, limit = args
        product, square = load(signature.args[0], products, at), load(signature.args[2], squares, begin)
        one = builder.insert_element(ir.Constant(floats, ir.Undefined), limit, ir.Constant(ir.IntType(32), 0))
        limits = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK))
        cost = builder.fsub(square, builder.fadd(product, product))
        return builder.bitcast(builder.fcmp_ordered("<=", cost, limits), ir.IntType(64))

    return types.uint64(products, types.int64, squares, types.int64, types.float32), codegen


@intrinsic
def fetch(typingctx, array, at, lines):
    """Prefetch ``lines`` cache lines (64 bytes) of a C-contiguous array from element ``at`` on."""

    def codegen(context, builder, signature, args):
        array, at, lines = args
        start = builder.bitcast(builder.gep(_data(context, builder, signature.args[0], array), [at]), ir.IntType(8).as_pointer())
        function = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), ir.IntType(32), ir.IntType(32), ir.IntType(32)])
        ask = builder.module.declare_intrinsic("llvm.prefetch.p0i8", (), function)
        with cgutils.for_range(builder, lines) as loop:
            place = builder.gep(start, [builder.mul(loop.index, ir.Constant(ir.IntType(64), 64))])
            builder.call(ask, [place, *(ir.Constant(ir.IntType(32), hint) for hint in (0, 3, 1))])  # for reading, to stay, data
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), codegen


@kernel
def arrange(codes, order, begin, end, width, planes, rest):
    """Lay out the codes of the places begin..end for a scan. The item at a place is order[place].

    The first ``width`` bytes of a code, whole words, go to planes uint8[blocks * width * 64], the other words to rest uint64[n, words].
    """
    words = width // 8
    for place in range(begin, end):
        item = order[place]
        at = place // BLOCK * width * BLOCK + place % BLOCK
        for word in range(words):
            code = codes[item, word]
            for byte in range(8):
                planes[at + (8 * word + byte) * BLOCK] = code >> np.uint64(8 * byte)
        for word in range(words, codes.shape[1]):
            rest[place, word - words] = codes[item, word]


@inline
def repeated(codes, begin, end, width, out):
    """Fill ``out``, uint32, with each of the first ``width`` bytes of the codes begin..end four times, as `scan` wants queries; zeros elsewhere."""
    out[:] = 0
    for query in range(begin, end):
        for byte in range(width):
            one = codes[query, byte // 8] >> np.uint64(8 * (byte % 8)) & np.uint64(0xFF)
            out[(query - begin) * width + byte] = np.uint32(one) * np.uint32(0x01010101)


@inline
def scan(planes, first, blocks, queries, count, width, out):
    """Count the bits in which queries differ from the items of ``blocks`` blocks from ``first`` on, in the first ``width`` bytes; MOST for more.

    queries: as `repeated` returns them, ``count`` of them, rounded up to AT_ONCE. out: uint8, item i of query q is out[(q * blocks) * 64 + i].
    """
    step = max(1, TILE // (width * BLOCK))
    for tile in range(0, blocks, step):
        for query in range(0, count, AT_ONCE):
            for block in range(tile, min(tile + step, blocks)):
                at, to = (first + block) * width * BLOCK, (query * blocks + block) * BLOCK
                _differing(planes, at, queries, query * width, width, out, to, blocks * BLOCK)
