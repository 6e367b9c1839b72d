"""Eight codes at a time: which of them differ from one code in few enough bits.

Codes are stored in blocks of eight, word by word: tiles[block + 8 w + lane] is word w of the code in that lane. Numba has no vector type, so these
few functions are LLVM IR, which uses the machine's vector bit count where there is one, and a table elsewhere.
"""

from __future__ import annotations

from likewise.compiled.jit import cgutils, intrinsic, ir, types

EIGHT = 8


def _words():
    """The type of eight words."""
    return ir.VectorType(ir.IntType(64), EIGHT)


def _at(builder, array, *places):
    """A pointer to eight words."""
    place = places[0]
    for more in places[1:]:
        place = builder.add(place, more)
    return builder.bitcast(builder.gep(array.data, [place]), _words().as_pointer())


def _all(builder, word):
    """A word in all lanes."""
    one = builder.insert_element(ir.Constant(_words(), ir.Undefined), word, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), EIGHT), [0] * EIGHT))


def _differing(builder, words, others):
    """Hamming distances of words, lane by lane."""
    count = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_words(), [_words()]), "llvm.ctpop.v8i64")
    return builder.call(count, [builder.xor(words, others)])


def _near(builder, counts, cut):
    """Mask of the lanes whose count is at most ``cut``."""
    return builder.bitcast(builder.icmp_unsigned("<=", counts, _all(builder, cut)), ir.IntType(8))


def _sieve(words: int):
    """Make an intrinsic that fills masks[b], uint8: the lanes of block b that differ in at most ``cut`` bits of the first ``words`` words from a
    code.

    The code begins at codes[mine]. Blocks are ``stride`` words apart from tiles[at] on. Returns all masks joined by OR.
    """

    def typed(typingctx, tiles, at, stride, blocks, codes, mine, cut, masks):
        def codegen(context, builder, signature, args):
            tiles, at, stride, blocks, codes, mine, cut, masks = args
            tiles, codes, masks = (context.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 4, 7))
            steps = [ir.Constant(ir.IntType(64), word) for word in range(words)]
            own = [_all(builder, builder.load(builder.gep(codes.data, [builder.add(mine, step)]))) for step in steps]
            joined = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(8), 0))
            with cgutils.for_range(builder, blocks) as loop:
                block = builder.add(at, builder.mul(loop.index, stride))
                counts = None
                for word in range(words):
                    others = builder.load(_at(builder, tiles, block, ir.Constant(ir.IntType(64), EIGHT * word)), align=8)
                    more = _differing(builder, others, own[word])
                    counts = more if counts is None else builder.add(counts, more)
                mask = _near(builder, counts, cut)
                builder.store(mask, builder.gep(masks.data, [loop.index]))
                builder.store(builder.or_(builder.load(joined), mask), joined)
            return builder.load(joined)

        return types.uint8(tiles, at, stride, blocks, codes, mine, cut, masks), codegen

    return intrinsic(typed)


sieve1, sieve2, sieve4 = (_sieve(words) for words in (1, 2, 4))


@intrinsic
def near8(typingctx, tiles, block, codes, mine, words, cut):
    """The lanes of one block, uint8, that differ from the code at codes[mine] in at most ``cut`` bits of all ``words`` words."""

    def codegen(context, builder, signature, args):
        tiles, block, codes, mine, words, cut = args
        tiles, codes = (context.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 2))
        counts = cgutils.alloca_once_value(builder, ir.Constant(_words(), [0] * EIGHT))
        with cgutils.for_range(builder, words) as loop:
            others = builder.load(_at(builder, tiles, block, builder.mul(loop.index, ir.Constant(ir.IntType(64), EIGHT))), align=8)
            own = _all(builder, builder.load(builder.gep(codes.data, [builder.add(mine, loop.index)])))
            builder.store(builder.add(builder.load(counts), _differing(builder, others, own)), counts)
        return _near(builder, builder.load(counts), cut)

    return types.uint8(tiles, block, codes, mine, words, cut), codegen


@intrinsic
def transpose8(typingctx, codes, places, first, word, tiles, to):
    """tiles[to + 8 w + lane] = codes[places[first + lane] + word + w] for w and lane below 8, by three perfect shuffles."""

    def codegen(context, builder, signature, args):
        codes, places, first, word, tiles, to = args
        codes, places, tiles = (context.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 1, 4))
        rows = []
        for lane in range(EIGHT):
            place = builder.load(builder.gep(places.data, [builder.add(first, ir.Constant(ir.IntType(64), lane))]))
            rows.append(builder.load(_at(builder, codes, place, word), align=8))
        half = EIGHT // 2
        kind = ir.VectorType(ir.IntType(32), EIGHT)
        low, high = (ir.Constant(kind, [place for k in part for place in (k, k + EIGHT)]) for part in (range(half), range(half, EIGHT)))
        for _ in range(3):
            rows = [builder.shuffle_vector(rows[k], rows[k + half], mask) for k in range(half) for mask in (low, high)]
        for word, row in enumerate(rows):
            builder.store(row, _at(builder, tiles, to, ir.Constant(ir.IntType(64), EIGHT * word)), align=8)
        return context.get_dummy_value()

    return types.void(codes, places, first, word, tiles, to), codegen
