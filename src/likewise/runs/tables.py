"""The tables of a result, made block by block, so that a large one never has to fit in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

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
#: The columns of a block of a table, and those of its ids.
Made = tuple[list[Any], Typed]


@dataclass(frozen=True)
class Rows:
    """A table made block by block."""

    schema: pa.Schema
    count: int
    made: Callable[[slice], Made]  # of the rows from slice.start to slice.stop
    rows: Callable[[slice], dict[str, Numbers]] = lambda part: {}  # `Data.rows`, if the table has no places

    def __iter__(self) -> Iterator[pa.Table]:
        """Yield the blocks; an empty block if the table has no rows."""
        return (table for table, _ in self.blocks(self.count))

    def blocks(self, count: int) -> Iterator[tuple[pa.Table, dict[str, pa.Array]]]:
        """Yield the blocks of the first ``count`` rows, each with its columns of ids with several types."""
        for begin in range(0, max(1, count), BLOCK_ROWS):
            columns, typed = self.made(slice(begin, min(begin + BLOCK_ROWS, count)))
            yield pa.table(columns, schema=self.schema), {name: texts for name, texts in typed.items() if texts is not None}

    def first(self, count: int) -> Data:
        """Return the first ``count`` rows in memory."""
        tables, typed = zip(*self.blocks(min(count, self.count)), strict=True)
        texts = {name: pa.concat_arrays([each[name] for each in typed]) for name in typed[0]}
        return Data(pa.concat_tables(tables), texts, self.rows(slice(0, min(count, self.count))))

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


class Places(NamedTuple):
    """Some items as tables name them; null for none."""

    ids: pa.Array  # of the type of all ids of their side
    json: pa.Array | None  # the ids as JSON text, if they have several types
    where: list[Any]  # the columns of `schema.place`

    def taken(self, at: pa.Array) -> Places:
        """Return the items with these numbers; null for null."""
        return Places(self.ids.take(at), None if self.json is None else self.json.take(at), [wrapped(each).take(at) for each in self.where])


def places(collection: Collection, rows: np.ndarray | pa.Array, side: int = 0, *, by_id: bool = False) -> Places:
    """Return the ids and places of rows of a side (`Collection.ids`); null for null rows. by_id: without places."""
    chosen = wrapped(rows)
    found = Places(collection.ids(chosen, side), collection.json_ids(chosen, side), [])
    if by_id:
        return found
    source, *numbers = collection.where(chosen.fill_null(0).to_numpy())
    source = pc.if_else(chosen.is_valid(), source, pa.nulls(1, pa.string())[0]) if chosen.null_count else source
    return found._replace(where=[source, *numbers])


@dataclass(frozen=True)
class ClusterNames:
    """The names of clusters: the ids of their representatives if all have distinct ids, otherwise their places, SOURCE:POSITION.

    Clusters of parts of documents are named SOURCE:POSITION:START. Ids that are missing or repeated would make clusters indistinguishable in a table.
    """

    type: pa.DataType  # of the column of names
    by_id: bool

    def of(self, heads: Places) -> pa.Array:
        """Return the names of the clusters of these representatives; null for null."""
        if self.by_id:
            return heads.ids
        source, *numbers = heads.where
        return pc.binary_join_element_wise(source, *(wrapped(each).cast(pa.string()) for each in numbers[:2]), ":")

    def json(self, heads: Places) -> pa.Array | None:
        """Return the names as JSON text if they are ids of several types, else None."""
        return heads.json if self.by_id else None


def names_of(collection: Collection, decision: Decision) -> ClusterNames:
    """Return the names of the clusters of a removal."""
    side = decision.kept_side
    by_id = not (side or collection.of_parts or collection.repeated_ids[0] or collection.without_id.any())
    if not by_id and not collection.of_parts:
        ids = collection.ids(np.unique(decision.kept_row[decision.removed]), side)
        by_id = not ids.null_count and not repeated(ids)[0]
    return ClusterNames(collection.id_type(side) if by_id else pa.string(), by_id)


def removed_columns(items: Places, kept: Places, value: pa.Array, reason: np.ndarray, names: ClusterNames) -> Made:
    """Return the columns of removed items. docs/reference/outputs.md explains them. reason: int8[n], of schema.REASONS."""
    reasons = pa.DictionaryArray.from_arrays(wrapped(reason), pa.array(REASONS, pa.string())).cast(pa.string())
    columns = [items.ids, *items.where, kept.ids, *kept.where, value, reasons, names.of(kept)]
    return columns, {"id": items.json, "kept_id": kept.json, "cluster": names.json(kept)}


def clusters_columns(items: Places, heads: Places, components: Places, is_head: np.ndarray, names: ClusterNames) -> Made:
    """Return the columns of items in clusters, with the representatives of their clusters and components. is_head: bool[n]."""
    columns = [items.ids, *items.where, names.of(heads), names.of(components), is_head]
    return columns, {"id": items.json, "cluster": names.json(heads), "component": names.json(components)}


def removed_rows(collection: Collection, decision: Decision) -> Rows:
    """Return the table of removed records."""
    removed, reason, side = np.flatnonzero(decision.removed), decision.reason, decision.kept_side
    names = names_of(collection, decision)

    def made(part: slice) -> Made:
        rows = removed[part]
        kept, value = places(collection, decision.kept_row[rows], side), value_column(decision.similarity[rows], decision.value)
        return removed_columns(places(collection, rows), kept, value, reason[rows], names)

    of = schema.removed(collection.id_type(), collection.id_type(side), names.type, decision.value, parts=collection.of_parts)
    return Rows(of, len(removed), made)


def clusters_rows(collection: Collection, decision: Decision) -> Rows:
    """Return the table of clusters, cluster by cluster, the representative of each first."""
    clustered, side = by_cluster(decision), decision.search.member_side
    names = names_of(collection, decision)

    def made(part: slice) -> Made:
        rows = clustered[part]
        head = decision.head(rows)
        heads, components = (places(collection, each, decision.kept_side, by_id=names.by_id) for each in (head, decision.component[head]))
        return clusters_columns(places(collection, rows, side), heads, components, rows == head, names)

    return Rows(schema.clusters(collection.id_type(side), names.type, parts=collection.of_parts), len(clustered), made)


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
    by_place = BOTH in sides or not collection.ids_are_unique
    order = None if ordered else np.lexsort((b, a))

    def made(part: slice) -> Made:
        chosen = part if order is None else order[part]
        left, right = places(collection, a[chosen], sides[0]), places(collection, b[chosen], sides[1])
        found = [left.ids, right.ids, value_column(similarity[chosen], value)]
        return [*found, *left.where, *right.where] if by_place else found, {"id_a": left.json, "id_b": right.json}

    def rows(part: slice) -> dict[str, Numbers]:
        return {name: cache(lambda side=side: side[part if order is None else order[part]]) for name, side in (("id_a", a), ("id_b", b))}

    of = schema.pairs(collection.id_type(sides[0]), collection.id_type(sides[1]), value, places=by_place, parts=collection.of_parts)
    return Rows(of, len(a), made, (lambda part: {}) if by_place else rows)


def compared_pairs(collection: Collection, decision: Decision) -> Rows:
    """Return the table of compared pairs that are similar."""
    a, b = decision.matches.min(axis=1), decision.matches.max(axis=1)
    return pairs_rows(collection, a, b, decision.match_similarity, decision.value, sides=(0, decision.kept_side))


def placed(collection: Collection, rows: np.ndarray, *more: np.ndarray) -> Made:
    """Return the columns of the id and place of some rows, and more of their columns."""
    return [collection.ids(rows), *collection.places(rows), *more], {"id": collection.json_ids(rows)}


def placed_rows(collection: Collection, rows: np.ndarray) -> Rows:
    """Return a table of the id and place of some rows."""
    return Rows(schema.placed(collection.id_type()), len(rows), lambda part: placed(collection, rows[part]))


def mask_rows(collection: Collection, kept: np.ndarray) -> Rows:
    """Return a table of the place of each row, and whether it is kept."""
    return Rows(schema.MASK, len(kept), lambda part: ([*collection.places(np.arange(part.start, part.stop)), kept[part]], {}))


def added(collection: Collection, decision: Decision) -> Callable[..., pa.Table]:
    """Return a function of (rows, ``typed``) that makes the table of `annotated` for rows."""
    clustered = decision.removed.copy()
    clustered[decision.kept_row[decision.removed]] = True
    names = names_of(collection, decision)

    def table(rows: np.ndarray, *, typed: bool) -> pa.Table:
        heads = wrapped(decision.head(rows), ~clustered[rows]), wrapped(decision.kept_row[rows], ~decision.removed[rows])
        cluster, kept = (places(collection, each, decision.kept_side, by_id=names.by_id) for each in heads)
        return annotated(cluster, kept, decision.similarity[rows], decision.value, names, typed=typed)

    return table


def annotated(cluster: Places, kept: Places, similarity: np.ndarray, value: pa.Field, names: ClusterNames, *, typed: bool) -> pa.Table:
    """Return a table of cluster, kept id and similarity (NaN: none) for some rows, with names unlikely to be taken.

    cluster, kept: the representative of each row's cluster, and the row kept in its place; null for none. typed: ids of several types are JSON texts,
    for records in JSON or CSV.
    """

    def column(found: Places) -> pa.Array:
        """Return the names of clusters; ``typed``: as JSON texts if they are ids of several types."""
        texts = names.json(found) if typed else None
        return names.of(found) if texts is None else pa.ExtensionArray.from_storage(pa.json_(pa.large_string()), texts.cast(pa.large_string()))

    return pa.table(
        {
            "likewise_cluster": column(cluster),
            "likewise_kept_id": column(kept),
            f"likewise_{value.name}": value_column(similarity, value),
        }
    )
