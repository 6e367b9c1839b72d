"""The driver's part of reading: it cuts the sources into tasks, and looks at the chunks that they read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from likewise.engines.spark.settling import united
from likewise.engines.spark.sketching import CHUNK, ENTRIES, FILES, PART, ROW, Group, read
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped, raised
from likewise.errors import DataError, UsageError
from likewise.io.collection import too_large, unreadable_row
from likewise.io.inputs import Source
from likewise.io.ranges import WHOLE, Range
from likewise.job import Job
from likewise.messages import option
from likewise.records import Rejected
from likewise.runs.items import Run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Bytes that a task reads.
TASK_BYTES = 64 << 20
#: A task gets the names of the sources of so many groups, or more if the groups would be cut into more than so many parts: Spark plans each part.
TOLD, MOST_TOLD = 256, 64


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
    """The step of all rows, their parts and the facts about chunks (`sketching.ENTRIES`). The file with the number of a group has its rows.

    Tasks write the files themselves: rows of kilobytes would cost Java more than the work on them.
    """

    def some(folder: Path, numbers: range) -> DataFrame:
        here = {number: groups[number] for number in numbers}
        own = {source: sources[source] for group in here.values() for source, _ in group.ranges}
        tasks = steps.session.range(numbers.start, numbers.stop, 1, len(numbers))
        return mapped(tasks, partial(read, folder=folder, job=job, sources=own, groups=here), FILES)

    def write(folder: Path) -> dict[str, Any]:
        folder.mkdir(parents=True)
        size = max(TOLD, -(-len(groups) // MOST_TOLD))
        for task in united([some(folder, range(begin, min(begin + size, len(groups)))) for begin in range(0, len(groups), size)]).collect():
            (folder / task["name"]).rename(folder / f"part-{task['number']:05}.parquet")
        for path in folder.glob("_*"):  # of attempts that failed
            path.unlink()
        return {"schema": ENTRIES}

    steps.files(name, write)
    return steps.frame(name)


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
    """The error of a chunk with a row that is too large for memory, or with an unreadable row, unless these are skipped."""
    if found := about.get("too_large"):
        return too_large(sources[about["source"]], rows_of[about["source"]], found, about["memory"])
    if not about["rejected"] or run.job.options.on_error == "skip":
        return None
    source = about["source"]
    return unreadable_row(sources[source], rows_of[source], Rejected(*about["rejected"][0]), listed=run.listed)


def ranks(steps: Steps, name: str, chunks: Sequence[Chunk], *, of_parts: bool) -> np.ndarray:
    """The ranks of the rows of chunks, or of their parts, in input order: int64[n]."""
    table = steps.read(name, ["rank"], pc.field("what") == (PART if of_parts else ROW))
    rank = np.sort(table["rank"].to_numpy())
    return np.concatenate([rank[:0], *(rank[chunk.parts if of_parts else chunk.rows] for chunk in chunks)])
