"""The facts of `stages.facts` about the rows of a collection, merged from those of blocks, so that what is made for them takes little memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from likewise.io.collection import Collection
from likewise.schema import IGNORED
from likewise.stages.facts import Block, Facts, Limits, merged, row_facts

#: Rows of a block.
ROWS = 1 << 20


def blocks(collection: Collection, side: int) -> Iterator[tuple[slice, Block]]:
    """Yield (rows, block) for all rows of a side, at least once."""
    numbers, rows = collection.sources_of_sides[side], collection.rows_of_sides[side]
    ends = np.array([collection.rows_of(number).stop for number in numbers], np.int64)
    for begin in range(rows.start, max(rows.stop, rows.start + 1), ROWS):
        end = min(begin + ROWS, rows.stop)
        some = slice(np.searchsorted(ends, begin, side="right"), np.searchsorted(ends, end) + 1)
        yield slice(begin, end), Block(np.asarray(numbers, np.int64)[some], np.minimum(ends[some], end) - begin, range(begin, end))


def facts_of(collection: Collection, limits: Limits) -> tuple[Facts, Facts]:
    """The facts about the rows of both sides."""
    kind, tokens, ignored = collection.column("kind"), collection.column("tokens"), collection.work.column("ignored", IGNORED)
    ignored = ignored if len(ignored) == len(kind) else ignored[:0]  # those of parts do not describe their documents
    sizes = None if collection.of_parts else collection.work.column("id-size", "i4")

    def of(part: slice, block: Block) -> Facts:
        ids = np.zeros(part.stop - part.start, bool) if sizes is None else sizes[part] >= 0
        return row_facts(block, kind[part], tokens[part], ids, ignored[part], limits)

    first, second = (merged([of(*each) for each in blocks(collection, side)]) for side in range(2))
    return first, second


class Named(NamedTuple):
    """A row as messages and reports name it."""

    source: str
    position: int
    id: Any  # of its own type; its position if no row has an id


def named(collection: Collection, rows: list[int], side: int) -> list[Named]:
    """The places of some rows of a side (`Collection.ids`), with their ids."""
    source, position = collection.places(np.array(rows, np.int64))
    return list(map(Named, source.to_pylist(), position.tolist(), collection.names(np.array(rows, np.int64), side)))
