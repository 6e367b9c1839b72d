"""Functions of batches that run in tasks on executors.

An executor may start at any time, so each task compares the versions of its process with those of the driver.
"""

from __future__ import annotations

import gc
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from likewise import errors
from likewise.compiled import store
from likewise.engines.spark import versions
from likewise.errors import LikewiseError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Marks around the differing versions in the error of a task, by which `refusal` finds them.
BEGIN, END = "other versions on an executor: <", "> (likewise)"

#: Rows of a batch that a task returns: Java holds a whole batch in memory.
MOST_ROWS = 1 << 20

#: The number of modules whose objects collections leave out.
known_modules = 0

Batches = Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]]


@dataclass(frozen=True)
class Task:
    """A function of the batches of a partition, and the versions of the driver."""

    function: Batches
    wanted: Mapping[str, str]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if said := versions.differences(versions.here(), self.wanted):
            raise RuntimeError(f"{BEGIN}{said}{END}")
        keep_kernels()
        leave_out_of_collections()
        for batch in self.function(batches):
            for begin in range(0, max(1, len(batch)), MOST_ROWS):
                yield batch.slice(begin, MOST_ROWS)


def leave_out_of_collections() -> None:
    """Leave all objects out of further garbage collections, if modules were imported since the last call.

    PySpark collects garbage after each task, and looking at the objects of all modules takes 50 ms.
    """
    global known_modules
    if len(sys.modules) != known_modules:
        known_modules = len(sys.modules)
        gc.freeze()


def mapped(frame: DataFrame, function: Batches, schema: str) -> DataFrame:
    """``frame.mapInArrow(function, schema)``, whose tasks run only in processes with the versions of this one."""
    return frame.mapInArrow(Task(function, versions.here()), schema)


@contextmanager
def quiet() -> Iterator[None]:
    """Inside, PySpark does not warn about the version of pandas, which likewise does not use, and py4j does not log errors that it raises."""
    logging.root.addFilter(not_of_py4j)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
            yield
    finally:
        logging.root.removeFilter(not_of_py4j)


def not_of_py4j(record: logging.LogRecord) -> bool:
    """False for what py4j logs by the root logger: the traceback of each interrupt and of each lost connection."""
    return "py4j" not in Path(record.pathname).parts


def refusal(error: BaseException) -> str | None:
    """The differences that a task found, from the error of its job; None if the job failed for another reason."""
    found = re.search(f"{re.escape(BEGIN)}(.*?){re.escape(END)}", str(error), re.DOTALL)
    return found[1] if found else None


def told(error: LikewiseError) -> dict[str, Any]:
    """An error that a task tells the driver, as JSON."""
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else OSError()
    return {"type": type(error).__name__, "message": error.marked, "errno": cause.errno, "file": cause.filename}


def raised(type: str, message: str, errno: int | None, file: str | None) -> Exception:
    """The error of a task as it was raised there, from what it `told`."""
    error: Exception = getattr(errors, type)(message)
    if errno is not None:
        error.__cause__ = FileNotFoundError(errno, "", file) if errno == 2 else OSError(errno, "", file)
    return error


def keep_kernels() -> None:
    """Store compiled kernels in the folder of the executor if the user's cache is not writable, as in some containers."""
    if store.cache() is None and "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(Path.cwd() / "kernels")
        store.cache.cache_clear()
