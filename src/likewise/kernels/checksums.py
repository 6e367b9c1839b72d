"""Blocks of a file that are compared with their checksums before anything in them is first used.

The checksum is XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md) with its lowest bit set, so it is never 0. Blocks are known by
their addresses, which records can have (kernels/records.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from likewise.compiled.jit import always, inline, intrinsic, ir, types

#: log2 of the bytes of a block.
BITS = 14
BLOCK = 1 << BITS
P1, P2, P3, P4 = (np.uint64(p) for p in (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63))


class Blocks(NamedTuple):
    """The blocks of a file, whose arrays the caller keeps. Threads need no lock: at worst, two compare the same block."""

    data: int  # the address of the bytes
    size: int  # of these, a multiple of 32
    unread: int  # the address of uint64[blocks + 1]: each checksum, 0 once it was right; then 1 + the number of a block that was wrong, or 0

    @classmethod
    def of(cls, data: np.ndarray, unread: np.ndarray) -> Blocks:
        return cls(data.ctypes.data, len(data), unread.ctypes.data)


#: For arrays that are in no file: nothing is compared.
IN_MEMORY = Blocks(0, 0, 0)


@intrinsic
def address(typingctx, values):
    """The address of the first value of an array."""

    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.ptrtoint(array.data, ir.IntType(64))

    return types.int64(values), codegen


def pointer(builder: Any, at: Any) -> Any:
    return builder.inttoptr(at, ir.IntType(64).as_pointer())


@intrinsic
def load(typingctx, at):
    """The uint64 at an address."""

    def codegen(context, builder, signature, args):
        return builder.load(pointer(builder, args[0]), align=8)

    return types.uint64(types.int64), codegen


@intrinsic
def store(typingctx, at, value):
    """Write a uint64 to an address."""

    def codegen(context, builder, signature, args):
        builder.store(args[1], pointer(builder, args[0]), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.uint64), codegen


@always
def rotated(x, bits):
    return x << np.uint64(bits) | x >> np.uint64(64 - bits)


@always
def mixed(lane, word):
    return rotated(lane + word * P2, 31) * P1


@inline
def checksum(begin, end):
    """The checksum of the bytes from one address to another, whose number is a multiple of 32."""
    one, two, three, four = P1 + P2, P2, np.uint64(0), np.uint64(0) - P1
    for at in range(begin, end, 32):
        one, two = mixed(one, load(at)), mixed(two, load(at + 8))
        three, four = mixed(three, load(at + 16)), mixed(four, load(at + 24))
    found = rotated(one, 1) + rotated(two, 7) + rotated(three, 12) + rotated(four, 18)
    for lane in (one, two, three, four):
        found = (found ^ mixed(np.uint64(0), lane)) * P1 + P4
    found += np.uint64(end - begin)
    found = (found ^ found >> np.uint64(33)) * P2
    found = (found ^ found >> np.uint64(29)) * P3
    return (found ^ found >> np.uint64(32)) | np.uint64(1)


@inline
def compared(blocks, first, last):
    """True if these blocks are right, which is noted, and so is one that is not."""
    for block in range(first, last + 1):
        wanted = load(blocks.unread + 8 * block)
        if wanted != 0:
            if checksum(blocks.data + (block << BITS), blocks.data + min(blocks.size, block + 1 << BITS)) != wanted:
                store(blocks.unread + 8 * (blocks.size + BLOCK - 1 >> BITS), np.uint64(block + 1))
                return False
            store(blocks.unread + 8 * block, np.uint64(0))
    return True


@always
def is_right(blocks, values, begin, end):
    """True if values[begin:end] of an array of the file are what was written. The caller guarantees that they are there."""
    if blocks.unread == 0 or begin >= end:
        return True
    at, size = address(values) - blocks.data, np.int64(values.itemsize)
    first, last = (at + begin * size) >> BITS, (at + end * size - 1) >> BITS
    if last - first < 2 and (load(blocks.unread + 8 * first) | load(blocks.unread + 8 * last)) == 0:
        return True
    return compared(blocks, first, last)
