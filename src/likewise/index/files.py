"""Files of arrays that are written once: each has a checksum, and a trailer says which there are.

    arrays, each from a multiple of 64 bytes on | directory: 48 bytes an array | trailer: 64 bytes

An entry of the directory: the type of the values (8 bytes), where they begin and how many they are (uint64 each), 8 zeros, and the xxh3-128 of their
bytes up to where the next array or the directory begins. The trailer: magic, kind, the length of the file, the number of arrays (8 bytes each), the
xxh3-128 of the directory, and that of these 48 bytes. So each byte of a file is under a checksum.
"""

from __future__ import annotations

import mmap
import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import xxhash

from likewise.errors import FormatError, naming

MAGIC = b"likewis1"
ALIGNED = 64
ENTRY, TRAILER = struct.Struct("<8sQQ8x16s"), struct.Struct("<8s8sQQ16s16s")
#: Arrays up to this size are compared with their checksums when a file is opened.
SMALL = 1 << 20


def damaged(path: Path, why: str) -> FormatError:
    return FormatError(f"{path} is damaged: {why}; restore the index from a backup, or build it again from its inputs")


class Writing:
    """Writes the arrays of one file, one after the other, each at once or piece by piece."""

    def __init__(self, path: Path, kind: str):
        self.path, self.kind = path, kind
        self._file: BinaryIO = open(path, "xb")  # noqa: SIM115 - `finish` or `abandon` closes it
        self._at = 0
        self._entries: list[tuple[bytes, int, int, Any]] = []

    def begin(self, dtype: np.dtype | str) -> None:
        """An array begins, of no values yet."""
        self._pad()
        self._entries.append((np.dtype(dtype).str.encode(), self._at, 0, xxhash.xxh3_128()))

    def more(self, values: np.ndarray) -> None:
        """Values of the array that began last."""
        dtype, at, count, digest = self._entries[-1]
        data = np.ascontiguousarray(values, np.dtype(dtype.decode())).reshape(-1).view(np.uint8).data
        self._write(data)
        digest.update(data)
        self._at += len(data)
        self._entries[-1] = dtype, at, count + values.size, digest

    def put(self, values: np.ndarray) -> None:
        """A whole array."""
        self.begin(values.dtype)
        self.more(values)

    def finish(self) -> tuple[int, bytes]:
        """Write the directory and the trailer, and sync the file to the disk: its length and its trailer."""
        self._pad()
        directory = b"".join(ENTRY.pack(dtype, at, count, digest.digest()) for dtype, at, count, digest in self._entries)
        length = self._at + len(directory) + TRAILER.size
        trailer = TRAILER.pack(MAGIC, self.kind.encode(), length, len(self._entries), xxhash.xxh3_128_digest(directory), bytes(16))[:48]
        trailer += xxhash.xxh3_128_digest(trailer)
        with naming(self.path), self._file:
            self._write(directory + trailer)
            self._file.flush()
            os.fdatasync(self._file.fileno())
        return length, trailer

    def abandon(self) -> None:
        with suppress(OSError):  # what could not be written before
            self._file.close()
        self.path.unlink(missing_ok=True)

    def _write(self, data: Any) -> None:
        with naming(self.path):
            self._file.write(data)

    def _pad(self) -> None:
        zeros = bytes(-self._at % ALIGNED)
        self._write(zeros)
        self._at += len(zeros)
        if self._entries:
            self._entries[-1][3].update(zeros)


class Arrays:
    """The arrays of one file, mapped: it never changes, and only the index that it belongs to writes or deletes it.

    The length that the trailer names is compared with that of the file first, so that nothing is read past its end.
    """

    def __init__(self, path: Path, kind: str, wanted: int):
        self.path = path
        try:
            with open(path, "rb") as file:
                self.bytes = os.fstat(file.fileno()).st_size
                if self.bytes < TRAILER.size:
                    raise damaged(path, f"it has {self.bytes} bytes, fewer than its last part alone")
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            raise damaged(path, "there is no such file") from None
        self._data = np.frombuffer(self._map, np.uint8)
        self.trailer = self._data[-TRAILER.size :].tobytes()
        magic, named, length, count, digest, own = TRAILER.unpack(self.trailer)
        if magic != MAGIC or own != xxhash.xxh3_128_digest(self.trailer[:48]):
            raise damaged(path, "its end is not what was written, as if it had been cut off")
        if named.rstrip(b"\0") != kind.encode() or count != wanted:
            raise damaged(path, f"it is another file: of {named.rstrip(bytes(1)).decode(errors='replace')} in place of {kind}")
        self._end = length - TRAILER.size - count * ENTRY.size
        directory = self._data[max(self._end, 0) : -TRAILER.size].tobytes()
        if length != self.bytes or self._end < 0 or digest != xxhash.xxh3_128_digest(directory):
            raise damaged(path, f"it has {self.bytes:,} bytes in place of {length:,}, or its list of parts is not what was written")
        self._entries = [(np.dtype(dtype.rstrip(b"\0").decode()), at, n, sum_) for dtype, at, n, sum_ in ENTRY.iter_unpack(directory)]
        self.arrays = [self._data[at : at + n * dtype.itemsize].view(dtype) for dtype, at, n, _ in self._entries]
        for faults in self._faults(SMALL):
            raise damaged(path, faults)

    def _faults(self, most: int | None = None) -> Any:
        begins = [at for _, at, _, _ in self._entries] + [self._end]
        for place, (_, at, _, digest) in enumerate(self._entries):
            read = most is None or begins[place + 1] - at <= most
            if read and xxhash.xxh3_128_digest(self._data[at : begins[place + 1]].data) != digest:
                yield f"part {place + 1} of {len(self._entries)} is not what was written"

    def check(self) -> list[str]:
        """Compare all arrays with their checksums: a sentence for each that differs."""
        return [str(damaged(self.path, fault)) for fault in self._faults()]
