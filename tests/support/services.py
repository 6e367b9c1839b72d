"""A service in a process of its own, over the store by definition, and what the tests send to it.

As a script, it is that process: its argument is a JSON object with the choices of the index, limits, tokens, and what fails on purpose.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import likewise as lw
from command_line import SOURCE

READ, WRITE = "a-token-that-reads-01", "a-token-that-writes-1"
JSON, LINES = "application/json", "application/x-ndjson"
#: Texts on which the index fails on purpose.
CRASH, WRONG, FULL, SLOW = "crash the writer", "a bug of the index", "no room on the disk", "take your time"
#: Files in the folder of a service: a query of SLOW has begun, and it may end.
BEGUN, GO = "begun", "go"
#: Seconds in which a busy machine has done it.
PATIENCE = 60.0


@dataclass
class Service:
    process: subprocess.Popen[bytes]
    url: str
    path: Path  # its folder, with the log and the tokens

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def log(self) -> list[dict[str, Any]]:
        """The lines so far. They are written in their order, but collected before: wait for one of the lines by `logged`."""
        return lines_of(self.path / "log")

    def logged(self, **facts: Any) -> dict[str, Any]:
        """Wait until the log has a line with these facts."""
        until(lambda: any(facts.items() <= line.items() for line in self.log()))
        return next(line for line in self.log() if facts.items() <= line.items())

    def gauge(self, name: str) -> float:
        """One of the service's metrics."""
        found = re.search(rf"(?m)^{name} (.*)$", self.ask("GET", "/metrics").content.decode())
        assert found, name
        return float(found[1])

    def client(self, token: str | None = WRITE, **more: Any) -> lw.Client:
        return lw.Client(self.url, token=token, **more)

    def ask(self, method: str, path: str, body: Any = None, *, token: str | None = WRITE, media: str = JSON, **headers: str) -> Reply:
        """One request on a connection of its own. body: bytes, or a value for JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        sent = {**({"authorization": f"Bearer {token}"} if token else {}), **({"content-type": media} if body is not None else {}), **headers}
        connection.request(method, path, body if isinstance(body, bytes) or body is None else json.dumps(body).encode(), sent)
        response = connection.getresponse()
        reply = Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
        connection.close()
        return reply

    def raw(self, data: bytes) -> bytes:
        """All that the service answers to these bytes, until it closes the connection."""
        with self.connected() as sock:
            sock.sendall(data)
            return received(sock)

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def connections(self) -> int:
        """The connections that the service has open."""
        lines = Path(f"/proc/{self.process.pid}/net/tcp").read_text().splitlines()[1:]
        fields = [line.split() for line in lines]
        port = f":{self.port:04X}"
        sockets = {one[9] for one in fields if one[1].endswith(port) and one[3] == "01"}
        links = set()
        for link in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                links.add(str(link.readlink()))
        return sum(f"socket:[{inode}]" in links for inode in sockets)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def lines_of(log: Path) -> list[dict[str, Any]]:
    """The lines of a log that are whole."""
    return [json.loads(line) for line in log.read_text().rpartition("\n")[0].splitlines()]


def until(ready: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until something is true, which takes its time on a busy machine."""
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.01)


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.content.splitlines()]


def received(sock: socket.socket) -> bytes:
    """All that comes until the other side ends the connection."""
    parts = []
    with suppress(ConnectionError):
        while part := sock.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


@contextmanager
def service(
    folder: Path, *, tokens: bool = True, index: str | None = None, limits: dict[str, Any] | None = None, **choices: Any
) -> Iterator[Service]:
    """A service that answers. index: the place of an index; else a new one with these choices, in memory."""
    folder.mkdir(exist_ok=True)
    if tokens:
        with_tokens(folder)
    given = {"choices": choices or {"by": "words:2"}, "tokens": tokens, "index": index, "limits": limits or {}}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-P", __file__, str(folder), json.dumps(given)]
    with open(folder / "log", "wb") as log, subprocess.Popen(command, stderr=log, env=environment) as process:
        try:
            yield Service(process, address(folder / "log", process), folder)
        finally:
            process.kill()


def with_tokens(folder: Path) -> Path:
    """The folder, with a file of tokens that no one else may read."""
    folder.mkdir(exist_ok=True)
    (folder / "tokens").write_text(f"read {READ} reader\nwrite {WRITE} writer\n")
    (folder / "tokens").chmod(0o600)
    return folder


@contextmanager
def command(target: Path, folder: Path, *flags: str) -> Iterator[Service]:
    """`likewise serve` of an index or an output. folder: where it runs, for its log."""
    folder.mkdir(parents=True, exist_ok=True)
    line = [sys.executable, "-P", "-m", "likewise", "serve", str(target), "--port", "0", *flags]
    with open(folder / "log", "wb") as log, subprocess.Popen(line, stderr=log, env={**os.environ, "PYTHONPATH": SOURCE}, cwd=folder) as process:
        try:
            yield Service(process, address(folder / "log", process), folder)
        finally:
            process.kill()


def address(log: Path, process: subprocess.Popen[bytes]) -> str:
    """Where a service answers, once its log says so."""
    for _ in range(1200):
        ended = process.poll() is not None
        for line in log.read_text().splitlines(keepends=True):
            if '"started"' in line and line.endswith("\n"):
                found: str = json.loads(line)["url"]
                return found
        assert not ended, log.read_text()
        time.sleep(0.05)
    raise AssertionError(log.read_text())


class Failing:
    """An index that fails when it is given certain texts, and that takes its time for another until a file GO is there."""

    def __init__(self, index: lw.Index, folder: Path):
        self._index, self._folder = index, folder

    def add(self, items: Any, *rest: Any, **more: Any) -> Any:
        if CRASH in items:
            raise SystemExit
        if WRONG in items:
            raise KeyError(WRONG)
        if FULL in items:
            raise OSError(28, "No space left on device")
        return self._index.add(items, *rest, **more)

    def query(self, items: Any, **more: Any) -> Any:
        if SLOW in items:
            (self._folder / BEGUN).touch()
            until((self._folder / GO).exists)
        return self._index.query(items, **more)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, id: object) -> bool:
        return id in self._index

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)


def main(folder: Path, given: dict[str, Any]) -> None:
    from indexes import plain_index
    from likewise.service.app import application
    from likewise.service.limits import Limits
    from likewise.service.logs import Log
    from likewise.service.run import bound, serve
    from likewise.service.serving import Serving

    index: Any = lw.Index.open(given["index"], durability="relaxed") if given["index"] else Failing(plain_index(**given["choices"]), folder)
    log = Log(sys.stderr.buffer, "debug")
    listening = bound("127.0.0.1", 0)
    tokens = folder / "tokens" if given["tokens"] else None
    remote = "://" in (given["index"] or "")
    limits = Limits(**given["limits"])
    serving = Serving(index, log, token_file=tokens, host="127.0.0.1", writes=given["tokens"], remote=remote, limits=limits)
    serving.warm()
    serve(serving, application(serving), listening, lambda: log.add("info", "started", url=f"http://127.0.0.1:{listening.getsockname()[1]}"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
