"""Spark DataFrames as inputs and results. Spark writes and reads their rows as Parquet files; the driver gets none of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import UsageError
from likewise.io import inputs
from likewise.io.inputs import Sources
from likewise.messages import option
from likewise.records import Want

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from likewise.engines.spark.steps import Steps

#: Settings while rows are written: types that other readers of Parquet know, and files of similar size.
WRITING = {
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.variant.writeShredding.enabled": "false",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
}
#: Options for reading: dates as the files have them, and all files in subfolders.
READING = {"datetimeRebaseMode": "CORRECTED", "int96RebaseMode": "CORRECTED", "recursiveFileLookup": "true"}
#: Types that Spark neither hashes nor sorts.
UNHASHED = ("map<", "variant")
#: Types of columns whose values are ids.
IDS = ("string", "tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True)
class Ordered:
    """The rows of a DataFrame, sorted by some columns. Rows with equal values there are sorted by a hash of all their columns."""

    frame: DataFrame
    order: tuple[str, ...]

    @property
    def session(self) -> SparkSession:
        """The session of the DataFrame."""
        return self.frame.sparkSession

    @property
    def id(self) -> str | None:
        """The default column of ids: "id", or else the column of the order if there is only one."""
        types = dict(self.frame.dtypes)
        return "id" if "id" in types else self.order[0] if len(self.order) == 1 and types[self.order[0]] in IDS else None

    def sources(self, folder: Path, name: str, want: Want) -> Sources:
        """The files of the rows: a step in the folder ``folder``/spark, which an interrupted run may have finished.

        Raises UsageError for a DataFrame other than that of the interrupted run, and for one that cannot be written.
        """
        from likewise.engines.spark import reach
        from likewise.engines.spark.session import changed, opened
        from likewise.engines.spark.steps import Steps

        (folder / "spark").mkdir(exist_ok=True)
        with opened(None, self.session), changed(self.session, WRITING):
            steps = Steps(self.session, folder / "spark")
            if steps.done(name):
                self.check(steps, name)
            else:
                reach.check(self.session, steps.folder, [], lambda message: None)  # the engine checks again and shows notes
            return inputs.resolve(steps.files(name, self.write), want=want)

    def write(self, folder: Path) -> dict[str, Any]:
        """Write the rows in order, as files whose names are in order."""
        from pyspark.errors import AnalysisException
        from pyspark.sql import functions as sql

        from likewise.engines.spark.session import cause_of
        from likewise.engines.spark.steps import uri

        try:
            by = [*(sql.col(quoted(name)) for name in self.order), hashed(self.frame)]
            self.frame.orderBy(*by).write.parquet(uri(folder))
        except AnalysisException as error:
            raise UsageError(f"this DataFrame cannot be written in order as Parquet: {cause_of(error)}") from error
        written = sorted(folder.glob("part-*.parquet"), key=lambda path: [int(part) for part in path.name.split("-")[1:2]] + [path.name])
        for number, path in enumerate(written):
            path.rename(folder / f"part-{number:06d}.parquet")
        return self.described()

    def described(self) -> dict[str, Any]:
        """Facts that must be equal in a resumed run; so must the rows."""
        return {"order": [*self.order], "schema": self.frame.schema.json()}

    def check(self, steps: Steps, name: str) -> None:
        """Raise UsageError unless an interrupted run wrote these rows in this order."""
        about = steps.about(name)
        differing = [what for what, value in self.described().items() if about[what] != value]
        if not differing and digest(self.frame) != digest(steps.frame(name)):
            differing = ["content"]
        if differing:
            other = f"the {differing[0]} of the DataFrame differs from that of the interrupted run"
            raise UsageError(
                f"{steps.folder.parent}: cannot resume, because {other}; give the same DataFrame and order, or delete the folder to start over"
            )


def hashed(frame: DataFrame) -> Column:
    """A hash of all columns of a row, 64 bits."""
    from pyspark.sql import functions as sql

    def value(name: str, kind: str) -> Column:
        column = sql.col(quoted(name))
        return sql.to_json(sql.struct(column), {"timeZone": "UTC"}) if any(part in kind for part in UNHASHED) else column

    return sql.xxhash64(*(value(*each) for each in frame.dtypes))


def digest(frame: DataFrame) -> tuple[Any, ...]:
    """The number of rows and the sum of their hashes, which are equal for equal rows in any order."""
    from pyspark.sql import functions as sql

    return tuple(frame.agg(sql.count(sql.lit(1)), sql.sum(hashed(frame).cast("decimal(38,0)"))).collect()[0])


def quoted(name: str) -> str:
    """The name of a column in expressions."""
    return "`" + name.replace("`", "``") + "`"


def reader(given: Ordered, path: Path, *, records: bool) -> DataFrame:
    """The DataFrame of a file, or of a folder of files, of a result. records: it has the columns and types of the input."""
    from likewise.engines.spark.session import explained
    from likewise.engines.spark.steps import pattern

    with explained():
        read = given.session.read.options(**READING)
        return (read.schema(given.frame.schema) if records else read).parquet(pattern(path))


def ordered(given: Any, order: tuple[str, ...], called: str = "the DataFrame") -> Ordered:
    """The rows of a DataFrame in an order. called: by messages. Raises UsageError for a DataFrame or an order that cannot be used."""
    if getattr(given, "isStreaming", False):
        raise UsageError("a streaming DataFrame has no last row; write its rows, and give a DataFrame of the written files")
    if not order:
        how = "name a column to sort by, such as an id or a date"
        why = "the rows of a Spark DataFrame have no order, and the result depends on it"
        raise UsageError(f"{why}; {how}: {option('order', placeholder='COLUMN')}")
    types = types_of(given)
    for name in order:
        if name not in types:
            raise UsageError(f"{option('order', name)}: {called} has no such column; its columns are {', '.join(types)}")
        if any(part in types[name] for part in UNHASHED):
            raise UsageError(f"{option('order', name)}: Spark cannot sort by a column of type {types[name]}; name another")
    return Ordered(given, order)


def types_of(frame: Any) -> dict[str, str]:
    """The type of each column. Raises UsageError for types that PySpark does not know, though Spark does."""
    from pyspark.errors import PySparkException

    try:
        return dict(frame.dtypes)
    except PySparkException as error:
        from likewise.engines.spark.session import cause_of

        raise UsageError(f"PySpark cannot describe the columns of this DataFrame; leave out those of other types: {cause_of(error)}") from error


def frame_of(*sides: Any) -> Ordered | None:
    """The first DataFrame among the sides; None without any."""
    return next((side for side in sides if isinstance(side, Ordered)), None)


def session_of(*sides: Any) -> Any:
    """The session of the first DataFrame among the sides; None without any."""
    frame = frame_of(*sides)
    return None if frame is None else frame.session
