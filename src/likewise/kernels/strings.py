"""Comparisons of strings by their signs, which exclude most pairs, and the counts that a Jaro similarity is made of."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.blocks import count_bits, lowest_bit

#: Code points of a common prefix that count (Winkler 1990).
PREFIX = 4
#: Code points of a string that are sorted by insertion.
FEW = 64
HALF, POSITION = np.uint64(32), np.uint64(0xFFFF_FFFF)
ONE, SIX, BIT, LOW = np.uint64(1), np.uint64(6), np.uint64(63), np.uint64(0x3FF_FFFF)


@always
def differing(signs, others, a, b):
    """The number of bits in which the signs of two strings differ: at most the code points that one of them lacks."""
    return count_bits(signs[a, 0] ^ others[b, 0]) + count_bits(signs[a, 1] ^ others[b, 1])


@always
def in_common(heads, others, a, b):
    """The length of the common prefix of two heads; too large for strings that are shorter than it."""
    same = 0
    while same < PREFIX and heads[a, same] == others[b, same]:
        same += 1
    return same


@kernel
def scan(signs, heads, length, room, slope, jaro, held, low, high, state, end, most, out):
    """Write the pairs (place, partner) of the places up to ``end`` that may be similar to ``out``, uint32[2, m]; return their number.

    signs: uint64[n, 2]. heads: uint32[n, PREFIX], the first code points. room: int64[PREFIX + 1, n], the most bits in which a place may differ from a
    partner, by their common prefix, ascending; a partner that is shorter by one code point has ``slope`` less. jaro: float64[PREFIX + 1], the least
    Jaro similarity, which is then computed, or 0. held: see `paired`. low, high: uint32[windows, n], the partners of a place, which are not longer.
    state: int64[3], the next place, window and partner; updated. Returns once ``out`` is full or ``most`` pairs are compared.
    """
    written = 0
    one, other = flags(length)
    begin, window, partner = state
    while begin < end:
        partner = max(partner, np.int64(low[window, begin]))
        last = np.int64(high[window, begin])
        widest, mine = room[PREFIX, begin], length[begin]
        until = min(last, partner + most)
        while partner < until and written < out.shape[1]:
            bits = differing(signs, signs, begin, partner) + slope * (mine - length[partner])
            if bits <= widest and similar(begin, partner, bits, heads, length, room, jaro, held, one, other):
                out[0, written], out[1, written] = begin, partner
                written += 1
            partner += 1
            most -= 1
        if partner < last:
            break
        partner, window = 0, window + 1
        if window == low.shape[0]:
            begin, window = begin + 1, 0
    state[0], state[1], state[2] = begin, window, partner
    return written


@inline
def similar(a, b, bits, heads, length, room, jaro, held, one, other):
    """True if two strings whose signs differ in so many bits may be similar."""
    same = in_common(heads, heads, a, b)
    if bits > room[same, a]:
        return False
    if jaro[0] <= 0 or length[a] == 0:
        return True
    common = paired(held, a, b, one, other)
    least = 3 * jaro[same] - common / length[a] - common / length[b] if common else 2.0
    return least <= 1 and (common - crossed(held, a, b, one, other)) / common >= least


@kernel
def in_order(points, begin, length):
    """The code points of each string with their places in it, point << 32 | place, ascending: uint64."""
    ordered = np.empty(len(points), np.uint64)
    for item in range(len(begin)):
        mine = ordered[begin[item] : begin[item] + length[item]]
        for place in range(length[item]):
            key = np.uint64(points[begin[item] + place]) << HALF | np.uint64(place)
            if length[item] > FEW:
                mine[place] = key
                continue
            at = place  # insertion
            while at > 0 and mine[at - 1] > key:
                mine[at] = mine[at - 1]
                at -= 1
            mine[at] = key
        if length[item] > FEW:
            mine[:] = np.sort(mine)
    return ordered


@kernel
def apart(signs, heads, asked, head, query, bits, prefix):
    """The bits in which the signs of a query differ from those of each string, and their common prefixes: into int64[n] both."""
    for item in range(len(signs)):
        bits[item] = differing(asked, signs, query, item)
        prefix[item] = in_common(head, heads, query, item)


@kernel
def matched(held, left, right):
    """(matching code points, transpositions, common prefix of up to PREFIX) of the strings left[i] and right[i]: int64[m, 3]."""
    points, _, begin, length = held
    out = np.zeros((len(left), 3), np.int64)
    one, other = flags(length)
    for i in range(len(left)):
        a, b = left[i], right[i]
        out[i, 0] = paired(held, a, b, one, other)
        out[i, 1] = crossed(held, a, b, one, other)
        while out[i, 2] < min(PREFIX, length[a], length[b]) and points[begin[a] + out[i, 2]] == points[begin[b] + out[i, 2]]:
            out[i, 2] += 1
    return out


@always
def flags(length):
    """Room for a bit for each code point of two strings."""
    words = (length.max() if len(length) else 0) // 64 + 1
    return np.zeros(words, np.uint64), np.zeros(words, np.uint64)


@inline
def paired(held, a, b, one, other):
    """The number of matching code points of two strings (Jaro 1989), whose bits are set in ``one`` and ``other``.

    held: points, uint32, the code points of all strings; ordered, uint64, the code points of each with their places in it, point << 32 | place,
    ascending; begin and length of each string. one, other: scratch (`flags`).

    Each code point of one string, from the first on, matches the first equal one of the other that is free and at most ``window`` places away. Equal
    ones are in the order of their places on both sides, so this is a merge: a place before the window is before all later windows as well.
    """
    _, ordered, begin, length = held
    window = max(max(length[a], length[b]) // 2 - 1, 0)
    one[: length[a] // 64 + 1] = 0
    other[: length[b] // 64 + 1] = 0
    at, to, common = begin[a], begin[b], 0
    last, final = at + length[a], to + length[b]
    while at < last and to < final:
        x, y = ordered[at], ordered[to]
        if x >> HALF != y >> HALF:
            at += np.int64(x < y)
            to += np.int64(y < x)
            continue
        near = np.int64(y & POSITION) - np.int64(x & POSITION)
        if -window <= near <= window:
            one[np.int64(x >> SIX & LOW)] |= ONE << (x & BIT)
            other[np.int64(y >> SIX & LOW)] |= ONE << (y & BIT)
            common += 1
        at += np.int64(near >= -window)
        to += np.int64(near <= window)
    return common


@inline
def crossed(held, a, b, one, other):
    """Half of the matching code points that are in another order, as `paired` found them."""
    points, _, begin, length = held
    differ = word = 0
    rest = other[0]
    for number in range(length[a] // 64 + 1):
        mine = one[number]
        while mine:
            while not rest:
                word += 1
                rest = other[word]
            place, partner = 64 * number + lowest_bit(mine), 64 * word + lowest_bit(rest)
            differ += points[begin[a] + place] != points[begin[b] + partner]
            mine &= mine - ONE
            rest &= rest - ONE
    return differ // 2
