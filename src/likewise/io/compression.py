"""Compressed files as streams of bytes. What a stream has lost is an error that says so, never a shorter text."""

from __future__ import annotations

import bz2
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from likewise.errors import DEVICE_ERRORS, DataError, naming
from likewise.io.headers import once
from likewise.records import Each, in_turn

READ_BYTES = 1 << 18
#: So much is given to a decoder of members at once: it copies what is left where one ends, and they may be short.
STEP_BYTES = 1 << 14
#: What a decoder of xz may take: its header asks for up to 4 GiB, and ``xz -9`` for 65 MiB. As zstd's windows have 128 MiB at most.
XZ_MEMORY = 160 << 20
CAREFUL_BYTES = 1 << 10
HEAD_BYTES = 10  # tell the kind
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


class Kind(NamedTuple):
    name: str
    suffixes: tuple[str, ...]
    magic: tuple[bytes, ...]
    decoder: Callable[[], Any] | None  # of one member; None: Arrow reads the whole stream
    encoder: Callable[[], Any] | None  # of the whole stream; None: it is cut into frames


#: The compressions, by what is written after the last dot. gzip: no name and no time in the header, so equal texts give equal files.
KINDS: dict[str, Kind] = {
    "gz": Kind("gzip", (".gz", ".gzip"), (b"\x1f\x8b",), _Inflate, lambda: zlib.compressobj(6, zlib.DEFLATED, 31)),
    "zst": Kind("zstd", (".zst", ".zstd"), ZSTD_FRAMES, None, None),
    "bz2": Kind("bzip2", (".bz2",), BZ2_HEADS, bz2.BZ2Decompressor, bz2.BZ2Compressor),
    "xz": Kind("xz", (".xz",), (b"\xfd7zXZ\0",), lambda: lzma.LZMADecompressor(memlimit=XZ_MEMORY), lzma.LZMACompressor),
}


class ForeignError(Exception):
    """A member is followed by bytes that begin no other."""


#: What a decoder raises about what it reads.
DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, ForeignError)
ENDS_EARLY, FOREIGN = "ends early", "is followed by bytes that are no part of it"


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """What the system refuses of a file, as a DataError; what it cannot do for now stays an OSError."""
    try:
        with naming(path):
            yield
    except OSError as error:
        if error.errno in DEVICE_ERRORS:
            raise
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def kind_by_name(path: Path) -> str:
    """A key of KINDS, or "" where the name speaks of no compression."""
    return next((key for key, kind in KINDS.items() if path.name.lower().endswith(kind.suffixes)), "")


@once
def kind_of(path: Path) -> str:
    """How the file is compressed, by its first bytes: a key of KINDS, or "". DataError where the name promises more than the bytes keep."""
    with opening(path), open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
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
        return Plain(path)
    return _Text(path, KINDS[kind])


def read_into(stream: io.RawIOBase, buffer: memoryview) -> int:
    """Fill the buffer; the number of bytes, fewer only at the end of the stream."""
    size, damage = read_readable(stream, buffer)
    if damage is not None:
        raise damage
    return size


def read_readable(stream: io.RawIOBase, buffer: memoryview) -> tuple[int, DataError | None]:
    """Fill the buffer: (the number of bytes, fewer only at the end of the stream or before damage; the damage)."""
    size = 0
    try:
        while size < len(buffer) and (more := stream.readinto(buffer[size:])):
            size += more
    except DataError as error:
        return size, error.with_traceback(None)  # which would hold on to the buffer
    return size, None


class Plain(io.FileIO):
    """A file whose name is told when the disk fails."""

    def readinto(self, buffer: Any) -> int:
        with naming(os.fsdecode(self.name)):  # type: ignore[arg-type]
            return super().readinto(buffer) or 0

    def read(self, size: int | None = -1) -> bytes:
        with naming(os.fsdecode(self.name)):  # type: ignore[arg-type]
            return super().read(-1 if size is None else size) or b""


class _Text(io.RawIOBase):
    """The text of a compressed file. Before an error comes all text that could be decoded."""

    def __init__(self, path: Path, kind: Kind):
        self.path, self.kind = path, kind
        self.size = 0  # bytes of text so far
        self.source = self._open(STEP_BYTES)
        self.damage: BaseException | None = None

    def _open(self, step: int) -> Any:
        if self.kind.decoder is None:
            return pa.CompressedInputStream(pa.OSFile(os.fsencode(self.path)), "zstd")
        return _Members(Plain(self.path), self.kind, step)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")[:READ_BYTES]
        if not len(view):  # to the decoders 0 is no limit
            return 0
        size = 0
        try:
            if self.damage is None:
                size = self.source.readinto(view)
        except DAMAGE as error:
            if isinstance(error, OSError) and error.errno and error.errno in DEVICE_ERRORS:
                raise OSError(error.errno, os.strerror(error.errno), str(self.path)) from error
            self.damage = error.with_traceback(None)  # which would hold on to the buffer
            size = self._salvaged(view)
        if self.damage is not None and not size:
            raise self._error(self.damage) from None
        self.size += size
        return size

    def _salvaged(self, view: memoryview) -> int:
        """What a decoder had made when it met the damage is lost with its error. So once more, and byte by byte."""
        self.source.close()
        self.source = self._open(CAREFUL_BYTES)
        left, size = self.size, 0
        while left:
            left -= self.source.readinto(memoryview(bytearray(min(left, READ_BYTES))))
        with suppress(*DAMAGE):
            while size < len(view) and self.source.readinto(view[size : size + 1]):
                size += 1
        return size

    def _error(self, damage: BaseException) -> DataError:
        detail, remedy = str(damage), "copy or make the file again"
        if isinstance(damage, EOFError) or "Truncated" in detail:  # Arrow has one exception for all
            what = ENDS_EARLY
        elif isinstance(damage, ForeignError) or "Unknown frame descriptor" in detail:
            what = FOREIGN
        elif "too much memory" in detail:
            what = "needs a window of more than 128 MiB"
            remedy = f"write it anew: zstd -d --long=31 -c {self.path.name} | zstd -o NEW.zst"
        elif "Memory usage limit" in detail:
            what = f"needs more than {XZ_MEMORY >> 20} MiB of memory"
            remedy = f"write it anew: xz -dc {self.path.name} | xz -9 > NEW.xz"
        else:
            what = f"is damaged ({detail.removeprefix('ZSTD decompress failed: ')})"
        return DataError(f"{self.path}: the {self.kind.name} stream {what}, after {self.size:,} bytes of text; {remedy}")

    def close(self) -> None:
        if not self.closed:
            self.source.close()
        super().close()


class _Members:
    """Members of one compression, one after the other. The readers of the standard library pass over a damaged second one in silence."""

    def __init__(self, file: io.FileIO, kind: Kind, step: int):
        self.file, self.kind, self.step = file, kind, step
        self.decoder = kind.decoder()  # type: ignore[misc]
        self.data = b""  # read and not yet decoded

    def readinto(self, buffer: memoryview) -> int:
        while True:
            if self.decoder.eof:
                self.data = (self.decoder.unused_data + self.data).lstrip(b"\0")  # tapes and xz pad with zeros
                while len(self.data) < HEAD_BYTES and (more := self.file.read(self.step)):
                    self.data = (self.data + more).lstrip(b"\0")
                if not self.data:
                    return 0
                if not any(self.data.startswith(head[: len(self.data)]) for head in self.kind.magic):
                    raise ForeignError
                self.decoder = self.kind.decoder()  # type: ignore[misc]
            given, self.data = self.data, b""
            text = self.decoder.decompress(given, len(buffer))
            if text:
                buffer[: len(text)] = text
                return len(text)
            if not self.decoder.eof:
                self.data = self.file.read(self.step) or b""
                if not self.data:
                    raise EOFError

    def close(self) -> None:
        self.file.close()


def save(path: Path, pieces: Iterable[Any], kind: str | None = None, each: Each = in_turn) -> None:
    """A new file of these bytes, compressed as ``kind`` says or, without it, as the name does. Equal pieces give equal files."""
    key = kind_by_name(path) if kind is None else kind
    with open(path, "wb") as file:
        for data in _encoded(KINDS[key], pieces, each) if key else pieces:
            file.write(data)


def _encoded(kind: Kind, pieces: Iterable[Any], each: Each) -> Iterator[Any]:
    if kind.encoder is None:
        yield from each(_frame, _framed(pieces))
        return
    encoder = kind.encoder()
    yield from map(encoder.compress, pieces)
    yield encoder.flush()


def _framed(pieces: Iterable[Any]) -> Iterator[bytes]:
    """The text of each frame; of the last, which may be empty, less than FRAME_BYTES."""
    pending = bytearray()
    for piece in pieces:
        pending += piece
        while len(pending) >= FRAME_BYTES:
            yield bytes(pending[:FRAME_BYTES])
            del pending[:FRAME_BYTES]
    yield bytes(pending)


def _frame(text: bytes) -> bytes:
    """A frame of zstd, at the level that ``zstd`` itself has. The GIL is let go of."""
    return pa.Codec("zstd", compression_level=3).compress(text, asbytes=True)
