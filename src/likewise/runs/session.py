"""The life of a run: find its inputs and claim its work folder; at the end remove the folder, or keep it for --resume."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from likewise.compiled.notice import NOTICE
from likewise.drawing.numbers import counted
from likewise.engines.spark.frames import Ordered, session_of
from likewise.engines.threads import Threads, default_memory
from likewise.errors import DataError, LikewiseError, UsageError, can_go_on
from likewise.index.source import Indexed
from likewise.io import containers, storage
from likewise.io import inputs as io_inputs
from likewise.io.inputs import STDIN, Source, Sources, sole_kind, typed
from likewise.io.item_files import compared_by, items_among
from likewise.io.layouts import DELTA_LOG
from likewise.io.output import check_work, work_beside
from likewise.io.source_names import printable
from likewise.io.work import Work
from likewise.items.ignored import Ignored
from likewise.job import Job
from likewise.kinds import of_payload
from likewise.messages import either, option
from likewise.options import Options, resolve
from likewise.progress import Progress
from likewise.records import Want
from likewise.runs import inspection, pipeline
from likewise.runs import writing as outputs
from likewise.runs.ignoring import of_inputs
from likewise.runs.live import watched

#: Maximum number of text files, and minimum number of their lines, for the warning that each file is one document.
FEW, MANY_LINES = 3, 100
#: Bytes of the longest file whose lines are counted for it.
LONGEST_COUNTED = 2**26
#: Longer texts are not looked up as file names: systems reject such names.
LONGEST_NAME = 255

Inputs = Any  # a path, glob or "-"; texts, mappings or an Arrow table; or a list of paths; `Ordered`; as a second collection also `Indexed`


@contextmanager
def started(
    inputs: Inputs,
    options: Options,
    verb: str,
    out: Path | None,
    progress: Progress | bool | None,
    against: Inputs | None = None,
    *,
    apart: bool = False,
) -> Iterator[tuple[Sources, pipeline.Run]]:
    """Open the sources and start a run over them. The work folder is removed at the end, unless the run was interrupted and can resume.

    apart: results name the two collections in different columns, so their sources may have the same names, and files may be in both.
    """
    shown = watched(progress)
    NOTICE.run_begins(str(options.method), silent=progress is False)
    check_work(options.work)
    temporary = options.work is None and out is None
    folder = options.work or (temporary_folder() if out is None else unforeseen(work_beside(out)))
    memory = options.memory or default_memory()
    resume = options.resume or (None if out is None else False)
    if options.engine != "local":  # other processes have other working folders
        folder = folder.absolute()
    work = Work.claim(folder, resume=resume, in_memory=memory // 2, made=temporary)
    try:
        wanted = inspection.want(options)
        sources = side_of("given", inputs, out, folder, wanted, shown)
        first = len(sources)
        if against is not None:
            sources = beside(sources, side_of("against", against, out, folder, wanted, shown), apart=apart)
        if options.engine != "local":
            from likewise.engines.spark.reach import absolute

            sources = absolute(sources)
        like, looked_at = (against.job(), sources[:first]) if isinstance(against, Indexed) else (None, sources)
        job = inspection.inspect_inputs(looked_at, options, walk=verb == "dedup" or options.star, like=like)
        if options.ignore is not None:
            job = replace(job, ignored=ignored_by(options, job))
        fingerprints = [source.fingerprint() for source in sources]
        engine = {} if options.engine == "local" else {"engine": options.engine}  # its steps are in files of its own
        work.begin({**outputs.described(job, verb), **engine, **outputs.sided("inputs", fingerprints, first)})
    except BaseException:
        work.close(remove=not work.begun)
        close(against)
        raise
    listed = verb == "dedup" and out is not None
    run = pipeline.Run(job, work, Threads(options.threads), shown, fingerprints, first, memory, listed, session_of(inputs, against))
    useless = True  # an interrupted run needs its work folder to resume
    try:
        warn(sources, run, "query" if verb == "neighbors" else "against", apart=apart)
        yield sources, run
    except LikewiseError as error:  # the remedy is mostly to change an input or option, which makes another run
        why = error if can_go_on(error) else changed(sources, run.inputs) or error
        useless = out is None or not can_go_on(why)
        raise why from why.__cause__  # `can_go_on` inspects the cause
    except BaseException as error:
        useless = out is None
        if isinstance(error, KeyboardInterrupt):
            run.threads.interrupt()
        raise
    finally:
        run.progress.finish()
        if compiled := NOTICE.summary():
            run.progress.note(compiled)
        run.threads.close()
        work.close(remove=useless)
        close(against)


def close(against: Inputs) -> None:
    """Close the index that was opened as the second collection."""
    if isinstance(against, Indexed):
        against.close()


def warn(sources: Sources, run: pipeline.Run, second: str, *, apart: bool) -> None:
    """Warn of files that are skipped, and of inputs that may not be read as the user expects.

    second: the option that gives the second collection. apart: as in `started`.
    """
    kind, items = items_among(sources.skipped)
    if kind:
        folder = Path(Path(os.path.commonpath([storage.placed(path).parent for path in items])).name)  # reports do not depend on its location
        some = f"{counted(len(items), kind.noun)}, which {'were' if len(items) > 1 else 'was'} skipped"
        run.warn(f"{printable(folder)} has {some}; {compared_by(kind)}")
    named = set(items)
    for held, paths in containers.among(path for path in sources.skipped if path not in named).items():
        run.warn(f"skipped {counted(len(paths), held.name)}, such as {printable(paths[0].name)}; {held.remedy}")
        named.update(paths)
    others: dict[bool, list[Path]] = {True: [], False: []}  # by whether they are files or folders
    for path in sources.skipped:
        if path not in named:
            others[path.is_file() or path.is_dir()].append(path)
    if odd := others[False]:
        some = counted(len(odd), "broken link or special file", "broken links or special files")
        run.warn(f"skipped {some}, such as {printable(odd[0].name)}")
    if skipped := others[True]:
        some = f"{len(skipped):,} files or folders" if len(skipped) > 1 else "a file or folder"
        run.warn(f"skipped {some} (unknown format, metadata or an earlier output), such as {printable(skipped[0].name)}")
    if said := sources.read_once():
        run.warn(said)
    if not apart and (again := on_both_sides(sources[: run.first_side], sources[run.first_side :])):
        it, its = ("it is", "its") if len(again) == 1 else ("they are", "their")
        each = f"so {its} items are compared with themselves"
        run.warn(f"{counted(len(again), 'file')}, such as {printable(again[0])}: {it} among INPUT and also given with {option(second)}, {each}")
    for path in sources.skipped:
        if path.name == DELTA_LOG:
            old = "all its Parquet files are read, including rows that were later changed or deleted"
            run.warn(f"{printable(path.parent)} is a Delta table: {old}; to compare its latest version only, export it first")
    if any(name == "stdin" for source in sources if source.of_texts for name, _ in source.files):
        other = f"it is not JSON, Parquet or Arrow, nor CSV with a column {run.job.field!r}; name its column with {option('field', placeholder='F')}"
        run.warn(f"standard input was read as one document: {other}")
    elif few := few_documents(sources):
        run.warn(few)
    for said in inspection.without_effect(sources, run.job.options):
        run.warn(said)


def on_both_sides(first: Sequence[Source], second: Sequence[Source]) -> list[str]:
    """The names of the files of the first side that are files of the second, too."""
    if not second:
        return []
    try:
        here, there = ([(name, path.stat()) for source in side for name, path in source.files] for side in (first, second))
    except OSError:  # reported when the file is read
        return []
    known = {(found.st_dev, found.st_ino) for _, found in there}
    return [name for name, found in here if (found.st_dev, found.st_ino) in known]


def few_documents(sources: Sources) -> str | None:
    """The warning if all inputs are a few text files of many lines: the user may have meant each line as an item. None for other inputs."""
    files = [file for source in sources for file in source.files if source.of_texts]
    if not 0 < len(files) <= FEW or len(files) < sum(len(source.files) for source in sources):
        return None
    try:
        if any(path.stat().st_size > LONGEST_COUNTED for _, path in files):
            return None
        lines = [path.read_bytes().count(b"\n") for _, path in files]
    except OSError:  # reported or skipped when the file is read
        return None
    if sum(lines) < (MANY_LINES if len(files) > 1 else 2):
        return None
    name, records = files[0][0], shlex.quote(str(Path(files[0][0]).with_suffix(".jsonl")))
    program = r"""import json, sys; [print(json.dumps({"text": line.rstrip("\n")})) for line in sys.stdin]"""
    command = f"make each line a record: python3 -c '{program}' < {shlex.quote(name)} > {records}"
    how = either("give a list of its lines", command)
    each = zip((printable(file) for file, _ in files), lines, strict=True)
    read = " and ".join(f"{file} was read as one document of {counted(number, 'line')}" for file, number in each)
    return f"{read}; to compare {'its lines' if len(files) == 1 else 'their lines'}, {how}"


def changed(sources: Sources, inputs: list[dict[str, Any]]) -> LikewiseError | None:
    """The error for an input that changed since the run began, which may explain why reading failed; None if none changed."""
    try:
        for source, fingerprint in zip(sources, inputs, strict=True):
            pipeline.check_unchanged(source, fingerprint)
    except LikewiseError as error:
        return error
    return None


def ignored_by(options: Options, job: Job) -> Ignored:
    """The shingles of the inputs that ``ignore`` names. The errors of inputs name the option."""
    try:
        if options.ignore == (Path(STDIN),):
            raise UsageError("standard input can only be an INPUT; name a file")
        return of_inputs(sources_of(options.ignore, None, None, job.want), job)
    except (UsageError, DataError) as error:
        raise type(error)(f"{option('ignore')}: {error.marked}") from error


def temporary_folder() -> Path:
    """A new temporary folder. Raises UsageError if none can be created."""
    try:
        return Path(tempfile.mkdtemp(prefix="likewise-"))
    except FileNotFoundError as error:
        raise UsageError(f"no writable folder for temporary files (TMPDIR, /tmp); name one with {option('work', placeholder='DIR')}") from error


def unforeseen(folder: Path) -> Path:
    """Return the default work folder. Raises UsageError if it is a link or another user's, who could read the data."""
    if folder.is_symlink() or (folder.exists() and hasattr(os, "getuid") and folder.stat().st_uid != os.getuid()):
        raise UsageError(f"{folder}: this folder is a link or belongs to another user; name another one with {option('work', placeholder='DIR')}")
    return folder


def resolved(inputs: Sequence[Inputs | None], choices: dict[str, Any], **how: Any) -> Options:
    """The options of a run over these inputs, by `options.resolve`. Without ``by``, files that are all images are compared as images."""
    if not {"by", "preset"} & choices.keys():
        there = [paths_of(given) for given in inputs if given is not None]
        if None not in there and (kind := sole_kind(list(chain.from_iterable(filter(None, there))))):
            choices = {**choices, "by": kind.measures[0].name}
    options = resolve(**how, **choices)
    return next((given.planned(options) for given in inputs if isinstance(given, Indexed)), options)


def paths_of(inputs: Inputs) -> list[Any] | None:
    """The paths among what a caller may give as inputs: a str or a path, or a list of paths; None for data."""
    if isinstance(inputs, str | os.PathLike):
        return [inputs]
    if isinstance(inputs, list | tuple) and inputs and all(isinstance(path, os.PathLike) for path in inputs):
        return list(inputs)
    return None


def side_of(name: str, inputs: Inputs, out: Path | None, folder: Path, want: Want, shown: Progress) -> Sources:
    """The sources of a side. Rows of a Spark DataFrame become files in the work folder ``folder``, in a step with this name."""
    if not isinstance(inputs, Ordered):
        return sources_of(inputs, out, folder, want)
    shown.begin("writing rows in order", 0, "rows")
    try:
        return inputs.sources(folder, name, want)
    finally:
        shown.finish()


def sources_of(inputs: Inputs, out: Path | None, folder: Path | None, want: Want) -> Sources:
    """The sources of the inputs: a str or Path is a path, as is each of several Paths; everything else but an index is data.

    Raises UsageError for a list of str that are all names of files, unless files are items of the wanted kind.
    """
    if isinstance(inputs, Indexed):
        return inputs.sources()
    named = paths_of(inputs)
    if named is None:
        if isinstance(inputs, list | tuple) and inputs and all(isinstance(text, str) and is_file_name(text) for text in inputs):
            if of_payload(want.kind).files:
                return io_inputs.resolve(inputs, out=out, work=folder, want=want)
            raise UsageError(
                f"a list of str is a list of documents, but these are names of files, such as {inputs[0]!r}; for files give pathlib.Path objects"
            )
        named = [inputs]
    return io_inputs.resolve(named, out=out, work=folder, want=want)


def is_file_name(text: str) -> bool:
    """True if the text is the path of an existing file."""
    try:
        return 0 < len(text) < LONGEST_NAME and Path(text).exists()
    except (OSError, ValueError):  # too long in bytes, or refused by the system
        return False


def beside(first: Sources, second: Sources, *, apart: bool = False) -> Sources:
    """The sources of both sides. A source of the second whose name is taken is renamed to against/NAME, unless they are kept ``apart``.

    Raises UsageError for two standard inputs.
    """
    if all(any(name == "stdin" for source in side for name, _ in source.files) for side in (first, second)):
        raise UsageError("standard input (-) is given for both collections, but can be read only once; name a file for one of them")
    taken = set() if apart else {source.name for source in first}
    renamed = [replace(source, name=f"against/{source.name}") if source.name in taken else source for source in second]
    return Sources(typed([*first, *renamed]), [*first.skipped, *second.skipped], [*first.again, *second.again])
