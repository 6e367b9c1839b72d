"""Files on servers, over http and https: single files, read by ranges if the server can."""

from __future__ import annotations

import base64
import errno
import http.client
import re
import stat
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from email.utils import parsedate_to_datetime
from typing import Any, BinaryIO, NoReturn
from urllib.parse import unquote

from likewise.errors import DataError, UsageError
from likewise.io.attempts import REMOTE, TransientError, retried
from likewise.io.location import Found, Location

#: Seconds without an answer after which a request is repeated.
TIMEOUT = 60.0
BLOCK_BYTES = 1 << 20
#: Statuses that may pass, and those of missing and of refused files.
PASSING, MISSING, REFUSED = {408, 425, 429, 500, 502, 503, 504}, {404, 410}, {401, 403, 407}
#: The bytes of an answer, and of the whole file.
OF_FILE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+)")


class Http:
    """Files on servers."""

    def look(self, address: Location) -> Found:
        """Ask for the first byte, because a signed URL may allow nothing else: the answer states the size, and whether ranges can be read."""
        if not address.key or address.key.endswith("/"):
            raise UsageError(f"{address}: an http address names a file; folders on servers cannot be listed")
        return retried(lambda: self._look(address), address)

    def _look(self, address: Location) -> Found:
        with answer(address, "bytes=0-0", empty=True) as response:
            span = OF_FILE.fullmatch(response.headers.get("Content-Range", ""))
            found = Found(stat.S_IFREG, 0, modified(response), mark=response.headers.get("ETag", ""))
            if span is None:
                return found._replace(st_size=response.length or 0, ranges=False)
            return found._replace(st_size=int(span[3]))

    def children(self, folder: Location) -> dict[str, Found]:
        raise AssertionError("folders on servers are not listed")

    def reader(self, address: Location, first: Found) -> Callable[[int, int], bytes]:
        """Read ranges, each by a request of its own."""
        if not first.ranges:
            raise OSError(REMOTE, "the server sends only the whole file", str(address))

        def read(begin: int, size: int) -> bytes:
            with answer(address, f"bytes={begin}-{begin + size - 1}") as response:
                span = OF_FILE.fullmatch(response.headers.get("Content-Range", ""))
                if response.status != 206 or span is None:
                    raise TransientError("the server sent the whole file instead of a range")
                if int(span[3]) != first.st_size or response.headers.get("ETag", "") != first.mark:
                    raise DataError(f"{address}: has changed during the run; start over, and do not change inputs during the run")
                if span[1] is None or int(span[1]) != begin:
                    raise TransientError("the server sent a different range")
                return received(response, size)

        return read

    def writer(self, address: Location) -> AbstractContextManager[BinaryIO]:
        raise AssertionError("nothing is written over http")

    def remove(self, address: Location) -> None:
        raise AssertionError("nothing is deleted over http")


def download(address: Location, file: BinaryIO) -> None:
    """Copy a whole file, in one request. Raises OSError, and DataError if the server does not state where the file ends."""

    def attempt() -> None:
        file.seek(0)
        file.truncate()
        with answer(address) as response:
            length = response.length  # of the Content-Length, None without a valid one
            if length is None and not response.chunked:
                raise DataError(f"{address}: the server does not state the size of this file, so its end cannot be known; download it first")
            for block in blocks(response):
                file.write(block)
            if length is not None and file.tell() != length:
                raise TransientError(f"the server sent {file.tell():,} of {length:,} bytes")

    retried(attempt, address)


def blocks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """The body of an answer, block by block."""
    while block := received(response, BLOCK_BYTES):
        yield block


def received(response: http.client.HTTPResponse, size: int) -> bytes:
    """Up to ``size`` bytes of an answer's body."""
    try:
        return response.read(size)
    except (http.client.HTTPException, OSError) as error:
        raise TransientError(f"the answer was cut short: {reason(error)}") from error


@contextmanager
def answer(address: Location, span: str = "", *, empty: bool = False) -> Iterator[Any]:
    """The answer to a request, for a range of bytes if ``span`` is given. ``empty``: a file without bytes has no range, and is no error.

    Raises TransientError, OSError or FileNotFoundError.
    """
    request = urllib.request.Request(address.url, headers={"Accept-Encoding": "identity", "User-Agent": "likewise"})  # noqa: S310 - http(s) only
    if span:
        request.add_header("Range", span)
    if address.login:  # not repeated to another server
        request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(unquote(address.login).encode()).decode())
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)  # noqa: S310
    except urllib.error.HTTPError as error:
        with error:
            if empty and error.code == 416 and error.headers.get("Content-Range", "").endswith("*/0"):
                yield error
                return
            refuse(error, address)
    except (OSError, http.client.HTTPException) as error:
        raise TransientError(reason(error)) from error
    with response:
        yield response


def refuse(error: urllib.error.HTTPError, address: Location) -> NoReturn:
    """Raise the exception for a status that is an error."""
    said = f"the server answers {error.code} {error.reason}".rstrip()
    if error.code in PASSING:
        raise TransientError(said)
    if error.code in MISSING:
        raise FileNotFoundError(errno.ENOENT, f"no such file at this address ({said})", str(address))
    if error.code in REFUSED:
        advice = "a signed address may have expired" if address.query else "give a signed address, or https://USER:PASSWORD@HOST/..."
        raise PermissionError(errno.EACCES, f"{said}; {advice}", str(address))
    raise OSError(REMOTE, said, str(address))


def reason(error: BaseException) -> str:
    """A failure in words, without the URL."""
    inner = getattr(error, "reason", None)
    if isinstance(inner, BaseException):
        return reason(inner)
    if isinstance(error, TimeoutError):
        return f"no answer within {TIMEOUT:g} seconds"
    return (getattr(error, "strerror", None) or str(inner or error) or type(error).__name__).splitlines()[0]


def modified(response: http.client.HTTPResponse) -> int:
    """The time of a file's last change in nanoseconds, 0 if the server does not state it."""
    try:
        return int(parsedate_to_datetime(response.headers["Last-Modified"]).timestamp()) * 10**9
    except (TypeError, ValueError, KeyError):
        return 0
