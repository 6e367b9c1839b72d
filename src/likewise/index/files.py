"""Files of arrays that are written once: each block has a checksum, which is compared when something in the block is first used.

    arrays, each from a multiple of 64 bytes on | checksums: 8 bytes a block | directory: 24 bytes an array | trailer: 64 bytes

The arrays are one run of blocks of 16 KiB (`kernels.checksums`). An entry of the directory: the type of the values (8 bytes), where they begin and
how many they are (uint64 each). The trailer: magic, kind, the length of the file, the number of arrays (8 bytes each), the xxh3-128 of checksums and
directory, and that of these 48 bytes. So each byte of a file is under a checksum.
"""

from __future__ import annotations

import mmap
import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
import xxhash

from likewise.errors import FormatError, naming
from likewise.kernels.checksums import BLOCK, IN_MEMORY, Blocks

MAGIC = b"likewis1"
ALIGNED = 64
ENTRY, TRAILER = struct.Struct("<8sQQ"), struct.Struct("<8s8sQQ16s16s")


def damaged(path: Path, why: str) -> FormatError:
    return FormatError(f"{path} is damaged: {why}; restore the index from a backup, or build it again from its inputs")


class Writing:
    """Writes the arrays of one file, one after the other, each at once or piece by piece."""

    def __init__(self, path: Path, kind: str):
        self.path, self.kind = path, kind
        self._file: BinaryIO = open(path, "xb")  # noqa: SIM115 - `finish` or `abandon` closes it
        self._at = 0
        self._entries: list[tuple[bytes, int, int]] = []
        self._sums: list[int] = []
        self._digest = xxhash.xxh64()  # of the block that is being written

    def begin(self, dtype: np.dtype | str) -> None:
        """An array begins, of no values yet."""
        self._pad()
        self._entries.append((np.dtype(dtype).str.encode(), self._at, 0))

    def more(self, values: np.ndarray) -> None:
        """Values of the array that began last."""
        dtype, at, count = self._entries[-1]
        self._write(np.ascontiguousarray(values, np.dtype(dtype.decode())).reshape(-1).view(np.uint8).data)
        self._entries[-1] = dtype, at, count + values.size

    def put(self, values: np.ndarray) -> None:
        """A whole array."""
        self.begin(values.dtype)
        self.more(values)

    def finish(self) -> tuple[int, bytes]:
        """Write what follows the arrays, and sync the file to the disk: its length and its trailer."""
        self._pad()
        if self._at % BLOCK:
            self._end_block()
        lists = np.array(self._sums, "<u8").tobytes() + b"".join(ENTRY.pack(*entry) for entry in self._entries)
        length = self._at + len(lists) + TRAILER.size
        trailer = TRAILER.pack(MAGIC, self.kind.encode(), length, len(self._entries), xxhash.xxh3_128_digest(lists), bytes(16))[:48]
        trailer += xxhash.xxh3_128_digest(trailer)
        with naming(self.path), self._file:
            self._file.write(lists + trailer)
            self._file.flush()
            os.fdatasync(self._file.fileno())
        return length, trailer

    def abandon(self) -> None:
        with suppress(OSError):  # what could not be written before
            self._file.close()
        self.path.unlink(missing_ok=True)

    def _write(self, data: memoryview) -> None:
        with naming(self.path):
            self._file.write(data)
        while data:
            some, data = data[: BLOCK - self._at % BLOCK], data[BLOCK - self._at % BLOCK :]
            self._digest.update(some)
            self._at += len(some)
            if self._at % BLOCK == 0:
                self._end_block()

    def _end_block(self) -> None:
        self._sums.append(self._digest.intdigest() | 1)
        self._digest.reset()

    def _pad(self) -> None:
        self._write(memoryview(bytes(-self._at % ALIGNED)))


class Arrays:
    """The arrays of one file, mapped: it never changes, and only the index that it belongs to writes or deletes it.

    The length that the trailer names is compared with that of the file first, so that nothing is read past its end. Blocks are compared when the file
    is opened if they have some of the arrays ``whole``, else by what reads them.
    """

    def __init__(self, path: Path, kind: str, wanted: int, whole: tuple[int, ...] = ()):
        self.path = path
        try:
            with open(path, "rb") as file:
                self.bytes = os.fstat(file.fileno()).st_size
                if self.bytes < TRAILER.size:
                    raise damaged(path, f"it has {self.bytes} bytes, fewer than its last part alone")
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            raise damaged(path, "there is no such file") from None
        data = np.frombuffer(self._map, np.uint8)
        self.trailer = data[-TRAILER.size :].tobytes()
        magic, named, length, count, digest, own = TRAILER.unpack(self.trailer)
        if magic != MAGIC or own != xxhash.xxh3_128_digest(self.trailer[:48]):
            raise damaged(path, "its end is not what was written, as if it had been cut off")
        if named.rstrip(b"\0") != kind.encode() or count != wanted:
            raise damaged(path, f"it is another file: of {named.rstrip(bytes(1)).decode(errors='replace')} in place of {kind}")
        lists = length - TRAILER.size - count * ENTRY.size  # where the checksums end
        sums = -(-lists // (BLOCK + 8))
        end = lists - 8 * sums
        if length != self.bytes or end < 0 or digest != xxhash.xxh3_128_digest(data[end : -TRAILER.size].data):
            raise damaged(path, f"it has {self.bytes:,} bytes instead of {length:,}, or its list of parts is not what was written")
        entries = [(np.dtype(dtype.rstrip(b"\0").decode()), at, n) for dtype, at, n in ENTRY.iter_unpack(data[lists : -TRAILER.size].data)]
        self.arrays = [data[at : at + n * dtype.itemsize].view(dtype) for dtype, at, n in entries]
        self._sums = data[end:lists].view("<u8")
        self._bytes, self._unread = data[:end], np.append(self._sums, np.uint64(0))
        self.blocks = Blocks.of(self._bytes, self._unread)
        for dtype, at, n in [entries[place] for place in whole]:
            for block in range(at // BLOCK, -(-(at + n * dtype.itemsize) // BLOCK)):
                if not self._is_right(block):
                    raise self._fault(block)
                self._unread[block] = 0

    def _is_right(self, block: int) -> bool:
        data = self._bytes[block * BLOCK : (block + 1) * BLOCK].data
        return bool(xxhash.xxh64_intdigest(data) | 1 == self._sums[block])

    def _fault(self, block: int) -> FormatError:
        """The error for a block that is wrong."""
        end = min((block + 1) * BLOCK, len(self._bytes))
        return damaged(self.path, f"bytes {block * BLOCK + 1:,} to {end:,} are not what was written")

    def read(self, place: int, begin: int, end: int) -> np.ndarray:
        """A part of an array. Raises FormatError if a block of it is wrong."""
        some = self.arrays[place][begin:end]
        at = some.ctypes.data - self._bytes.ctypes.data
        for block in range(at // BLOCK, -(-(at + some.nbytes) // BLOCK)):
            if not self._is_right(block):
                raise self._fault(block)
        return some

    def refuse(self) -> None:
        """Raise FormatError if a kernel found a block that is wrong."""
        if self._unread[-1]:
            raise self._fault(int(self._unread[-1]) - 1)

    def check(self) -> list[str]:
        """Compare all blocks with their checksums: a sentence if any differs."""
        wrong = [block for block in range(len(self._sums)) if not self._is_right(block)]
        return [str(self._fault(block)) + (f" ({len(wrong):,} blocks are wrong)" if len(wrong) > 1 else "") for block in wrong[:1]]


class Held:
    """Arrays in memory in place of a file."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.blocks = IN_MEMORY
        self._pieces: list[np.ndarray] = []
        self.bytes = 0

    def begin(self, dtype: np.dtype | str) -> None:
        self._end()
        self._pieces = [np.zeros(0, dtype)]

    def more(self, values: np.ndarray) -> None:
        self._pieces.append(np.array(values).reshape(-1))

    def put(self, values: np.ndarray) -> None:
        self.begin(values.dtype)
        self._pieces = [values.reshape(-1)]

    def _end(self) -> None:
        if self._pieces:
            self.arrays.append(self._pieces[0] if len(self._pieces) == 1 else np.concatenate(self._pieces))
            self.arrays[-1].flags.writeable = False
            self.bytes += self.arrays[-1].nbytes
        self._pieces = []

    def finish(self) -> tuple[int, bytes]:
        self._end()
        return self.bytes, b""

    def abandon(self) -> None:
        self._pieces, self.arrays = [], []

    def read(self, place: int, begin: int, end: int) -> np.ndarray:
        return self.arrays[place][begin:end]

    def refuse(self) -> None:
        """As in `Arrays`."""

    def check(self) -> list[str]:
        return []
