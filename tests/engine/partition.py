"""A process of the tiny engine (processes.py): it reads orders from standard input, each a step for one partition.

A process reads and writes Parquet files of a folder, and keeps nothing in memory between orders. A row is identified by its rank, the number of its
range << 32 | its place in the range, which is input order; an item, after copies are collapsed, by its number in priority order.
"""

from __future__ import annotations

import json
import pickle
import sys
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from likewise.engines.engine import written
from likewise.io import contents
from likewise.io.chunks import chunks, failed, parsed
from likewise.job import Job
from likewise.kernels.bands import MIX
from likewise.records import Records, in_turn
from likewise.runs.items import rule
from likewise.stages.buckets import Splits
from likewise.stages.budget import Cut, Hot, Overfull, drawn, hottest, left_out, merged, overfull, skipped
from likewise.stages.candidates import FINER, Candidates, candidate_pairs, keyed
from likewise.stages.copies import first_of_copies
from likewise.stages.near import near
from likewise.stages.settle import settled
from likewise.stages.sketch import sketcher
from likewise.stages.verify import Compared

#: Columns of compared items with other names.
OF_UNITS = ("sets", "odd", "band_keys", "ignored")


@dataclass(frozen=True)
class Order:
    """A step for one partition."""

    step: str
    number: int  # of the partition, or of the range or source
    parts: int
    folder: Path
    job: Job
    more: Any = None


# Parquet files


def column(values: Any) -> pa.Array:
    """An array as a column: rows of several words become lists of one length, (values, offsets) becomes lists."""
    if isinstance(values, tuple):
        return pa.LargeListArray.from_arrays(values[1], values[0])
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return pa.FixedSizeListArray.from_arrays(values.ravel(), values.shape[1])
    return pa.array(values)


def write(path: Path, metadata: Any = None, **columns: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({name: column(values) for name, values in columns.items()})
    pq.write_table(table.replace_schema_metadata({"about": json.dumps(metadata)}), path)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"))


def read(place: Path, *names: str, where: Any = None) -> list[Any]:
    """Columns of a file, or of all files of a folder in order, as arrays. where: a function from the table to bool[rows] that selects rows."""
    paths = [place] if place.is_file() else files(place)
    table = pa.concat_tables([pq.read_table(path, columns=list(names), partitioning=None) for path in paths])
    if where is not None:
        table = table.filter(pa.array(where(table)))
    return [array(table[name]) for name in names]


def array(values: pa.ChunkedArray) -> Any:
    whole = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    if pa.types.is_fixed_size_list(whole.type):
        return whole.flatten().to_numpy().reshape(len(whole), whole.type.list_size)
    if pa.types.is_large_list(whole.type):
        return whole.flatten().to_numpy(), np.concatenate(([0], np.cumsum(pc.list_value_length(whole).to_numpy(), dtype=np.int64)))
    return whole.to_numpy(zero_copy_only=False)


def of_partition(words: np.ndarray, order: Order) -> np.ndarray:
    """True where these words, uint64[n], belong to the partition."""
    return (words * MIX >> np.uint64(32)) % np.uint64(order.parts) == np.uint64(order.number)


# The steps


def rows(order: Order) -> None:
    """A range of a source -> rows/: one file a chunk, with all columns of its rows."""
    number, source, part = order.more
    job, skip = order.job, order.job.options.on_error == "skip"
    sketch, rank = sketcher(job), order.number << 32
    rank_of_units = rank
    for at, chunk in enumerate(chunks(source, job.want, part=part, skip=skip)):
        records = chunk if isinstance(chunk, str) else parsed(source, chunk, job.want, skip=skip)
        place = (-1, -1, 0) if isinstance(records, str) else (chunk.start, chunk.start + len(chunk.data), int(chunk.data.nbytes))
        records = failed(records, job.want) if isinstance(records, str) else records
        columns, name = sketch(records), f"{order.number:05}-{at:05}.parquet"
        items = columns if job.options.level is None else units(columns)
        items["sets"] = items["sets"], np.concatenate(([0], np.cumsum(items["size"], dtype=np.int64)))
        keys = items.pop("band_keys")
        items |= {"keys": np.ascontiguousarray(keys.T)} if len(keys) else {}
        if items is not columns:
            write(order.folder / "units" / name, rank=rank_of_units + np.arange(len(items["size"])), **items)
            rank_of_units += len(items["size"])
        about = {name: getattr(records, name) for name in ("fields", "found", "matrix", "other")}
        about |= {"source": number, "place": place, "digest": contents.digest(contents.words(records)).hex(), "rejected": list(rejected(records))}
        write(order.folder / "rows" / name, about, rank=rank + np.arange(len(records)), **identities(records), **columns)
        rank += len(records)


def units(columns: dict[str, Any]) -> dict[str, Any]:
    """Take the columns of units out of those of rows."""
    own = {name.removeprefix("unit-"): columns.pop(name) for name in [*columns] if name.startswith("unit-") or name in OF_UNITS}
    return own | {"per": np.repeat(columns["per"], columns["units"])}


def items_of(order: Order) -> Path:
    """The folder of the compared items: rows, or units of them."""
    return order.folder / ("rows" if order.job.options.level is None else "units")


def identities(records: Records) -> dict[str, pa.Array]:
    return {
        "id": pa.nulls(len(records), pa.large_binary()) if records.id is None else records.id,
        "nulls": pa.nulls(len(records), pa.int64()) if records.nulls is None else pa.array(records.nulls),
    }


def rejected(records: Records) -> Iterator[tuple[int, str, str | None]]:
    for row, reason, raw in records.rejected:
        yield row, reason, None if raw is None else raw.hex()


def copies(order: Order) -> None:
    """order/ -> copies/: the first copy of each row in priority order. All rows with the same digest belong to one partition."""
    copy, per, live, place = read(order.folder / "order", "copy", "per", "live", "place")
    mine = np.flatnonzero(of_partition(copy[:, 0], order))
    first = first_of_copies(copy[mine], per[mine], live[mine], place[mine])
    write(order.folder / "copies" / f"{order.number:05}.parquet", row=mine, first=mine[first])


def collide(order: Order) -> None:
    """rows/, items/ -> candidates/, buckets/ and overfull/: candidate pairs, sizes of buckets, and members of overfull buckets with their parts at
    each level."""
    (rank,) = read(order.folder / "items", "rank")
    per, of = read(items_of(order), "per", "rank")
    at = np.searchsorted(of, rank)
    per, name = per[at], f"{order.number:05}.parquet"
    if order.job.plan is None:
        later = np.arange(order.number, len(rank), order.parts)
        later, earlier = np.repeat(later, later), np.concatenate([np.arange(each) for each in (0, *later.tolist())])
        some = (per[later] == per[earlier]) & (later >= order.more.fixed) & (order.more.inside | (earlier < order.more.fixed))
        write(order.folder / "candidates" / name, later=later[some], earlier=earlier[some])
        write(order.folder / "buckets" / name, size=np.zeros(0, np.int64))
        return
    (keys,) = read(items_of(order), "keys")
    found = [candidates_in(order, keys[at].T, band, per if per.any() else None) for band in range(order.job.plan.bands)]
    later, earlier = np.unique(np.concatenate([np.stack([some.later, some.earlier]) for some in found], axis=1), axis=1)
    write(order.folder / "candidates" / name, later=later, earlier=earlier)
    write(order.folder / "buckets" / name, size=np.concatenate([some.sizes for some in found]))
    parts = [some.overfull for some in found]
    band = np.repeat(np.arange(len(parts)), [len(each.members) for each in parts])
    members, levels, listed = (np.concatenate(each, axis=-1).T for each in zip(*((p.members, p.levels, p.listed) for p in parts), strict=True))
    write(order.folder / "overfull" / name, band=band, item=members, levels=levels, listed=listed.astype(np.uint8))


def candidates_in(order: Order, keys: np.ndarray, band: int, per: np.ndarray | None) -> Candidates:
    """The candidate pairs of one band. All members of a bucket belong to one partition."""
    here = keyed(np.ascontiguousarray(keys[band]), per)
    mine = np.flatnonzero(of_partition(here, order))
    finer = [(band + level) % len(keys) for level in range(1, 1 + min(FINER, len(keys) - 1))]
    return candidate_pairs(here[mine], keys[finer][:, mine], mine, order.more)


def compare(order: Order) -> None:
    """candidates/, rows/ -> similar pairs. A pair belongs to the partition of its later item, whatever bands it collided in."""
    later, earlier = read(order.folder / "candidates", "later", "earlier", where=lambda table: array(table["later"]) % order.parts == order.number)
    later, earlier = np.unique(np.stack([later, earlier]), axis=1)
    overlap, out_of = compared(order, later, earlier)
    good = overlap >= 0
    columns = {"later": later[good], "earlier": earlier[good], "overlap": overlap[good], "out_of": out_of[good]}
    write(order.folder / "similar" / f"{order.number:05}.parquet", **columns)


def compared(order: Order, later: np.ndarray, earlier: np.ndarray) -> Compared:
    """Compare pairs of items. Only sets that pass the filter are read."""
    (rank,) = read(order.folder / "items", "rank")
    found = Compared(np.full(len(later), -1, np.int64), np.zeros(len(later), np.int64))
    passed = np.arange(len(later))
    if "odd" in pq.read_schema(files(items_of(order))[0]).names:
        light = (each for items in (later, earlier) for each in attached(order, rank[items], "size", "odd"))
        passed = np.flatnonzero(near(*light, rule(order.job)))
    (words_a,), (words_b,) = (attached(order, rank[items[passed]], "sets") for items in (later, earlier))
    found.overlap[passed], found.out_of[passed] = order.job.compared.similar(words_a, words_b, order.job)
    return found


def attached(order: Order, ranks: np.ndarray, *names: str) -> list[Any]:
    """Columns of the rows with these ranks, in the order of ``ranks``; each row is read once."""
    *found, of = read(items_of(order), *names, "rank", where=lambda table: np.isin(array(table["rank"]), ranks))
    at = np.searchsorted(of, ranks)
    return [array(pa.chunked_array([column(each).take(pa.array(at))])) for each in found]


def settle(order: Order) -> None:
    """Similar pairs -> settled/: the representative of each item, and the similarity to it. One partition decides all."""
    found = settled(*read(order.folder / "similar", "later", "earlier", "overlap", "out_of"), order.more)
    write(order.folder / "settled" / "0.parquet", **found._asdict())


def budget(order: Order) -> None:
    """overfull/, settled/ -> cut/ and hottest/: the pairs that the rule for overfull buckets skipped, from counts and samples of each partition."""
    cut, worst = Cut(0, 0, 0, 0.0), []
    if order.job.plan is not None:
        (representative,) = read(order.folder / "settled", "representative")
        places = [overfull_in(path, order, representative < 0) for path in files(order.folder / "overfull")]
        counts = merged([full.counts for _, full in places])
        bucket, number = drawn(counts, order.job.seed)
        names, pairs = counts.name[bucket], []
        for splits, full in places:
            here = np.flatnonzero(np.isin(names, full.counts.name))
            pairs.append(np.array(skipped(splits, full, np.searchsorted(full.counts.name, names[here]), number[here])))
        left, right = np.concatenate(pairs, axis=1)
        cut = left_out(int(counts.cut.sum()), len(left), int(np.count_nonzero(compared(order, right, left).overlap >= 0)))
        worst = hottest(counts)
    write(order.folder / "cut" / "0.parquet", **{name: [value] for name, value in asdict(cut).items()})
    write(order.folder / "hottest" / "0.parquet", bucket=np.array(worst, np.int64).reshape(-1, len(Hot._fields)))


def overfull_in(path: Path, order: Order, kept: np.ndarray) -> tuple[Splits, Overfull]:
    """The overfull buckets of a partition."""
    band, item, levels, listed = read(path, "band", "item", "levels", "listed")
    levels, listed, begin = levels.T, listed.T.astype(bool), np.searchsorted(band, np.arange(order.job.plan.bands + 1))
    members = ((item[begin:end], levels[:, begin:end], listed[:, begin:end]) for begin, end in pairwise(begin))
    return Splits(item, begin, levels[1:], listed), overfull(members, lambda items: kept[items], order.more)


def keep(order: Order) -> None:
    """Some rows of a source -> its kept records, unchanged, in the output; and written/: their number."""
    source, target, rows = order.more
    write(order.folder / "written" / f"{order.number:05}.parquet", rows=[written(source, target, rows, in_turn)])


STEPS = {step.__name__: step for step in (rows, copies, collide, compare, settle, budget, keep)}


def main() -> None:
    """Read orders as pickles, and answer each with a pickle: None, or a traceback."""
    while True:
        try:
            order = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            said = STEPS[order.step](order)
        except Exception:
            said = traceback.format_exc()
        sys.stdout.buffer.write(pickle.dumps(said))
        sys.stdout.buffer.flush()
