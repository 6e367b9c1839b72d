"""Facts about the rows of a chunk, which the task that reads them tells the driver as JSON, so that no other job has to find them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.io.facts import limits_of
from likewise.io.idcolumn import WAYS, IdFacts, id_facts
from likewise.items.wrapped import wrapped
from likewise.job import Job
from likewise.kinds import of_payload
from likewise.records import REJECTED, TEXT, Records, Want
from likewise.stages.facts import Block, Facts, row_facts
from likewise.stages.order import sort_key

#: One row in so many tells the driver its sort key, from which it cuts the priority order into partitions.
SAMPLED = 1024
#: The types of columns of ids that may be in order, and the most bytes of an id that the driver gets.
ORDERED, LONGEST = ("string", "int64"), 1000


def facts_of(records: Records, columns: dict[str, np.ndarray], source: int, rank: int, job: Job) -> dict[str, Any]:
    """Facts about the rows of a chunk, as JSON. rank: of the first row."""
    rejected = [(entry.row, entry.reason, None if entry.raw is None else entry.raw.hex()) for entry in records.rejected]
    facts: dict[str, Any] = {name: getattr(records, name) for name in ("fields", "found", "matrix", "other")}
    facts |= {"rejected": rejected, "texts": int(np.count_nonzero(records.kind == TEXT)), "words": int(columns["size"].sum(dtype=np.int64))}
    facts |= {"nulls": None if records.nulls is None else int(records.nulls.sum()), "widths": widths_of(records, job.want)}
    ignored = columns.get("ignored", np.zeros((0, 2), np.uint32))
    there = np.zeros(len(records), bool) if records.id is None else records.id.is_valid().to_numpy(zero_copy_only=False)
    block = Block(np.array([source]), np.array([len(records)]), range(rank, rank + len(records)))
    found = row_facts(block, columns.__getitem__, there, ignored[:0] if "units" in columns else ignored, limits_of(job))
    facts["counts"] = {name: int(count[0]) for name, count in found.counts.items()}
    facts["first"], facts["sums"] = found.first, {name: values.tolist() for name, values in found.sums.items()}
    if records.id is not None:
        facts["ids"] = ids_of(records.id.filter(wrapped(there & (columns["kind"] != REJECTED))))
    if job.options.keep not in ("first", "last"):
        rows = np.arange(0, len(records), SAMPLED)
        facts["keys"] = sort_key(job.options.keep, rows, columns["chars"][rows], columns["score"][rows]).tolist()
    return facts


def facts_in(about: dict[str, Any]) -> Facts:
    """The facts about the rows of a chunk; rows are named by their ranks."""
    counts = {name: np.array([count], np.int64) for name, count in about["counts"].items()}
    return Facts(np.array([about["source"]]), counts, about["first"], {name: np.array(values) for name, values in about["sums"].items()})


def widths_of(records: Records, want: Want) -> list[int]:
    """The widths that items state, up to two, unless one is known before: those of all tasks must be equal."""
    if want.width or records.width is None or not of_payload(want.kind).stated:
        return []
    return [int(width) for width in np.unique(records.width[records.width > 0])[:2]]


def ids_of(ids: pa.LargeBinaryArray) -> dict[str, Any]:
    """Facts about ids without null: `idcolumn.IdFacts`, and the first and the last one if they ascend."""
    found = id_facts(ids)
    said: dict[str, Any] = {**found._asdict(), "ways": sorted(found.ways)}
    way = next((way for way in ORDERED if way in found.ways), None)
    if way is not None and (values := WAYS[way](ids)) is not None and ascend(values):
        ends = ids[0].as_py(), ids[-1].as_py()
        said["ends"] = [end.hex() for end in ends] if max(map(len, ends)) <= LONGEST else None
    return said


def ascend(values: pa.Array) -> bool:
    """True if each value is greater than the one before it."""
    return bool(pc.all(pc.greater(values[1:], values[:-1]), min_count=0).as_py())


def id_facts_in(about: dict[str, Any]) -> IdFacts:
    """The facts about the ids of a chunk."""
    said = about.get("ids")
    return IdFacts() if said is None else IdFacts(said["number"], frozenset(said["ways"]), said["whole"], said["size"])
