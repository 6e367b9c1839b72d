"""The facts of `stages.facts` about the rows of a collection, computed block by block to save memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from likewise.io.numbered import Numbered
from likewise.job import Job
from likewise.methods import Text
from likewise.stages.facts import Block, Facts, Limits, merged, row_facts

#: Rows of a block.
ROWS = 1 << 20


def blocks(collection: Numbered, side: int) -> Iterator[tuple[slice, Block]]:
    """Yield (rows, block) for all rows of a side, at least once."""
    numbers, rows = collection.sources_of_sides[side], collection.rows_of_sides[side]
    ends = np.array([collection.rows_of(number).stop for number in numbers], np.int64)
    for begin in range(rows.start, max(rows.stop, rows.start + 1), ROWS):
        end = min(begin + ROWS, rows.stop)
        some = slice(np.searchsorted(ends, begin, side="right"), np.searchsorted(ends, end) + 1)
        yield slice(begin, end), Block(np.asarray(numbers, np.int64)[some], np.minimum(ends[some], end) - begin, range(begin, end))


def facts_of(
    collection: Numbered, column: Callable[[str], np.ndarray], id_sizes: np.ndarray | None, ignored: np.ndarray, limits: Limits
) -> tuple[Facts, Facts]:
    """The facts about the rows of both sides.

    column: returns a column of schema.ROW_COLUMNS. id_sizes: the bytes of ids, -1 for rows without one; None: no row has one. ignored: a column
    (schema.IGNORED), or nothing.
    """
    columns = {name: column(name) for name in ("kind", "tokens", *["per"] * limits.grouped, *["score"] * limits.scored)}

    def of(part: slice, block: Block) -> Facts:
        ids = np.zeros(part.stop - part.start, bool) if id_sizes is None else id_sizes[part] >= 0
        return row_facts(block, lambda name: columns[name][part], ids, ignored[part], limits)

    first, second = (merged([of(*each) for each in blocks(collection, side)]) for side in range(2))
    return first, second


def limits_of(job: Job, *, of_parts: bool = False) -> Limits:
    """The limits by which the rows of a job, or parts of them, are counted."""
    text, options = job.method if isinstance(job.method, Text) else None, job.options
    grouped, scored = (name is not None and not of_parts for name in (options.per, options.score))
    return Limits(text.length if text else 0, options.min_tokens, least_judged(job), grouped, scored)


def least_judged(job: Job) -> int:
    """The minimum number of tokens for which containment is defined: those of a shingle."""
    return max(job.options.min_tokens, job.method.length if isinstance(job.method, Text) else 1)
