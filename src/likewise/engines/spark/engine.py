"""The engine of a Spark cluster: tables are Parquet folders, stages are functions of Arrow batches, and Spark moves rows between them.

It uses only the DataFrame API, so that Spark Connect works, and only operations that Spark 3.5 has. Driver and executors must see the work folder and
the inputs at the same paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from likewise.engines import engine
from likewise.engines.engine import Found, Nearest
from likewise.engines.spark import arrays, colliding, comparing, counting, lazily, settling, writing
from likewise.engines.spark import distinct as copies
from likewise.engines.spark import nearest as neighbors
from likewise.engines.spark import rows as reading
from likewise.engines.spark.bands import Banded, Candidates
from likewise.engines.spark.blocks import packed, part_of, places
from likewise.engines.spark.distinct import Distinct, InOrder
from likewise.engines.spark.documents import Rows
from likewise.engines.spark.hot import heads_in
from likewise.engines.spark.keyed import Joined
from likewise.engines.spark.outcome import outcome
from likewise.engines.spark.removed import remembered
from likewise.engines.spark.sections import NUMBERS, Files, Sections
from likewise.engines.spark.sections import Numbered as NumberedRows
from likewise.engines.spark.sketching import PART, ROW
from likewise.engines.spark.steps import Steps
from likewise.io.collection import Collection
from likewise.io.inputs import Source
from likewise.io.numbered import Numbered
from likewise.joins.pairs import PairBlock
from likewise.records import Chosen, Each
from likewise.runs import fate
from likewise.runs.distinct import distinct
from likewise.runs.items import Items, Run
from likewise.runs.neighbor_search import asking, searched
from likewise.runs.pair_search import across, wanted
from likewise.runs.verify import valued
from likewise.stages.counting import Common
from likewise.stages.settle import Removals
from likewise.stages.verify import Compared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass
class Spark:
    """The steps of `engines.engine.Engine` for one run."""

    run: Run
    session: SparkSession
    folder: Path | None = None  # of the steps; None: in the work folder
    partitions: int | None = None  # of keys and pairs; None: as many as the data need
    task_bytes: int = reading.TASK_BYTES  # of the inputs
    listed: list[str] = field(default_factory=list)  # the steps of similar pairs so far

    @cached_property
    def steps(self) -> Steps:
        return Steps(self.session, self.folder or self.run.work.folder / "spark")

    def common(self, sources: Sequence[Source], share: Fraction) -> tuple[Common, int]:
        return counting.common(self.steps, self.run, sources, self.groups(sources), share)

    def groups(self, sources: Sequence[Source]) -> list[reading.Group]:
        first = min(self.run.first_side, len(sources))
        return reading.groups_of(sources, first, self.run.job.options.limit, self.task_bytes)

    def rows(self, sources: Sequence[Source]) -> Rows:
        reading.sketch(self.steps, "rows", self.run.job, sources, self.groups(sources))
        self.chunks, _ = reading.chunks_of(self.steps, "rows", sources, self.run)
        self.run.advance(sum(chunk.about["place"][2] for chunk in self.chunks))
        return Rows(self.steps, "rows", sources, self.chunks, self.run.first_side, self.parts_of_rows)

    def arrays(self, rows: Numbered) -> Collection:
        arrays.collect(self.steps, "rows", self.chunks, rows.sources, self.run)
        return Collection(rows.sources, self.run.work, self.run.first_side)

    def parts_of_rows(self, number: int) -> int:
        """The number of partitions of rows."""
        return self.partitions or 1 + number // colliding.TASK_ENTRIES

    def distinct(self, rows: Numbered, *, removing: bool = False) -> Items | Distinct:
        if not isinstance(rows, Rows):
            return distinct(rows, self.run, removing=removing)
        self.run.begin("collapsing exact copies", len(rows), "items")
        return copies.distinct(rows, self.run.job, self.run.alone, self.parts_of_rows(len(rows)))

    def outcome(self, documents: Numbered, items: engine.Distinct) -> engine.Outcome:
        if isinstance(items, Items):
            return fate.outcome(documents, items, self.run, lambda items: self.removals(self.in_order(items)))
        assert isinstance(documents, Rows) and isinstance(items, Distinct)
        compared, found = self.searched(items.compared)
        return outcome(self.steps, documents, items, self.parts(items.compared), compared, found, self.matches, self.run)

    @cached_property
    def candidates(self) -> Candidates:
        """Where candidates come from."""
        plan = self.run.job.plan
        return Joined(self.steps, self.run) if plan is None else Banded(self.steps, self.run, plan)

    def parts(self, items: InOrder) -> int:
        """The number of partitions of keys and pairs."""
        return self.partitions or self.candidates.parts(items)

    def in_order(self, items: Items, **more: np.ndarray) -> InOrder:
        """The items that the driver has as arrays, with more columns."""
        words = int(items.collection.column("size")[items.member].sum(dtype=np.int64))
        numbered = self.numbered(self.sections, self.ranks()[items.member], **more)
        return InOrder(items.number, items.scope, numbered, words, sides="side" in more)

    @property
    def of_parts(self) -> bool:
        """True if parts of documents are compared."""
        return self.run.job.options.level is not None

    def ranks(self) -> np.ndarray:
        """The ranks of all compared rows: int64[n]."""
        return reading.ranks(self.steps, "rows", self.chunks, of_parts=self.of_parts)

    @property
    def sections(self) -> Sections:
        """The sections of all compared rows."""
        of_parts, files = self.of_parts, Files.of(self.steps, "rows")
        return Sections.of((chunk.about for chunk in self.chunks), PART if of_parts else ROW, files, of_parts=of_parts)

    def numbered(self, sections: Sections, rank: np.ndarray, **more: np.ndarray) -> NumberedRows:
        """The step of items, in the order of their numbers, with more columns. rank: int64[items]."""
        columns = {"rank": rank, "first": rank, "part": np.zeros_like(rank), "number": np.arange(len(rank)), **more}
        order = np.argsort(rank)
        tables = []
        for some in np.split(order, np.searchsorted(rank[order], sections.ends[1:-1])):
            block = packed(np.zeros(len(some), np.int64), np.zeros(1, np.int64), NUMBERS, **{name: each[some] for name, each in columns.items()})
            tables.append(pa.Table.from_batches([block]))
        self.steps.put("items", *tables)
        return NumberedRows(sections, Files.of(self.steps, "items"), np.zeros(1, np.int64))

    def pairs(self, items: Items, side: np.ndarray) -> Iterator[PairBlock]:
        some = self.in_order(items, **({"side": side.astype(np.int64)} if len(side) else {}))
        self.candidates.begin(some, wanted(side), walk=False)
        candidates = self.candidates.pairs(some, self.parts(some))
        self.run.begin("comparing", 0, "pairs")
        self.compared(some, "similar", candidates)
        for table in self.steps.tables("similar", ["later", "earlier", "overlap", "out_of"]):  # a list that is too long ends the run early
            later, earlier, *ratio = (column.to_numpy() for column in table.columns)
            yield PairBlock(earlier, later, valued(Compared(*ratio), self.run.job))

    def nearest(self, rows: Collection, k: int) -> Nearest:
        some = searched(rows)
        rank, second = self.ranks()[some], asking(rows, self.run, some)
        side = np.full(len(some), neighbors.BOTH) if self.run.alone else np.where(second, neighbors.QUERY, neighbors.ITEM)
        self.run.begin("searching for neighbors", 0, "items")
        items = self.numbered(self.sections.even(np.sort(rank), neighbors.section_rows(side)), rank, side=side)
        found = neighbors.nearest(self.steps, items, rank, side, self.run.job, k)
        return Nearest(np.stack([some[found.query], some[found.item]], axis=1), found.value, True)

    def similar(self, items: InOrder) -> DataFrame:
        """The step of similar pairs, as far as they decide about items."""
        fixed, inside = items.scope
        self.candidates.begin(items, 1.0 if inside else across(items.number - fixed, fixed, 0, items.number), walk=inside)
        parts = self.parts(items)
        lists, pairs = self.candidates.lists(items, parts)
        self.run.begin("comparing", 0, "pairs")
        compare = partial(self.compared, items)
        return lazily.similar_pairs(self.steps, lists, pairs, items.number, items.scope.fixed, parts, compare, log=self.run.note)

    def compared(self, items: InOrder, name: str, pairs: DataFrame) -> DataFrame:
        """The step of similar pairs among candidates."""
        self.listed.append(name)
        return comparing.similar_pairs(self.steps, name, pairs, items, self.run.job, self.parts(items))

    def searched(self, items: InOrder) -> tuple[int, Found]:
        """Make the step of matches. Returns the number of compared pairs, and facts about the search."""
        similar = self.similar(items)
        parts = self.parts(items)
        compared = sum(self.steps.filled(f"{name}-near", "later") for name in self.listed)
        pairs = sum(map(self.steps.rows, self.listed))
        settling.settled(self.steps, similar, pairs, items.number, parts, self.run.note, heads_in(self.steps))
        removed = self.steps.frame("matches").where("best").selectExpr("later as item")
        return compared, self.candidates.found(items, removed, self.steps.rows(self.matches), parts, partial(self.compare, items))

    @property
    def matches(self) -> str:
        """The step of the similar pairs of removed items and kept ones that are remembered."""
        return remembered(self.steps, self.run.job)

    def removals(self, items: InOrder) -> tuple[Removals, Found]:
        """The removals among parts of documents, as arrays."""
        compared, found = self.searched(items)
        later, earlier, overlap, out_of, best = self.steps.columns(self.matches, "later", "earlier", "overlap", "out_of", "best")
        order = np.lexsort((earlier, later))
        pairs, value, best = np.column_stack([later, earlier])[order], valued(Compared(overlap, out_of), self.run.job)[order], best[order]
        representative, values = np.full(items.number, -1, np.int64), np.full(items.number, np.nan)
        representative[pairs[best, 0]], values[pairs[best, 0]] = pairs[best, 1], value[best]
        return Removals(representative, values, pairs, value, compared), found

    def compare(self, items: InOrder, left: np.ndarray, right: np.ndarray) -> Compared:
        """Compare earlier items ``left`` with later items ``right``, int64[m] each."""
        at = places(self.parts(items))
        block = packed(part_of(left, len(at)), at, ["later", "earlier"], later=right, earlier=left)
        self.compared(items, "sampled", self.steps.put("sample", pa.Table.from_batches([block])))
        later, earlier, *ratio = self.steps.columns("sampled", "later", "earlier", "overlap", "out_of")
        return comparing.ratios_of((right, left), (later, earlier), Compared(*ratio))

    def write(self, source: Source, target: Path, rows: Chosen, each: Each) -> int:
        return writing.write(self.session, self.steps.folder, source, target, rows)
