"""64-bit mixing. Everything that must look random goes through one of these."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, intrinsic, ir, kernel, types


@inline
def mix64(x):
    """The finalizer of MurmurHash3: a bijection of uint64 in which each input bit affects each output bit."""
    x = np.uint64(x)
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xFF51AFD7ED558CCD)
    x ^= x >> np.uint64(33)
    x *= np.uint64(0xC4CEB9FE1A85EC53)
    x ^= x >> np.uint64(33)
    return x


@intrinsic
def multiply_fold(typingctx, a, b):
    """High half XOR low half of the 128-bit product of two uint64: Numba has no 128-bit integers."""

    def codegen(context, builder, signature, args):
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))
        return builder.xor(high, builder.trunc(product, ir.IntType(64)))

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def load64(typingctx, data, at):
    """Eight bytes of a uint8 array from index ``at`` as a little-endian uint64, at any alignment. The caller guarantees at + 8 <= size."""

    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        pointer = builder.bitcast(builder.gep(array.data, [args[1]]), ir.IntType(64).as_pointer())
        return builder.load(pointer, align=1)

    return types.uint64(data, types.int64), codegen


@kernel
def derive(seed, purpose, count):
    """Pseudorandom odd constants, uint64[count], from one seed, with a separate stream for each purpose (SplitMix64)."""
    state = mix64(np.uint64(seed) ^ mix64(np.uint64(purpose) + np.uint64(0x9E3779B97F4A7C15)))
    out = np.empty(count, np.uint64)
    for i in range(count):
        state += np.uint64(0x9E3779B97F4A7C15)
        out[i] = mix64(state) | np.uint64(1)
    return out
