"""A stand-in for the Hugging Face Hub on this machine: one dataset, its listings, and ranges of its files."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPOSITORY = "datasets/me/corpus"


class Hub(ThreadingHTTPServer):
    """The server. ``cut``: so many answers with bytes of a file are cut short; ``private``: access is refused."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.cut = 0
        self.private = False
        self.sent = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def entries(self, folder: str) -> list[dict[str, object]]:
        inside = {path.removeprefix(folder): content for path, content in self.files.items() if path.startswith(folder)}
        folders = {path.partition("/")[0] for path in inside if "/" in path}
        files = [
            {"type": "file", "oid": f"{hash(data):x}", "size": len(data), "path": folder + path} for path, data in inside.items() if "/" not in path
        ]
        return files + [{"type": "directory", "oid": "0", "size": 0, "path": folder + name} for name in sorted(folders)]


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, format: str, *args: object) -> None:
        pass

    def answer(self, body: bytes, status: int = 200, part: int | None = None, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:part])

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        listing = re.fullmatch(rf"/api/{REPOSITORY}/tree/main/?(.*)", path)
        file = re.fullmatch(rf"/{REPOSITORY}/resolve/main/(.+)", path)
        if self.server.private and path.startswith(("/api/datasets", "/datasets")):
            self.answer(b"{}", 401, X_Error_Code="GatedRepo")
        elif listing:
            below = self.server.entries(listing[1] and listing[1] + "/")
            self.answer(json.dumps(below or {}).encode(), 200 if below else 404, Content_Type="application/json")
        elif path.startswith(f"/api/{REPOSITORY}"):
            about = {"id": "me/corpus", "sha": "2" * 40, "private": False, "downloads": 0, "tags": [], "siblings": []}
            self.answer(json.dumps(about).encode(), Content_Type="application/json")
        elif file and (asked := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))):
            whole = self.server.files[file[1]]
            body = whole[int(asked[1]) : int(asked[2]) + 1]
            cut = None
            if self.server.cut:
                self.server.cut, cut = self.server.cut - 1, len(body) // 2
            self.server.sent += len(body)
            self.answer(body, 206, cut, Content_Range=f"bytes {asked[1]}-{int(asked[1]) + len(body) - 1}/{len(whole)}")
        else:
            self.answer(b"{}", 404, X_Error_Code="RepoNotFound")

    do_HEAD = do_GET  # noqa: N815


@contextmanager
def serving_hub() -> Iterator[Hub]:
    """A server that runs until the end of the block."""
    hub = Hub()
    thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()
