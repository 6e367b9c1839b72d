"""A real Spark cluster for tests: a master and two workers as processes of their own, and a Spark Connect server, all on 127.0.0.1.

The programs are those of PySpark's package. Each process is ended by its own number; logs and other files lie in a folder for temporary files.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from command_line import SOURCE
from index_servers import free_port

#: Seconds in which a process must answer after its start.
PATIENCE = 120
#: Memory of a worker and of an executor, whose Python processes need as much besides.
MEMORY = "700m"
#: Options of Java that halve the processor time of short runs.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
#: Settings of all drivers: small heaps, no web pages, and few partitions where Spark chooses. A lost executor is noticed within a minute, and files
#: that it held are asked for again at once.
DEFAULTS = {
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executor.extraJavaOptions": JAVA,
    "spark.executor.memory": MEMORY,
    "spark.driver.memory": MEMORY,
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.network.timeout": "60s",
    "spark.network.timeoutInterval": "20s",
    "spark.shuffle.io.retryWait": "100ms",
    "spark.sql.shuffle.partitions": "4",
    "spark.master.rest.enabled": "false",
}
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
SUBMIT, CONNECT = "org.apache.spark.deploy.SparkSubmit", "org.apache.spark.sql.connect.service.SparkConnectServer"


class Cluster:
    """A master and two workers with a core each. ``master`` is the URL for drivers, ``env`` what their processes need in their environment."""

    def __init__(self, env: Mapping[str, str] | None = None):
        """env: more variables for all processes of the cluster."""
        self.folder = Path(tempfile.mkdtemp(prefix="likewise-spark-"))
        package = find_spec("pyspark")
        assert package is not None and package.origin is not None
        self.home = Path(package.origin).parent
        (self.folder / "conf").mkdir()
        (self.folder / "conf" / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in DEFAULTS.items()))
        self.env = {
            "SPARK_HOME": str(self.home),
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": str(SOURCE),
        }
        self.more = dict(env or {})
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        atexit.register(self.end)
        port, self.page = free_port(), free_port()
        self.master = f"spark://127.0.0.1:{port}"
        self.begin("master", MASTER, "--host", "127.0.0.1", "--port", port, "--webui-port", self.page, ready=lambda: self.workers() == 0)
        for number in (1, 2):
            self.begin_worker(f"worker{number}")
        self.until(lambda: self.workers() == 2, "two workers")

    def begin_worker(self, name: str) -> None:
        at = ("--host", "127.0.0.1", "--webui-port", free_port(), "--work-dir", self.folder / name)
        self.begin(name, WORKER, *at, "--cores", 1, "--memory", MEMORY, self.master)

    def connect(self) -> str:
        """Start a Spark Connect server, whose jobs run in its own process, and return the URL for clients."""
        port = free_port()
        settings = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": port}
        given = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        command = (SUBMIT, "--master", "local[2]", "--class", CONNECT, *given, "spark-internal")
        self.begin("connect", *command, ready=lambda: answers(port))
        return f"sc://127.0.0.1:{port}"

    def begin(self, name: str, *command: object, ready: Callable[[], bool] = lambda: True) -> None:
        """Start a Java process of Spark under a name, and wait until it is ready."""
        with open(self.folder / f"{name}.log", "ab") as log:
            started = [self.home / "bin" / "spark-class", *command]
            environment = {**os.environ, **self.env, **self.more, "SPARK_DAEMON_MEMORY": MEMORY, "SPARK_DAEMON_JAVA_OPTS": JAVA}
            self.processes[name] = subprocess.Popen(
                [*map(str, started)], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_parent
            )
        self.until(ready, name)

    def until(self, ready: Callable[[], bool], what: str) -> None:
        """Wait until something is true. Raises RuntimeError with the ends of all logs if it takes too long, or if a process has ended."""
        end = time.monotonic() + PATIENCE
        while not ready():
            ended = [name for name, process in self.processes.items() if process.poll() is not None]
            if ended or time.monotonic() > end:
                logs = "\n".join(f"{path.name}:\n{path.read_text()[-2000:]}" for path in sorted(self.folder.glob("*.log")))
                raise RuntimeError(f"{what}: not ready; ended: {ended}\n{logs}")
            time.sleep(0.1)

    def state(self) -> dict[str, Any]:
        """The page of the master, in JSON; empty while it does not answer, or with another page."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.page}/json/", timeout=10) as page:
                return json.load(page)
        except (OSError, ValueError):
            return {}

    def workers(self) -> int | None:
        """The number of workers that are alive according to the master; None if it does not answer."""
        return self.state().get("aliveworkers")

    def kill(self, name: str) -> None:
        """Kill a process, and the processes that it has started, as the loss of a machine would."""
        for pid in (*descendants(self.processes[name].pid), self.processes[name].pid):
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                continue
        self.processes.pop(name).wait()

    def end(self) -> None:
        for name in [*self.processes][::-1]:
            self.kill(name)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def made(cluster: Cluster, **settings: str) -> Iterator[Any]:
    """A session on the cluster that the caller of likewise has, with settings of Spark."""
    from likewise.engines.spark.session import OWN
    from likewise.engines.spark.tasks import quiet

    with quiet():
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        SparkContext._ensure_initialized()  # starts Java, which passes the settings of the first session on to all later ones
        session = SparkSession.builder.config(map={**OWN, **settings}).master(cluster.master).getOrCreate()
        try:
            yield session
        finally:
            session.stop()


def active() -> Any:
    """The active session of this process, or None."""
    from pyspark.sql import SparkSession

    with suppress(Exception):
        return SparkSession.active()
    return None


def end_with_parent() -> None:
    """In a child process: it is killed when the thread that started it ends, however that happens (prctl's PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def answers(port: int) -> bool:
    with socket.socket() as found:
        return found.connect_ex(("127.0.0.1", port)) == 0


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    try:
        begun = [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [found for child in begun for found in (*descendants(child), child)]
