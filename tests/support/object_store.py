"""A store of objects on this machine that speaks S3: moto's server, with a record of its requests."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pyarrow import fs


class Request(NamedTuple):
    method: str
    path: str  # bucket and key
    sent: int  # bytes of the answer that the server states


class Objects:
    """The server. ``fault(method, path)`` returns True for a request that it refuses as busy."""

    def __init__(self, url: str) -> None:
        self.url = url
        #: The variables with which other processes find the store.
        self.access = {"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
        self.requests: list[Request] = []
        self.fault: Callable[[str, str], bool] = lambda method, path: False
        self.files = fs.S3FileSystem(
            access_key="test", secret_key="test", scheme="http", endpoint_override=url.removeprefix("http://"), allow_bucket_creation=True
        )

    def put(self, path: str, content: bytes) -> None:
        self.files.create_dir(path.partition("/")[0])
        with self.files.open_output_stream(path, compression=None) as file:
            file.write(content)

    def put_folder(self, folder: Path, to: str) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{to}/{path.relative_to(folder).as_posix()}", path.read_bytes())

    def get(self, path: str) -> bytes:
        with self.files.open_input_file(path) as file:
            return file.read()

    def names(self, folder: str) -> list[str]:
        """The names of the objects below a folder, sorted."""
        found = self.files.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
        return sorted(one.path.removeprefix(folder + "/") for one in found if one.type == fs.FileType.File)


@contextmanager
def serving_objects() -> Iterator[Objects]:
    """A server that runs until the end of the block."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server
    inner = DomainDispatcherApplication(create_backend_app)
    store: Objects

    def app(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"].lstrip("/")
        if store.fault(method, path):
            store.requests.append(Request(method, path, 0))
            start("503 Slow Down", [("Content-Length", "0")])
            return [b""]

        def started(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
            store.requests.append(Request(method, path, 0 if method == "HEAD" else length))
            return start(status, headers, *more)

        return inner(environ, started)

    server = make_server("127.0.0.1", 0, app, threaded=True)
    server.daemon_threads = True
    store = Objects(f"http://127.0.0.1:{server.port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
