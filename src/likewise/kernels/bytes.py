"""Search, validation and copying of bytes, 32 at a time. LLVM compiles each mask to two or three vector instructions.

A mask is an int64 whose bit b stands for byte at + b. Masks read 32 bytes from ``at``: the caller guarantees at + 32 <= size.
"""

from __future__ import annotations

from typing import Any

from likewise.compiled.jit import inline, intrinsic, ir, kernel, types

WIDE = 32


def _vector():
    """The type of 32 bytes."""
    return ir.VectorType(ir.IntType(8), WIDE)


def _load(context, builder, type_, value, at):
    """A pointer to 32 bytes of an array, and their value."""
    array = context.make_array(type_)(context, builder, value)
    pointer = builder.bitcast(builder.gep(array.data, [at]), _vector().as_pointer())
    return pointer, builder.load(pointer, align=1)


def _mask(predicate: str) -> Any:
    """Make an intrinsic (data uint8[n], at, byte) -> mask of the bytes for which ``data[at + b] predicate byte`` holds, unsigned."""

    def typed(typingctx, data, at, byte):
        def codegen(context, builder, signature, args):
            _, block = _load(context, builder, signature.args[0], args[0], args[1])
            one = builder.insert_element(ir.Constant(_vector(), ir.Undefined), builder.trunc(args[2], ir.IntType(8)), ir.Constant(ir.IntType(32), 0))
            every = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), WIDE), [0] * WIDE))
            return builder.zext(builder.bitcast(builder.icmp_unsigned(predicate, block, every), ir.IntType(WIDE)), ir.IntType(64))

        return types.int64(data, types.int64, types.int64), codegen

    return intrinsic(typed)


equal32 = _mask("==")
below32 = _mask("<")
above32 = _mask(">")


def _first_bit(typingctx, mask):
    """The index of the lowest set bit. The caller guarantees that there is one."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


first_bit: Any = intrinsic(_first_bit)


def _copy32(typingctx, data, at, out, to):
    """out[to : to + 32] = data[at : at + 32], unchecked."""

    def codegen(context, builder, signature, args):
        _, block = _load(context, builder, signature.args[0], args[0], args[1])
        pointer, _ = _load(context, builder, signature.args[2], args[2], args[3])
        builder.store(block, pointer, align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, out, types.int64), codegen


copy32: Any = intrinsic(_copy32)


@inline
def copy(data, at, end, out, to):
    """Copy data[at:end] to out[to:] and return the index after the copy. May write up to 31 bytes more, but not past the end of ``out``."""
    while at < end and at + 32 <= data.size and to + 32 <= out.size:
        size = min(end - at, 32)
        copy32(data, at, out, to)
        at += size
        to += size
    while at < end:
        out[to] = data[at]
        at += 1
        to += 1
    return to


@inline
def find(data, at, end, byte):
    """The index of the first ``byte`` in data[at:end], or ``end``."""
    while at + 32 <= data.size and at < end:
        mask = equal32(data, at, byte)
        if mask:
            return min(at + first_bit(mask), end)
        at += 32
    while at < end and data[at] != byte:
        at += 1
    return min(at, end)


@inline
def utf8_error(data, at, end):
    """The index of the first byte in data[at:end] that does not begin a character of UTF-8 (RFC 3629) or a lone surrogate, or ``end``."""
    while True:
        while at + 32 <= data.size and at < end:  # ASCII
            mask = above32(data, at, 0x7F)
            if mask:
                at += first_bit(mask)
                break
            at += 32
        while at < end and data[at] < 0x80:
            at += 1
        if at >= end:
            return end
        while at < end and data[at] >= 0x80:
            size = character_size(data, at, end)
            if size == 0:
                return at
            at += size


@inline
def character_size(data, at, end):
    """The number of bytes of the character of two bytes or more at ``at``; 0 if it is overlong, above U+10FFFF, or cut off."""
    lead = data[at]
    if lead < 0xC2 or lead > 0xF4:
        return 0
    size = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if at + size > end:
        return 0
    lowest = 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80
    highest = 0x8F if lead == 0xF4 else 0xBF
    if data[at + 1] < lowest or data[at + 1] > highest:
        return 0
    for i in range(2, size):
        if data[at + i] & 0xC0 != 0x80:
            return 0
    return size


@kernel
def gather(data, offset, begin, end, row, opens, between, out):
    """Copy ranges of a stream to ``out``, as far as ``data`` has them. Returns (bytes written, first row that is not complete).

    data: uint8[n], the part of the stream from ``offset`` on. Row i is begin[i]:end[i] of the stream, int64[rows] each.
    Rows before ``row`` are done; one that began before ``offset`` is continued. ``between`` is written before each row of ``opens`` (bool[rows])
    except row 0.
    """
    to = 0
    while row < begin.size and begin[row] < offset + data.size:
        if row > 0 and opens[row] and begin[row] >= offset:
            to = copy(between, 0, between.size, out, to)
        to = copy(data, max(begin[row] - offset, 0), min(end[row] - offset, data.size), out, to)
        if end[row] > offset + data.size:
            break
        row += 1
    return to, row
