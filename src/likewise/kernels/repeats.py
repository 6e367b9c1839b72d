"""Runs of tokens that occur again, found by windows of n tokens: equal windows form a group, and groups that always go together a passage.

A *stretch* is a part of a text whose windows are looked at. Stretch i has the tokens hashes[offsets[i]:offsets[i + 1]], and a window at each but the
last n - 1. Windows are counted across all stretches; ``windows``, int64[stretches + 1], has the first of each. ``group`` has the
number of the group of each window, int64, or ALONE.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.hashing import mix64
from likewise.kernels.shingles import consecutive

ALONE, MANY, UNKNOWN = -1, -1, -2


@kernel
def tally(keys, seen):
    """Count fingerprints, up to two. keys: uint64[n]; seen: uint8, a power of two: counts by the lowest bits of keys."""
    last = np.uint64(seen.size - 1)
    for key in keys:
        at = key & last
        seen[at] += seen[at] < 2


@kernel
def mark(counts, keys, begins, tokens, seen, k, n, out_first, out_size):
    """The stretches of texts in which a window may repeat: n tokens around each fingerprint that was counted twice.

    counts: uint32[texts], the fingerprints of each text, of k tokens; keys, begins: their hashes and first tokens. tokens: int64[texts]. out_first,
    out_size: uint32, room for one a fingerprint: the first token and the number of tokens of each stretch. Returns their number in each text, uint32.
    """
    last = np.uint64(seen.size - 1)
    numbers = np.zeros(counts.size, np.uint32)
    at = written = 0
    for item in range(counts.size):
        first = end = -1
        for _ in range(counts[item]):
            if seen[keys[at] & last] == 2:
                low, high = max(0, np.int64(begins[at]) + k - n), min(tokens[item], np.int64(begins[at]) + n)
                if first >= 0 and low > end:
                    out_first[written], out_size[written] = first, end - first
                    written += 1
                    numbers[item] += 1
                    first = -1
                first = low if first < 0 else first
                end = high
            at += 1
        if first >= 0:
            out_first[written], out_size[written] = first, end - first
            written += 1
            numbers[item] += 1
    return numbers


@inline
def fingerprints(hashes, n, factors, joins, grams, out):
    """Write 64 bits of each window of n tokens to ``out``, and return their number.

    factors: uint64[size + 1] for the grams of ``size`` tokens, at most n, of which a window has one after the other, the last one at its end; joins:
    uint64, one for each of these. grams: scratch.
    """
    found = hashes.size - n + 1
    size = factors.size - 1
    consecutive(hashes, hashes.size, size, factors, grams)
    for at in range(found):
        total = np.uint64(0)
        for i in range(joins.size):
            total += grams[at + min(i * size, n - size)] * joins[i]
        out[at] = mix64(total)
    return found


@kernel
def hash_windows(hashes, offsets, windows, begin, end, n, factors, joins, low, high):
    """Write 128 bits of each window of stretches begin to end: low, high, uint64. factors, joins: uint64[2, ...], see `fingerprints`."""
    longest = 0
    for i in range(begin, end):
        longest = max(longest, offsets[i + 1] - offsets[i])
    grams = np.empty(longest + 1, np.uint64)
    for i in range(begin, end):
        own = hashes[offsets[i] : offsets[i + 1]]
        if own.size >= n:
            fingerprints(own, n, factors[0], joins[0], grams, low[windows[i] :])
            fingerprints(own, n, factors[1], joins[1], grams, high[windows[i] :])


@kernel
def first_windows(low, high, part, parts, table, first, again):
    """Find the first of equal windows whose hash falls into a part. low, high: uint64[windows]. table: int64, a power of two: scratch.

    Fills first, int64[windows], 0 or filled by other parts: the first window that is equal; and again, bool[windows], of those: True if there is
    another. Returns False if the table is full.
    """
    table[:] = UNKNOWN
    last = np.uint64(table.size - 1)
    used = 0
    for w in range(low.size):
        if part_of(high[w], parts) != part:
            continue
        then = first[w - 1] + 1 if w else 0  # runs repeat, so this one is likely equal; another thread may be writing first[w - 1]
        if 0 < then < w and low[then] == low[w] and high[then] == high[w]:
            first[w] = first[then]
            again[first[w]] = True
            continue
        at = low[w] & last
        while table[at] >= 0 and (low[table[at]] != low[w] or high[table[at]] != high[w]):
            at = (at + np.uint64(1)) & last
        if table[at] < 0:
            used += 1
            if used == table.size:
                return False
            table[at] = w
            again[w] = False
        else:
            again[table[at]] = True
        first[w] = table[at]
    return True


@kernel
def number_groups(group, again):
    """Number the groups of equal windows by their first ones. group: int64, the first window of each, becomes its group, or ALONE.

    Returns the first window of each group, and the number of its windows: int64[groups].
    """
    groups = 0
    for w in range(group.size):
        groups += group[w] == w and again[w]
    first, times = np.empty(groups, np.int64), np.zeros(groups, np.int64)
    groups = 0
    for w in range(group.size):
        if group[w] != w:
            group[w] = group[group[w]]
        elif again[w]:
            group[w] = groups
            first[groups] = w
            groups += 1
        else:
            group[w] = ALONE
        if group[w] >= 0:
            times[group[w]] += 1
    return first, times


@always
def part_of(value, parts):
    """The part of a hash, of equal ranges of its top 32 bits."""
    return np.int64((value >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32))


@kernel
def link(windows, group, after):
    """The group that follows all windows of each group, or MANY if none does: int64[groups], filled. after: UNKNOWN."""
    for i in range(windows.size - 1):
        for w in range(windows[i], windows[i + 1]):
            if group[w] >= 0:
                then = group[w + 1] if w + 1 < windows[i + 1] else MANY
                after[group[w]] = then if after[group[w]] == UNKNOWN or after[group[w]] == then else MANY


@kernel
def count_runs(windows, group, times, after):
    """The number of runs of windows that `passages` makes."""
    count = 0
    for i in range(windows.size - 1):
        for w in range(windows[i], windows[i + 1]):
            count += group[w] >= 0 and (w == windows[i] or not linked(group[w - 1], group[w], times, after))
    return count


@always
def linked(one, other, times, after):
    """True if all windows of a group are followed by those of another, and these follow no others."""
    return one >= 0 and other >= 0 and after[one] == other and times[one] == times[other]


@kernel
def passages(offsets, windows, rows, group, times, after, n, last, place, number, row_times, row_documents):
    """The places of passages: the longest runs of tokens whose windows always go together.

    rows: int64, the text of each stretch. last: int64[groups], scratch. Filled in order: place, int64[runs, 2], the first token and the end of each
    place; number, int64[runs], its passage, counted from 0 by first places; row_times and row_documents, int64[runs], how often a passage occurs, and
    in how many texts. Occurrences that overlap are one place. Returns the numbers of places and of passages.
    """
    last[:] = UNKNOWN  # of the first group of a passage: its last place
    places = passages = 0
    for i in range(windows.size - 1):
        for w in range(windows[i], windows[i + 1]):
            if w > windows[i] and linked(group[w - 1], group[w], times, after):
                continue
            if group[w] < 0:
                continue
            end = w
            while end + 1 < windows[i + 1] and linked(group[end], group[end + 1], times, after):
                end += 1
            low, high = offsets[i] + w - windows[i], offsets[i] + end - windows[i] + n
            head = group[w]
            before = last[head]
            if before == UNKNOWN:
                number[places] = passages
                row_times[passages], row_documents[passages] = times[head], 1
                passages += 1
            else:
                number[places] = number[before]
                if place[before, 0] >= offsets[i] and place[before, 1] > low:
                    place[before, 1] = high
                    continue
                row_documents[number[before]] += text_of(offsets, rows, place[before, 0]) != rows[i]
            place[places, 0], place[places, 1] = low, high
            last[head] = places
            places += 1
    return places, passages


@inline
def text_of(offsets, rows, token):
    """The text of a token."""
    return rows[np.searchsorted(offsets, token, side="right") - 1]


@kernel
def cuts(offsets, windows, group, first, n, out):
    """The tokens of windows that occur before, but not those of the first window itself, where both overlap: bool, filled."""
    out[:] = False
    for i in range(windows.size - 1):
        cut = out[offsets[i] : offsets[i + 1]]
        change = np.zeros(cut.size + 1, np.int32)
        for w in range(windows[i], windows[i + 1]):
            if group[w] >= 0 and first[group[w]] != w:
                low = high = w - windows[i]
                high += n
                if first[group[w]] >= windows[i]:
                    low = max(low, first[group[w]] - windows[i] + n)
                if low < high:
                    change[low] += 1
                    change[high] -= 1
        depth = 0
        for token in range(cut.size):
            depth += change[token]
            cut[token] = depth > 0
