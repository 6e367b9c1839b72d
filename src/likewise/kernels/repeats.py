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
def group_windows(hashes, offsets, windows, n, factors, joins, part, parts, keys, first, times, group):
    """Number the windows whose hash falls into a part: equal ones, by 128 bits, have equal numbers; those that occur once become ALONE.

    factors, joins: uint64[2, ...], see `fingerprints`. keys: uint64[size, 2], first, times: int64[size], a power of two: scratch for a table. group:
    int64, UNKNOWN or filled by other parts. Returns the first window of each number and how often it occurs, int64[m] both; the number of the j-th is
    j * parts + part. If the table is full, it returns nothing and ``group`` is as before.
    """
    longest = 0
    for i in range(offsets.size - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    grams, low, high = np.empty(longest + 1, np.uint64), np.empty(longest + 1, np.uint64), np.empty(longest + 1, np.uint64)
    last = np.uint64(times.size - 1)
    times[:] = 0
    used = 0
    for i in range(offsets.size - 1):
        own = hashes[offsets[i] : offsets[i + 1]]
        if own.size < n or used == times.size - 1:
            continue
        found = fingerprints(own, n, factors[0], joins[0], grams, low)
        fingerprints(own, n, factors[1], joins[1], grams, high)
        for w in range(found):
            if part_of(high[w], parts) != part:
                continue
            at = low[w] & last
            while times[at] and (keys[at, 0] != low[w] or keys[at, 1] != high[w]):
                at = (at + np.uint64(1)) & last
            if times[at] == 0:
                if used == times.size - 1:
                    break
                used += 1
                keys[at, 0], keys[at, 1], first[at] = low[w], high[w], windows[i] + w
            times[at] += 1
            group[windows[i] + w] = np.int64(at) * parts + part
    full = used == times.size - 1
    again = 0
    for at in range(times.size):
        again += times[at] > 1
    out_first, out_times = np.empty(again, np.int64), np.empty(again, np.int64)
    again = 0
    for at in range(times.size):
        if times[at] > 1:
            out_first[again], out_times[again] = first[at], times[at]
            first[at] = again * parts + part
            again += 1
    for w in range(group.size):
        if group[w] >= 0 and group[w] % parts == part:
            at = group[w] // parts
            group[w] = UNKNOWN if full else first[at] if times[at] > 1 else ALONE
    return full, out_first, out_times


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
