"""Compressed files as streams of bytes. What a stream has lost is an error that says so, never a shorter text."""

from __future__ import annotations

import bz2
import io
import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from likewise.errors import DataError

READ_BYTES = 1 << 18
FRAME_BYTES = 1 << 22
ZSTD_FRAMES = (b"\x28\xb5\x2f\xfd", *(bytes((0x50 + i, 0x2A, 0x4D, 0x18)) for i in range(16)))  # the others: to be skipped
BZ2_HEADS = tuple(b"BZh%d" % size + block for size in range(1, 10) for block in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"))  # the second: no text


class _Inflate:
    """gzip's decoder with the interface of those of bz2 and lzma."""

    def __init__(self) -> None:
        self.decoder = zlib.decompressobj(wbits=31)

    def decompress(self, data: bytes, most: int) -> bytes:
        rest = self.decoder.unconsumed_tail
        return self.decoder.decompress(rest + data if rest else data, most)

    @property
    def eof(self) -> bool:
        return self.decoder.eof

    @property
    def unused_data(self) -> bytes:
        return self.decoder.unused_data


class _Frames:
    """zstd's encoder with the interface of those of bz2 and lzma: one frame for every 4 MiB, at the level that ``zstd`` itself has."""

    def __init__(self) -> None:
        self.codec = pa.Codec("zstd", compression_level=3)
        self.pending = bytearray()

    def compress(self, data: Any) -> bytes:
        self.pending += data
        frames = [self._frame() for _ in range(len(self.pending) // FRAME_BYTES)]
        return b"".join(frames)

    def flush(self) -> bytes:
        return self._frame()

    def _frame(self) -> bytes:
        part = bytes(self.pending[:FRAME_BYTES])
        del self.pending[:FRAME_BYTES]
        return self.codec.compress(part, asbytes=True)


class Kind(NamedTuple):
    name: str
    suffixes: tuple[str, ...]
    magic: tuple[bytes, ...]
    decoder: Callable[[], Any] | None  # of one member; None: Arrow reads the whole stream
    encoder: Callable[[], Any]


#: The compressions, by what is written after the last dot. gzip: no name and no time in the header, so equal texts give equal files.
KINDS: dict[str, Kind] = {
    "gz": Kind("gzip", (".gz", ".gzip"), (b"\x1f\x8b",), _Inflate, lambda: zlib.compressobj(6, zlib.DEFLATED, 31)),
    "zst": Kind("zstd", (".zst", ".zstd"), ZSTD_FRAMES, None, _Frames),
    "bz2": Kind("bzip2", (".bz2",), BZ2_HEADS, bz2.BZ2Decompressor, bz2.BZ2Compressor),
    "xz": Kind("xz", (".xz",), (b"\xfd7zXZ\0",), lzma.LZMADecompressor, lzma.LZMACompressor),
}


def kind_by_name(path: Path) -> str:
    """A key of KINDS, or "" where the name speaks of no compression."""
    return next((key for key, kind in KINDS.items() if path.name.lower().endswith(kind.suffixes)), "")


def kind_of(path: Path) -> str:
    """How the file is compressed, by its first bytes: a key of KINDS, or "". DataError where the name promises more than the bytes keep."""
    with open(path, "rb") as file:
        head = file.read(10)
    for key, kind in KINDS.items():
        if head.startswith(kind.magic):
            return key
    if named := kind_by_name(path):
        what = "is empty" if not head else f"begins with {head[:4].hex(' ')}"
        raise DataError(f"{path}: expected {KINDS[named].name}, as the name says, but the file {what}; copy it again, or rename it if it is plain")
    return ""


def open_read(path: Path) -> io.RawIOBase:
    """The file's text as a raw stream (``readinto``, ``read``), whatever it is compressed with, over all members and frames.

    Reading raises DataError where the stream ends early or is damaged.
    """
    kind = kind_of(path)
    if not kind:
        return io.FileIO(path)
    return _Text(path, KINDS[kind])


def read_into(stream: io.RawIOBase, buffer: memoryview) -> int:
    """Fill the buffer; the number of bytes, fewer only at the end of the stream."""
    size = 0
    while size < len(buffer) and (more := stream.readinto(buffer[size:])):
        size += more
    return size


class _Text(io.RawIOBase):
    """The text of a compressed file."""

    def __init__(self, path: Path, kind: Kind):
        self.path, self.kind = path, kind
        self.size = 0  # bytes of text so far
        if kind.decoder is None:
            self.source: Any = pa.CompressedInputStream(pa.OSFile(os.fsencode(path)), "zstd")
        else:
            self.source = _Members(io.FileIO(path), kind.decoder)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not len(buffer):  # to the decoders 0 is no limit
            return 0
        try:
            size = self.source.readinto(memoryview(buffer).cast("B"))
        except EOFError:
            raise self._error("ends early") from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            detail = str(error)
            if "Truncated" in detail:  # Arrow has one exception for all
                raise self._error("ends early") from None
            if "too much memory" in detail:
                remedy = f"write it anew: zstd -d --long=31 -c {self.path.name} | zstd -o NEW.zst"
                raise self._error("needs a window of more than 128 MiB", remedy) from None
            raise self._error(f"is damaged ({detail.removeprefix('ZSTD decompress failed: ')})") from None
        self.size += size
        return size

    def _error(self, what: str, remedy: str = "copy or make the file again") -> DataError:
        return DataError(f"{self.path}: the {self.kind.name} stream {what}, after {self.size:,} bytes of text; {remedy}")

    def close(self) -> None:
        if not self.closed:
            self.source.close()
        super().close()


class _Members:
    """Members of one compression, one after the other. The readers of the standard library pass over a damaged second one in silence."""

    def __init__(self, file: io.FileIO, decoder: Callable[[], Any]):
        self.file, self.new = file, decoder
        self.decoder = decoder()
        self.data = b""  # read and not yet decoded

    def readinto(self, buffer: memoryview) -> int:
        while True:
            if self.decoder.eof:
                self.data = (self.decoder.unused_data + self.data).lstrip(b"\0")  # tapes and xz pad with zeros
                while not self.data:
                    if not (more := self.file.read(READ_BYTES)):
                        return 0
                    self.data = more.lstrip(b"\0")
                self.decoder = self.new()
            given, self.data = self.data, b""
            text = self.decoder.decompress(given, len(buffer))
            if text:
                buffer[: len(text)] = text
                return len(text)
            if not self.decoder.eof:
                self.data = self.file.read(READ_BYTES) or b""
                if not self.data:
                    raise EOFError

    def close(self) -> None:
        self.file.close()


class _Compressed(io.RawIOBase):
    def __init__(self, file: BinaryIO, encoder: Any):
        self.file, self.encoder = file, encoder

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.file.write(self.encoder.compress(data))
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self.file.write(self.encoder.flush())
            self.file.close()
        super().close()


def open_write(path: Path, kind: str | None = None) -> BinaryIO:
    """A new file to write to, compressed as ``kind`` says or, without it, as the name does. Equal writes give equal files."""
    key = kind_by_name(path) if kind is None else kind
    file = open(path, "wb")  # noqa: SIM115 - handed on
    return _Compressed(file, KINDS[key].encoder()) if key else file  # type: ignore[return-value]
