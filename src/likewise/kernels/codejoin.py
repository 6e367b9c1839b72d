"""All pairs of codes that share the key of a table and differ in few bits: sort by key, then compare the codes of each run, eight at a time.

Codes are uint64[n, words], C-contiguous. A table selects bits of the codes, as pieces: int64[tables, pieces, 3], each (word, shift, width). The
width of a single piece is below 64, and pieces after the last have a width of 0.

``side``: uint8[n] or empty. With sides only pairs across are wanted: 1 is A, 2 is B, 3 both, 0 is never paired.
``per``: uint64[n] or empty. With it only pairs of equal values are wanted.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.blocks import count_bits, lowest_bit
from likewise.kernels.hashing import mix64
from likewise.kernels.sieve import EIGHT, near8, sieve1, sieve2, sieve4, transpose8
from likewise.kernels.signs import aligned

#: An entry of a sorted table is a key above an item's number: bits of the number, and of the key at most. A longer key is hashed.
NUMBER, KEY = 32, 30
#: Bits that a pass of the sort takes: of few entries, which fit into the cache, and of MANY or more.
DIGIT_OF_FEW, DIGIT_OF_MANY, MANY = 12, 9, 2**20
#: Codes of a tile, which stays in the second-level cache.
TILE = 4096
#: Pairs that the sieve may pass on before they are checked.
SIFTED = 4 * TILE
#: Fixed cost of an entry, in comparisons.
ENTRY_WORK = 100


@always
def number(entry):
    """The item of an entry."""
    return np.int64(entry & np.uint64(0xFFFFFFFF))


@always
def part(word, piece):
    """The bits that a piece of a table selects; ``word`` is the code's word of that piece."""
    return (word >> np.uint64(piece[1])) & ((np.uint64(1) << np.uint64(piece[2])) - np.uint64(1))


@inline
def table_bits(pieces):
    """The number of bits that a table selects."""
    total = 0
    for k in range(len(pieces)):
        total += pieces[k, 2]
    return total


@inline
def hashed(pieces, per):
    """True if a table's keys are hashes, so that equal keys do not prove equal bits."""
    return len(per) > 0 or table_bits(pieces) > KEY


@kernel
def sort_table(codes, pieces, side, per):
    """The entries of one table, uint64[live items], sorted by key, then by side (1, 3, 2) where there are sides, then by number."""
    n, words = codes.shape
    flat = codes.reshape(-1)
    crossing, hashing = len(side) > 0, hashed(pieces, per)
    entries = np.empty(n, np.uint64)
    live = 0
    for i in range(n):
        if crossing and side[i] == 0:
            continue
        key = mix64(per[i]) if len(per) > 0 else np.uint64(0)
        for k in range(len(pieces)):
            value = part(flat[i * words + pieces[k, 0]], pieces[k])
            key = mix64(key + value) if hashing else key << np.uint64(pieces[k, 2]) | value
        if hashing:
            key >>= np.uint64(64 - KEY)
        if crossing:
            key = key << np.uint64(2) | np.uint64(2 if side[i] == 2 else side[i] // 2)
        entries[live] = key << np.uint64(NUMBER) | np.uint64(i)
        live += 1
    return radix_sort(entries[:live], (KEY if hashing else table_bits(pieces)) + 2 * crossing)


@inline
def radix_sort(entries, bits):
    """Sort entries by the ``bits`` above their numbers, least significant digit first; the sort is stable."""
    if bits == 0:
        return entries
    passes = -(-bits // (DIGIT_OF_FEW if len(entries) < MANY else DIGIT_OF_MANY))
    digit = -(-bits // passes)
    mask = np.uint64((1 << digit) - 1)
    others = np.empty(len(entries), np.uint64)
    places = np.empty(1 << digit, np.int64)
    for step in range(passes):
        shift = np.uint64(NUMBER + step * digit)
        places[:] = 0
        for entry in entries:
            places[(entry >> shift) & mask] += 1
        place = 0
        for value in range(len(places)):
            place, places[value] = place + places[value], place
        for entry in entries:
            value = (entry >> shift) & mask
            others[places[value]] = entry
            places[value] += 1
        entries, others = others, entries
    return entries


@inline
def run_from(entries, begin, crossing):
    """Split the run of equal keys at ``begin``: (end of the run, first possible later partner, end of the possible earlier partners)."""
    shift = np.uint64(NUMBER + 2 * crossing)
    key = entries[begin] >> shift
    end = begin + 1
    while end < len(entries) and entries[end] >> shift == key:
        end += 1
    if not crossing:
        return end, begin, end
    partner = begin  # entries of A alone come first, those of B alone last
    while partner < end and (entries[partner] >> np.uint64(NUMBER)) & np.uint64(3) == 0:
        partner += 1
    last = partner
    while last < end and (entries[last] >> np.uint64(NUMBER)) & np.uint64(3) == 1:
        last += 1
    return end, partner, last


@kernel
def split_rows(entries, crossing, parts, limit):
    """Split the entries of a table into parts of about equal work: (places int64[parts + 1], number of comparisons).

    More parts are made where one would exceed ``limit`` comparisons.
    """
    work, comparisons = 0, 0
    for turn in range(2):
        if turn == 1:
            parts = max(parts, -(-work // limit))
            places = np.full(parts + 1, len(entries), np.int64)
            places[0], filled, done = 0, 1, 0
        begin = 0
        while begin < len(entries):
            end, partner, last = run_from(entries, begin, crossing)
            for row in range(begin, end):
                others = end - max(row + 1, partner) if row < last else 0
                if turn == 0:
                    comparisons += others
                    work += others + ENTRY_WORK
                else:
                    done += others + ENTRY_WORK
                    while filled < parts and done >= work * (filled / parts):
                        places[filled] = row + 1
                        filled += 1
            begin = end
    return places, comparisons


@kernel
def collide(codes, pieces, table, entries, side, per, begin, end, at, cut, first_cut, pairs, counts):
    """Write the pairs of rows begin..end of a sorted table with later rows of their run that differ in at most ``cut`` bits; return their number.

    table: its number; pairs that share the key of an earlier table are left to that one. entries: as `sort_table` returns them.
    first_cut: the maximum of differing bits in the first four words, or in the first two or one where codes have fewer.
    at: int64[3], the place to continue from (run, tile, row), at first (begin, 0, 0). There is more to come while at[0] < end.
    pairs: int64[2, room], filled; the smaller number first. counts: int64[2], increased by comparisons and by near pairs, repeated ones included.
    """
    words = codes.shape[1]
    flat = codes.reshape(-1)
    crossing = len(side) > 0
    tiles = aligned((TILE + EIGHT) * words, np.empty(0, np.uint64))
    offsets = np.empty(TILE + EIGHT, np.int64)
    masks = np.empty(TILE // EIGHT + 2, np.uint8)
    sifted = np.empty((2, SIFTED), np.int64)
    shift = np.uint64(NUMBER + 2 * crossing)
    run, tile, row = at
    marks, fields, sure = marked(pieces), fields_of(pieces), not hashed(pieces[table], per)
    found = 0
    while run < end:
        if run + 1 == len(entries) or entries[run] >> shift != entries[run + 1] >> shift:
            run += 1
            continue
        stop, partner, last = run_from(entries, run, crossing)
        last = min(last, end)
        tile, row = max(tile, partner, run + 1), max(row, run)
        while tile < stop:
            size = min(TILE, stop - tile)
            fill(flat, words, entries, tile, size, offsets, tiles)
            rows = min(last, tile + size - 1)
            while row < rows:
                row, count = sift(flat, words, entries, tiles, offsets, tile, size, row, rows, cut, first_cut, masks, sifted, counts)
                found = settle(flat, words, marks, fields, table, sure, per, sifted, count, pairs, found, counts)
                if found + SIFTED > pairs.shape[1]:
                    at[0], at[1], at[2] = run, tile, row
                    return found
            tile, row = tile + size, run
        run = stop
    at[0] = run
    return found


@inline
def fill(flat, words, entries, tile, size, offsets, tiles):
    """Collect the codes of a tile in blocks of eight, padded with copies of the last code. Fills offsets, int64, and tiles, uint64."""
    for k in range(size):
        offsets[k] = number(entries[tile + k]) * words
    padded = size + -size % EIGHT
    for k in range(size, padded):
        offsets[k] = offsets[size - 1]
    if words == 1:
        for k in range(padded):
            tiles[k] = flat[offsets[k]]
        return
    wide = words // EIGHT * EIGHT
    for k in range(0, size, EIGHT):
        for word in range(0, wide, EIGHT):
            transpose8(flat, offsets, k, word, tiles, k * words + word * EIGHT)
        for lane in range(EIGHT):
            for word in range(wide, words):
                tiles[k * words + word * EIGHT + lane] = flat[offsets[k + lane] + word]


@inline
def sift(flat, words, entries, tiles, offsets, tile, size, row, rows, cut, first_cut, masks, sifted, counts):
    """Compare the rows from ``row`` on with later codes of the tile: (next row, near pairs).

    sifted[:, :near pairs] are the offsets of both codes of each near pair.
    """
    stride = EIGHT * words
    blocks = -(-size // EIGHT)
    count = 0
    while row < rows and count + size <= SIFTED:
        mine = number(entries[row]) * words
        start = max(row + 1 - tile, 0)
        first = start // EIGHT
        if words >= 4:
            some = sieve4(tiles, first * stride, stride, blocks - first, flat, mine, first_cut, masks)
        elif words >= 2:
            some = sieve2(tiles, first * stride, stride, blocks - first, flat, mine, first_cut, masks)
        else:
            some = sieve1(tiles, first * stride, stride, blocks - first, flat, mine, first_cut, masks)
        counts[0] += size - start
        row += 1
        if not some:
            continue
        masks[0] &= np.uint8(0xFF) << np.uint8(start % EIGHT)
        for k in range(blocks - first):
            mask = np.uint64(masks[k])
            if mask and words > 1:
                mask &= np.uint64(near8(tiles, (first + k) * stride, flat, mine, words, cut))
            while mask:
                place = (first + k) * EIGHT + lowest_bit(mask)
                mask &= mask - np.uint64(1)
                if place < size:
                    sifted[0, count], sifted[1, count] = mine, offsets[place]
                    count += 1
    return row, count


@inline
def settle(flat, words, marks, fields, table, sure, per, sifted, count, pairs, found, counts):
    """Append the near pairs that no earlier table has to pairs[:, :found], and return the new number. ``sure``: equal keys prove equal bits."""
    counts[1] += count
    for k in range(count):
        a, b = sifted[0, k], sifted[1, k]
        if not sure and not (shares(flat, a, b, marks, table) and (len(per) == 0 or per[a // words] == per[b // words])):
            continue
        if fields[0] > 0:
            if shares_field(flat, a, b, fields, table):
                continue
        else:
            earlier = 0
            while earlier < table and not shares(flat, a, b, marks, earlier):
                earlier += 1
            if earlier < table:
                continue
        pairs[0, found], pairs[1, found] = min(a, b) // words, max(a, b) // words
        found += 1
    return found


@inline
def marked(pieces):
    """The pieces as (word, mask): uint64[tables, pieces, 2]. Pieces after the last have an empty mask."""
    marks = np.empty((len(pieces), pieces.shape[1], 2), np.uint64)
    for table in range(len(pieces)):
        for k in range(pieces.shape[1]):
            word, shift, width = pieces[table, k]
            marks[table, k, 0] = np.uint64(word)
            marks[table, k, 1] = ((np.uint64(1) << np.uint64(width)) - np.uint64(1)) << np.uint64(shift)
    return marks


@always
def shares(flat, a, b, marks, table):
    """True if two codes have equal bits in all pieces of a table. a, b: offsets of the codes in ``flat``."""
    for k in range(marks.shape[1]):
        word = np.int64(marks[table, k, 0])
        if (flat[a + word] ^ flat[b + word]) & marks[table, k, 1]:
            return False
    return True


@inline
def fields_of(pieces):
    """(width, fields a word, low bits, high bits) of tables that are adjacent fields of one width, from the first bit on; otherwise width is 0."""
    width = pieces[0, 0, 2] if pieces.shape[1] == 1 else 0
    each = 64 // max(width, 1)
    for table in range(len(pieces)):
        if width > 0 and (pieces[table, 0, 0] != table // each or pieces[table, 0, 1] != table % each * width or pieces[table, 0, 2] != width):
            width = 0
    low = np.uint64(0)
    for field in range(each if width > 0 else 0):
        low |= np.uint64(1) << np.uint64(field * width)
    return width, each, low, low << np.uint64(max(width, 1) - 1)


@always
def shares_field(flat, a, b, fields, table):
    """True if two codes are equal in a field before that of ``table``: where x - 1, field by field, borrows, some field of x is 0."""
    width, each, low, high = fields
    some = np.uint64(0)
    for word in range(table // each):
        x = flat[a + word] ^ flat[b + word]
        some |= (x - low) & ~x & high
    if table % each:
        x = flat[a + table // each] ^ flat[b + table // each]
        some |= (x - low) & ~x & high & ((np.uint64(1) << np.uint64(table % each * width)) - np.uint64(1))
    return some != 0


@kernel
def distances_of(codes, left, right):
    """Hamming distances of codes[left[i]] and codes[right[i]]: int64[m]."""
    out = np.empty(len(left), np.int64)
    for i in range(len(left)):
        count = 0
        for word in range(codes.shape[1]):
            count += count_bits(codes[left[i], word] ^ codes[right[i], word])
        out[i] = count
    return out


@kernel
def distance_histogram(codes):
    """The number of pairs that differ in 0, 1, 2 ... bits, over all pairs: int64[bits + 1]."""
    n, words = codes.shape
    out = np.zeros(64 * words + 1, np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            count = 0
            for word in range(words):
                count += count_bits(codes[i, word] ^ codes[j, word])
            out[count] += 1
    return out
