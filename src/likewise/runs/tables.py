"""The tables of a result, made block by block, so that a large one never has to fit in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise import schema
from likewise.io import storage
from likewise.io.collection import BOTH, Collection
from likewise.io.ids import repeated
from likewise.items.wrapped import wrapped
from likewise.runs.results import Decision
from likewise.runs.table import Data, LazyData, Numbers
from likewise.schema import REASONS

#: Rows made and written at once. A table in a file with more rows than this is not kept in memory for Python callers.
BLOCK_ROWS = 1 << 16
#: Columns of ids with several types, as JSON text; None if a column has one type.
Typed = dict[str, pa.Array | None]


@dataclass(frozen=True)
class Rows:
    """A table made block by block."""

    schema: pa.Schema
    count: int
    columns: Callable[[slice], list[Any]]  # of the rows from slice.start to slice.stop
    typed: Callable[[slice], Typed] = lambda part: {}
    rows: Callable[[slice], dict[str, Numbers]] = lambda part: {}  # `Data.rows`, if the table has no places

    def __iter__(self) -> Iterator[pa.Table]:
        """Yield the blocks; an empty block if the table has no rows."""
        yield from self.blocks(self.count)

    def blocks(self, count: int) -> Iterator[pa.Table]:
        """Yield the blocks of the first ``count`` rows."""
        for begin in range(0, max(1, count), BLOCK_ROWS):
            yield pa.table(self.columns(slice(begin, min(begin + BLOCK_ROWS, count))), schema=self.schema)

    def first(self, count: int) -> Data:
        """Return the first ``count`` rows in memory."""
        part = slice(0, min(count, self.count))
        typed = {name: texts for name, texts in self.typed(part).items() if texts is not None}
        return Data(pa.concat_tables(self.blocks(part.stop)), typed, self.rows(part))

    def whole(self) -> Data:
        """Return the table in memory."""
        return self.first(self.count)


def written(path: Path, count: int, make: Callable[[], Rows], *, typed: bool) -> Data | LazyData:
    """Return the table of ``count`` rows that a file holds. A large one is read at its first use; a small one is in memory, made by ``make``.

    typed: ids have several types, which the file does not record.
    """
    if count <= BLOCK_ROWS or typed or os.name == "nt":  # Windows refuses to replace a file that is open
        return make().whole()
    import pyarrow.parquet as pq

    # stays the same file if another takes its name; no pre_buffer, as for all files of which only the beginning may be read
    file = pq.ParquetFile(storage.arrow(path), pre_buffer=False)

    def first(rows: int) -> Data:
        batches = file.iter_batches(min(max(rows, 1), BLOCK_ROWS))
        held: list[pa.RecordBatch] = []
        while sum(map(len, held)) < rows and (batch := next(batches, None)) is not None:
            held.append(batch)
        return Data(pa.Table.from_batches(held, file.schema_arrow).slice(0, rows).replace_schema_metadata())

    return LazyData(count, file.schema_arrow.remove_metadata(), first, lambda: Data(file.read().replace_schema_metadata()))


def value_column(similarity: np.ndarray, value: pa.Field) -> pa.Array:
    """Return similarities or distances (float64[n]) as a column; NaN (not checked) becomes null."""
    return wrapped(similarity, np.isnan(similarity)).cast(value.type)


class ClusterNames:
    """The names of clusters: the ids of their representatives if all have distinct ids, otherwise their places, SOURCE:POSITION.

    Clusters of parts of documents are named SOURCE:POSITION:START. Ids that are missing or repeated would make clusters indistinguishable in a table.
    """

    def __init__(self, collection: Collection, decision: Decision):
        self.collection, self.side = collection, decision.kept_side
        self.by_id = not (self.side or collection.of_parts or collection.repeated_ids[0] or collection.without_id.any())
        if not self.by_id and not collection.of_parts:
            ids = collection.ids(np.unique(decision.kept_row[decision.removed]), self.side)
            self.by_id = not ids.null_count and not repeated(ids)[0]

    @property
    def type(self) -> pa.DataType:
        """Type of the column of names."""
        return self.collection.id_type(self.side) if self.by_id else pa.string()

    def of(self, representatives: np.ndarray | pa.Array) -> pa.Array:
        """Return the names of the clusters of these representatives (row numbers); null for null."""
        if self.by_id:
            return self.collection.ids(representatives, self.side)
        chosen = wrapped(representatives)
        source, *numbers = self.collection.where(chosen.fill_null(0).to_numpy())
        places = pc.binary_join_element_wise(source, *(wrapped(each).cast(pa.string()) for each in numbers[:2]), ":")
        return pc.if_else(chosen.is_valid(), places, pa.nulls(1, pa.string())[0])

    def json(self, representatives: np.ndarray | pa.Array) -> pa.Array | None:
        """Return the names as JSON text if they are ids of several types, else None."""
        return self.collection.json_ids(representatives, self.side) if self.by_id else None


def removed_rows(collection: Collection, decision: Decision) -> Rows:
    """Return the table of removed records. docs/reference/outputs.md explains its columns."""
    removed, reason, side = np.flatnonzero(decision.removed), decision.reason, decision.kept_side
    names = ClusterNames(collection, decision)

    def columns(part: slice) -> list[Any]:
        rows = removed[part]
        kept = decision.kept_row[rows]
        return [
            collection.ids(rows),
            *collection.where(rows),
            collection.ids(kept, side),
            *collection.where(kept),
            value_column(decision.similarity[rows], decision.value),
            pa.DictionaryArray.from_arrays(wrapped(reason[rows]), pa.array(REASONS, pa.string())).cast(pa.string()),
            names.of(kept),
        ]

    def typed(part: slice) -> Typed:
        kept = decision.kept_row[removed[part]]
        return {"id": collection.json_ids(removed[part]), "kept_id": collection.json_ids(kept, side), "cluster": names.json(kept)}

    made = schema.removed(collection.id_type(), collection.id_type(side), names.type, decision.value, parts=collection.of_parts)
    return Rows(made, len(removed), columns, typed)


def clusters_rows(collection: Collection, decision: Decision) -> Rows:
    """Return the table of clusters, cluster by cluster, the representative of each first."""
    clustered, side = by_cluster(decision), decision.member_side
    names = ClusterNames(collection, decision)

    def columns(part: slice) -> list[Any]:
        rows = clustered[part]
        head = decision.head(rows)
        return [collection.ids(rows, side), *collection.where(rows), names.of(head), names.of(decision.component[head]), rows == head]

    def typed(part: slice) -> Typed:
        head = decision.head(clustered[part])
        return {"id": collection.json_ids(clustered[part], side), "cluster": names.json(head), "component": names.json(decision.component[head])}

    return Rows(schema.clusters(collection.id_type(side), names.type, parts=collection.of_parts), len(clustered), columns, typed)


def by_cluster(decision: Decision) -> np.ndarray:
    """Return the rows in clusters, ordered by representative, which precedes the rows removed for it. int64[m]"""
    clustered = decision.removed
    clustered[decision.kept_row[clustered]] = True
    rows = np.flatnonzero(clustered)
    key = decision.head(rows)
    later = key != rows
    key *= 2
    key += later
    return rows[np.argsort(key, kind="stable")]


def pairs_rows(
    collection: Collection,
    a: np.ndarray,
    b: np.ndarray,
    similarity: np.ndarray,
    value: pa.Field,
    *,
    sides: tuple[int, int] = (0, 0),
    ordered: bool = False,
) -> Rows:
    """Return a table of pairs a[i], b[i] (int64[m], rows), sorted by row, or in the given order if ``ordered``.

    sides: the side (`Collection.ids`) of a and of b. Places are added if ids do not identify items.
    """
    places = BOTH in sides or not collection.ids_are_unique
    order = None if ordered else np.lexsort((b, a))

    def columns(part: slice) -> list[Any]:
        chosen = part if order is None else order[part]
        left, right = a[chosen], b[chosen]
        found = [collection.ids(left, sides[0]), collection.ids(right, sides[1]), value_column(similarity[chosen], value)]
        return [*found, *collection.where(left), *collection.where(right)] if places else found

    def typed(part: slice) -> Typed:
        chosen = part if order is None else order[part]
        return {"id_a": collection.json_ids(a[chosen], sides[0]), "id_b": collection.json_ids(b[chosen], sides[1])}

    def rows(part: slice) -> dict[str, Numbers]:
        return {name: cache(lambda side=side: side[part if order is None else order[part]]) for name, side in (("id_a", a), ("id_b", b))}

    made = schema.pairs(collection.id_type(sides[0]), collection.id_type(sides[1]), value, places=places, parts=collection.of_parts)
    return Rows(made, len(a), columns, typed, (lambda part: {}) if places else rows)
