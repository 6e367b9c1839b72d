"""Blocks of 64 bytes: a test of all bytes of a block returns a mask, one bit a byte.

Numba has no vector type, so these few functions are LLVM IR. They compile to an instruction or two where the machine has wide vectors, and give
the same results everywhere. Bit i of a mask is byte ``at + i``. The caller guarantees that all 64 bytes from ``at`` can be accessed.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, intrinsic, ir, types

BLOCK = 64


def _bytes():
    """The type of a block."""
    return ir.VectorType(ir.IntType(8), BLOCK)


def _pointer(context, builder, array_type, array, at):
    """A pointer to a block of an array."""
    start = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(start, [at]), _bytes().as_pointer())


def _load(context, builder, array_type, array, at):
    """A block of an array."""
    return builder.load(_pointer(context, builder, array_type, array, at), align=1)


def _all(builder, byte):
    """A block that holds one byte 64 times."""
    first = builder.insert_element(ir.Constant(_bytes(), ir.Undefined), byte, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK))


def _between(builder, block, low, high):
    """Which bytes have low <= byte <= high, by one unsigned comparison."""
    low, high = (
        _all(builder, ir.Constant(ir.IntType(8), bound) if isinstance(bound, int) else builder.trunc(bound, ir.IntType(8))) for bound in (low, high)
    )
    return builder.icmp_unsigned("<=", builder.sub(block, low), builder.sub(high, low))


@intrinsic
def between64(typingctx, data, at, low, high):
    """Mask, uint64, of the bytes of data[at : at + 64] from ``low`` to ``high``, both included. data: uint8[n]."""

    def codegen(context, builder, signature, args):
        array, at, low, high = args
        return builder.bitcast(_between(builder, _load(context, builder, signature.args[0], array, at), low, high), ir.IntType(64))

    return types.uint64(data, types.int64, types.int64, types.int64), codegen


@intrinsic
def copy64(typingctx, data, at, out, to, lower, blank):
    """Copy data[at : at + 64] to out[to:]. With ``lower``, A-Z become a-z; with ``blank``, each ASCII white space becomes a space."""

    def codegen(context, builder, signature, args):
        array, at, out, to, lower, blank = args
        block = _load(context, builder, signature.args[0], array, at)
        case = _all(builder, builder.select(lower, ir.Constant(ir.IntType(8), 32), ir.Constant(ir.IntType(8), 0)))
        space = builder.or_(_between(builder, block, 0x09, 0x0D), _between(builder, block, 0x1C, 0x1F))
        spaced = builder.select(space, _all(builder, ir.Constant(ir.IntType(8), 0x20)), block)
        block = builder.select(_between(builder, block, ord("A"), ord("Z")), builder.add(block, case), builder.select(blank, spaced, block))
        builder.store(block, _pointer(context, builder, signature.args[2], out, to), align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, out, types.int64, types.boolean, types.boolean), codegen


@intrinsic
def lowest_bit(typingctx, mask):
    """The index of the lowest set bit of a uint64; 64 for 0."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


@intrinsic
def bit_length(typingctx, mask):
    """The index of the highest set bit of a uint64 plus one; 0 for 0."""

    def codegen(context, builder, signature, args):
        return builder.sub(ir.Constant(ir.IntType(64), 64), builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0)))

    return types.int64(types.uint64), codegen


@intrinsic
def count_bits(typingctx, mask):
    """The number of set bits of a uint64."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@always
def low_bits(count):
    """Mask, uint64, of the lowest ``count`` bits, at least 1; all of them from 64 on."""
    return ~np.uint64(0) >> np.uint64(max(64 - count, 0))
