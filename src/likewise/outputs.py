"""What ``dedup`` writes: kept records, the tables that account for the rest, and how it was made."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import xxhash

from likewise import __version__
from likewise.engines.local import peak_memory
from likewise.errors import DataError, UsageError
from likewise.io.collection import Collection
from likewise.io.formats.text import Files
from likewise.io.inputs import Source, printable
from likewise.io.output import checksums, publish, write_json, write_table
from likewise.items.unicode_data import UNICODE_VERSION
from likewise.options import Options
from likewise.pipeline import Items, Run, check_unchanged
from likewise.records import REJECTED
from likewise.results import Decision, Removal, pairs_table

#: Names the way in which shingles, slots and band keys are computed. Whatever changes one of their bits changes this.
HASH_SCHEME = "lw1"
Step = tuple[str, Callable[[], None]]  # a name for the journal, and what to do

#: Files of an output folder that tell of clocks and machines, and so are left out of the manifest's checksums.
OF_THE_MACHINE = ("run.json", "report.html", "manifest.json")


def described(options: Options, verb: str) -> dict[str, Any]:
    """How a result is made, by all that can change it."""
    versions = {"likewise": __version__, "hash_scheme": HASH_SCHEME, "unicode": UNICODE_VERSION}
    return {"verb": verb, "versions": versions, "method": options.described()}


def check(sources: Sequence[Source], options: Options) -> None:
    """Refuse, before any work, what cannot be written."""
    if options.output == "annotate" and any(isinstance(source.path, Files) for source in sources):
        raise UsageError("--output annotate: a text file has no field that could be added; choose copy, ids or mask")


def write(items: Items, decision: Decision, result: Removal, run: Run) -> Path:
    """Fill the staged folder, file by file; what an interrupted run had finished is not written again."""
    collection, options, work = items.collection, run.options, run.work
    begun = (work.folder / "staged").is_dir()  # else what had been written is gone with it
    staged = work.staged()
    steps: list[Step] = [
        *records(collection, decision, options, staged),
        ("removed.parquet", lambda: write_table(result.removed.to_arrow(), staged / "removed.parquet", collection.id_note)),
        ("clusters.parquet", lambda: write_table(result.clusters.to_arrow(), staged / "clusters.parquet", collection.id_note)),
        ("rejected.jsonl", lambda: work.column("rejected", "u1").tofile(staged / "rejected.jsonl")),
        ("report.json", lambda: write_json(result.report, staged / "report.json")),
    ]
    if options.pairs:
        steps.append(("pairs.parquet", lambda: write_table(compared_pairs(collection, decision), staged / "pairs.parquet", collection.id_note)))
    finished = {entry["file"] for entry in work.done("write")} if begun else set()
    run.progress.begin("writing", len(steps), "files")
    for (name, _), _ in run.engine.map(lambda step: step[1](), (step for step in steps if step[0] not in finished)):
        work.append({}, step="write", file=name)
        run.progress.advance(1)
    for source, fingerprint in zip(collection.sources, run.inputs, strict=True):
        check_unchanged(source, fingerprint)
    write_json(manifest(collection, options, staged), staged / "manifest.json")
    return staged


def published(out: Path, run: Run) -> bool:
    """Whether this run had put its output into place before it was interrupted."""
    return any(entry["manifest"] == digest(out / "manifest.json") for entry in run.work.done("publish"))


def publish_staged(staged: Path, out: Path, run: Run) -> None:
    """Put the output into its place. The journal knows it by its manifest, so that a run that is killed here is known to be done."""
    run.work.append({}, step="publish", manifest=digest(staged / "manifest.json"))
    publish(staged, out, overwrite=run.options.overwrite)


def digest(path: Path) -> str | None:
    return xxhash.xxh3_128_hexdigest(path.read_bytes()) if path.is_file() else None


def records(collection: Collection, decision: Decision, options: Options, staged: Path) -> list[Step]:
    """The steps that write records, or stand for them: --output and --removed-records."""
    readable = collection.column("kind") != REJECTED
    kept = readable & ~decision.removed
    whole = {
        "copy": lambda: copied(collection, kept, staged / "kept"),
        "annotate": lambda: copied(collection, readable, staged / "annotated", added(collection, decision)),
        "ids": lambda: [("kept.parquet", lambda: write_table(placed(collection, np.flatnonzero(kept)), staged / "kept.parquet", collection.id_note))],
        "mask": lambda: [("mask.parquet", lambda: write_table(mask(collection, kept), staged / "mask.parquet"))],
    }
    steps = whole[options.output]()
    if options.removed_records:
        steps += copied(collection, decision.removed, staged / "removed")
    return steps


def copied(collection: Collection, keep: np.ndarray, folder: Path, add: Callable[[np.ndarray], pa.Table] | None = None) -> list[Step]:
    """A step a source: its rows of ``keep``, as they were, under ``folder``."""

    def step(number: int) -> None:
        source = collection.sources[number]
        rows = collection.rows_of(number)
        target = source.target(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        here = keep[rows]
        added = None if add is None else add(rows.start + np.flatnonzero(here))
        try:
            source.format.write(source.path, target, here, collection.column("start")[rows], collection.column("length")[rows], added)
        except DataError:
            if here.any() or not collection.failed(number):
                raise
            if target.is_file():  # the source was set aside as a whole: nothing can be written in its format
                target.unlink()

    return [(f"{folder.name}/{number}", partial(step, number)) for number in range(len(collection.sources))]


def added(collection: Collection, decision: Decision) -> Callable[[np.ndarray], pa.Table]:
    """Cluster, witness and similarity of rows, under names that are not likely to be taken."""
    clustered = decision.removed.copy()
    clustered[decision.kept_row[decision.removed]] = True
    head = np.where(decision.removed, decision.kept_row, np.arange(len(clustered)))

    def table(rows: np.ndarray) -> pa.Table:
        cluster = pa.array(head[rows], mask=~clustered[rows])
        witness = pa.array(decision.kept_row[rows], mask=~decision.removed[rows])
        similarity = pa.array(decision.similarity[rows], from_pandas=True)
        heads = {"likewise_cluster": collection.ids(cluster), "likewise_witness": collection.ids(witness)}
        return pa.table(heads | {f"likewise_{decision.value}": similarity})

    return table


def placed(collection: Collection, rows: np.ndarray) -> pa.Table:
    source, position = collection.places(rows)
    return pa.table({"id": collection.ids(rows), "source": source, "position": position})


def mask(collection: Collection, kept: np.ndarray) -> pa.Table:
    source, position = collection.places(np.arange(len(kept)))
    return pa.table({"source": source, "position": position, "kept": kept})


def compared_pairs(collection: Collection, decision: Decision) -> pa.Table:
    a, b = decision.matches.min(axis=1), decision.matches.max(axis=1)
    return pairs_table(collection, a, b, decision.match_similarity, decision.value)


def manifest(collection: Collection, options: Options, staged: Path) -> dict[str, Any]:
    inputs = [
        {"source": printable(source.name), "rows": int(rows), "xxh3_128": digest}
        for source, rows, digest in zip(collection.sources, np.diff(collection.first_row), collection.digests(), strict=True)
    ]
    outputs = [entry for entry in checksums(staged) if entry["path"] not in OF_THE_MACHINE]
    return {"format": "likewise/output", "version": 1, **described(options, "dedup"), "inputs": inputs, "outputs": outputs}


def machine_facts(sources: Sequence[Source], run: Run) -> dict[str, Any]:
    """What run.json holds: times, rates and the machine; nothing here is promised to be equal twice."""
    return {
        "inputs": [
            {"source": printable(name), "path": str(path.absolute()), **source.fingerprint()[name]}
            for source in sources
            for name, path in source.files
        ],
        "seconds": {stage: round(seconds, 3) for stage, seconds in run.progress.seconds.items()},
        "input_bytes": sum(source.size for source in sources),
        "work_bytes": sum(run.work.lengths.values()),
        "peak_memory_bytes": peak_memory(),
        "threads": run.engine.threads,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.platform(),
        "versions": {"numpy": np.__version__, "numba": version("numba"), "pyarrow": pa.__version__},
    }
