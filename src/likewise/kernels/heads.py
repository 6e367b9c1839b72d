"""The candidate pairs in an overfull bucket, and the number of pairs left out: the rule of stages/candidates.py.

An overfull bucket is split by the keys of further bands, level after level. Its members are the columns of ``levels``, int32[1 + finer, m]: the
number of each member's bucket at each level, in priority order; -1 if it is the only one there, or if the bucket above was not split.
``scope`` (stages.scope) is that of the members.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel


@kernel
def list_members(levels, split, most, scope, listed):
    """Mark the members that each bucket lists, at most ``most``: the heads of its parts if it is split, else its first members.

    split: bool[buckets], True for a bucket that is split at the next level. listed: bool[1 + finer, m], written.
    """
    fixed, inside = scope
    headed = np.zeros(len(split), np.bool_)  # parts whose first member has been seen
    number = np.zeros(len(split), np.int32)
    for member in range(levels.shape[1]):
        for level in range(len(levels)):
            here = levels[level, member]
            listed[level, member] = False
            if here < 0:
                continue
            head = True
            if split[here]:
                part = levels[level + 1, member]
                if part >= 0:
                    head = not headed[part]
                    headed[part] = True
            if head and number[here] < most and (inside or member < fixed):
                number[here] += 1
                listed[level, member] = True


@kernel
def count_candidates(levels, listed, scope, kept, candidates, members):
    """Count, for each bucket of the first level, its kept members and the candidate pairs of them in it.

    kept: bool[m]. candidates, members: int64[buckets], added to. The head of a part may be listed both above and in it: that pair counts once.
    """
    fixed, _ = scope
    lists = np.zeros(len(candidates), np.int64)  # kept members that each bucket has listed so far
    twice = np.zeros(len(candidates), np.bool_)  # parts whose head is kept and also listed above them
    for member in range(levels.shape[1]):
        if not kept[member]:
            continue
        home = levels[0, member]
        members[home] += 1
        for level in range(len(levels)):
            here = levels[level, member]
            if here < 0:
                break
            if member >= fixed:
                candidates[home] += lists[here]
                if twice[here] and lists[here] > 0:  # the head itself has no earlier member
                    candidates[home] -= 1
            if listed[level, member]:
                lists[here] += 1
                if level + 1 < len(levels) and levels[level + 1, member] >= 0:
                    twice[levels[level + 1, member]] = True


@kernel
def list_pairs(begin, listed, reads, pairs):
    """Write the candidate pairs of lists, as places of their entries (later, earlier); return their number, written or not.

    begin: int64[lists + 1], where the entries of each list begin. listed, reads: bool[entries]: each entry that reads makes a pair with those before
    it in its list that are listed. pairs: int64[p, 2], written up to its length.
    """
    written = 0
    held = np.empty(len(listed), np.int64)  # the listed entries of the current list so far
    for number in range(len(begin) - 1):
        many = 0
        for place in range(begin[number], begin[number + 1]):
            if reads[place]:
                for at in range(many):
                    if written < len(pairs):
                        pairs[written, 0], pairs[written, 1] = place, held[at]
                    written += 1
            if listed[place]:
                held[many] = place
                many += 1
    return written
