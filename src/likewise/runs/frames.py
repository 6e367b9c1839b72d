"""Runs over Spark DataFrames: the inputs of a verb, and the DataFrames of its result."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from likewise.engines.spark.frames import Ordered, frame_of, ordered, reader
from likewise.errors import UsageError
from likewise.io.address import without_secrets
from likewise.io.handed import is_frame, of_pandas_on_spark
from likewise.io.placing import RANDOM
from likewise.messages import option
from likewise.options import Options
from likewise.runs.results import Pairs, Removal
from likewise.runs.table import Data, LazyData, Table

#: The tables of a removal that are files of the same name.
TABLES = ("removed", "clusters", "dropped", "seen")

#: The beginning of the names of folders that this process deletes.
PREFIX = "likewise-"


def given(inputs: Any, against: Any, order: Any, choices: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The inputs of a verb, with DataFrames in their order, and its options. Raises UsageError for an order that cannot be used, or is not needed."""
    sides = [inputs, against]
    for side in sides:
        if of_pandas_on_spark(side):
            raise UsageError("this is a pandas-on-Spark frame; give its DataFrame: frame.to_spark()")
    if not any(map(is_frame, sides)):
        if order is not None:
            raise UsageError(f"{option('order', order)}: only Spark DataFrames need it; other inputs have an order, so leave it out")
        return inputs, against, choices
    if choices.get("engine", "spark") != "spark":
        raise UsageError(f"{option('engine', choices['engine'])}: Spark DataFrames are compared on Spark; leave it out, or give frame.toPandas()")
    if "master" in choices:
        raise UsageError(
            f"{option('master', without_secrets(str(choices['master'])))}: a Spark DataFrame is compared in its own session; leave it out"
        )
    named = (order,) if isinstance(order, str) else order if order is not None else ()
    if not isinstance(named, list | tuple) or not all(isinstance(name, str) and name for name in named):
        raise UsageError(f"{option('order', order)}: give the name of a column, or a list of names")
    called = ["the first DataFrame", "the second DataFrame"] if all(map(is_frame, sides)) else ["the DataFrame"] * 2
    inputs, against = (ordered(side, tuple(named), name) if is_frame(side) else side for side, name in zip(sides, called, strict=True))
    first = frame_of(inputs, against)
    return inputs, against, {**({} if first is None or first.id is None else {"id": first.id}), **choices, "engine": "spark"}


@contextmanager
def folder(options: Options, target: Path | None = None) -> Iterator[Path]:
    """The output folder ``target`` for results; without one, a new folder that this process deletes when it ends, or at once if the run fails.

    If the work folder is named, the new one is next to it, because executors see that place. It appears with the complete result, so a run that is
    killed leaves only the work folder, from which it can be resumed.
    """
    if target is not None:
        yield target
        return
    if options.work is None:
        made = Path(tempfile.mkdtemp(prefix=PREFIX))
        result = made / "result"
    else:
        made = result = options.work.absolute().with_name(f"{PREFIX}{os.urandom(RANDOM).hex()}")
    atexit.register(delete, made, os.getpid())
    try:
        yield result
    except BaseException:
        delete(made, os.getpid())
        raise


def delete(folder: Path, process: int) -> None:
    """Delete a folder if this process made it, rather than the process from which it was forked."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def removal(found: Removal, inputs: Ordered, folder: Path, options: Options) -> Removal:
    """A removal whose tables are those in an output folder, also as DataFrames."""
    tables = {name: table for name in TABLES if (table := getattr(found, name)) is not None}
    made = {name: table.native(partial(reader, inputs, folder / f"{name}.parquet", records=False)) for name, table in tables.items()}
    if options.output == "copy":
        files = sorted((folder / "kept").rglob("*.parquet"))
        kept = Table(in_files(files, found.counts["kept"])).native(partial(reader, inputs, folder / "kept", records=True))
    elif options.output == "ids":
        kept = found.kept.native(partial(reader, inputs, folder / "kept.parquet", records=False))
    else:
        kept = found.kept
    return replace(found, kept=kept, **made)


def pairs(found: Pairs, given: Ordered, folder: Path) -> Pairs:
    """The pairs, also as a DataFrame of a file in a folder. given: a DataFrame whose rows were compared."""
    folder.mkdir()
    path = folder / "pairs.parquet"
    found.write(path)
    return found.native(partial(reader, given, path, records=False))


def in_files(files: Sequence[Path], count: int) -> LazyData:
    """A table in Parquet files, which are read when its rows are used."""
    import pyarrow.parquet as pq

    schema = pq.read_schema(files[0]).remove_metadata()

    def first(rows: int) -> Data:
        held: list[pa.Table] = []
        for path in files:
            if sum(map(len, held)) >= rows:
                break
            held.append(pq.read_table(path, partitioning=None).replace_schema_metadata())
        return Data(pa.concat_tables([schema.empty_table(), *held]).slice(0, rows))

    return LazyData(count, schema, first, lambda: first(count))
