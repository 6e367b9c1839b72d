"""The comparisons inside buckets: the greedy walk of removal, and all pairs.

All use `compare`, so that they agree on every pair. Items are numbered 0..n-1 in priority order.

``sets`` locates the items: (file, values, offset int64[n], size uint32[n], odd uint64[rows, words], row int64[n]). Item i is the size[i] words from
offset[i] on, in the open file of that number, or in ``values`` if the number is negative. They are read into buffers one by one: mapping the file
instead costs more than reading it, and counts as memory of the process. Its odd sketch is odd[row[i]], if there are any: it rules most dissimilar
pairs out, which then need not be read.
``rule`` is one of kernels.compare: the threshold, the kind of item, and how a candidate is checked.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from likewise.compiled.jit import External, always, inline, kernel
from likewise.kernels.compare import UNCHECKED, cannot_match, compare

#: A bucket's list is remembered[begin : begin + number]; both numbers are in one struct, and so in one cache line.
LIST = np.dtype([("begin", "i8"), ("number", "i8")])
REMEMBERED = np.dtype([("item", "i4"), ("size", "u4")])

if sys.platform == "win32":  # without pread; callers pass no file

    @inline
    def read_file(file, address, count, at):
        return np.int64(-1)
else:
    #: pread(2) of the C library: (file, address, bytes, place) -> bytes read.
    read_file: Any = External("pread", "int64", "int32", "uintp", "uintp", "int64")


@inline
def load(sets, item, buffer):
    """Read an item's words into the buffer and return their number. Raises OSError if the file is too short."""
    file, values, offset, size, _, _ = sets
    count = np.int64(size[item])
    if file < 0:
        for i in range(count):
            buffer[i] = values[offset[item] + i]
    elif read_file(file, buffer.ctypes.data, 8 * count, 8 * offset[item]) != 8 * count:
        raise OSError("the sets in the work folder cannot be read")
    return count


@kernel
def greedy_walk(sets, rule, bucket, splits, scope, lists, remembered, near, budget, items, begin, most, cursor, buffers, seen, state, matches):
    """Continue the greedy walk in priority order from items[begin]; return (next place in items, matches written, comparisons).

    items: int64[m], ascending; they include all items that share a bucket with one of them, so several walks may run at once.

    bucket: int32[bands, n], the item's bucket in each band, -1 if it has none. splits: stages.buckets.Splits, the parts of overfull buckets. scope:
    stages.scope, the pairs that are compared.
    lists: LIST[buckets], empty at first: the kept items that later ones are compared with, for which ``remembered``, REMEMBERED[..], has room. A
    bucket that is not overfull remembers all its kept items, an overfull one and its parts those that ``splits.listed`` marks.
    near: uint64[.., words], copies of the odd sketches of the first in ``remembered``, side by side, because large buckets read them all the time.
    cursor: int64[bands], splits.begin[:-1] at first: in each band the first split item that is not before the current item.
    seen: int32[n], -1 at first: the last item that an item was compared with.
    state: int64[n, 3]: representative (-1: kept), overlap, out of. matches: int64[m, 4], one row a verified pair: item, kept item, overlap, out of.
    buffers: uint64[2, m], m the largest size. Stops early when ``matches`` may not have room for the next item's rows, or after about ``most``
    comparisons, so that the caller can show progress and be interrupted.
    """
    _, _, _, size, odd, row = sets
    split_items, split_begin, finer, listed = splits  # unpacked once: each unpacking updates reference counts, for which threads wait
    fixed, inside = scope
    mode = rule.mode
    bands, levels = len(bucket), 1 + len(finer)
    overfull = np.empty(bands, np.bool_)  # True where the item's bucket is
    written = 0
    compared = 0
    room = len(matches) - levels * bands * budget
    place = begin
    while place < len(items) and written <= room and compared < most:
        item = items[place]
        place += 1
        mine = 0  # words of the item's set, once it is read
        for band in range(bands):
            while cursor[band] < split_begin[band + 1] and split_items[cursor[band]] < item:
                cursor[band] += 1
            overfull[band] = cursor[band] < split_begin[band + 1] and split_items[cursor[band]] == item
            if item < fixed:
                continue
            for level in range(levels if overfull[band] else 1):
                here = finer[level - 1, cursor[band]] if level else bucket[band, item]
                if here < 0:
                    break
                for at in range(lists[here].begin, lists[here].begin + lists[here].number):
                    other = remembered[at].item
                    if seen[other] == item:
                        continue
                    seen[other] = item
                    compared += 1
                    common, out_of = np.int64(0), np.int64(0)
                    if mode != UNCHECKED:
                        if at < len(near):
                            far = cannot_match(size[item], odd, row[item], remembered[at].size, near, at, rule)
                        else:
                            far = cannot_match(size[item], odd, row[item], remembered[at].size, odd, row[other], rule)
                        if far:
                            continue
                        if mine == 0:
                            mine = load(sets, item, buffers[0])
                        common, out_of = compare(buffers[0, :mine], buffers[1, : load(sets, other, buffers[1])], rule)
                    if common >= 0:
                        matches[written, 0] = item
                        matches[written, 1] = other
                        matches[written, 2] = common
                        matches[written, 3] = out_of
                        written += 1
                        representative = state[item, 0]
                        better = common * state[item, 2] - state[item, 1] * out_of if representative >= 0 else np.int64(1)
                        if better > 0 or (better == 0 and other < representative):
                            state[item, 0] = other
                            state[item, 1] = common
                            state[item, 2] = out_of
        if state[item, 0] < 0 and (inside or item < fixed):
            for band in range(bands):
                if not overfull[band]:
                    if bucket[band, item] >= 0:
                        remember(item, size, odd, row, lists[bucket[band, item]], remembered, near)
                    continue
                for level in range(levels):
                    if listed[level, cursor[band]]:
                        here = finer[level - 1, cursor[band]] if level else bucket[band, item]
                        remember(item, size, odd, row, lists[here], remembered, near)
    return place, written, compared


@always
def remember(item, size, odd, row, known, remembered, near):
    """Append a kept item to the list of a bucket."""
    at = known.begin + known.number
    remembered[at].item = item
    remembered[at].size = size[item]
    if at < len(near):
        for word in range(near.shape[1]):
            near[at, word] = odd[row[item], word]
    known.number += 1


@kernel
def bucket_pairs(sets, rule, side, bucket, band, order, begin, end, most, buffers, matches):
    """Compare all pairs of each bucket of one band, from place ``begin`` of ``order``; return (next place, matches written, comparisons).

    order: int64[m], the items that share a bucket in this band, bucket by bucket, ascending within; places ``begin`` to ``end`` are the caller's
    share.
    A pair that collides in an earlier band is left to that band, so each pair is compared once.
    side: uint8[n] or empty; 1: the item stands for rows of A, 2: of B, 3: of both, 0: of neither; only pairs across are compared.
    buffers, matches: as for the walk; matches at least as long as the largest bucket. Stops early when it is nearly full.
    """
    _, _, _, size, odd, row = sets
    mode = rule.mode
    written = 0
    compared = 0
    place = begin
    crossing = len(side) > 0
    while place < end and compared < most:
        a = order[place]
        here = bucket[band, a]
        last = place + 1
        while last < len(order) and bucket[band, order[last]] == here:
            last += 1
            if last - place > len(matches) - written:
                break
        if last - place > len(matches) - written:
            break
        mine = 0  # words of the item's set, once it is read
        for other in range(place + 1, last):
            b = order[other]
            if crossing and not (side[a] & 1 and side[b] & 2) and not (side[a] & 2 and side[b] & 1):
                continue
            collided = False
            for earlier in range(band):
                if bucket[earlier, a] >= 0 and bucket[earlier, a] == bucket[earlier, b]:
                    collided = True
                    break
            if collided:
                continue
            compared += 1
            common, out_of = np.int64(0), np.int64(0)
            if mode != UNCHECKED:
                if cannot_match(size[a], odd, row[a], size[b], odd, row[b], rule):
                    continue
                if mine == 0:
                    mine = load(sets, a, buffers[0])
                common, out_of = compare(buffers[0, :mine], buffers[1, : load(sets, b, buffers[1])], rule)
            if common >= 0:
                matches[written, 0] = a
                matches[written, 1] = b
                matches[written, 2] = common
                matches[written, 3] = out_of
                written += 1
        place += 1
    return place, written, compared


@kernel
def verify(sets, others, rule, left, right, buffers, values):
    """Compare left[i] of ``sets`` with right[i] of ``others``, for all i: (overlap, out of), or (score, 1), into values, int64[2, m].

    (-1, 0) for pairs that are not similar. buffers: as for the walk, the first for ``sets``, the second for ``others``.
    """
    _, _, _, size, odd, row = sets
    _, _, _, other_size, other_odd, other_row = others
    for i in range(len(left)):
        a, b = left[i], right[i]
        common, out_of = np.int64(-1), np.int64(0)
        if not cannot_match(size[a], odd, row[a], other_size[b], other_odd, other_row[b], rule):
            mine, theirs = load(sets, a, buffers[0]), load(others, b, buffers[1])
            common, out_of = compare(buffers[0, :mine], buffers[1, :theirs], rule)
        values[0, i], values[1, i] = common, out_of


@kernel
def may_match(size_a, odd_a, size_b, odd_b, rule, out):
    """Write True into out, bool[m], where the i-th items of two batches may be similar, by their sizes and odd sketches."""
    for i in range(len(out)):
        out[i] = not cannot_match(size_a[i], odd_a, i, size_b[i], odd_b, i, rule)
