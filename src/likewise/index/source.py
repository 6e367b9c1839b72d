"""The living items of an index as the rows of a second collection: their keys and words are there, so nothing is read or sketched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xxhash

from likewise.index.store import Items, Store, View
from likewise.io.inputs import Source, Sources
from likewise.io.ranges import WHOLE, Range
from likewise.items import binary
from likewise.job import Job
from likewise.options import Options
from likewise.records import TEXT, Chunk, Records, Want

if TYPE_CHECKING:
    from likewise.index.settings import Settings

#: Bytes of a chunk, about; items that are looked at to find how many a chunk may have; and the most.
CHUNK, LOOKED_AT, MOST = 8 << 20, 64, 2048
#: Stands for the number of tokens of an item, which an index does not keep: more than any option asks for.
MANY = np.uint32(2**32 - 1)


class Block(NamedTuple):
    """Consecutive living items, as the data of a chunk."""

    numbers: np.ndarray  # int64[n]
    items: Items

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return int(sum(values.nbytes for values in (self.items.keys, self.items.copy, self.items.words)))

    def __len__(self) -> int:
        """Numbers from the first item up to the last: the next chunk begins after them. Those of removed items are missing."""
        return int(self.numbers[-1] - self.numbers[0]) + 1


@dataclass(frozen=True)
class Living:
    """The items of an index at one moment."""

    view: View
    where: str = ""  # the place of the index, as people see it; empty: in memory

    def blocks(self, first: int) -> Iterator[Block]:
        """Yield the items with numbers from ``first`` on. Where blocks begin depends on the items only, so a resumed run has the same."""
        some = next(self.view.scan(-1, LOOKED_AT), None)
        if some is not None:
            each = max(1, Block(*some).nbytes // len(some[0]))
            for numbers, items in self.view.scan(first - 1, min(MOST, max(LOOKED_AT, CHUNK // each))):
                yield Block(numbers, items)

    def digest(self) -> str:
        """128 bits of the first items, which tell two indexes apart that have the same numbers."""
        found = xxhash.xxh3_128()
        for _, items in [*self.view.scan(-1, LOOKED_AT)][:1]:
            found.update(b"\n".join(bytes(one) for one in items.ids))
            found.update(np.ascontiguousarray(items.copy).data)
        return found.hexdigest()


class IndexFormat:
    """How the rows of an index are described where those of a file would be (`io.formats.Format`)."""

    __name__ = "index"

    def glance(self, path: Living, want: Want) -> tuple[tuple[str, ...], bool]:
        return (), True


class IndexSource(Source):
    """A source of the rows of an index; ``path`` is `Living`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return IndexSource, (self.name, self.path, self.format, self.size)

    @property
    def files(self) -> list[Any]:
        return []

    @property
    def blank(self) -> bool:
        return True

    def fingerprint(self, *, now: bool = False) -> dict[str, dict[str, int | str]]:
        """The state that a resumed run must find again. During a run it stays: a view shows one moment.

        Numbers are never given twice, so two moments with the same last number differ in the number of items, or in nothing.
        """
        living: Any = self.path
        return {self.name: {"items": len(living.view), "last": living.view.last, "xxh3_128": living.digest()}}

    def listed(self, fingerprint: dict[str, Any]) -> list[dict[str, Any]]:
        living: Any = self.path
        return [{"source": self.name, "index": living.where or None, **fingerprint[self.name]}]

    def plan(self, size: int) -> list[Range]:
        return [WHOLE]

    def chunks(self, want: Want, start: int = 0, part: Range = WHOLE) -> Iterator[Chunk]:
        living: Any = self.path
        for block in living.blocks(start):
            yield Chunk(block, int(block.numbers[0]), 0)

    def parse(self, chunk: Chunk, want: Want) -> Records:
        """The rows, with the columns that `stages.sketch` would make of their content."""
        numbers, items = chunk.data
        n, nothing = len(items), np.zeros(len(items), np.int64)
        tokens = np.where(items.size > 0, MANY, np.uint32(0))
        columns = {
            "tokens": tokens,
            "chars": tokens,
            "copy": items.copy,
            "size": items.size,
            "sets": items.words,
            "band_keys": np.ascontiguousarray(items.keys.T),
        }
        texts, ids = binary.from_list([b""] * n), binary.from_list([bytes(one) for one in items.ids])
        return Records(np.full(n, TEXT, np.uint8), numbers, nothing, texts, id=ids, width=nothing, sketched=columns)


@dataclass
class Indexed:
    """An index as the second collection of a run."""

    name: str  # of its source
    where: str  # as `Living.where`
    settings: Settings
    reopen: Callable[[], Store] | None = None  # opens the store; None: ``stores`` has that of an index which the caller opened, and will close
    stores: list[Store] = field(default_factory=list)

    def sources(self) -> Sources:
        """The only source, which shows the index as it is now."""
        if self.reopen is not None:
            self.stores.append(self.reopen())
        format: Any = IndexFormat()
        path: Any = Living(self.stores[-1].view(), self.where)
        return Sources([IndexSource(self.name, path, format, 0)])

    def close(self) -> None:
        """Close what was opened."""
        while self.reopen is not None and self.stores:
            self.stores.pop().close()

    def job(self) -> Job:
        """The job that made the items."""
        return replace(self.settings.job(), kept=self.settings.bits)

    def planned(self, options: Options) -> Options:
        """The options of a run that compares with the index, with its bands."""
        return replace(options, plan=self.settings.plan, asked=self.settings.options.asked)
