"""The first job of a run: it starts executors, and checks that they have likewise and reach the files.

Spark sends its function by value, unlike other functions of likewise, so that it also runs where likewise is missing.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from likewise.engines.spark import tasks, versions
from likewise.engines.spark.session import other_versions
from likewise.errors import UsageError
from likewise.io.address import Address, Place
from likewise.io.formats.text import Files
from likewise.io.inputs import Source, Sources
from likewise.io.source_names import printable
from likewise.messages import option

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Seconds in which an executor must answer. The cluster may have to start machines.
PATIENCE = 300
#: Tasks of the job. Each executor with free cores runs some of them.
TASKS = 8
#: Maximum number of files that each task looks for.
SOME = 20
#: MiB outside the heap of Java, for each core of an executor: Python, the libraries and the data of a task.
NEEDED = 700


def check(session: SparkSession, folder: Path, sources: Sequence[Source], note: Callable[[str], None]) -> None:
    """Raise UsageError if executors lack likewise or have other versions, or cannot reach the folder or the sources.

    folder: that of intermediate tables; it exists. note: takes a message if executors have little memory.
    """
    mark = folder / f"reach-{uuid.uuid4().hex}"
    mark.write_text("")
    try:
        answers = job(session, asked(mark, some(sources)))
    finally:
        mark.unlink()
    for said in answers:
        if "missing" in said:
            with_it = f"install likewise=={versions.here()['likewise']} with its dependencies for the Python that they run, {said['python']}"
            raise UsageError(f"executors cannot import likewise ({said['missing']}): {with_it}, or set PYSPARK_PYTHON")
        if differing := versions.differences(said["versions"], versions.here()):
            raise other_versions(differing)
        if not said["folder"]:
            shared = f"name a folder that all machines see at the same path: {option('work', placeholder='DIR')}"
            raise UsageError(f"executors cannot write into {printable(folder)}, the folder of intermediate tables; {shared}")
        for name, reason in said["unread"]:
            where = "keep the inputs where all machines see them at the same path, or at an address such as s3://"
            raise UsageError(f"executors cannot read {printable(name)} ({reason}); {where}")
    least = min(said["memory"] for said in answers)
    if least and least >> 20 < NEEDED:
        enough = f"give at least {NEEDED} MiB for each core (spark.executor.memoryOverhead)"
        note(f"executors have {least >> 20} MiB of memory beside Java for each core, and Python needs more for large steps; {enough}")


def absolute(sources: Sources) -> Sources:
    """The same sources with absolute paths: executors have other working folders."""

    def path_of(path: Any) -> Any:
        if isinstance(path, Files):
            return path._replace(paths=tuple(map(path_of, path.paths)))
        return path if isinstance(path, pa.Table) else path.absolute()

    return Sources([replace(source, path=path_of(source.path)) for source in sources], sources.skipped, sources.again)


def refuse_unreachable(sources: Sequence[Source]) -> None:
    """Raise UsageError for inputs that exist only in this process. (Standard input is a file in the work folder.)"""
    for source in sources:
        if isinstance(source.path, pa.Table):
            write = "write it to a file, such as Parquet, and give its path, or give a Spark DataFrame"
            raise UsageError(f"{option('engine', 'spark')}: executors cannot read data of this process; {write}")


def some(sources: Sequence[Source]) -> list[tuple[str, Any]]:
    """The first and the last files of the sources: (name, path or fields of an address)."""
    files = [(name, given_as(path)) for source in [*sources[:SOME], *sources[-SOME:]] for name, path in source.files[:SOME]]
    return list(dict(files[: SOME // 2] + files[-SOME // 2 :]).items())


def given_as(path: Place) -> Any:
    """A path as a string, an address as its fields, so that a process without likewise can unpickle it."""
    return [getattr(path, field.name) for field in fields(path) if field.compare] if isinstance(path, Address) else str(path)


def asked(mark: Path, files: list[tuple[str, Any]]) -> Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    """The function of a task. It is defined inside this one, so Spark sends it by value."""
    path = str(mark)

    def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import json
        import sys

        import pyarrow

        for _ in batches:
            pass
        said: dict[str, Any] = {"python": sys.executable}
        try:
            from likewise.engines.spark.reach import seen
            from likewise.engines.spark.versions import here

            said["versions"] = here()
            said |= seen(path, files)
        except ImportError as error:
            said["missing"] = str(error)
        yield pyarrow.record_batch({"said": [json.dumps(said)]})

    return answer


def seen(path: str, files: list[tuple[str, Any]]) -> dict[str, Any]:
    """Facts about an executor: whether it reaches the folder, files that it cannot read, and memory per core in bytes (0: unknown)."""
    from likewise.engines.threads import usable_cores, usable_memory

    tasks.leave_out_of_collections()
    mark, folder = Path(path), False
    with suppress(OSError):
        own = mark.with_name(f"{mark.name}-{uuid.uuid4().hex}")
        own.write_text("")
        own.unlink()
        folder = mark.exists()
    unread = []
    for name, given in files:
        try:
            (Path(given) if isinstance(given, str) else Address(*given)).stat()
        except Exception as error:  # stores have errors of their own
            unread.append((name, str(error)))
    return {"folder": folder, "unread": unread, "memory": (usable_memory() or 0) // usable_cores()}


def job(session: SparkSession, function: Any) -> list[dict[str, Any]]:
    """The answers of all tasks. Raises UsageError if no executor has answered within PATIENCE seconds, or what the job raised."""
    found: list[Any] = []
    tag = f"likewise-{uuid.uuid4().hex}"

    def run() -> None:
        try:
            with suppress(Exception):  # so that it can be ended; Spark 3.5 has this only with Spark Connect
                session.addTag(tag)
            frame = session.range(0, TASKS, 1, TASKS).mapInArrow(function, "said string")
            found.append([json.loads(row[0]) for row in frame.collect()])
        except Exception as error:  # raised below
            found.append(error)

    thread = threading.Thread(target=run, name="first job of Spark", daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if not found:
        with suppress(Exception):
            session.interruptTag(tag)
        less = "free some, or request less by spark.executor.memory and spark.executor.cores"
        raise UsageError(
            f"{option('engine', 'spark')}: no executor has answered within {PATIENCE} seconds; the cluster may lack cores or memory; {less}"
        )
    if isinstance(found[0], BaseException):
        raise found[0]
    return list(found[0])
