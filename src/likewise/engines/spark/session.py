"""The Spark session of a run: a new one on a master, or the active one.

Only features of Spark Connect are used: DataFrames and SQL settings, not RDDs or the context.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.engines.spark import tasks
from likewise.errors import LikewiseError, UsageError, missing_part
from likewise.io.address import without_secrets
from likewise.messages import option

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The argument of pip for PySpark and the dependencies of Spark Connect; `pyspark[connect]` of version 3.5 needs numpy 1.
EXTRA = "'likewise[spark]'"
OLDEST, OLDEST_JAVA = (3, 5), 17
#: Seconds in which a master must accept a connection.
CONNECTING = 10
#: Forms of masters, for messages.
FORMS = "local[4], spark://HOST:7077, yarn, k8s://https://HOST:6443, or sc://HOST:15002 for Spark Connect"
PORTS = {"spark": 7077, "k8s": 443, "sc": 15002}
#: Environment variables by which spark-submit, Spark Connect and Databricks announce a session or its configuration.
SURROUNDINGS = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "DATABRICKS_RUNTIME_VERSION")
#: Settings during a run. Batches are limited by rows, and a row may have a set of some kilobytes. Batches have the types binary and string, not
#: large_binary and large_string. A lost or damaged file of a step ends the job. Steps say how many partitions they need, and adaptive execution would
#: run each shuffle as a job of its own. A partition is one file.
SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.files.maxRecordsPerFile": "0",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
}
#: Settings while Spark chooses the number of partitions.
ADAPTIVE = {"spark.sql.adaptive.enabled": "true", "spark.sql.adaptive.coalescePartitions.enabled": "true"}
#: Settings of a session that likewise starts.
OWN = {"spark.app.name": "likewise", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
#: Java options of a session on this machine alone: Spark logs only errors, and one compiler instead of two halves the processor time of small
#: runs. Most of the work is done in Python.
JAVA = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
LOOPBACK = "127.0.0.1"
#: The beginning of the line in which py4j names an error of Java.
JAVA_SAYS = ": "
#: Errors of tasks that had too little memory, or that were killed, as the system does where memory is short; and the advice.
SHORT_OF_MEMORY = re.compile(r"^[\w.]*MemoryError\b|Python worker exited unexpectedly|exceeding (physical |virtual )?memory limits", re.MULTILINE)
MORE_MEMORY = (
    "; a task probably had too little memory: give executors more beside Java (spark.executor.memoryOverhead), or run fewer tasks at once "
    "(spark.executor.cores, or a smaller N in local[N])"
)


@contextmanager
def opened(master: str | None, given: SparkSession | None = None) -> Iterator[SparkSession]:
    """The given session, or one on the master, or the active one, with `SETTINGS`. A session that was started here is stopped at the end.

    Raises MissingPartError without PySpark or pandas, UsageError for a master that cannot be used, and LikewiseError for a job that failed in Spark.
    """
    with tasks.quiet():
        session, own = session_of(master) if given is None else (given, False)
        try:
            check_version(session.version)
            if find_spec("pandas") is None:  # PySpark sends functions of Arrow batches to tasks only if it is there
                raise missing_part("runs on Spark need", "pandas", "pandas")
            with changed(session, SETTINGS), explained():
                yield session
        finally:
            if own:
                session.stop()


@contextmanager
def changed(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Inside, the session has these settings, except those that it does not know or does not let change."""
    before = {name: session.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            with suppress(Exception):
                session.conf.set(name, value)
        yield
    finally:
        for name, earlier in before.items():
            with suppress(Exception):  # also of a session that has ended
                session.conf.unset(name) if earlier is None else session.conf.set(name, earlier)


def session_of(master: str | None) -> tuple[SparkSession, bool]:
    """The session, and True if it was started here."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise missing_part("runs on Spark need", "PySpark", EXTRA) from error
    active = None
    with suppress(Exception):  # no session is active
        active = SparkSession.active()
    if active is not None:
        here = active.conf.get("spark.master", None)
        if master is not None and master != here:
            on = f" on {here}" if here else ""
            raise UsageError(f"{named(master)}: this process has an active session of Spark{on}; leave the option out, or stop the session")
        return active, False
    if master is None and not any(os.environ.get(name) for name in SURROUNDINGS):
        raise UsageError(
            f"{option('engine', 'spark')}: this process has no session of Spark; name a master: {option('master', placeholder='URL')} ({FORMS})"
        )
    builder: Any = SparkSession.builder
    if master is not None:
        check_master(master)
        builder = builder.remote(master) if master.startswith("sc://") else builder.config(map=own(master)).master(master)
    with surroundings(master), starting(master):
        return builder.getOrCreate(), True


def named(master: str) -> str:
    """A master as messages name it: without the token of Spark Connect."""
    return option("master", without_secrets(master))


def check_master(master: str) -> None:
    """Raise UsageError for a malformed master, for one that does not answer, and for a Java that cannot run Spark."""
    scheme, _, rest = master.partition("://")
    asked = named(master)
    if not re.fullmatch(r"local(\[(\*|0*[1-9]\d*)(,\d+)?\])?|local-cluster\[.+\]|yarn", master) and not (scheme in PORTS and rest):
        raise UsageError(f"{asked}: choose one of {FORMS}")
    if master == "yarn" and not any(os.environ.get(name) for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR")):
        raise UsageError(f"{asked}: set HADOOP_CONF_DIR to the folder with the configuration of the cluster")
    if scheme != "sc":
        check_java()
    if scheme in PORTS:
        reach(asked, [place_of(one, PORTS[scheme]) for one in re.sub("^https?://", "", rest).split(",")])


def place_of(text: str, port: int) -> tuple[str, int]:
    """The host and the port in HOST:PORT/MORE;PARAMETERS."""
    host, colon, given = re.split("[/;]", text, maxsplit=1)[0].rpartition(":")
    return (host.strip("[]"), int(given)) if colon and given.isdecimal() else (f"{host}{colon}{given}", port)


def reach(asked: str, places: list[tuple[str, int]]) -> None:
    """Raise UsageError unless one of these places accepts a connection. Spark itself would try for minutes."""
    reason = ""
    for place in places:
        try:
            socket.create_connection(place, timeout=CONNECTING).close()
            return
        except OSError as error:
            reason = f"{place[0]} port {place[1]}: {error.strerror or error}"
    raise UsageError(f"{asked}: no connection within {CONNECTING} seconds ({reason}); start the master, or name another")


def check_java() -> None:
    """Raise UsageError if the Java that Spark would start is missing or too old."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    said = ""
    if java:
        with suppress(OSError, subprocess.SubprocessError):
            said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr  # noqa: S603
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < OLDEST_JAVA:
        there = f"{java} is Java {found[1]}" if found else f"JAVA_HOME is {home}, and no Java runs there" if home else "no Java is installed"
        how = "install it, on Debian: apt-get install openjdk-17-jre-headless"
        raise UsageError(f"Spark needs Java {OLDEST_JAVA} or newer, but {there}; {how}, or set JAVA_HOME")


def check_version(version: str) -> None:
    """Raise UsageError for a version of Spark that is too old."""
    number = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if number < OLDEST:
        raise UsageError(f"likewise needs Spark {'.'.join(map(str, OLDEST))} or newer, and this cluster has {version}")


def own(master: str) -> dict[str, str]:
    """The settings of a session that likewise starts on a master."""
    return OWN | ({"spark.driver.extraJavaOptions": JAVA} if master.startswith("local") else {})


@contextmanager
def surroundings(master: str | None) -> Iterator[None]:
    """Inside, the environment has the variables that a session on a master needs, unless the user set them.

    Executors of standalone clusters run the path of this Python; those of YARN and Kubernetes have their own. Spark on this machine alone listens on
    the loopback address only.
    """
    wanted: dict[str, str] = {}
    if master is not None and master.startswith(("local", "spark://")):
        wanted["PYSPARK_PYTHON"] = sys.executable
    if master is not None and master.startswith("local"):
        wanted["SPARK_LOCAL_IP"] = LOOPBACK
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def starting(master: str | None) -> Iterator[None]:
    """Inside, errors of Spark name the master."""
    try:
        yield
    except LikewiseError:
        raise
    except Exception as error:
        at = named(master) if master else option("engine", "spark")
        raise UsageError(f"{at}: Spark did not start: {cause_of(error)}") from error


@contextmanager
def explained() -> Iterator[None]:
    """Inside, errors of Spark become errors of likewise. The run can be resumed, unless executors have other versions."""
    from pyspark.errors import PySparkException

    of_spark: list[type[Exception]] = [PySparkException]
    with suppress(ImportError):  # a client of Spark Connect alone does without it
        from py4j.protocol import Py4JError

        of_spark.append(Py4JError)
    try:
        yield
    except tuple(of_spark) as error:
        if said := tasks.refusal(error):
            raise other_versions(said) from None
        cause = cause_of(error)
        stopped = OSError(errno.EIO, cause)
        stopped.__cause__ = error  # with the traceback of the task
        raise LikewiseError(f"Spark stopped the job: {cause}{MORE_MEMORY if SHORT_OF_MEMORY.search(str(error)) else ''}") from stopped


def other_versions(said: str) -> UsageError:
    return UsageError(
        f"executors have other versions, which could change the result: {said}; install the versions that are here, or set PYSPARK_PYTHON"
    )


def cause_of(error: BaseException) -> str:
    """The line of a Spark error that states the cause: the last one of a task's traceback, or that of an error of Java, or else the first line."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    if any(line.startswith("Traceback") for line in lines):
        lines = [line for line in lines if re.match(r"[A-Za-z_][\w.]*(: |$)", line)][-1:] or lines
    elif any(line.startswith(JAVA_SAYS) for line in lines):  # after a line that names the method that was called
        lines = [line.removeprefix(JAVA_SAYS) for line in lines if line.startswith(JAVA_SAYS)]
    return lines[0].strip() if lines else type(error).__name__
