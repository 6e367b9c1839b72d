"""Runs of tokens that occur again, found by windows of n tokens: equal windows form a group, and groups that always go together a passage.

A *stretch* is a part of a text whose windows are looked at. Stretch i has the tokens hashes[offsets[i]:offsets[i + 1]], and a window at each but the
last n - 1. Windows are counted across all stretches; ``windows``, int64[stretches + 1], has the first of each.

Windows are hashed in *blocks* of so many that follow each other. In its block, each has a place among those whose hash falls into the same *part*, so
that a part can be grouped by reading a piece of each block. In the end ``first``, uint64[windows], is the first window that is equal to each, and
``times``, uint64[windows], twice the number of those that are equal, and 1 more if the same token follows all of them, in the same stretch.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.hashing import mix64
from likewise.kernels.shingles import consecutive

UNKNOWN = -1
#: In place of the token after a window that ends its stretch; no token has this hash.
NO_TOKEN = np.uint64(2**64 - 1)


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
def hash_windows(hashes, offsets, windows, begin, end, n, factors, joins, low, high, follow):
    """Write 128 bits of windows begin to end, low and high, and the hash of the token that follows each: uint64[end - begin].

    factors, joins: uint64[2, ...], see `fingerprints`.
    """
    grams = np.empty(end - begin + n, np.uint64)
    i = np.searchsorted(windows, begin, side="right") - 1
    while i < windows.size - 1 and windows[i] < end:
        at, until = max(begin, windows[i]), min(end, windows[i + 1])
        if at < until:
            token = offsets[i] + at - windows[i]
            own = hashes[token : token + until - at + n - 1]
            fingerprints(own, n, factors[0], joins[0], grams, low[at - begin :])
            fingerprints(own, n, factors[1], joins[1], grams, high[at - begin :])
            for w in range(at, until):
                follow[w - begin] = hashes[token + w - at + n] if w + 1 < windows[i + 1] else NO_TOKEN
        i += 1


@kernel
def order_by_part(low, high, follow, parts, out_low, out_high, out_follow, place, starts):
    """Order the windows of a block by part. place: uint32, the number of each in the block; starts: int64[parts + 1], where each part begins."""
    starts[:] = 0
    for value in high:
        starts[part_of(value, parts) + 1] += 1
    for part in range(parts):
        starts[part + 1] += starts[part]
    at = starts[:-1].copy()
    for w in range(high.size):
        part = part_of(high[w], parts)
        to = at[part]
        at[part] += 1
        out_low[to], out_high[to], out_follow[to], place[to] = low[w], high[w], follow[w], w


@kernel
def group(low, high, follow, place, starts, size, part, table, count, slot):
    """Find the first of equal windows in a part of all blocks. In place of low and high it leaves first and times.

    low, high, follow, place: of all windows, ordered by part in each block of ``size`` windows; starts: int64[blocks, parts + 1]. Scratch: table and
    count, int64, a power of two above the number of windows; slot: int64, room for each of these.
    """
    table[:], count[:] = UNKNOWN, 0
    last, number = np.uint64(table.size - 1), 0
    for block in range(starts.shape[0]):
        for w in range(block * size + starts[block, part], block * size + starts[block, part + 1]):
            at = low[w] & last
            while table[at] >= 0 and (low[table[at]] != low[w] or high[table[at]] != high[w]):
                at = (at + np.uint64(1)) & last
            if table[at] < 0:
                table[at] = w
            elif follow[table[at]] != follow[w]:
                follow[table[at]] = NO_TOKEN
            count[at] += 1
            slot[number] = at
            number += 1
    number = 0
    for block in range(starts.shape[0]):
        for w in range(block * size + starts[block, part], block * size + starts[block, part + 1]):
            at = slot[number]
            number += 1
            if table[at] == w:
                low[w] = block * size + place[w]
                high[w] = 2 * count[at] + (count[at] > 1 and follow[w] != NO_TOKEN)
            else:
                low[w], high[w] = low[table[at]], high[table[at]]


@kernel
def restore(values, place):
    """Put the values of a block in the order of its windows. place: see `order_by_part`."""
    ordered = np.empty_like(values)
    for at in range(values.size):
        ordered[place[at]] = values[at]
    values[:] = ordered


@always
def part_of(value, parts):
    """The part of a hash, of equal ranges of its top 32 bits."""
    return np.int64((value >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32))


@always
def linked(one, other):
    """True if a window is always followed by the next one, and this one always preceded by it. one, other: their times."""
    return one & np.uint64(1) == np.uint64(1) and one >> np.uint64(1) == other >> np.uint64(1)


@always
def heads(windows, i, w, times):
    """True if the window w of stretch i begins a place of a passage."""
    return times[w] >= np.uint64(4) and (w == windows[i] or not linked(times[w - 1], times[w]))


@kernel
def count_passages(windows, begin, end, first, times):
    """The numbers of places and of passages that begin in stretches begin to end, if no places overlap."""
    places = passages = 0
    for i in range(begin, end):
        for w in range(windows[i], windows[i + 1]):
            if heads(windows, i, w, times):
                places += 1
                passages += np.int64(first[w]) == w
    return places, passages


@kernel
def passages(offsets, windows, begin, end, rows, first, times, n, place, number, row_head, row_last, row_times, row_documents, found):
    """The places of passages in stretches begin to end: the longest runs of tokens whose windows always go together.

    rows: int64, the text of each stretch. Filled in order: place, int64[places, 2], the first token and the end of each place; number, int64[places],
    its passage, counted from 0 by first places. Of each passage, int64[passages]: row_head, its first window, ascending, row_last, its last place,
    row_times, how often it occurs, and row_documents, in how many texts. found, int64[2]: the numbers of places and of passages so far. Occurrences
    that overlap are one place.
    """
    places, many = found[0], found[1]
    for i in range(begin, end):
        for w in range(windows[i], windows[i + 1]):
            if not heads(windows, i, w, times):
                continue
            stop = w
            while stop + 1 < windows[i + 1] and linked(times[stop], times[stop + 1]):
                stop += 1
            low, high = offsets[i] + w - windows[i], offsets[i] + stop - windows[i] + n
            head = np.int64(first[w])
            if head == w:
                own = many
                row_head[own], row_times[own], row_documents[own] = w, times[w] >> np.uint64(1), 1
                many += 1
            else:
                own = np.searchsorted(row_head[:many], head)
                before = row_last[own]
                if place[before, 0] >= offsets[i] and place[before, 1] > low:
                    place[before, 1] = high
                    continue
                row_documents[own] += text_of(offsets, rows, place[before, 0]) != rows[i]
            place[places, 0], place[places, 1] = low, high
            number[places], row_last[own] = own, places
            places += 1
    found[0], found[1] = places, many


@inline
def text_of(offsets, rows, token):
    """The text of a token."""
    return rows[np.searchsorted(offsets, token, side="right") - 1]


@kernel
def cuts(offsets, windows, begin, end, first, n, out):
    """The runs of tokens, in stretches begin to end, of windows that occur before, without those of the first window itself, where both overlap.

    out: int64[places, 2], filled with the first token and the end of each: no more than the places of `count_passages`, whose windows make one run
    at most each. Returns their number.
    """
    runs = 0
    for i in range(begin, end):
        change = np.zeros(offsets[i + 1] - offsets[i] + 1, np.int32)
        for w in range(windows[i], windows[i + 1]):
            then = np.int64(first[w])
            if then != w:
                low = high = w - windows[i]
                high += n
                if then >= windows[i]:
                    low = max(low, then - windows[i] + n)
                if low < high:
                    change[low] += 1
                    change[high] -= 1
        depth = 0
        for token in range(change.size):
            before = depth
            depth += change[token]
            if depth > 0 and before == 0:
                out[runs, 0] = offsets[i] + token
            if depth == 0 and before > 0:
                out[runs, 1] = offsets[i] + token
                runs += 1
    return runs
