"""Sign codes from structured rotations: rounds of random signs and a Hadamard transform give D hyperplanes for D log D additions.

Lanes are sixteen items. A lane's additions are the same in the same order for any content of the other lanes, so an item's bits depend on nothing
but the item, and LLVM has no sum to reorder.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from likewise.compiled.jit import always, inline, intrinsic, ir, kernel, types
from likewise.kernels import lanes
from likewise.kernels.directions import directions

LANES = 16
#: Rounds of signs and transform. With three, vectors with two nonzero coordinates, 1 degree apart, agree in too few bits: by 0.0011 at 256 dimensions
#: (7 standard errors). With four no difference to Gaussian hyperplanes was found (smallest standard error 0.00002).
ROUNDS = 4
#: Minimum dimension of a rotation, and minimum unit of bits in which codes are made.
LEAST, UNIT = 256, 1024


def rotation_size(dimension: int) -> int:
    """The dimension in which vectors are rotated, padded with zeros: a power of two."""
    return max(LEAST, 1 << max(0, dimension - 1).bit_length())


def code_bits(dimension: int, bits: int) -> int:
    """The number of bits made for ``bits`` wanted ones: whole units."""
    unit = max(UNIT, rotation_size(dimension))
    return -(-bits // unit) * unit


@lru_cache(maxsize=8)
def turns(seed: int, dimension: int, bits: int) -> np.ndarray:
    """The signs of the rotations for ``bits`` bits, +1 or -1, read-only: float32[rotations, ROUNDS, size]."""
    size = rotation_size(dimension)
    rotations = code_bits(dimension, bits) // size
    signs = np.ascontiguousarray(directions("signs", seed, ROUNDS * size, rotations, narrow=True).T).reshape(rotations, ROUNDS, size)
    signs.setflags(write=False)
    return signs


def _lanes(kind):
    """The type of sixteen lanes of a type."""
    return ir.VectorType(kind, LANES)


def _pointer(builder, array, place):
    """A pointer to sixteen floats."""
    return builder.bitcast(builder.gep(array.data, [place]), _lanes(ir.FloatType()).as_pointer())


def _all(builder, value, kind):
    """A value in all lanes."""
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(_lanes(ir.IntType(32)), [0] * LANES))


def _butterflies(levels: int, signed: bool):
    """Make an intrinsic: ``levels`` levels of the transform on 2^levels rows of sixteen lanes, ``step`` numbers apart from ``at``, in registers.

    With ``signed`` a row is first multiplied by its sign, signs[first + row * stride].
    """

    def typed(typingctx, work, at, step, signs, first, stride):
        def codegen(context, builder, signature, args):
            work, at, step, signs, first, stride = args
            work, signs = (context.make_array(signature.args[i])(context, builder, array) for i, array in ((0, work), (3, signs)))
            places = [at]
            while len(places) < 1 << levels:
                places.append(builder.add(places[-1], step))
            pointers = [_pointer(builder, work, place) for place in places]
            rows = [builder.load(pointer, align=4) for pointer in pointers]
            if signed:
                for row in range(len(rows)):
                    rows[row] = builder.fmul(rows[row], _all(builder, builder.load(builder.gep(signs.data, [first])), _lanes(ir.FloatType())))
                    first = builder.add(first, stride)
            half = len(rows) // 2
            while half:
                for row in range(len(rows)):
                    if not row & half:
                        upper, lower = rows[row], rows[row + half]
                        rows[row], rows[row + half] = builder.fadd(upper, lower), builder.fsub(upper, lower)
                half //= 2
            for row, pointer in zip(rows, pointers, strict=True):
                builder.store(row, pointer, align=4)
            return context.get_dummy_value()

        return types.void(work, at, step, signs, first, stride), codegen

    return intrinsic(typed)


_three, _four, _three_signed, _four_signed = (_butterflies(levels, signed) for signed in (False, True) for levels in (3, 4))


@intrinsic
def _transpose(typingctx, tile, at, stride, out, to):
    """out[to + 16 c + r] = tile[at + stride r + c] for r and c below 16, by four perfect shuffles."""

    def codegen(context, builder, signature, args):
        tile, at, stride, out, to = args
        tile, out = (context.make_array(signature.args[i])(context, builder, array) for i, array in ((0, tile), (3, out)))
        rows = []
        for _ in range(LANES):
            rows.append(builder.load(_pointer(builder, tile, at), align=4))
            at = builder.add(at, stride)
        half = LANES // 2
        low, high = (
            ir.Constant(_lanes(ir.IntType(32)), [place for k in part for place in (k, k + LANES)]) for part in (range(half), range(half, LANES))
        )
        for _ in range(4):
            rows = [builder.shuffle_vector(rows[k], rows[k + half], mask) for k in range(half) for mask in (low, high)]
        for c, row in enumerate(rows):
            builder.store(row, _pointer(builder, out, builder.add(to, ir.Constant(to.type, LANES * c))), align=4)
        return context.get_dummy_value()

    return types.void(tile, at, stride, out, to), codegen


@intrinsic
def _above(typingctx, work, at, threshold):
    """Bit r of uint16: work[at + r] >= threshold."""

    def codegen(context, builder, signature, args):
        work, at, threshold = args
        work = context.make_array(signature.args[0])(context, builder, work)
        row = builder.load(_pointer(builder, work, at), align=4)
        return builder.bitcast(builder.fcmp_ordered(">=", row, _all(builder, threshold, _lanes(ir.FloatType()))), ir.IntType(LANES))

    return types.uint16(work, at, threshold), codegen


@intrinsic
def _pack(typingctx, masks, at, out, to, stride):
    """Transpose 32 masks from ``at``, one bit an item, to one 32-bit word an item: out[to + stride r]."""

    def codegen(context, builder, signature, args):
        masks, at, out, to, stride = args
        masks, out = (context.make_array(signature.args[i])(context, builder, array) for i, array in ((0, masks), (2, out)))
        words = none = ir.Constant(_lanes(ir.IntType(32)), [0] * LANES)
        for bit in range(32):
            mask = builder.load(builder.gep(masks.data, [builder.add(at, ir.Constant(at.type, bit))]))
            words = builder.or_(
                words, builder.select(builder.bitcast(mask, _lanes(ir.IntType(1))), ir.Constant(_lanes(ir.IntType(32)), [1 << bit] * LANES), none)
            )
        for lane in range(LANES):
            builder.store(builder.extract_element(words, ir.Constant(ir.IntType(32), lane)), builder.gep(out.data, [to]))
            to = builder.add(to, stride)
        return context.get_dummy_value()

    return types.void(masks, at, out, to, stride), codegen


@always
def aligned(count, like):
    """An array of ``count`` numbers of the type of ``like`` at an address divisible by 64, so that each vector lies in one cache line."""
    room = np.empty(count + 64 // like.itemsize, like.dtype)
    skip = (-room.ctypes.data % 64) // like.itemsize
    return room[skip : skip + count]


@inline
def turn(work, size, signs, first):
    """One round in place, not normalized: signs[first:first + size], then the transform, three or four levels in each pass through memory."""
    levels = 0
    while 1 << levels < size:
        levels += 1
    rows, signed = size, True
    while levels > 0:
        taken = 3 if levels % 3 == 0 else 4
        apart = rows >> taken
        step = apart * LANES
        for begin in range(0, size, rows):
            for row in range(begin, begin + apart):
                if signed:
                    if taken == 3:
                        _three_signed(work, row * LANES, step, signs, first + row, apart)
                    else:
                        _four_signed(work, row * LANES, step, signs, first + row, apart)
                elif taken == 3:
                    _three(work, row * LANES, step, signs, 0, 0)
                else:
                    _four(work, row * LANES, step, signs, 0, 0)
        rows, levels, signed = apart, levels - taken, False


@kernel
def sign_codes(vectors, center, scale, turns, thresholds, begin, end, codes):
    """Fill codes[begin:end], uint64[n, words]: bit j is 1 if a rotated coordinate of (vector - center) * scale is at least thresholds[j].

    vectors: [n, d]. center: float64[d]. scale: float64[2, n], two factors of each vector, which give it a length around 1. turns: from `turns`.
    thresholds: float32[bits], for the unnormalized rotation, which makes vectors size^(ROUNDS / 2) times as long.
    Bit j of a unit is coordinate j // k of rotation j % k, where k is the number of rotations of a unit: adjacent bits come from different rotations
    if there are several, because functions of one rotation agree less often together than independent ones.
    """
    dimension, bits = vectors.shape[1], thresholds.size
    rotations, rounds, size = turns.shape
    unit = max(UNIT, size)
    spread = unit // size
    signs = turns.reshape(-1)
    padded = -(-dimension // LANES) * LANES
    tile = aligned(LANES * padded, np.empty(0, np.float32))
    tile[:] = 0
    start = aligned(size * LANES, tile)
    start[:] = 0
    work = aligned(size * LANES, tile)
    masks = np.empty(bits, np.uint16)
    words = np.empty((LANES, bits // 32), np.uint32)
    packed = words.reshape(-1)
    out = codes.view(np.uint32)
    for first in range(begin, end, LANES):
        items = min(LANES, end - first)
        for lane in range(items):
            vector, row = vectors[first + lane], tile[lane * padded : (lane + 1) * padded]
            power, factor = scale[0, first + lane], scale[1, first + lane]
            for i in range(dimension):
                row[i] = np.float32((np.float64(vector[i]) - center[i]) * power * factor)
        for i in range(0, padded, LANES):
            _transpose(tile, i, padded, start, i * LANES)
        for rotation in range(rotations):
            work[:] = start
            for round_ in range(rounds):
                turn(work, size, signs, (rotation * rounds + round_) * size)
            bit = rotation // spread * unit + rotation % spread
            for i in range(size):
                masks[bit] = _above(work, i * LANES, thresholds[bit])
                bit += spread
        for bit in range(0, bits, 32):
            _pack(masks, bit, packed, bit // 32, bits // 32)
        for lane in range(items):
            out[first + lane] = words[lane]


@kernel
def squares(vectors, center, begin, end, out):
    """Fill out[begin:end], float64[n], with Σ (x - c)² of vectors [n, d]. center: of the same type. The order of sums is fixed (kernels.lanes)."""
    for i in range(begin, end):
        out[i] = lanes.squares(vectors[i], center, 1.0, 1.0)


@kernel
def threshold_codes(vectors, coordinates, thresholds, begin, end, codes):
    """Fill codes[begin:end], uint64[n, words]: bit j is 1 if coordinate coordinates[j] is at least thresholds[j]."""
    for i in range(begin, end):
        for word in range(codes.shape[1]):
            bits = np.uint64(0)
            for bit in range(64):
                j = word * 64 + bit
                bits |= np.uint64(vectors[i, coordinates[j]] >= thresholds[j]) << np.uint64(bit)
            codes[i, word] = bits


@kernel
def ranges(vectors, begin, end):
    """The minimum and maximum of each coordinate of vectors[begin:end]: float64[2, d]."""
    out = np.empty((2, vectors.shape[1]))
    out[0], out[1] = np.inf, -np.inf
    for i in range(begin, end):
        for c in range(vectors.shape[1]):
            out[0, c] = min(out[0, c], vectors[i, c])
            out[1, c] = max(out[1, c], vectors[i, c])
    return out
