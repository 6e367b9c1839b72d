"""A server of files on this machine, which counts what it sends and can fail on purpose."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

#: Faults of a single answer: a status, an answer that never comes, a body that is cut short, and an answer that ignores the range.
BUSY, SILENT, CUT, WHOLE = "busy", "silent", "cut", "whole"


class Request(NamedTuple):
    path: str
    first: int  # of the range that was asked for; -1 for the whole file
    sent: int  # bytes of the body


class Server(ThreadingHTTPServer):
    """Files by path. ``faults`` strike one answer after the other, beginning with the next one; "" lets an answer pass."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.ranges = True
        self.length: bool | str = True  # of a whole file is stated; a str: as this
        self.login = ""
        self.statuses: dict[str, int] = {}
        self.faults: list[str] = []
        self.requests: list[Request] = []
        self.stop = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def sent(self) -> int:
        return sum(request.sent for request in self.requests)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no error."""


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.0"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        server = self.server
        fault = server.faults.pop(0) if server.faults else ""
        path = self.path.partition("?")[0]
        found = server.files.get(path)
        status = server.statuses.get(path, 200 if found is not None else 404)
        if server.login and self.headers.get("Authorization") != server.login:
            status = 401
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if fault == SILENT:
            server.requests.append(Request(self.path, -1, 0))
            server.stop.wait()
            return
        if fault == BUSY or status != 200:
            server.requests.append(Request(self.path, -1, 0))
            self.send_error(503 if fault == BUSY else status)
            return
        assert found is not None
        first, body = -1, found
        if asked and server.ranges and fault != WHOLE:
            first = int(asked[1])
            body = found[first : int(asked[2]) + 1]
            self.send_response(206 if body else 416)
            self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{len(found)}" if body else f"bytes */{len(found)}")
        else:
            self.send_response(200)
        part = body[: len(body) // 2] if fault == CUT else body
        server.requests.append(Request(self.path, first, len(part)))
        self.send_header("ETag", f'"{hash(found)}"')
        if server.length or first >= 0:
            stated = server.length if first < 0 and isinstance(server.length, str) else len(body)
            self.send_header("Content-Length", str(stated))
        self.end_headers()
        try:
            self.wfile.write(part)
        except OSError:  # the client has seen enough
            time.sleep(0)


@contextmanager
def serving() -> Iterator[Server]:
    """A server that runs until the end of the block."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop.set()
        server.shutdown()
        server.server_close()
        thread.join()
