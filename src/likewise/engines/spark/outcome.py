"""The outcome of documents in steps. The driver reads them in order, block by block, for the facts of the report and for the tables of the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise import schema
from likewise.engines.engine import Found
from likewise.engines.spark import clustered, identities, removed
from likewise.engines.spark.distinct import Distinct
from likewise.engines.spark.documents import Rows as Documents
from likewise.engines.spark.identities import Within
from likewise.engines.spark.numbering import Numbering
from likewise.engines.spark.ordered import InTurn, Sorted
from likewise.engines.spark.sketching import ROW
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.io.collection import BOTH
from likewise.io.facts import blocks, limits_of
from likewise.items import binary
from likewise.items.wrapped import wrapped
from likewise.job import Job
from likewise.records import REJECTED, Chosen
from likewise.runs import decided, tables
from likewise.runs.fate import chosen_among, numbers_of
from likewise.runs.items import Run
from likewise.runs.results import Search
from likewise.runs.tables import ClusterNames, Made, Places, Rows, value_column
from likewise.runs.verify import valued
from likewise.schema import REASONS
from likewise.stages import clusters
from likewise.stages import removed as of_removed
from likewise.stages.bins import Scales
from likewise.stages.facts import Facts, merged, outcome_facts
from likewise.stages.median import median
from likewise.stages.removed import Removed
from likewise.stages.verify import Compared

#: A rank after those of all rows.
NEVER = 2**62
#: Columns of the step of removed rows that make `stages.removed.Removed`.
OUTCOMES = ["rank", "kept", "overlap", "out_of"]


class Outcome:
    """`engines.engine.Outcome` from the steps of `removed`. The ranks of their rows become row numbers here."""

    def __init__(self, documents: Documents, found: removed.Found, search: Search, run: Run):
        self.documents = self.compared = documents
        self.found, self.search, self.job = found, search, run.job
        self.rows = Sorted(documents.steps.files_of(documents.name), "rank", ROW)
        self.removed, self.clustered = Sorted(removed.removed(found), "rank"), Sorted(clustered.clusters(found, run.note), "head")

    def number(self, rank: pa.ChunkedArray) -> np.ndarray:
        """The row numbers of ranks, int64[n]."""
        return self.documents.numbering.rows(rank.to_numpy())

    def ranks(self, rows: slice) -> tuple[int, int]:
        """The rank of the first row of a range, and that after its last one."""
        if rows.start >= rows.stop:
            return 0, 0
        first, last = self.documents.numbering.ranks(np.array([rows.start, rows.stop - 1])).tolist()
        return first, last + 1

    def gone(self, rows: slice) -> np.ndarray:
        """The removed rows of a range, int64[n]."""
        return self.number(self.removed.between(*self.ranks(rows), ["rank"])["rank"])

    def told(self, table: pa.Table, kept: str = "kept") -> Removed:
        """Removed rows, from their columns in a step."""
        exact = table["overlap"].is_null().to_numpy()
        ratio = Compared(table["overlap"].fill_null(-1).to_numpy(), table["out_of"].fill_null(0).to_numpy())
        value = np.where(exact, 0.0 if self.job.distances else 1.0, valued(ratio, self.job))
        equal = ~exact & (decided.counted(self.job) & (value == 1.0))
        return Removed(self.number(table["rank"]), self.number(table[kept]), value, (equal + 2 * exact).astype(np.int8))

    # Facts for the report

    @property
    def removed_rows(self) -> Iterator[Removed]:
        """The removed rows, in blocks."""
        return map(self.told, self.removed.blocks(OUTCOMES))

    @cached_property
    def outcomes(self) -> Facts:
        documents = self.documents
        numbers, read = documents.sources_of_sides[0], documents.facts(limits_of(self.job))[0]
        gone = np.zeros(len(numbers), np.int64)
        for some in self.removed_rows:
            gone += np.bincount(documents.source_of(some.row), minlength=len(numbers))
        there, rejected = (np.array(read.by_source(name, numbers), np.int64) for name in ("read", "rejected"))
        return Facts(np.array(numbers, np.int64), {"read": there, "removed": gone, "kept": there - rejected - gone}, {}, {})

    def reasons(self, scales: Scales) -> Facts:
        border, found = self.documents.rows_of_sides[0].stop, []
        for part, block in blocks(self.documents, 0):
            some = self.told(self.removed.between(*self.ranks(part), OUTCOMES))
            at, n = some.row - part.start, part.stop - part.start
            gone, reason, value, second = np.zeros(n, bool), np.zeros(n, np.int8), np.full(n, np.nan), np.zeros(n, bool)
            gone[at], reason[at], value[at], second[at] = True, some.reason, some.value, some.kept_row >= border
            found.append(outcome_facts(block, gone, reason, value, second, scales))
        return merged(found)

    def median(self) -> float | None:
        return median(lambda: (some.value[known(some)] for some in self.removed_rows))

    def matrix(self, group: np.ndarray) -> np.ndarray:
        return of_removed.matrix(self.removed_rows, group, self.documents.source_of)

    def removed_for(self, heads: np.ndarray) -> Removed:
        return of_removed.removed_for(self.removed_rows, heads)

    def examples(self, limit: float, ends: np.ndarray | None) -> list[Removed]:
        return of_removed.examples(self.removed_rows, limit, distances=self.job.distances, ends=ends, source_of=self.documents.source_of)

    def clusters(self, half_way: float | None) -> clusters.Clusters:
        border, found = self.documents.rows_of_sides[1].start, []
        for head, first, members, near, low, sources in self.counted_clusters(half_way):
            of_others = self.documents.source_of(head[head >= border])
            found.append(clusters.clusters(clusters.Block(head, first > 0, members, near, low, sources, of_others)))
        return clusters.merged(found)

    def counted_clusters(self, half_way: float | None) -> Iterator[np.ndarray]:
        """Whole clusters, in blocks of their columns head, first, members, near, low and sources (`stages.clusters.Block`): int64[6, n]."""
        held, last = np.zeros((0, 6), np.int64), np.full(1, -1)
        for table in self.clustered.blocks(["rank", "head", "overlap", "out_of", "opens"]):
            some = self.told(table, "head")
            source, of_head = (self.documents.source_of(rows) for rows in (some.row, some.kept_row))
            member, before = some.row != some.kept_row, np.append(last, source)
            near = member & known(some)
            low = near & (some.value < (-np.inf if half_way is None else half_way))
            other = (source != of_head) & (source != before[:-1])  # the first member of a source: they ascend
            counts = [some.kept_row, ~member & table["opens"].to_numpy(), member, near, low, ~member | other]
            rows, last = np.concatenate([held, np.stack(counts, axis=1, dtype=np.int64)]), before[-1:]
            begin = np.flatnonzero(np.diff(rows[:, 0], prepend=-1))
            if len(begin):
                counted = np.add.reduceat(rows, begin)
                counted[:, 0] = rows[begin, 0]
                held = counted[-1:]  # the next block may have more rows of it
                yield counted[:-1].T
        yield held.T

    # Records

    def numbers(self, what: str) -> list[int]:
        return numbers_of(self.outcomes, self.documents.sources_of_sides[0], what)

    def chosen(self, number: int, what: str, job: Job) -> Chosen:
        rows = self.documents.rows_of(number)
        table = self.of_rows(rows, "kind", "start", "length")
        readable, gone = table["kind"].to_numpy() != REJECTED, np.zeros(len(table), bool)
        gone[self.gone(rows) - rows.start] = True
        keep = chosen_among(what, readable, gone)
        typed, added = not hasattr(self.documents.sources[number].format, "schema"), None
        if what == "annotated":
            added = self.added(rows, rows.start + np.flatnonzero(keep), typed=typed)
        return Chosen(keep, table["start"].to_numpy(), table["length"].to_numpy(), added)

    def of_rows(self, rows: slice, *columns: str) -> pa.Table:
        """Columns of a range of rows."""
        table = self.rows.between(*self.ranks(rows), ["rank", *columns])
        return table.filter(wrapped(self.number(table["rank"]) >= 0))  # others lie behind damage

    def added(self, rows: slice, chosen: np.ndarray, *, typed: bool) -> pa.Table:
        """The columns that some rows of a range get (`runs.tables.annotated`)."""
        begin, end = self.ranks(rows)
        table, heads = self.removed.between(begin, end, [*OUTCOMES, "kept_id"]), self.clustered.between(begin, end, ["rank", "head", "head_id"])
        heads = heads.filter(pc.field("rank") == pc.field("head"))
        some, own = self.told(table), self.number(heads["head"])
        ids = pa.chunked_array([*table["kept_id"].chunks, *heads["head_id"].chunks], pa.binary())
        found = self.places(np.concatenate([some.kept_row, own]), ids, self.search.kept_side, by_id=self.names.by_id)
        at, value = np.full(rows.stop - rows.start, -1), np.full(rows.stop - rows.start, np.nan)
        at[own - rows.start] = len(table) + np.arange(len(own))
        at[some.row - rows.start], value[some.row - rows.start] = np.arange(len(table)), some.value
        at, value = at[chosen - rows.start], value[chosen - rows.start]
        cluster, kept = (found.taken(wrapped(at, ~there)) for there in (at >= 0, (at >= 0) & (at < len(table))))
        return tables.annotated(cluster, kept, value, self.search.value, self.names, typed=typed)

    # Tables

    def kept_rows(self, count: int | None = None) -> Rows:
        total, taken = self.outcomes.total("kept"), InTurn(self.kept_blocks)

        def made(part: slice) -> Made:
            table = taken(part)
            found = self.places(self.number(table["rank"]), table["id"], 0)
            return [found.ids, *found.where], {"id": found.json}

        return Rows(schema.placed(self.documents.id_type()), total if count is None else min(count, total), made)

    def kept_blocks(self) -> Iterator[pa.Table]:
        """The ranks and ids of kept documents, in tables."""
        border = self.documents.rows_of_sides[0].stop
        for table in self.rows.blocks(["rank", "kind", "id"]):
            row = self.number(table["rank"])
            keep = (row >= 0) & (row < border) & (table["kind"].to_numpy() != REJECTED)
            here = row[keep]
            if len(here):
                keep[keep] = ~np.isin(here, self.gone(slice(int(here[0]), int(here[-1]) + 1)))
            yield table.select(["rank", "id"]).filter(wrapped(keep))

    def mask_rows(self) -> Rows:
        def made(part: slice) -> Made:
            kept = self.of_rows(part, "kind")["kind"].to_numpy() != REJECTED
            kept[self.gone(part) - part.start] = False
            return [*self.documents.places(np.arange(part.start, part.stop)), kept], {}

        return Rows(schema.MASK, self.documents.rows_of_sides[0].stop, made)

    def tables(self) -> dict[str, Callable[[], Rows]]:
        return {"removed": self.table_of_removed, "clusters": self.table_of_clusters}

    def table_of_removed(self) -> Rows:
        """The table of removed records."""
        taken, names, side, value = InTurn(partial(self.removed.blocks, removed.REMOVED)), self.names, self.search.kept_side, self.search.value

        def made(part: slice) -> Made:
            table = taken(part)
            some = self.told(table)
            items, kept = self.places(some.row, table["rank_id"], 0), self.places(some.kept_row, table["kept_id"], side)
            return tables.removed_columns(items, kept, value_column(some.value, value), some.reason, names)

        of = schema.removed(self.documents.id_type(), self.documents.id_type(side), names.type, value, parts=False)
        return Rows(of, self.found.steps.rows("removed"), made)

    def table_of_clusters(self) -> Rows:
        """The table of clusters, cluster by cluster, the representative of each first."""
        taken, names, search = InTurn(partial(self.clustered.blocks, clustered.CLUSTERS)), self.names, self.search

        def made(part: slice) -> Made:
            table = taken(part)
            row, head, component = (self.number(table[name]) for name in ("rank", "head", "component"))
            named = partial(self.places, side=search.kept_side, by_id=names.by_id)
            heads, components = named(head, table["head_id"]), named(component, table["component_id"])
            return tables.clusters_columns(self.places(row, table["rank_id"], search.member_side), heads, components, row == head, names)

        of = schema.clusters(self.documents.id_type(search.member_side), names.type, parts=False)
        return Rows(of, self.found.steps.rows("clusters"), made)

    def pairs_rows(self) -> Rows:
        documents, sides, value = self.documents, (0, self.search.kept_side), self.search.value
        alone = all(documents.ids(side).there or len(documents.files_in(numbers)) < 2 for side, numbers in enumerate(documents.sources_of_sides))
        by_place = BOTH in sides or self.repeated_or_missing or not alone
        taken = InTurn(partial(Sorted(removed.pairs(self.found), "a").blocks, removed.PAIRS))

        def made(part: slice) -> Made:
            table = taken(part)
            left, right = (self.places(self.number(table[name]), table[f"{name}_id"], side) for name, side in zip("ab", sides, strict=True))
            ratio = Compared(table["overlap"].to_numpy(), table["out_of"].to_numpy())
            found = [left.ids, right.ids, value_column(valued(ratio, self.job), value)]
            return [*found, *left.where, *right.where] if by_place else found, {"id_a": left.json, "id_b": right.json}

        of = schema.pairs(documents.id_type(0), documents.id_type(self.search.kept_side), value, places=by_place, parts=False)
        return Rows(of, self.search.pairs, made)

    def places(self, rows: np.ndarray, ids: pa.ChunkedArray, side: int, *, by_id: bool = False) -> Places:
        """The ids and places of rows, whose ids are JSON texts (`runs.tables.places`)."""
        of, where = self.documents.ids(side), [] if by_id else self.documents.where(rows)
        if not of.there:
            return Places(wrapped(self.documents.file_of(rows)[1]), None, where)
        texts = ids.cast(binary.TYPE)
        column = of.column(pa.concat_arrays(texts.chunks) if texts.num_chunks else binary.from_list([]))
        return Places(column.values, column.json, where)

    @cached_property
    def names(self) -> ClusterNames:
        """The names of clusters (`runs.tables.names_of`)."""
        side = self.search.kept_side
        by_id = not (side or self.repeated_or_missing) or self.heads_differ(side)
        return ClusterNames(self.documents.id_type(side) if by_id else pa.string(), by_id)

    @property
    def repeated_or_missing(self) -> bool:
        """True if several rows of a side have the same id, or some rows have none and others have one."""
        facts = self.documents.facts(limits_of(self.job))
        return bool(self.documents.repeated_ids[0]) or any(each.have_ids and each.total("without_id") for each in facts)

    def heads_differ(self, side: int) -> bool:
        """True if all representatives have ids, or positions that stand for ids, which differ."""
        documents, ids = self.documents, self.documents.ids(side)
        parts = documents.parts(self.found.steps.rows("clusters"))
        heads = self.found.steps.frame("clusters").where("rank = head").selectExpr("head", "rank_id as head_id")
        if not ids.there:
            found = mapped(heads.select("head"), partial(positions, numbering=documents.numbering, begins=documents.begins), "position long")
            return not found.repartition(parts, "position").groupBy("position").count().where("count > 1").take(1)
        texts = heads.selectExpr("head as rank", "head_id as id")
        if texts.where("id is null").take(1):
            return False
        every = Within(documents.numbering, 0, len(documents))
        return not identities.repeated(texts, every, ids, parts)[0]


def known(some: Removed) -> np.ndarray:
    """The near-duplicates of known value, bool[n]."""
    return (some.reason == REASONS.index("near")) & ~np.isnan(some.value)


def positions(batches: Iterator[pa.RecordBatch], numbering: Numbering, begins: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Ranks -> positions in files. begins: `io.numbered.Numbered.begins`."""
    for batch in batches:
        row = numbering.rows(batch.column(0).to_numpy())
        yield pa.record_batch([pa.array(row - begins[np.searchsorted(begins, row, side="right") - 1])], names=["position"])


def outcome(steps: Steps, documents: Documents, items: Distinct, parts: int, compared: int, found: Found, matches: str, run: Run) -> Outcome:
    """The outcome of a search. parts: of items. compared: the number of compared pairs. matches: the step of matches (`removed.remembered`)."""
    job, border, number = run.job, documents.rows_of_sides[0].stop, steps.rows(matches)
    second = int(documents.numbering.ranks(np.array([border]))[0]) if border < len(documents) else NEVER
    first = [bucket.first for bucket in found.hottest]
    ranks = items.compared.rows.ranks_of_few(steps, first)
    of_items = documents.numbering.rows(np.array([ranks[item] for item in first], np.int64))
    facts = decided.facts(documents, items.number, number, found, of_items, run)
    search = Search(facts, compared, decided.value_of(job), decided.kept_side(run), number, ("exact", "equal", "near"))
    return Outcome(documents, removed.Found(steps, items, parts, documents.have_ids, second, matches), search, run)
