"""Facts about ids that need all those of a collection at once: whether their plain texts are clear, and which ids occur several times."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.engines.spark.about import ORDERED, id_facts_in
from likewise.engines.spark.blocks import GATHERED, flat, gathered, packed, part_of, places, whole
from likewise.engines.spark.numbering import Numbering
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import schema
from likewise.io.idcolumn import IdColumn, IdFacts, block_of, plain_words
from likewise.io.ids import from_json
from likewise.items import binary
from likewise.items.words import Hasher

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Two words of an id, or its value, and its row.
WORDS = ["a", "b", "row"]
#: The number of ids that occur several times, or one of them: its first row and its value.
AGAIN = "number long, row long, value long"
#: Number of repeated ids that a warning names.
NAMED = 3


class Ids(NamedTuple):
    """The column of ids of a collection, of which any block can be made alone."""

    facts: IdFacts = IdFacts()
    quoted: bool = False  # ids of different types have the same plain text

    @property
    def there(self) -> bool:
        """True if a row has an id; otherwise positions stand for ids."""
        return self.facts.number > 0

    def column(self, texts: pa.LargeBinaryArray) -> IdColumn:
        """The column of some ids, JSON text or null."""
        return block_of(texts, self.facts, quoted=self.quoted)

    @property
    def type(self) -> pa.DataType:
        """The type of the column; that of positions if no row has an id."""
        return self.column(binary.from_list([])).values.type if self.there else pa.int64()

    @property
    def note(self) -> str | None:
        """The note on a column that is not simply the ids."""
        return self.column(binary.from_list([])).note if self.there else None


class Within(NamedTuple):
    """A range of rows."""

    numbering: Numbering
    begin: int
    end: int


def quoted(frame: DataFrame, rows: Within, whole_numbers: bool, parts: int) -> bool:
    """True if two different ids have the same plain text (`io.idcolumn.ambiguous`). frame: rank long, id binary. parts: for both groupings."""
    words = mapped(frame, partial(texts_of, rows=rows, whole_numbers=whole_numbers), "plain long, id long")
    return bool(words.repartition(parts, "plain").distinct().groupBy("plain").count().where("count > 1").take(1))


def texts_of(batches: Iterator[pa.RecordBatch], rows: Within, whole_numbers: bool) -> Iterator[pa.RecordBatch]:
    """Ids -> the words of their plain texts, and their own."""
    for batch in batches:
        words = plain_words(within(batch, rows)[1], whole=whole_numbers)
        yield pa.record_batch([pa.array(each.view(np.int64)) for each in words], names=["plain", "id"])


def within(batch: pa.RecordBatch | pa.Table, rows: Within) -> tuple[np.ndarray, pa.LargeBinaryArray]:
    """The rows of a batch that belong to the collection, int64[n], and their ids."""
    row = rows.numbering.rows(batch["rank"].to_numpy())
    ids = batch["id"].cast(binary.TYPE)
    here = (row >= rows.begin) & (row < rows.end)
    return row[here], (ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids).filter(pa.array(here))


def ascend(abouts: Sequence[dict[str, Any]], facts: IdFacts) -> bool:
    """True if the ids of chunks ascend, so that none occurs twice, as far as the facts about the chunks show it."""
    if not facts.ways.intersection(ORDERED):
        return False
    said = [about["ids"] for about in abouts if id_facts_in(about).number]
    if not all(each.get("ends") for each in said):
        return False
    ends = [[from_json(bytes.fromhex(end)) for end in each["ends"]] for each in said]
    return all(before[1] < after[0] for before, after in pairwise(ends))


def repeated(frame: DataFrame, rows: Within, ids: Ids, parts: int) -> tuple[int, list[int], list[Any]]:
    """(the number of ids that occur several times; the first rows of the first three texts; or the three smallest values).

    frame: rank long, id binary.
    """
    texts = ids.type in (pa.string(), pa.large_string())
    keys = None if not texts else (int.from_bytes(os.urandom(8)), int.from_bytes(os.urandom(8)))
    sent = partial(identified, rows=rows, ids=ids, keys=keys, at=places(parts))
    both = mapped(frame, sent, schema(WORDS)).repartition(parts, "place")
    found = mapped(both, partial(again, kind=ids.type), AGAIN).collect()
    number = sum(each["number"] for each in found if each["number"] is not None)
    named = [each for each in found if each["number"] is None]
    if texts:
        return number, sorted(each["row"] for each in named)[:NAMED], []
    values = np.array([each["value"] for each in named], np.int64).view(stored(ids.type))
    return number, [], [str(value) for value in np.sort(values)[:NAMED].astype(ids.type.to_pandas_dtype())]


def stored(kind: pa.DataType) -> Any:
    """The type of 64 bits in which values of a type are compared."""
    return np.int64 if kind == pa.bool_() else kind.to_pandas_dtype()


def identified(batches: Iterator[pa.RecordBatch], rows: Within, ids: Ids, keys: tuple[int, int] | None, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Ids -> `WORDS`, for the partitions of the ids; of many equal ids two are enough."""
    hashers = [Hasher(key) for key in keys or ()]
    for table in gathered(batches, GATHERED * len(at)):
        row, texts = within(table, rows)
        values = ids.column(texts).values
        if hashers:
            a, b = (hasher.strings(values.cast(binary.TYPE)).view(np.int64) for hasher in hashers)
        else:
            numbers = values.to_numpy(zero_copy_only=False).astype(stored(values.type))
            a = (numbers + 0.0 if numbers.dtype == np.float64 else numbers).view(np.int64)  # + 0.0: -0.0 equals 0.0
            b = np.zeros(len(a), np.int64)
        order = np.lexsort((row, b, a))
        a, b, row = a[order], b[order], row[order]
        third = np.zeros(len(a), bool)
        third[2:] = (a[2:] == a[:-2]) & (b[2:] == b[:-2])
        yield packed(part_of(a[~third], len(at)), at, WORDS, a=a[~third], b=b[~third], row=row[~third])


def again(batches: Iterator[pa.RecordBatch], kind: pa.DataType) -> Iterator[pa.RecordBatch]:
    """All ids of a partition -> `AGAIN`."""
    table = whole(batches)
    if table is None:
        return
    a, b, row = (flat(table[name], np.int64) for name in WORDS)
    order = np.lexsort((row, b, a))
    a, b, row = a[order], b[order], row[order]
    same = (a[1:] == a[:-1]) & (b[1:] == b[:-1])
    first = np.flatnonzero(same & ~np.append(False, same[:-1]))
    texts = kind in (pa.string(), pa.large_string())
    few = first[np.argsort(row[first] if texts else a[first].view(stored(kind)), kind="stable")[:NAMED]]
    none = pa.nulls(len(few), pa.int64())
    names = [each.split()[0] for each in AGAIN.split(", ")]
    yield pa.record_batch([pa.array([len(first)]), *(pa.nulls(1, pa.int64()),) * 2], names=names)
    yield pa.record_batch([none, pa.array(row[few]), pa.array(a[few])], names=names)
