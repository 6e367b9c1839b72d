"""Predicted costs of the parts of an exact join, in nanoseconds of one core, and counts of visited entries. Equal on every machine."""

from __future__ import annotations

import numpy as np

from likewise.joins.prefix import Joined

#: Costs of entering a key into the index, of making and numbering a key of several elements, and of rejecting an entry by its marks (kernels.join).
ENTER, COMBINE, MARKED = 50, 100, 5
#: Size of the sample of sets whose visits are counted.
SAMPLED = 1 << 13


def cost_of_keys(number: int) -> float:
    """Nanoseconds to make this many keys of several elements, enter and look them up."""
    return float((COMBINE + ENTER + 5 + 3 * access(8 * number)) * number)


def half_of_lists(joined: Joined) -> int:
    """The approximate number of entries that a join visits: half of the entries in the lists of each set."""
    lists, entries, _ = joined.index
    number, step = np.diff(np.append(lists[:, 0].astype(np.int64), len(entries))), max(1, len(joined.probed) // SAMPLED)
    ids, begin = joined.keys[:2]
    length = joined.probed[::step].astype(np.int64)
    at = np.arange(length.sum()) + np.repeat(begin[::step] - np.cumsum(length) + length, length)
    return int(number[ids[at]].sum()) * step // 2


def visit(joined: Joined, times: float = 1.0) -> int:
    """Nanoseconds for an entry of the index, with ``times`` as many sets."""
    return MARKED if len(joined.index[2]) else 2 + 2 * access(4 * len(joined.probed) * times) + access(joined.sets[4].nbytes * times)


def look_up(joined: Joined, times: float = 1.0) -> int:
    """Nanoseconds to find the entries of a key, with ``times`` as many sets."""
    lists, entries, marks = joined.index
    return 5 + access(lists.nbytes * times) + access(entries.nbytes * times) + (access(marks.nbytes * times) if len(marks) else 0)


def access(size: float) -> int:
    """Nanoseconds for a random access within this many bytes: in a core's own cache, in the shared cache, or in memory."""
    return 1 if size <= 1 << 20 else 15 if size <= 1 << 25 else 60
