"""A file at an address as a stream: each read asks for a range of bytes, is repeated if it fails, and never returns fewer bytes than the file has."""

from __future__ import annotations

import io
from typing import Any

from likewise.io.attempts import REMOTE, TransientError, retried
from likewise.io.location import Found, Location
from likewise.io.stores import store_of

#: A read that continues the one before it asks for twice as many bytes, up to this number.
MOST_AHEAD = 8 << 20


class Ranged(io.RawIOBase):
    """The bytes of a file at an address. Arrow asks for what it needs; for other readers, ``ahead``, consecutive reads ask for more."""

    def __init__(self, address: Location, found: Found, *, ahead: bool = True) -> None:
        self.name, self.address = str(address), address
        self.size = found.st_size
        self.ahead = ahead
        self._read = store_of(address).reader(address, found)
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
