"""Pairs of items that occur together in many baskets, exactly: by A-Priori, or by PCY, which leaves most pairs uncounted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.checks import index
from likewise.io.idcolumn import id_column
from likewise.io.ids import as_json, from_json
from likewise.items import binary
from likewise.items.arrow import is_string, listed, plain
from likewise.items.elements import element, is_missing
from likewise.items.reader import column_of, read_column
from likewise.items.sets import READER
from likewise.items.unusable import MATRIX
from likewise.items.wrapped import wrapped
from likewise.kernels.baskets import count_items, count_pairs
from likewise.kernels.hashing import derive
from likewise.records import Want
from likewise.runs.table import Table

METHODS = ("apriori", "pcy")
#: Default number of counters in PCY's first pass: 4 MiB.
BUCKETS = 2**20
#: Counters have 32 bits, codes of items 31.
MOST = 2**31 - 1
#: Stream of constants drawn from the seed, for hashing pairs to buckets.
PURPOSE = 0x70637900

#: Item numbers from 0, uint32[m]; offsets of the baskets, int64[n + 1]; and the items, a column in ascending order.
Coded = tuple[NDArray[np.uint32], NDArray[np.int64], pa.Array]


class FrequentPairs(Table):
    """The result of ``frequent``: item_a, item_b and count, the number of baskets with both, the most frequent first.

    ``items`` is a table of the frequent items, item and count; ``report`` holds the method and the counts of each pass.
    """

    def __init__(self, table: pa.Table, items: Table, report: dict[str, Any]):
        super().__init__(table)
        self.items: Table = items
        self.report: dict[str, Any] = report

    def above(self, support: int) -> FrequentPairs:
        """Return the pairs and items of a higher support. Raises UsageError for a lower one."""
        least = checked_support(support)
        if least < self.report["support"]:
            raise UsageError(f"support {least}: these pairs were counted with support {self.report['support']}; a lower support needs a new count")
        table, items = (given.filter(pc.greater_equal(given["count"], least)) for given in (self.to_arrow(), self.items.to_arrow()))
        return FrequentPairs(table, Table(items), self.report | {"support": least})


def frequent(baskets: Any, *, support: int, method: str = "apriori", buckets: int | None = None, seed: int = 0) -> FrequentPairs:
    """Return the pairs of items that occur together in at least ``support`` baskets, with their exact counts.

    baskets: a list of sets, lists or 1-D arrays of items; an Arrow column of lists; a 2-D array of whole numbers; or two arrays (values, offsets).
    Items are whole numbers of any size, or strings; an item that occurs twice in a basket counts once.

    ``apriori`` counts items, then the pairs of frequent ones (Agrawal and Srikant 1994). ``pcy`` in its first pass also hashes each pair to one of
    ``buckets`` counters, and then counts a pair only if its bucket reached the support (Park, Chen and Yu 1995): fewer counters in the second
    pass, but the first one visits the pairs of all items. Time grows with the number of pairs inside baskets: a basket of thousands of frequent
    items takes millions of steps.

    Raises UsageError for a support below 1, and with the row for a value that is not an item.

    >>> import likewise as lw
    >>> found = lw.frequent([["milk", "bread"], ["milk", "bread", "tea"], ["tea"]], support=2)
    >>> found.to_arrow().to_pylist()
    [{'item_a': 'bread', 'item_b': 'milk', 'count': 2}]
    """
    least, many, key = checked_support(support), buckets_of(method, buckets), key_of(seed)
    codes, offsets, items = coded(baskets)
    counts, in_bucket = count_items(codes, offsets, len(items), key, many)
    chosen = np.flatnonzero(counts >= least)
    ranks = np.full(len(items), -1, np.int64)
    ranks[chosen] = np.arange(len(chosen))
    pairs, together = count_pairs(codes, offsets, ranks, key, in_bucket >= least, chosen)
    good = np.flatnonzero(together >= least)
    good = good[np.lexsort((pairs[good], -together[good].astype(np.int64)))]

    names = items.take(wrapped(chosen))
    sides = (names.take(wrapped((pairs[good] >> np.uint64(shift)).astype(np.uint32))) for shift in (32, 0))
    table = pa.table([*sides, wrapped(together[good].astype(np.int64))], ["item_a", "item_b", "count"])
    of_items = pa.table([names, wrapped(counts[chosen].astype(np.int64))], ["item", "count"])
    first = {"items": len(items), "frequent_items": len(chosen), "counter_bytes": counts.nbytes + in_bucket.nbytes}
    if many:
        first |= {"buckets": many, "frequent_buckets": int((in_bucket >= least).sum())}
    bytes_held = pairs.nbytes + together.nbytes + many  # one byte per bucket: whether it is frequent
    second = {"candidates": int((together > 0).sum()), "frequent_pairs": len(good), "counter_bytes": bytes_held}
    report = {"method": method, "support": least, "baskets": len(offsets) - 1, "passes": [first, second]}
    return FrequentPairs(table, Table(of_items), report)


def checked_support(support: Any) -> int:
    """Return the support as an int. Raises UsageError if it is not a whole number from 1."""
    least = index(support)
    if least is None or not 1 <= least <= MOST:
        raise UsageError(f"support={support!r}: give a whole number of baskets, 1 or more; for a share, give share * baskets rounded up")
    return least


def buckets_of(method: str, buckets: Any) -> int:
    """Return the number of counters to which pairs are hashed: 0 for A-Priori. Raises UsageError for invalid options."""
    if method not in METHODS:
        raise UsageError(f"method={method!r}: choose one of {', '.join(METHODS)}")
    if method == "apriori":
        if buckets is not None:
            raise UsageError("buckets= applies only to method='pcy'")
        return 0
    many = BUCKETS if buckets is None else index(buckets)
    if many is None or not 1 <= many <= MOST:
        raise UsageError(f"buckets={buckets!r}: give a whole number from 1 to {MOST:,}")
    return many


def key_of(seed: Any) -> np.uint64:
    """Return the key of the hash of pairs. Raises UsageError for an invalid seed."""
    checked = index(seed)
    if checked is None or not 0 <= checked < 2**64:
        raise UsageError(f"seed={seed!r}: give a whole number from 0 to 2^64 - 1")
    key: np.uint64 = derive(np.uint64(checked), PURPOSE, 1)[0]
    return key


def coded(baskets: Any) -> Coded:
    """Return baskets as numbers, and the items. Raises UsageError for a matrix of 0 and 1, and with the row for a value that is not an item."""
    column = column_of(baskets, READER)
    rows = read_column(column, READER, Want(kind=READER.kind))
    if rows.matrix:
        raise UsageError(MATRIX)
    values = pa.concat_arrays([plain(chunk) for chunk in column.chunks] or [plain(pa.nulls(0, column.type))])
    if (lists := listed(values)) is not None:
        found, flat = lists
        if not flat.null_count and (pa.types.is_integer(flat.type) or pa.types.is_null(flat.type) or is_string(flat.type)):
            encoded = flat.dictionary_encode()
            return ordered(encoded.indices.to_numpy(zero_copy_only=False), found.offsets, encoded.dictionary)
    return of_python(values, rows.begins)


def of_python(values: pa.Array, offsets: NDArray[np.int64]) -> Coded:
    """Return `coded` baskets that have items of several types, floats, or missing items."""
    baskets = map(from_json, values.storage.to_pylist()) if isinstance(values.type, pa.JsonType) else values.to_pylist()
    numbers: dict[Any, int] = {}
    found = [numbers.setdefault(element(item), len(numbers)) for basket in baskets for item in basket if not is_missing(item)]
    column = id_column(binary.from_list(map(as_json, numbers)))
    return ordered(np.array(found, np.int64), offsets, pa.array([], pa.string()) if column is None else column.values)


def ordered(values: NDArray[Any], offsets: NDArray[np.int64], items: pa.Array) -> Coded:
    """Number the items in ascending order, numbers by value and strings by code point, so that the order of baskets and sets does not matter.

    values: index in ``items`` of each entry. Raises UsageError for more than MOST baskets or items.
    """
    if max(len(items), len(offsets)) > MOST:
        raise UsageError(f"{len(offsets) - 1:,} baskets with {len(items):,} items; at most {MOST:,} of each are supported")
    order = pc.sort_indices(items) if len(items) else pa.array([], pa.uint64())
    numbers = np.empty(len(items), np.uint32)
    numbers[order.to_numpy(zero_copy_only=False)] = np.arange(len(items), dtype=np.uint32)
    return numbers[values.astype(np.int64)], np.ascontiguousarray(offsets, np.int64), items.take(order)
