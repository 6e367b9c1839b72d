"""The driver's part of reading: it cuts the sources into tasks, and stores the columns of their rows in the work folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.engines.spark.sketching import CHUNK, ENTRIES, NUMBERS, PART, ROW, Group, read
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped, raised
from likewise.errors import DataError, UsageError
from likewise.io.collection import append, unreadable_row
from likewise.io.inputs import Source
from likewise.io.ranges import WHOLE, Range
from likewise.io.room import Sketched
from likewise.items import binary
from likewise.job import Job
from likewise.messages import option
from likewise.records import Records, Rejected
from likewise.runs.items import Run
from likewise.schema import ROW_COLUMNS, UNIT_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Bytes that a task reads.
TASK_BYTES = 64 << 20


class Chunk(NamedTuple):
    """A chunk of a source, and the places of its rows and their parts among all."""

    about: dict[str, Any]
    rows: slice
    parts: slice


def groups_of(sources: Sequence[Source], first_side: int, limit: int | None, size: int) -> list[Group]:
    """The sources, cut into tasks of about ``size`` bytes. With a limit one task reads the first side, because it ends where the limit is reached."""
    groups = [Group([(number, part) for number in range(first_side) for part in planned(sources[number], size)], limit)] if limit is not None else []
    held = size
    for number in range(0 if limit is None else first_side, len(sources)):
        parts = planned(sources[number], size)
        for part in parts:
            if held >= size:
                groups.append(Group([]))
                held = 0
            groups[-1].ranges.append((number, part))
            held += max(1, sources[number].size // len(parts))
    return groups


def planned(source: Source, size: int) -> list[Range]:
    """The ranges of a source. One that is damaged is read whole, and the task says what is wrong."""
    try:
        return list(source.plan(size))
    except DataError:
        return [WHOLE]


def sketch(steps: Steps, name: str, job: Job, sources: Sequence[Source], groups: list[Group]) -> DataFrame:
    """The step of all rows, their parts and the facts about chunks (`sketching.ENTRIES`)."""

    def make() -> DataFrame:
        numbers = steps.session.range(0, len(groups), 1, len(groups))
        return mapped(numbers, partial(read, job=job, sources=sources, groups=groups), ENTRIES)

    return steps.table(name, make)


def chunks_of(steps: Steps, name: str, sources: Sequence[Source], run: Run) -> tuple[list[Chunk], list[dict[str, Any]]]:
    """The chunks of a step in input order, and the facts about chunks after damage, which are left out.

    Raises the first error of its tasks; a resumed run computes the step again.
    """
    table = steps.read(name, ["rank", "about"], pc.field("what") == CHUNK)
    abouts = sorted(map(json.loads, table["about"].to_pylist()), key=lambda about: (about["rank"], about["at"]))
    found: list[Chunk] = []
    damaged = []
    rows_of, ended, begin, begin_of_parts = [0] * len(sources), -1, 0, 0
    for about in abouts:
        if error := about.get("error") or refused(about, sources, rows_of, run):
            steps.drop(name)
            raise error if isinstance(error, Exception) else raised(**error)
        rows, parts = (slice(at, at + about[what]) for at, what in ((begin, "rows"), (begin_of_parts, "parts")))
        if about["source"] == ended:
            damaged.append(about)
        else:
            found.append(Chunk(about, rows, parts))
            rows_of[about["source"]] += about["rows"]
        if about["place"][1] < 0:
            ended = about["source"]  # another task may have read the range after the damage
        begin, begin_of_parts = rows.stop, parts.stop
    if len(widths := sorted({width for chunk in found for width in chunk.about["widths"]})) > 1:
        steps.drop(name)
        raise widths_differ(widths, run.job)
    return found, damaged


def widths_differ(widths: list[int], job: Job) -> UsageError:
    """The error of items that state other widths, of which one task does not know the first."""
    asked = option("engine", "spark")
    there = f"{job.kind.widths[1]}, and some have {job.kind.width_of(widths[0])}, others {job.kind.width_of(widths[1])}"
    return UsageError(f"{asked}: {there}; run it on one machine, without {asked}, which names them")


def refused(about: dict[str, Any], sources: Sequence[Source], rows_of: list[int], run: Run) -> Exception | None:
    """The error of a chunk with an unreadable row, unless these are skipped."""
    if not about["rejected"] or run.job.options.on_error == "skip":
        return None
    source = about["source"]
    return unreadable_row(sources[source], rows_of[source], Rejected(*about["rejected"][0]), listed=run.listed)


def ranks(steps: Steps, name: str, chunks: Sequence[Chunk], *, of_parts: bool) -> np.ndarray:
    """The ranks of the rows of chunks, or of their parts, in input order: int64[n]."""
    table = steps.read(name, ["rank"], pc.field("what") == (PART if of_parts else ROW))
    rank = np.sort(table["rank"].to_numpy())
    return np.concatenate([rank[:0], *(rank[chunk.parts if of_parts else chunk.rows] for chunk in chunks)])


def collect(steps: Steps, name: str, chunks: Sequence[Chunk], sources: Sequence[Source], run: Run) -> None:
    """Append the light columns of all rows to the work folder, chunk by chunk, as if they had been read here."""
    if run.work.done("read"):
        return
    rows, parts = (in_order(steps, name, what) for what in (ROW, PART))
    first = [0] * len(sources)
    appended = len(run.work.done("chunk"))  # by a driver that was lost
    for number, chunk in enumerate(chunks):
        source = chunk.about["source"]
        if number >= appended:
            append(run.work, sources[source], first[source], sketched(chunk, rows, parts, run.job))
            run.advance(chunk.about["place"][2])
        first[source] += chunk.about["rows"]
    run.work.append({}, step="read")
    run.work.settle()


def in_order(steps: Steps, name: str, what: int) -> pa.Table:
    """The light columns of rows or parts in input order."""
    columns = ["rank", *NUMBERS, "id"] if what == ROW else ["rank", *UNIT_NUMBERS, "ignored"]
    table = steps.read(name, columns, pc.field("what") == what)
    return table.take(pc.sort_indices(table["rank"])).combine_chunks()


#: The columns of parts.
UNIT_NUMBERS = ["bytes", "chars", "tokens", "size", "copy_a", "copy_b"]


def numbers(table: pa.Table, columns: dict[str, np.dtype]) -> dict[str, np.ndarray]:
    """Columns for the work folder, made from those of the table."""
    made = {}
    for name, dtype in columns.items():
        if name == "copy":
            made[name] = np.stack([table["copy_a"].to_numpy(), table["copy_b"].to_numpy()], axis=1).view(np.uint64)
        else:
            made[name] = table[name].to_numpy().astype(dtype.base)
    return made


def sketched(chunk: Chunk, rows: pa.Table, parts: pa.Table, job: Job) -> Sketched:
    """A chunk of rows without sets, sketches and band keys, which the driver does not need."""
    about, here = chunk.about, rows[chunk.rows]
    n, columns = len(here), numbers(here, ROW_COLUMNS)
    compared = here
    if job.options.level is not None:
        compared = parts[chunk.parts]
        columns |= {f"unit-{name}": values for name, values in numbers(compared, UNIT_COLUMNS).items()}
        columns["units"] = here["units"].to_numpy().astype(np.uint32)
    if job.ignored:
        columns["ignored"] = np.ascontiguousarray(compared["ignored"].to_numpy()).view(np.uint32).reshape(-1, 2)
    columns |= {"sets": np.zeros(0, np.uint64), "band_keys": np.zeros((0, n), np.uint64)}
    records = Records(
        columns["kind"],
        columns["start"],
        columns["length"],
        binary.from_list([]),
        id=pa.concat_arrays([chunk.cast(pa.large_binary()) for chunk in here["id"].chunks]) if about["ids"] and n else None,
        rejected=[Rejected(row, reason, None if raw is None else bytes.fromhex(raw)) for row, reason, raw in about["rejected"]],
        nulls=here["nulls"].to_numpy() if about["nulls"] else None,
        fields=tuple(about["fields"]),
        matrix=about["matrix"],
        other=about["other"],
        found=about["found"],
    )
    begin, end, nbytes = about["place"]
    return Sketched(about["source"], begin, end, nbytes, records, columns, bytes.fromhex(about["digest"]), 0)
