"""Darts, of which weighted MinHash is made (Christiani, DartMinHash, arXiv 2005.11547): two sets agree with the chance of weighted Jaccard.

Each element throws darts: a Poisson process of rate 1 over the points (weight, rank) of a quarter plane, every dart into a slot drawn at
random. A set has the darts whose weight is below the weight of their element, and each slot keeps the one of least rank. Of the darts that
either of two sets has, the first in a slot lies anywhere below the greater of an element's two weights with equal chance, and both have
it where it lies below the lesser: they agree with probability Σ min / Σ max. Slots are independent, as disjoint parts of a Poisson
process are.

The plane is cut into cells of area 1, each with Poisson(1) darts, drawn from a hash of element and cell. A set visits the cells that its
weights and a bound on ranks reach into, and raises the bound until each slot has a dart below it; no dart depends on the bound. A staircase,
2^-e wide where it is 2^e high for e a multiple of STEP, cuts the plane in two:

- Beyond it lie *octaves*. Octave e has the ranks from 2^e to 2^(e+1) in cells 2^-e wide, from the stair to the right; an element visits
  those left of its weight, and all but the last lie left of it wholly.
- Within it lie *corners*. There an element has one dart or so, but at any scale: were octaves to go on to weight 0, it would visit an empty
  cell in each octave from 1 to its weight, as in DartMinHash. So steps hang in a binary tree: the corner of step e, with h the greatest
  power of two that divides it, has the weights from 2^-(e+h) to 2^-e and ranks from 2^(e-h) to 2^e, which is what lies within step e and
  within none higher in the tree. An element visits one path of the tree, log2(REACH / STEP) corners and a few, at any scale.

Everything is decided by integers and by sums that are exact in float64, without a logarithm: darts are the same on every CPU.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from likewise.kernels.hashing import mix64
from likewise.kernels.jit import inline, kernel
from likewise.kernels.minhash import EMPTY, GOLDEN

#: Names this way of throwing darts in manifests: another value of any slot is another scheme.
SCHEME = "darts-1"

STEP = 4
REACH = 128  # the staircase goes from 2^-REACH to 2^REACH
CELLS = 256  # visited at a time, so that hashing runs in vectors

DARTS = 0xA24BAED4963EE407  # arbitrary constants that keep the streams of one key apart
FALL = 0xD1B54A32D192ED03


def poisson(most: int) -> list[int]:
    """2^64 times the chance of i darts or fewer in a cell, for i below ``most``."""
    e = sum(Fraction(1, math.factorial(i)) for i in range(40))
    return [int(2**64 * sum(Fraction(1, math.factorial(j)) for j in range(i + 1)) / e) for i in range(most)]


#: A cell has more than i darts where its word is FEWER[i] or more; more than 20 have a chance below 2^-62.
FEWER = np.array(poisson(20), np.uint64)
#: (the octave in which its ranks begin, step, reach) of each corner, in the order in which a rising bound meets them.
CORNERS = np.array(sorted((e - h, e, h) for e in range(STEP - REACH, REACH, STEP) for h in [e & -e if e else REACH]))


@inline
def bound(limit):
    """The part of a cell that lies left of ``limit`` cell widths, of 2^64."""
    return np.uint64(limit * 2.0**64) if limit < 1 else np.uint64(0xFFFFFFFFFFFFFFFF)


@inline
def draw(cells, base, lowest, scale, best, work):
    """The darts of so many cells in ``work``: those below the bound of their cell go to their slots if they beat what is there.

    Ranks are (base + a fraction) * scale; fractions below ``lowest`` belong to a corner higher in the tree.
    """
    words, bounds, hashed, seeds, places = work
    ranks, names = best
    for c in range(cells):
        words[c] = mix64(words[c])
    darts, step = np.uint64(0), np.uint64(0)
    for i in range(FEWER.size):  # the i-th dart of every cell that has so many
        more = np.uint64(0)
        for c in range(cells):
            word, limit = words[c], bounds[c]
            words[more], bounds[more] = word, limit
            more += np.uint64(word >= FEWER[i])
        cells = more
        if cells == 0:
            break
        step += np.uint64(GOLDEN)
        for c in range(cells):
            hashed[c] = mix64(words[c] + step)
        for c in range(cells):
            place = hashed[c]
            seeds[darts], places[darts] = words[c] + step, place
            darts += np.uint64(place < bounds[c])
    for d in range(darts):
        seeds[d] = mix64(seeds[d] ^ np.uint64(FALL))
    slots = np.uint64(ranks.size)
    for d in range(darts):
        fall, name = seeds[d], places[d]
        slot = ((fall & np.uint64(0xFFFFFFFF)) * slots) >> np.uint64(32)
        fraction = np.float64(np.int64(fall >> np.uint64(32))) * 2.0**-32
        rank = (base + fraction) * scale if fraction >= lowest else np.inf
        held, holder = ranks[slot], names[slot]
        better = (rank < held) | ((rank == held) & (name < holder))
        ranks[slot] = rank if better else held
        names[slot] = name if better else holder


@inline
def visit(exponent, base, left, most, lowest, key, keys, weights, best, work):
    """The darts of a row of cells 2^-exponent wide and 2^exponent high, from ``left`` widths on to the weights of the elements.

    For an octave base is 1; for a corner 0, and ``most`` 1, the width at which it ends.
    """
    words, bounds = work[0], work[1]
    scale = math.ldexp(1.0, exponent)
    label = mix64(key + np.uint64(GOLDEN) * np.uint64(2 * exponent + np.int64(base)))
    count = np.uint64(0)
    for element in range(keys.size):
        limit = min(weights[element] * scale, most) - left
        word = keys[element] ^ label
        while limit > 0:
            words[count], bounds[count] = word, bound(limit)
            count += np.uint64(1)
            if count == CELLS:
                draw(count, base, lowest, scale, best, work)
                count = np.uint64(0)
            word += np.uint64(GOLDEN)
            limit -= 1
    draw(count, base, lowest, scale, best, work)


@inline
def full(ranks, bound):
    """Whether each slot has a dart below the bound: none that was not thrown yet can be the first."""
    slot = 0
    while slot < ranks.size and ranks[slot] < bound:
        slot += 1
    return slot == ranks.size


@inline
def throw(key, keys, weights, best, work):
    """The first dart of each slot into ``best``: ranks float64[slots] and 64-bit names uint64[slots], for one set with one element at least."""
    ranks = best[0]
    ranks[:] = np.inf
    beyond = -math.frexp(weights.max())[1]  # all weights are below 2^-beyond
    octave = beyond // STEP * STEP  # the stairs of lower ones are further right
    corner = 0
    while True:
        while corner < len(CORNERS) and CORNERS[corner, 0] <= octave:
            begins, step, reach = CORNERS[corner]
            inner = math.ldexp(1.0, -reach)
            left = inner if step + reach < REACH else 0.0  # the outermost go to 0
            lowest = inner if begins > -REACH else 0.0
            if step + reach > beyond:
                visit(step, 0.0, left, 1.0, lowest, key, keys, weights, best, work)
            corner += 1
        stair = octave // STEP * STEP + STEP
        visit(octave, 1.0, math.ldexp(1.0, octave - stair) if stair < REACH else 0.0, np.inf, 0.0, key, keys, weights, best, work)
        octave += 1
        if full(ranks, math.ldexp(1.0, octave)):
            return


@kernel
def sketch(values, weights, offsets, slots, seed):
    """Signatures uint32[n, slots] of the weighted sets values[offsets[i]:offsets[i + 1]].

    values uint64[m], distinct within a set; weights float64[m], above 0, in total from 1e-30 to 1e30 for each set; offsets int64[n + 1].
    All slots of an empty set are EMPTY, and none of any other.
    """
    key = mix64(seed ^ np.uint64(DARTS))
    keys = np.empty(values.size, np.uint64)
    for i in range(values.size):
        keys[i] = mix64(values[i] ^ key)
    best = np.empty(slots), np.empty(slots, np.uint64)
    darts = CELLS * FEWER.size
    work = np.empty(CELLS, np.uint64), np.empty(CELLS, np.uint64), np.empty(CELLS, np.uint64), np.empty(darts, np.uint64), np.empty(darts, np.uint64)
    out = np.full((offsets.size - 1, slots), np.uint32(EMPTY))
    for i in range(offsets.size - 1):
        if offsets[i] < offsets[i + 1]:
            throw(key, keys[offsets[i] : offsets[i + 1]], weights[offsets[i] : offsets[i + 1]], best, work)
            for j in range(slots):
                out[i, j] = min(mix64(best[1][j]) >> np.uint64(32), np.uint64(EMPTY - 1))
    return out
