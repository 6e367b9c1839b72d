"""A file at an address as a stream: each read asks for a range of bytes, is repeated if it fails, and never returns fewer bytes than the file has."""

from __future__ import annotations

import errno
import io
import time
from collections.abc import Callable
from typing import Any, TypeVar

from likewise.io.address import Address

T = TypeVar("T")
#: Attempts for a request, and seconds before the second one; each further wait is twice as long.
TRIES, WAIT = 5, 0.5
#: A read that continues the one before it asks for twice as many bytes, up to this number.
MOST_AHEAD = 8 << 20


#: The number of the error if a store cannot be reached.
REMOTE = getattr(errno, "EREMOTEIO", errno.EIO)


class TransientError(Exception):
    """A failure that may pass: the network, the server, or an answer that was cut short."""


def retried(call: Callable[[], T], address: Address) -> T:
    """Return the result of ``call``, which is repeated while it raises TransientError. Raises OSError, a device error, after the last attempt."""
    said = ""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(WAIT * 2 ** (attempt - 1))
        try:
            return call()
        except TransientError as error:
            said = str(error)  # the exception itself would keep the caller's buffer alive
    raise OSError(REMOTE, f"{said} (after {TRIES} attempts)", str(address))


class Ranged(io.RawIOBase):
    """The bytes of a file at an address. Arrow asks for what it needs; for other readers, ``ahead``, consecutive reads ask for more."""

    def __init__(self, address: Address, *, ahead: bool = True) -> None:
        from likewise.io.stores import store_of

        self.name, self.address = str(address), address
        self.size = address.stat().st_size
        self.ahead = ahead
        self._read = store_of(address).reader(address)
        self._at = 0
        self._begin, self._data = 0, memoryview(b"")  # the bytes that were read last, and their place

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence])
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        size = min(len(view), self.size - self._at)
        if size <= 0:
            return 0
        end = self._begin + len(self._data)
        if not self._begin <= self._at < end:
            following = self.ahead and self._at == end and self._at > 0
            asked = max(size, min(2 * len(self._data), MOST_AHEAD)) if following else size
            self._begin, self._data = self._at, memoryview(self.at(self._at, min(asked, self.size - self._at)))
        part = self._data[self._at - self._begin :][:size]
        view[: len(part)] = part
        self._at += len(part)
        return len(part)

    def readall(self) -> bytes:
        begin, self._at = self._at, max(self._at, self.size)
        return self.at(begin, self._at - begin)

    def at(self, begin: int, size: int) -> bytes:
        """Return exactly ``size`` bytes. Raises OSError, a device error, if the server does not send them."""

        def read() -> bytes:
            data = self._read(begin, size)
            if len(data) != size:
                raise TransientError(f"the server sent {len(data):,} of {size:,} bytes")
            return data

        if not size:
            return b""
        try:
            return retried(read, self.address)
        except PermissionError as error:  # not the fault of the file: a run stops, and can be resumed with new credentials
            raise OSError(REMOTE, error.strerror, str(self.address)) from error
