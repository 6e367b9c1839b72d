"""The columns of all rows as arrays of the driver, for lists of pairs, and for parts of documents, which are decided one document after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.engines.spark.rows import Chunk
from likewise.engines.spark.sketching import NUMBERS, PART, ROW
from likewise.engines.spark.steps import Steps
from likewise.io import consistency
from likewise.io.collection import append
from likewise.io.inputs import Source
from likewise.io.room import Sketched
from likewise.items import binary
from likewise.job import Job
from likewise.records import Records, Rejected
from likewise.runs.items import Run
from likewise.schema import ROW_COLUMNS, UNIT_COLUMNS


def collect(steps: Steps, name: str, chunks: Sequence[Chunk], sources: Sequence[Source], run: Run) -> None:
    """Append the light columns of all rows to the work folder, chunk by chunk, as if they had been read here."""
    if run.work.steps:
        consistency.check(run.work, len(sources))
    if run.work.done("read"):
        return
    if not run.work.steps:
        run.work.discard("sets", "odd")  # they stay in the step
    rows, parts = (in_order(steps, name, what) for what in (ROW, PART))
    first = [0] * len(sources)
    appended = len(run.work.done("chunk"))  # by a driver that was lost
    for number, chunk in enumerate(chunks):
        source = chunk.about["source"]
        if number >= appended:
            append(run.work, sources[source], first[source], sketched(chunk, rows, parts, run.job))
            run.advance(0)  # the bytes were counted when they were read
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
    columns["band_keys"] = np.zeros((0, n), np.uint64)
    records = Records(
        columns["kind"],
        columns["start"],
        columns["length"],
        binary.from_list([]),
        id=pa.concat_arrays([chunk.cast(pa.large_binary()) for chunk in here["id"].chunks]) if "ids" in about and n else None,
        rejected=[Rejected(row, reason, None if raw is None else bytes.fromhex(raw)) for row, reason, raw in about["rejected"]],
        nulls=here["nulls"].to_numpy() if about["nulls"] is not None else None,
        fields=tuple(about["fields"]),
        matrix=about["matrix"],
        other=about["other"],
        found=about["found"],
    )
    begin, end, nbytes = about["place"]
    return Sketched(about["source"], begin, end, nbytes, records, columns, bytes.fromhex(about["digest"]), 0)
