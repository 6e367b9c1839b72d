"""Darts, the basis of weighted MinHash (Christiani, DartMinHash, arXiv 2005.11547): slots agree with the probability of weighted Jaccard.

Each element throws darts: a Poisson process of rate 1 over the points (weight, rank) of a quarter plane; each dart goes to a random slot. A set
has the darts whose weight is below the weight of their element, and each slot keeps the one of lowest rank. Consider the darts that either of two
sets has. The first in a slot is uniform below the larger of an element's two weights, and both sets have it if it is below the smaller one: they
agree with probability Σ min / Σ max. Slots are independent, because disjoint parts of a Poisson process are.

The plane is cut into cells of area 1, each with Poisson(1) darts drawn from a hash of element and cell. A set visits the cells within its weights
and a bound on ranks, and raises the bound until each slot has a dart below it; no dart depends on the bound. A staircase, 2^-e wide where it is
2^e high for e a multiple of STEP, divides the plane:

- Beyond it are *octaves*. Octave e has the ranks from 2^e to 2^(e+1), in cells 2^-e wide, from the stair to the right; an element visits the cells
  left of its weight, of which only the last is not wholly left of it.
- Within it are *corners*. There an element has about one dart, at any scale: if octaves continued to weight 0, it would visit an empty cell in each
  octave from 1 to its weight, as in DartMinHash. So steps form a binary tree: the corner of step e, with h the greatest power of two that divides
  it, has the weights from 2^-(e+h) to 2^-e and the ranks from 2^(e-h) to 2^e, which is the part of step e that no step higher in the tree covers.
  An element visits one path of the tree, log2(REACH / STEP) corners and a few more, at any scale.

All decisions are made by integers and by sums that are exact in float64, without a logarithm: darts are the same on every CPU.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.hashing import mix64
from likewise.kernels.minhash import EMPTY, GOLDEN

#: Identifies this way of throwing darts in manifests: if the value of any slot changes, so must the name.
SCHEME = "darts-1"

STEP = 4
REACH = 128  # the staircase runs from 2^-REACH to 2^REACH
CELLS = 256  # cells visited at a time, so that hashing is vectorized

DARTS = 0xA24BAED4963EE407  # arbitrary constants that separate the streams of one key
FALL = 0xD1B54A32D192ED03


def poisson(most: int) -> list[int]:
    """2^64 times the probability of at most i darts in a cell, for i below ``most``."""
    e = sum(Fraction(1, math.factorial(i)) for i in range(40))
    return [int(2**64 * sum(Fraction(1, math.factorial(j)) for j in range(i + 1)) / e) for i in range(most)]


#: A cell has more than i darts if its word is FEWER[i] or more. More than 20 have a probability below 2^-62.
FEWER = np.array(poisson(20), np.uint64)
#: (octave in which its ranks begin, step, reach) of each corner, in the order in which a rising bound reaches them.
CORNERS = np.array(sorted((e - h, e, h) for e in range(STEP - REACH, REACH, STEP) for h in [e & -e if e else REACH]))


@inline
def bound(limit):
    """2^64 times the fraction of a cell left of ``limit`` cell widths: uint64."""
    return np.uint64(limit * 2.0**64) if limit < 1 else np.uint64(0xFFFFFFFFFFFFFFFF)


@inline
def draw(cells, base, lowest, scale, best, work):
    """Draw the darts of the cells in ``work``: those below the bound of their cell go to their slots if they beat the present holder.

    Ranks are (base + a fraction) * scale. Fractions below ``lowest`` belong to a corner higher in the tree.
    """
    words, bounds, hashed, seeds, places = work
    ranks, names = best
    for c in range(cells):
        words[c] = mix64(words[c])
    darts, step = np.uint64(0), np.uint64(0)
    for i in range(FEWER.size):  # the i-th dart of each cell that has so many
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
    """Draw the darts of a row of cells, 2^-exponent wide and 2^exponent high, from ``left`` widths on to the weights of the elements.

    base: 1 for an octave, 0 for a corner, which ends at ``most`` = 1 widths.
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
    """True if each slot has a dart below the bound. Darts that were not yet thrown cannot be first then."""
    slot = 0
    while slot < ranks.size and ranks[slot] < bound:
        slot += 1
    return slot == ranks.size


@inline
def throw(key, keys, weights, best, work):
    """Put the first dart of each slot into ``best``: ranks float64[slots] and names uint64[slots], for a set of at least one element."""
    ranks = best[0]
    ranks[:] = np.inf
    beyond = -math.frexp(weights.max())[1]  # all weights are below 2^-beyond
    octave = beyond // STEP * STEP  # the stairs of lower octaves are further right
    corner = 0
    while True:
        while corner < len(CORNERS) and CORNERS[corner, 0] <= octave:
            begins, step, reach = CORNERS[corner]
            inner = math.ldexp(1.0, -reach)
            left = inner if step + reach < REACH else 0.0  # the outermost corners reach down to 0
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
    """Signatures, uint32[n, slots], of the weighted sets values[offsets[i]:offsets[i + 1]] (weighted MinHash).

    values: uint64[m], distinct within a set. weights: float64[m], above 0; their sum in a set is from 1e-30 to 1e30. offsets: int64[n + 1].
    seed: uint64. Slots of an empty set are EMPTY; no other set has such a slot.
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
