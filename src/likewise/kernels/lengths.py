"""Lengths of common runs of two texts in logarithmic time, for texts that repeat themselves: comparing them token by token is quadratic.

The hash of tokens t_0 ... t_n-1 is the polynomial sum of t_i BASE^(n-1-i) modulo the prime 2^61 - 1 (Karp and Rabin 1987), so that of a range follows
from those of two prefixes. Two ranges that differ have equal hashes with a probability of n / 2^61.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline

PRIME = np.uint64(2**61 - 1)
BASE = np.uint64(0x0F3A9C51D7E86B25)
#: Tokens between two prefixes whose hashes are kept; and those that are compared before hashes are.
STEP = 32
LOW_30, LOW_31 = np.uint64(2**30 - 1), np.uint64(2**31 - 1)
U1, U30, U31, U61 = np.uint64(1), np.uint64(30), np.uint64(31), np.uint64(61)


@always
def reduced(x):
    """x modulo PRIME."""
    x = (x >> U61) + (x & PRIME)
    return x - PRIME if x >= PRIME else x


@always
def times(x, y):
    """x * y modulo PRIME, of numbers below it."""
    high_x, low_x, high_y, low_y = x >> U31, x & LOW_31, y >> U31, y & LOW_31
    middle = low_x * high_y + high_x * low_y
    return reduced(((high_x * high_y) << U1) + (middle >> U30) + ((middle & LOW_30) << U31) + low_x * low_y)


@inline
def sums(tokens):
    """The hashes of the prefixes of 0, STEP, 2 STEP, ... tokens, uint64[tokens // STEP + 1]."""
    out = np.zeros(tokens.size // STEP + 1, np.uint64)
    total = np.uint64(0)
    for i in range(tokens.size):
        total = reduced(times(total, BASE) + reduced(tokens[i]))
        if (i + 1) % STEP == 0:
            out[(i + 1) // STEP] = total
    return out


@always
def prefix(tokens, known, end):
    """The hash of the first ``end`` tokens. known: from `sums`."""
    total = known[end // STEP]
    for i in range(end // STEP * STEP, end):
        total = reduced(times(total, BASE) + reduced(tokens[i]))
    return total


@always
def are_equal(a, b, x, y, size, power, of_a, of_b):
    """True if a[x : x + size] and b[y : y + size] have the same hash. power: BASE^size; of_a, of_b: from `sums`."""
    one = reduced(prefix(a, of_a, x + size) + PRIME - times(prefix(a, of_a, x), power))
    return one == reduced(prefix(b, of_b, y + size) + PRIME - times(prefix(b, of_b, y), power))


@inline
def after(a, b, x, y, of_a, of_b):
    """The number of equal tokens from (x, y) on."""
    most = min(a.size - x, b.size - y)
    count = 0
    while count < min(most, STEP):
        if a[x + count] != b[y + count]:
            return count
        count += 1
    powers, top = doublings(most)
    for j in range(top, -1, -1):
        size = 1 << j
        if count + size <= most and are_equal(a, b, x + count, y + count, size, powers[j], of_a, of_b):
            count += size
    return count


@inline
def before(a, b, x, y, of_a, of_b):
    """The number of equal tokens before (x, y)."""
    most = min(x, y)
    count = 0
    while count < min(most, STEP):
        if a[x - 1 - count] != b[y - 1 - count]:
            return count
        count += 1
    powers, top = doublings(most)
    for j in range(top, -1, -1):
        size = 1 << j
        if count + size <= most and are_equal(a, b, x - count - size, y - count - size, size, powers[j], of_a, of_b):
            count += size
    return count


@inline
def doublings(most):
    """BASE^(2^j), uint64[64], and the largest j with 2^j <= most, or -1."""
    powers, top = np.empty(64, np.uint64), -1
    power = BASE
    while 1 << (top + 1) <= most:
        top += 1
        powers[top] = power
        power = times(power, power)
    return powers, top
