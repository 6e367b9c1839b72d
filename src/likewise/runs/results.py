"""The results of the verbs, and the decision from which those of a removal are made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise import schema
from likewise.drawing.numbers import shown
from likewise.errors import UsageError
from likewise.io.collection import BOTH, Collection
from likewise.io.facts import blocks
from likewise.io.units import Units
from likewise.messages import quoted
from likewise.planning.threshold import written
from likewise.runs import recorded
from likewise.runs.table import Contents, Data, LazyData, Table
from likewise.stages import clusters
from likewise.stages.bins import Scales
from likewise.stages.facts import Block, Facts, merged, outcome_facts
from likewise.stages.removed import Removed

if TYPE_CHECKING:
    from likewise.drawing.markup import Html
    from likewise.drawing.preview import Preview


class Search(NamedTuple):
    """The search behind a removal, for the report and for the types of columns."""

    facts: dict[str, Any]  # counters, for the report
    compared: int  # number of compared pairs
    value: pa.Field  # the type of similarities or distances
    kept_side: int  # the side of the rows that others are duplicates of (`Collection.ids`)
    pairs: int  # number of pairs in pairs.parquet
    reasons: tuple[str, ...]  # for which items were removed

    @property
    def member_side(self) -> int:
        """The side of the rows of all clusters."""
        return BOTH if self.kept_side else 0


@dataclass
class Decision:
    """The outcome of each row of a collection, by row number. All files are written from it."""

    kept_row: np.ndarray  # int64[n]: the kept row of which this one is a duplicate; -1 for rows that stay
    similarity: np.ndarray  # float64[n]: to that row; NaN for rows that stay or were not checked
    exact: np.ndarray  # bool[n]: removed as an exact copy
    component: np.ndarray  # int64[n]: for representatives, the first one of their component
    matches: np.ndarray  # int64[m, 2]: the verified pairs that the walk compared: row, kept row
    match_similarity: np.ndarray  # float64[m]
    facts: dict[str, Any] = field(default_factory=dict)  # counters of the walk, for the report
    compared: int = 0  # number of compared pairs; not in the report, because it depends on the algorithm as well
    value: pa.Field = schema.SIMILARITY  # the type of the values above: a similarity or a distance
    kept_side: int = 0  # the side of ``kept_row`` (`Collection.ids`): 1, or both, of two collections
    counted: bool = False  # similarities are ratios of shingle counts, so that 1.0 means equal shingles
    given: np.ndarray | None = None  # int8[n]: the reason of each removed row, if the values above do not tell it

    @property
    def search(self) -> Search:
        """The search behind the decision."""
        reasons = ("exact", "equal", "near", *(() if self.given is None else ("passage", "rest")))
        return Search(self.facts, self.compared, self.value, self.kept_side, len(self.matches), reasons)

    @property
    def removed(self) -> np.ndarray:
        """bool[n]: removed as a duplicate of another row."""
        return self.kept_row >= 0

    def head(self, rows: np.ndarray) -> np.ndarray:
        """Return, for each of some rows, the kept row that it duplicates, or the row itself if it is kept. int64[m]"""
        kept = self.kept_row[rows]
        return np.where(kept < 0, rows, kept)

    @property
    def equal(self) -> np.ndarray:
        """bool[n]: removed for a row with equal shingles whose normalized text differs, for example by a line end."""
        return self.removed & ~self.exact & (self.counted & (self.similarity == 1.0))

    @property
    def reason(self) -> np.ndarray:
        """int8[n]: index in REASONS, for removed rows."""
        if self.given is not None:
            return self.given
        return (self.equal + 2 * self.exact).astype(np.int8)

    @property
    def measured(self) -> np.ndarray:
        """int64[m]: the near-duplicates of which the value is known."""
        return np.flatnonzero(self.removed & ~self.exact & ~self.equal & ~np.isnan(self.similarity))

    def outcomes(self, rows: Collection, scales: Scales) -> Facts:
        """Return the facts about what became of the rows of the first collection. scales: count the values of near-duplicates."""
        removed, reason, border = self.removed, self.reason, rows.rows_of_sides[0].stop

        def of(part: slice, block: Block) -> Facts:
            return outcome_facts(block, removed[part], reason[part], self.similarity[part], self.kept_row[part] >= border, scales)

        return merged([of(*each) for each in blocks(rows, 0)])

    def median(self) -> float | None:
        """Return the median value of near-duplicates; None without any."""
        rows = self.measured
        return float(np.median(self.similarity[rows])) if len(rows) else None

    def removed_rows(self, rows: Collection) -> Iterator[Removed]:
        """Yield the removed rows in blocks."""
        reason = self.reason
        for part, _ in blocks(rows, 0):
            row = part.start + np.flatnonzero(self.kept_row[part] >= 0)
            yield Removed(row, self.kept_row[row], self.similarity[row], reason[row])

    def clusters(self, rows: Collection, half_way: float | None) -> clusters.Clusters:
        """Return the facts about clusters. half_way: near-duplicates below it may be pages of a template; None: none of this kind are."""
        n, measured = len(self.kept_row), self.measured
        members = np.bincount(self.kept_row[self.removed], minlength=n)
        heads = np.flatnonzero(members)
        near = np.bincount(self.kept_row[measured], minlength=n)[heads]
        low = np.broadcast_to(0, len(heads))  # takes no memory
        if half_way is not None:
            low = np.bincount(self.kept_row[measured[self.similarity[measured] < half_way]], minlength=n)[heads]
        others = heads[np.searchsorted(heads, rows.rows_of_sides[1].start) :]
        items = np.unique(rows.document[others], return_index=True)[1] if isinstance(rows, Units) else slice(None)
        first = np.zeros(len(heads), bool)
        first[np.unique(self.component[heads], return_index=True)[1]] = True
        counts = (members[heads], near, low, self.sources_of_clusters(rows, heads))
        return clusters.clusters(clusters.Block(heads, first, *counts, rows.source_of(others[items])))

    def sources_of_clusters(self, rows: Collection, heads: np.ndarray) -> np.ndarray:
        """Return the number of sources of the rows in the clusters of some representatives, int64[k], ascending."""
        found = np.zeros(len(self.kept_row), np.int64)
        for number in range(len(rows.sources)):
            part = rows.rows_of(number)
            kept = self.kept_row[part]
            own = heads[slice(*np.searchsorted(heads, (part.start, part.stop)).tolist())]
            found[np.concatenate([kept[kept >= 0], own])] += 1  # once for a row that is there several times
        return found[heads]


#: Columns of removed records that are shown where all records have ids.
BESIDE = ("id", "kept_id", "similarity", "distance", "reason", "text", "kept_text")


@dataclass(repr=False)
class Removal:
    """The result of ``dedup``. docs/reference/outputs.md explains the columns of the tables; ``report`` is the content of report.json.

    ``compared``: number of compared pairs, as in run.json. ``dropped``: with ``level``, the removed documents that kept too few tokens. ``seen``:
    with ``level="passage"``, how much of each item of the second collection occurs in the inputs.
    """

    kept: Table
    removed: Table
    clusters: Table
    report: dict[str, Any]
    compared: int
    out: Path | None = None
    dropped: Table | None = None
    seen: Table | None = None

    @property
    def counts(self) -> dict[str, int]:
        """The counts of the report: read, kept, removed, rejected and others."""
        found: dict[str, int] = self.report["counts"]
        return found

    def __repr__(self) -> str:
        from likewise.runs.outcome import text

        return text(self.report, self.out, self._examples(), self.removed._records)

    def _repr_html_(self) -> str:
        from likewise.runs.outcome import html

        return html(self.report, self.out, self._examples(), self.removed._records)

    def _examples(self) -> Preview | None:
        """The first removed records beside the kept ones."""
        from likewise.drawing.preview import Preview

        if not len(self.removed):
            return None
        shown = self.removed.head()._with_text_if_near()._preview()
        several = (len(self.report["sources"]) > 1 and self.report["ids"]["missing"]) or None in self.removed.head()["id"]
        names = shown.names if several else [name for name in shown.names if name in BESIDE]
        places = [shown.names.index(name) for name in names]
        return Preview("Removed records", names, [[row[place] for place in places] for row in shown.rows], len(self.removed))


class Pairs(Table):
    """The result of ``pairs`` and ``neighbors``: id_a, id_b, similarity or distance, and source and position if ids alone do not identify items."""

    def __init__(self, table: pa.Table | Data | LazyData, report: dict[str, Any], *, origin: Contents | None = None):
        super().__init__(table, origin=origin)
        self.report: dict[str, Any] = report

    @property
    def _warnings(self) -> list[str]:
        said: list[str] = self.report["warnings"]
        return said

    def _picture(self) -> Html | None:
        from likewise.runs.outcome import spread

        value = "distance" if "distance" in self.columns else "similarity"
        if isinstance(self._made, LazyData) or value not in self.columns:
            return None
        return spread(self[value], self.report["threshold"], value)

    def _note(self, target: Path) -> dict[bytes, bytes] | None:
        if self._origin is None or not {"id_a", "id_b"} <= {*self.columns}:
            return None
        verb, table, ends = ("neighbors", self.to_arrow(), "ba") if "k" in self.report else ("pairs", self.to_arrow(), "ab")
        placed = "source_a" in table.column_names and "source_b" in table.column_names
        of = [{*pc.unique(table[f"source_{end}"]).to_pylist()} if placed else None for end in ends]  # queries are the second collection
        entries = self._origin.recorded(of, target.parent)
        return recorded.metadata(verb, self.report, dict(zip(ends if len(entries) > 1 else ("",), entries, strict=True)))

    def above(self, threshold: float | str) -> Pairs:
        """Return the pairs at or above a higher threshold. Raises UsageError for a lower one, or if the pairs have distances."""
        self._check_values("similarity", "above", "use within(distance)")
        limit, searched = limit_of("above", threshold, "0.9"), self.report["threshold"]
        if searched is not None and limit < searched:
            raise UsageError(
                f"above({shown(limit)}): these pairs have a similarity of at least {searched:g}; search again with threshold={shown(limit)}"
            )
        return self._where(pc.greater_equal(self._data().table["similarity"], limit), limit)

    def within(self, distance: float | str) -> Pairs:
        """Return the pairs within a smaller distance. Raises UsageError for a larger one, or if the pairs have similarities."""
        self._check_values("distance", "within", "use above(threshold)")
        limit, searched = limit_of("within", distance, "2"), self.report["threshold"]
        if searched is not None and limit > searched:
            raise UsageError(f"within({shown(limit)}): these pairs have a distance of at most {searched:g}; search again with within={shown(limit)}")
        return self._where(pc.less_equal(self._data().table["distance"], limit), limit)

    def _check_values(self, name: str, method: str, instead: str) -> None:
        if name not in self.columns:
            other = {"similarity": "distance", "distance": "similarity"}[name]
            if other in self.columns:
                raise UsageError(f"{method}: these pairs have {'similarities' if other == 'similarity' else 'distances'}; {instead}")
            raise UsageError(f"{method}: these pairs have neither similarities nor distances; their columns are {', '.join(self.columns)}")

    def _where(self, chosen: pa.ChunkedArray, threshold: float) -> Pairs:
        made = self._with(self._data().filter(chosen))
        made.report = self.report | {"threshold": threshold}
        return made


def limit_of(method: str, value: object, example: str) -> float:
    """Return a similarity or a distance, given as a number or as text. Raises UsageError."""
    try:
        return float(written(value))
    except (ValueError, ArithmeticError):
        raise UsageError(f"{method}({quoted(value)}): give a number, such as {example}") from None
