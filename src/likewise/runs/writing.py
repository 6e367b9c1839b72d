"""The output of ``dedup``: kept records, the tables that account for the rest, and the facts needed to reproduce it."""

from __future__ import annotations

import errno
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import xxhash

from likewise import __version__
from likewise.engines.engine import Outcome
from likewise.engines.threads import peak_memory
from likewise.errors import DataError, UsageError, naming
from likewise.index.settings import settings_of_job
from likewise.index.stored_settings import stored
from likewise.io import sketches, upload
from likewise.io.address import Address
from likewise.io.collection import Collection
from likewise.io.formats.text import Files
from likewise.io.inputs import Source
from likewise.io.manifest import FORMAT, VERSION
from likewise.io.numbered import Numbered
from likewise.io.output import check_still, checksums, write_json, write_lines, write_sealed, write_table
from likewise.io.placing import name_beside, publish, sweep
from likewise.io.source_names import printable
from likewise.items.unicode_data import UNICODE_VERSION
from likewise.job import Job
from likewise.kinds.kind import NEVER
from likewise.messages import option
from likewise.options import Options
from likewise.planning import choose
from likewise.records import Each, Want, in_turn
from likewise.runs.fate import Fate
from likewise.runs.pipeline import Run, check_unchanged
from likewise.runs.results import Search
from likewise.runs.tables import Rows
from likewise.schema import PLACES

#: Names the computation of shingles, other compared words, slots and band keys. Whatever changes a bit of them must change this name.
HASH_SCHEME = "lw3"


#: Rows of which each --output writes one entry.
WHOLE = {"copy": ("kept",), "annotate": ("kept", "removed"), "ids": ("kept",), "mask": ("kept", "removed", "rejected")}


#: `engines.engine.Engine.write`, with or without ``each``.
Copy = Callable[..., int]


class Step(NamedTuple):
    """A step of writing, which a resumed run can skip."""

    name: str  # for the journal
    rows: int | None  # rows to write; None: it does not write rows
    write: Callable[[], tuple[list[Path], int | None]]  # returns the files and the number of rows written


def described(job: Job, verb: str) -> dict[str, Any]:
    """Return everything that can change a result."""
    versions = {"likewise": __version__, "hash_scheme": HASH_SCHEME, "unicode": UNICODE_VERSION}
    groups = {} if job.grouped is None else {"groups": job.grouped.digest}  # content of the file, of which the method has only the name
    ignored = {} if job.ignored is None else {"ignored": job.ignored.digest}
    return {"verb": verb, "versions": versions, "method": job.described(), **groups, **ignored}


def check(sources: Sequence[Source], options: Options, want: Want, *, written: bool) -> None:
    """Raise UsageError, before any work, for sources whose records cannot be written. ``written``: there is an output folder."""
    if options.output == "annotate" and any(isinstance(source.path, Files) for source in sources):
        raise UsageError(f"{option('output', 'annotate')}: fields cannot be added to a text file; choose copy, ids or mask")
    if options.level is not None:
        check_cut(sources, options.level, want)
    if written and (options.output in ("copy", "annotate") or options.removed_records):
        for source in sources:
            if check_written := getattr(source.format, "check_written", None):
                with suppress(DataError):  # the reader reports damage, or skips it
                    check_written(source.path)


def check_cut(sources: Sequence[Source], level: str, want: Want) -> None:
    """Raise UsageError for sources out of whose texts nothing can be cut."""
    for source in sources:
        if reason := getattr(source.format, "UNCUT", None):
            raise UsageError(f"{printable(source.name)}: {level}s cannot be cut out of this format ({option('level', level)}): {reason}")
        if check := getattr(source.format, "check_cut", None):
            with suppress(DataError):  # the reader reports damage, or skips it
                check(source.path, source.asked(want))


def write(fate: Outcome, report: dict[str, Any], run: Run, copy: Copy, made: dict[str, tuple[int, Callable[[], Rows]]]) -> Path:
    """Fill the staged folder step by step and return it. Files that an interrupted run finished and that are unchanged are not written again.

    copy: writes rows of a source unchanged (`engines.engine.Engine.write`). made: tables by name, with their numbers of rows.
    """
    options, work = run.job.options, run.work
    collection, search = fate.documents, fate.search
    staged, note = work.staged(), collection.id_note(0, search.kept_side, search.member_side)
    counts = report["counts"]
    # threads work within one file or across several, never both: a task that waits for other tasks could deadlock
    within, across = (run.threads.map, in_turn) if collection.first_side == 1 else (in_turn, run.threads.map)
    of_records = records(fate, run.job, staged, counts, partial(copy, each=within))
    tables = [
        *(table(staged / f"{name}.parquet", number, rows, note) for name, (number, rows) in made.items()),
        alone(staged / "rejected.jsonl", counts["rejected"], lambda path: write_lines(collection.rejections(0), path)),
        alone(staged / "report.json", None, lambda path: write_json(report, path)),
    ]
    if options.sketches:
        assert isinstance(fate, Fate)  # of an engine on one machine
        tables += of_sketches(fate.documents, fate.kept, run, staged / "sketches")
    if options.pairs:
        tables.append(table(staged / "pairs.parquet", search.pairs, fate.pairs_rows, note))
    if len(collection.marks):
        rows, start = collection.marks.T
        places = pa.table([*collection.places(rows), start], schema=PLACES)
        tables.append(alone(staged / "places.parquet", len(rows), lambda path: write_table([places], places.schema, path)))
    written = {entry["file"]: entry["outputs"] for entry in work.done("write") if are_there(entry["outputs"], staged)}
    run.begin("writing", sum(step.rows or 0 for step in of_records + tables), "rows")
    run.progress.resumed(sum(step.rows or 0 for step in of_records + tables if step.name in written))

    def take(each: Each, steps: list[Step]) -> Iterator[tuple[Step, list[dict[str, Any]]]]:
        def stage(step: Step) -> tuple[Step, list[dict[str, Any]]]:
            outputs = checksums(written_by(step), staged)
            run.spare()
            return step, outputs

        return each(stage, (step for step in steps if step.name not in written))

    for step, outputs in chain(take(across, of_records), take(run.threads.map, tables)):
        work.append({}, step="write", file=step.name, outputs=outputs)
        written[step.name] = outputs
        run.progress.advance(step.rows or 0)
    for source, fingerprint in zip(collection.sources, run.inputs, strict=True):
        check_unchanged(source, fingerprint)
    write_sealed(manifest(collection, run.job, [entry for outputs in written.values() for entry in outputs]), staged / "manifest.json")
    return staged


def written_by(step: Step) -> list[Path]:
    """Run a step, check that it wrote all its rows, and return its files."""
    paths, rows = step.write()
    if rows != step.rows:
        raise AssertionError(f"{step.name}: {rows} rows were written, expected {step.rows}; the output was not moved to its place")
    return paths


def of_sketches(collection: Collection, kept: np.ndarray, run: Run, folder: Path) -> list[Step]:
    """Return the steps that write the sketches of the kept rows, at least one file."""
    assert run.job.plan is not None
    stored, grouped = sketches.Stored(collection, np.flatnonzero(kept), run.job.plan.bands), run.job.options.per is not None
    folder.mkdir(exist_ok=True)

    def step(number: int, begin: int, stop: int) -> Step:
        def write(path: Path) -> int:
            return sketches.write(path, stored, begin, stop, grouped=grouped, spare=run.spare)

        return alone(folder / f"{number:06d}.arrow", stop - begin, write)

    return [step(number, *cut) for number, cut in enumerate(list(stored.cuts(sketches.FILE_BYTES)) or [(0, 0)])]


def check_sketches(job: Job) -> None:
    """Raise UsageError, before any work, if the run has no band keys for an index, with the option that makes it have them."""
    if not job.options.sketches or (job.plan is not None and job.kept is None):
        return
    if job.kept is not None:
        more = "add the kept records to the index instead"
        raise UsageError(f"{option('sketches')}: items that are compared with an index have shorter keys than sketches; leave it out, and {more}")
    what, asked = f"{option('sketches')}: an index needs band keys", job.options.asked
    if job.base.bandless or job.compared.bands == NEVER:
        raise UsageError(f"{what}, and {option('by', str(job.method))} compares {job.compared.name} without bands; leave it out")
    if job.options.exact:
        raise UsageError(f"{what}, and with {option('exact')} {job.compared.name} are joined without bands; leave one of them out")
    plan = choose(method=job.method, facts=job.facts, **asked)
    layout = f"{option('bands', plan.bands)} {option('rows', plan.rows)}"
    raise UsageError(f"{what}, and these {job.compared.name} would be joined without bands; add {layout}, which has the same recall")


def alone(path: Path, rows: int | None, write: Callable[[Path], int | None]) -> Step:
    """Return a step that writes one file."""
    return Step(path.name, rows, lambda: ([path], write(path)))


def table(path: Path, rows: int, make: Callable[[], Rows], note: str | None = None) -> Step:
    """Return a step that writes one table, which is made only then."""

    def write(path: Path) -> int:
        made = make()
        return write_table(made, made.schema, path, note)

    return alone(path, rows, write)


def number_of(name: str, report: dict[str, Any]) -> int:
    """Return the number of rows of a table: compared items that were removed or are in clusters, documents that were dropped, or test items."""
    removed = int(report.get("units", report["counts"])["removed"])
    numbers = {"removed": removed, "clusters": removed + report["clusters"]["number"], "dropped": report["counts"]["removed"]}
    return numbers[name] if name in numbers else int(report["leaks"]["items"])


def are_there(outputs: list[dict[str, Any]], folder: Path) -> bool:
    """Return whether the files are in a folder with these checksums."""
    paths = [folder / entry["path"] for entry in outputs]
    return all(path.is_file() for path in paths) and checksums(paths, folder) == outputs


def published(out: Path, run: Run) -> bool:
    """Return whether this run had published its output before it was interrupted."""
    done = any(entry["manifest"] == digest(out / "manifest.json") for entry in run.work.done("publish"))
    if done:
        sweep_all(out, run)
    return done


def publish_staged(staged: Path, out: Path, run: Run) -> None:
    """Move the output to its place. The journal identifies it by its manifest, so that a run killed here is recognized as done."""
    overwrite = may_replace(out, run)
    check_still(out, overwrite=overwrite)
    name = name_beside(out)
    run.work.append({}, step="publish", manifest=digest(staged / "manifest.json"), beside=name)
    try:
        publish(staged, out, name, overwrite=overwrite)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            check_still(out, overwrite=overwrite)
        raise
    sweep_all(out, run)


def may_replace(out: Path, run: Run) -> bool:
    """Return whether the output may replace what is in its place: with --overwrite, or if it is the beginning of this run's own upload."""
    own = isinstance(out, Address) and upload.begun(out) in {entry["manifest"] for entry in run.work.done("publish")}
    return run.job.options.overwrite or own


def sweep_all(out: Path, run: Run) -> None:
    """Remove leftovers of earlier runs with this work folder next to the output."""
    for entry in run.work.done("publish"):
        sweep(out, entry["beside"])


def digest(path: Path) -> str | None:
    """Return the xxh3-128 of a file in hexadecimal; None if it is missing."""
    with naming(path):
        return xxhash.xxh3_128_hexdigest(path.read_bytes()) if path.is_file() else None


def records(fate: Outcome, job: Job, staged: Path, counts: dict[str, int], copy: Copy) -> list[Step]:
    """Return the steps that write records or stand for them (--output and --removed-records). Raises AssertionError if their rows do not add up."""
    collection, options = fate.documents, job.options
    whole = {
        "copy": lambda: copied(fate, job, "kept", staged / "kept", copy),
        "annotate": lambda: copied(fate, job, "annotated", staged / "annotated", copy),
        "ids": lambda: [table(staged / "kept.parquet", counts["kept"], fate.kept_rows, collection.id_note(0))],
        "mask": lambda: [table(staged / "mask.parquet", counts["read"], fate.mask_rows)],
    }

    steps = whole[options.output]()
    if sum(step.rows or 0 for step in steps) != sum(counts[part] for part in WHOLE[options.output]):
        raise AssertionError(f"rows were lost: {[step.rows for step in steps]} of {counts}; this is a bug in likewise, please report it")
    if options.removed_records:
        steps += copied(fate, job, "removed", staged / "removed", copy)
    return steps


def copied(fate: Outcome, job: Job, what: str, folder: Path, copy: Copy) -> list[Step]:
    """Return a step per source that writes its rows of one outcome (`Fate.chosen`) under ``folder``, unchanged but for what is cut out or added."""
    collection = fate.documents

    def step(number: int) -> tuple[list[Path], int]:
        source = collection.sources[number]
        target = source.target(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        chosen = fate.chosen(number, what, job)
        try:
            with naming(target):
                written = copy(source, target, chosen)
        except DataError:
            if chosen.keep.any() or not collection.failed(number):
                raise
            if target.is_file():  # the source was skipped entirely: nothing can be written in its format
                target.unlink()
            return [], 0
        return [target / source.path.names[row] for row in np.flatnonzero(chosen.keep)] if isinstance(source.path, Files) else [target], written

    rows = fate.numbers(what)
    return [Step(f"{folder.name}/{number}", count, partial(step, number)) for number, count in enumerate(rows)]


def manifest(collection: Numbered, job: Job, outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the content of manifest.json, without its checksum."""
    inputs = [
        {"source": printable(source.name), "rows": int(rows), "content": digest}
        for source, rows, digest in zip(collection.sources, np.diff(collection.first_row), collection.digests(), strict=True)
    ]
    sides = sided("inputs", inputs, collection.first_side)
    outputs = [{**entry, "path": printable(entry["path"])} for entry in sorted(outputs, key=lambda entry: entry["path"].split("/"))]
    index = {"index": stored(settings_of_job(job))} if job.options.sketches else {}
    return {"format": FORMAT, "version": VERSION, **described(job, "dedup"), **index, **sides, "outputs": outputs}


def sided(name: str, entries: list[Any], first_side: int) -> dict[str, list[Any]]:
    """Return the entries of the sources by side: under ``name``, and those of a second collection under "against"."""
    first, second = entries[:first_side], entries[first_side:]
    return {name: first, "against": second} if second else {name: first}


def bytes_in(folder: Path) -> int:
    """Return the size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def machine_facts(sources: Sequence[Source], search: Search, run: Run, staged: Path) -> dict[str, Any]:
    """Return the content of run.json: times, rates and the machine, which may differ from run to run. staged: the output as far as it is written."""
    from importlib.metadata import version

    files = [source.listed(fingerprint) for source, fingerprint in zip(sources, run.inputs, strict=True)]
    return {
        **{side: list(chain.from_iterable(listed)) for side, listed in sided("inputs", files, run.first_side).items()},
        "engine": run.job.options.engine,
        "seconds": {stage: round(seconds, 3) for stage, seconds in run.progress.seconds.items()},
        "compared": search.compared,
        **({"command": run.progress.command} if run.progress.command else {}),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "input_bytes": sum(source.size for source in sources[: run.first_side]),
        **({"output_bytes": bytes_in(staged / "kept")} if run.job.options.output == "copy" else {}),
        "work_bytes": sum(run.work.lengths.values()),
        "memory_bytes": run.memory,
        "peak_memory_bytes": peak_memory(),
        "notes": run.notes,
        "threads": run.threads.number,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.platform(),
        "versions": {"likewise": __version__, "numpy": np.__version__, "numba": version("numba"), "pyarrow": pa.__version__},
    }
