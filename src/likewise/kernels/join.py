"""Exact joins of sets by prefix filter: no pair at or above the threshold is missed.

Sets are ascending ranks (kernels.rank), rarest first. Two sets that share enough must share one of their first few elements, their *prefixes*. An
index lists, for each rank, the sets whose prefix contains it: AllPairs (Bayardo, Ma and Srikant, Scaling Up All Pairs Similarity Search, WWW 2007)
with the position filter. Finer filters cost more than they save (Mann, Augsten and Bouros, VLDB 2016), except for one bound by bits (Sandes and
others, 2019).

Sets are addressed by *places*, the order in which they are entered and probed: 0..n-1.
``sets`` is (tokens uint32[m], first int64[n], shared uint32[n], size uint32[n], signs uint64[n, words]): the set at a place has its ranks at
tokens[first:][:shared]; ``size`` also counts elements that no other set has; `sign` computes the signs.
``keys`` is (ids uint32[k], begin int64[n], left uint32[k], combined, known): the keys that enter and look up sets. The set at a place has the ids
from ids[begin] on; left[begin] counts its ranks, from the rank of that id on. Ids below ``combined`` stand for ``known`` ranks and one more, the last
in the set (kernels.combine). If ids are the ranks themselves, ``left`` is empty and ``combined`` is 0.
``index`` is (lists uint32[ids, 2], entries uint32[k, 2], marks uint64[k, 2]): lists[id] is the beginning and end of an id's entries; an entry is the
place of a set whose prefix contains the id, and the number of that set's ranks from this one on. ``marks`` repeats the first signs of that set, and
its size << 32 | shared, so that most entries are rejected without reading the set; it is empty if ids are the ranks themselves.
``rule`` is (kind, p, q): see JACCARD.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.blocks import count_bits

#: Kinds of rules: Jaccard of at least p/q; p/q of the entered set inside the probe; all but p of the larger set's q-grams, with signs that differ in
#: at
#: most q bits.
JACCARD, CONTAINED, GRAMS = 0, 1, 2
#: Elements between two checks if the needed overlap can still be reached.
STRIDE = 32
#: Binary search of a list stops at this many entries.
FEW = 8
#: Entries visited in the time of about one comparison.
VISITS = 64


@always
def least(probe, entered, rule):
    """The minimum overlap of two similar sets of these sizes, an integer."""
    kind, p, q = rule
    if kind == JACCARD:
        return (p * (probe + entered) + p + q - 1) // (p + q)
    if kind == CONTAINED:
        return (p * entered + q - 1) // q
    return max(probe, entered) - p


@always
def out_of(probe, entered, common, rule):
    """The denominator of the overlap's share."""
    kind = rule[0]
    if kind == JACCARD:
        return probe + entered - common
    if kind == CONTAINED:
        return entered
    return max(probe, entered)


@always
def left_from(place, i, sets, keys):
    """The number of ranks of a set from that of its ``i``-th id on."""
    _, begin, left, _, _ = keys
    return np.int64(left[begin[place] + i]) if len(left) else np.int64(sets[2][place]) - i


@kernel
def build(sets, keys, lengths, number):
    """The index of all sets by the first ``lengths`` of their ids. Lists ascend. number: of distinct ids."""
    ids, first, _, _, _ = keys
    lists = np.zeros((number + 1, 2), np.uint32)
    for place in range(len(first)):
        for at in range(first[place], first[place] + lengths[place]):
            lists[ids[at] + np.uint32(1), 0] += np.uint32(1)
    for i in range(1, number + 1):
        lists[i, 0] += lists[i - 1, 0]
    lists[:, 1] = lists[:, 0]
    marked = keys[3] > 0 and sets[4].shape[1] > 0
    index = lists[:-1], np.empty((lists[number, 0], 2), np.uint32), np.empty((lists[number, 0] if marked else np.uint32(0), 2), np.uint64)
    for place in range(len(first)):
        enter(place, sets, keys, lengths[place], index)
    return index


@inline
def enter(place, sets, keys, length, index):
    """Add a set to the lists of the first ``length`` of its ids."""
    ids, first, _, _, _ = keys
    lists, entries, marks = index
    _, _, shared, size, signs = sets
    for i in range(length):
        one = ids[first[place] + i]
        at = lists[one, 1]
        entries[at, 0] = place
        entries[at, 1] = left_from(place, i, sets, keys)
        if len(marks):
            marks[at, 0] = signs[place, 0]
            marks[at, 1] = np.uint64(size[place]) << np.uint64(32) | np.uint64(shared[place])
        lists[one, 1] = at + np.uint32(1)


@kernel
def expected(keys, index, lengths, low, high, step):
    """An upper bound for the entries that `join` visits, extrapolated from every ``step``-th place."""
    ids, first, _, _, _ = keys
    lists, entries, _ = index
    visited = np.int64(0)
    for probe in range(0, len(first), step):
        for at in range(first[probe], first[probe] + lengths[probe]):
            begin, end = np.uint64(lists[ids[at], 0]), np.uint64(lists[ids[at], 1])
            for window in range(len(low)):
                if low[window, probe] < high[window, probe]:
                    start = from_place(entries, begin, end, low[window, probe])
                    visited += np.int64(from_place(entries, start, end, high[window, probe]) - start)
    return visited * step


@inline
def from_place(entries, begin, end, low):
    """The first of the ascending entries[begin:end] that is not below ``low``; ``end`` if all are."""
    while end - begin > FEW:
        middle = (begin + end) >> np.uint64(1)
        if entries[middle, 0] < low:
            begin = middle + np.uint64(1)
        else:
            end = middle
    while begin < end and entries[begin, 0] < low:
        begin += np.uint64(1)
    return begin


@kernel
def sign(tokens, first, shared, words):
    """64 * words bits for each set, uint64[n, words]; a bit is set if an odd number of the set's ranks hash to it. words: a power of two, or 0."""
    signs = np.zeros((len(first), words), np.uint64)
    down = np.uint64(58)
    while np.uint64(1) << (np.uint64(64) - down) < np.uint64(64 * words):
        down -= np.uint64(1)
    for place in range(len(first) if words else 0):
        for at in range(first[place], first[place] + shared[place]):
            bit = np.uint64(tokens[at]) * np.uint64(0x9E3779B97F4A7C15) >> down
            signs[place, np.int64(bit >> np.uint64(6))] ^= np.uint64(1) << (bit & np.uint64(63))
    return signs


@always
def most_apart(a, shared, need, sets, rule):
    """The maximum number of differing bits in the signs of two similar sets: each differing bit is an element that one of them lacks."""
    return rule[2] if rule[0] == GRAMS else np.int64(sets[2][a]) + shared - 2 * need


@inline
def similar(a, b, sets, need, rule):
    """True if the signs allow an overlap of ``need``."""
    _, _, shared, _, signs = sets
    room = most_apart(a, np.int64(shared[b]), need, sets, rule)
    for word in range(signs.shape[1]):
        room -= count_bits(signs[a, word] ^ signs[b, word])
    return room >= 0


@inline
def gather(probe, length, sets, keys, index, low, high, rule, seen, found):
    """Collect the sets at places low <= place < high that may be similar to the probe; return (number, entries visited).

    length: the number of the probe's ids to look up. Sizes ascend with places, so a list ends once sets get too large.
    seen: int32[n], the last probe that visited a set; found: uint32[3, n], places, the ranks that each set has left from the first shared one, and
    the number of shared ranks before.
    """
    _, _, _, size, signs = sets
    ids, first, _, combined, known = keys
    lists, entries, marks = index
    mine = np.int64(size[probe])
    of_size, need = np.int64(-1), np.int64(0)
    count = np.uint64(0)
    visited = np.int64(0)
    for i in range(length):
        one = ids[first[probe] + i]
        before = known if one < combined else np.int64(0)
        mine_left = before + left_from(probe, i, sets, keys)
        at, end = np.uint64(lists[one, 0]), np.uint64(lists[one, 1])
        if at < end and entries[at, 0] < low:
            at = from_place(entries, at, end, low)
        visited -= np.int64(at)
        while at < end:
            other = np.int64(entries[at, 0])
            if other >= high:
                break
            if len(marks):
                # A set rejected here need not be marked as seen: it has too few ranks left from the first shared one, or its signs differ too much,
                # wherever it is
                # visited; and the ranks left at a later visit do not matter for a set that was found before.
                theirs = np.int64(marks[at, 1] >> np.uint64(32))
                if theirs != of_size:
                    of_size, need = theirs, least(mine, theirs, rule)
                room = most_apart(probe, np.int64(marks[at, 1] & np.uint64(0xFFFFFFFF)), need, sets, rule)
                if before + np.int64(entries[at, 1]) < need or count_bits(signs[probe, 0] ^ marks[at, 0]) > room:
                    at += np.uint64(1)
                    continue
            if seen[other] != probe:
                theirs = np.int64(size[other])
                if theirs != of_size:
                    of_size, need = theirs, least(mine, theirs, rule)
                if mine_left < need:
                    break
                if other != probe:
                    seen[other] = probe
                    left = entries[at, 1]
                    if before + np.int64(left) >= need and similar(probe, other, sets, need, rule):
                        found[0, count] = other
                        found[1, count] = left
                        found[2, count] = before
                        count += np.uint64(1)
            at += np.uint64(1)
        visited += np.int64(at)
    return np.int64(count), visited


@inline
def overlap(bits, tokens, begin, end, need):
    """The number of tokens[begin:end] in the set whose ``bits`` are set; -1 as soon as it cannot reach ``need``."""
    common = np.int64(0)
    at = begin
    while at + STRIDE <= end:
        if common + end - at < need:
            return np.int64(-1)
        here = np.uint64(0)
        for i in range(at, at + STRIDE):
            token = np.uint64(tokens[np.uint64(i)])
            here += (bits[token >> np.uint64(6)] >> (token & np.uint64(63))) & np.uint64(1)
        common += np.int64(here)
        at += STRIDE
    for i in range(at, end):
        token = np.uint64(tokens[np.uint64(i)])
        common += np.int64((bits[token >> np.uint64(6)] >> (token & np.uint64(63))) & np.uint64(1))
    return common if common >= need else np.int64(-1)


@inline
def mark(bits, place, sets, on):
    """Set the bits of a set's ranks, or clear them."""
    tokens, first, shared, _, _ = sets
    for i in range(first[place], first[place] + shared[place]):
        token = np.uint64(tokens[np.uint64(i)])
        if on:
            bits[token >> np.uint64(6)] |= np.uint64(1) << (token & np.uint64(63))
        else:
            bits[token >> np.uint64(6)] = 0


@inline
def compare(probe, sets, rule, state, found, bits, matches, written):
    """Compare the probe with found sets state[1] to state[2], while ``matches`` has room; return the number of its rows."""
    tokens, first, shared, size, _ = sets
    mark(bits, probe, sets, True)
    while state[1] < state[2] and written < len(matches):
        other = np.int64(found[0, state[1]])
        need = least(np.int64(size[probe]), np.int64(size[other]), rule)
        stop = first[other] + np.int64(shared[other])
        before = np.int64(found[2, state[1]])
        common = overlap(bits, tokens, stop - np.int64(found[1, state[1]]), stop, need - before)
        if common >= 0:
            common += before
            matches[written, 0] = probe
            matches[written, 1] = other
            matches[written, 2] = common
            matches[written, 3] = out_of(np.int64(size[probe]), np.int64(size[other]), common, rule)
            written += 1
        state[1] += 1
    mark(bits, probe, sets, False)
    return written


@kernel
def join(sets, keys, index, lengths, low, high, rule, end, most, state, room, matches):
    """Compare the probes from place state[0] to ``end`` with the sets of the index; return (matches written, entries visited, comparisons).

    lengths: uint32[n], the number of ids of each to look up; low, high: uint32[windows, n], the range of places of its partners.
    state: int64[3]: the next place, and the range of its found sets that are still to compare.
    room: (seen int32[n], -1 at first; found uint32[3, n]; bits uint64, 0 at first), scratch of one thread.
    matches: int64[m, 4], one row a pair: probe, partner, overlap, out of. Stops when it is full, or after about ``most`` comparisons or the time of
    that many.
    """
    seen, found, bits = room
    written = 0
    visited = 0
    compared = 0
    while state[0] < end and compared + visited // VISITS < most:
        probe = state[0]
        if state[2] == 0:
            for window in range(len(low)):
                lowest, highest = np.int64(low[window, probe]), np.int64(high[window, probe])
                if lowest < highest:
                    count, steps = gather(probe, lengths[probe], sets, keys, index, lowest, highest, rule, seen, found[:, state[2] :])
                    state[2] += count
                    visited += steps
            compared += state[2]
        if state[1] < state[2]:
            written = compare(probe, sets, rule, state, found, bits, matches, written)
        if state[1] < state[2]:
            break
        state[0] += 1
        state[1] = state[2] = 0
    return written, visited, compared
