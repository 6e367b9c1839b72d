"""The rows of a run in the step that the tasks of reading write. The driver has facts about chunks, and looks up the few rows that it names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.engines.spark import identities
from likewise.engines.spark.about import facts_in, id_facts_in
from likewise.engines.spark.identities import Ids
from likewise.engines.spark.numbering import Numbering
from likewise.engines.spark.rows import Chunk
from likewise.engines.spark.sections import Files, Sections
from likewise.engines.spark.sketching import ROW
from likewise.engines.spark.steps import Steps
from likewise.io import contents, unreadable
from likewise.io.collection import BOTH, place
from likewise.io.idcolumn import IdFacts
from likewise.io.ids import from_json
from likewise.io.inputs import Source
from likewise.io.numbered import Named, Numbered
from likewise.items import binary
from likewise.records import REJECTED, Rejected
from likewise.schema import IGNORED, ROW_COLUMNS
from likewise.stages.facts import Block, Facts, Limits, merged, row_facts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Rows(Numbered):
    """The rows in a step of `sketching.ENTRIES`."""

    def __init__(self, steps: Steps, name: str, sources: Sequence[Source], chunks: Sequence[Chunk], first_side: int, parts: Callable[[int], int]):
        """chunks: `rows.chunks_of`. parts: the number of partitions for a number of rows."""
        super().__init__(sources, [entry_of(chunk.about) for chunk in chunks], first_side)
        self.steps, self.name, self.parts = steps, name, parts
        self.abouts = [chunk.about for chunk in chunks]
        self.numbering = Numbering.of((about["rank"], begin, about["rows"]) for about, begin in self.begun())
        self._ids: dict[int, Ids] = {}
        self._facts: dict[Limits, tuple[Facts, Facts]] = {}

    @cached_property
    def entries(self) -> DataFrame:
        """The step of rows, with chunks and what is behind damage."""
        return self.steps.frame(self.name)

    @cached_property
    def sections(self) -> Sections:
        """The sections of the rows."""
        return Sections.of(self.abouts, ROW, Files.of(self.steps, self.name), of_parts=False)

    @property
    def words(self) -> int:
        """The number of words in the sets of all rows."""
        return sum(about["words"] for about in self.abouts)

    def facts(self, limits: Limits) -> tuple[Facts, Facts]:
        """limits: those of the job, by which the tasks of reading counted."""
        if limits not in self._facts:
            self._facts[limits] = self._facts_of(0, limits), self._facts_of(1, limits)
        return self._facts[limits]

    def _facts_of(self, side: int, limits: Limits) -> Facts:
        numbers = self.sources_of_sides[side]
        nothing = Block(np.asarray(numbers, np.int64), np.zeros(len(numbers), np.int64), range(0))
        empty = row_facts(nothing, lambda name: np.zeros(0, ROW_COLUMNS[name]), np.zeros(0, bool), np.zeros(0, IGNORED), limits)
        found = merged([*map(facts_in, self._of_side(side))] or [empty])
        return found._replace(first={name: self.numbering.rows(np.array(ranks, np.int64)).tolist() for name, ranks in found.first.items()})

    def named(self, rows: Sequence[int], side: int) -> list[Named]:
        some = np.array(rows, np.int64)
        source, position = self.places(some)
        return list(map(Named, source.to_pylist(), position.tolist(), self.names(some, side)))

    def names(self, rows: np.ndarray, side: int) -> list[Any]:
        """Return the ids of a few rows as Python values in their original types."""
        ids = self.ids(side)
        if not ids.there:
            return self.file_of(rows)[1].tolist()
        column = ids.column(self.look_up(rows, "id").cast(binary.TYPE))
        return column.values.to_pylist() if column.json is None else [None if text is None else from_json(text) for text in column.json.to_pylist()]

    def starts(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.look_up(rows, "start").to_numpy())

    def look_up(self, rows: np.ndarray, column: str) -> pa.Array:
        """A column of the step for a few rows, in their order. Only the files that have the rows are read."""
        ranks = self.numbering.ranks(rows)
        parts = []
        for number in np.unique(ranks >> 32).tolist():
            wanted = ranks[ranks >> 32 == number]
            where = (pc.field("what") == ROW) & (pc.field("rank") >= int(wanted.min())) & (pc.field("rank") <= int(wanted.max()))
            parts.append(self.steps.read(self.name, ["rank", column], where, part=number))
        table = pa.concat_tables(parts) if parts else self.steps.read(self.name, ["rank", column], pc.field("rank") < 0)
        order = np.argsort(table["rank"].to_numpy())
        at = order[np.searchsorted(table["rank"].to_numpy(), ranks, sorter=order)]
        return table[column].take(pa.array(at)).combine_chunks()

    @property
    def have_ids(self) -> bool:
        """True if a row has an id."""
        return any(id_facts_in(about).number for about in self.abouts)

    def ids(self, side: int) -> Ids:
        """Return the column of ids of a side: 0, 1 or `collection.BOTH`."""
        if side not in self._ids:
            facts = reduce(IdFacts.merged, map(id_facts_in, self._of_side(side)), IdFacts())
            several = facts.number > 0 and not facts.ways
            self._ids[side] = Ids(facts, several and identities.quoted(*self._ids_of(side), facts.whole, self.parts(facts.number)))
        return self._ids[side]

    def _ids_of(self, side: int) -> tuple[DataFrame, identities.Within]:
        """The ranks and ids of readable rows, and the rows of a side."""
        entries, rows = self.entries, slice(0, len(self)) if side == BOTH else self.rows_of_sides[side]
        readable = entries.where((entries["what"] == ROW) & entries["id"].isNotNull() & (entries["kind"] != REJECTED))
        return readable.select("rank", "id"), identities.Within(self.numbering, rows.start, rows.stop)

    def id_type(self, side: int = 0) -> pa.DataType:
        """Return the type of the id column of a side."""
        return self.ids(side).type

    def id_note(self, *sides: int) -> str | None:
        return next(filter(None, (self.ids(side).note for side in sides)), None)

    @cached_property
    def repeated_ids(self) -> tuple[int, list[str]]:
        """The number of ids that several rows of a side have, and up to three of them."""
        numbers, names = 0, dict[str, None]()
        for side in range(2):
            ids = self.ids(side)
            if ids.there and not identities.ascend([*self._of_side(side)], ids.facts):
                number, rows, values = identities.repeated(*self._ids_of(side), ids, self.parts(ids.facts.number))
                texts = ids.column(self.look_up(np.array(rows, np.int64), "id").cast(binary.TYPE)).values.to_pylist() if rows else []
                numbers, names = numbers + number, names | dict.fromkeys([*texts, *values])
        return numbers, [*names][: identities.NAMED]

    def unreadable(self) -> tuple[list[str], list[str]]:
        return unreadable.reasons(self._lines(range(len(self.sources))))

    def rejections(self, side: int) -> np.ndarray:
        return self._lines(self.sources_of_sides[side])

    def _lines(self, numbers: range) -> np.ndarray:
        """The lines of rejected.jsonl for some sources, uint8[n]."""
        lines = []
        for about, begin in self.begun():
            of = partial(place, self.sources[about["source"]], begin - int(self.first_row[about["source"]]))
            if about["source"] in numbers:
                found = [Rejected(row, reason, None if raw is None else bytes.fromhex(raw)) for row, reason, raw in about["rejected"]]
                lines += [json.dumps(unreadable.explained(entry, *of(entry.row))) + "\n" for entry in found]
        return np.frombuffer("".join(lines).encode(), np.uint8)

    def digests(self) -> list[str]:
        parts: list[list[tuple[bytes, int]]] = [[] for _ in self.sources]
        for about in self.abouts:
            parts[about["source"]].append((bytes.fromhex(about["digest"]), about["rows"]))
        return [contents.joined(some) for some in parts]

    def begun(self) -> Iterator[tuple[dict[str, Any], int]]:
        """The facts about chunks, and the first row of each."""
        return zip(self.abouts, self.begins_of_chunks[:-1].tolist(), strict=True)

    def _of_side(self, side: int) -> Iterator[dict[str, Any]]:
        """The facts about the chunks of a side, or of both."""
        return (about for about in self.abouts if side == BOTH or about["source"] in self.sources_of_sides[side])


def entry_of(about: dict[str, Any]) -> dict[str, Any]:
    """The facts about a chunk as `collection.append` journals them."""
    entry = {name: about[name] for name in ("source", "rows", "found", "texts", "fields")}
    entry |= {name: about[name] for name in ("marks", "other", "matrix", "nulls") if about[name]}
    return entry | {"next": about["place"][1], "bytes": about["place"][2]}
