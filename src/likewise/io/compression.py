"""Compressed files as streams of bytes. A truncated or damaged stream is an error, never a shorter text."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from likewise.errors import DEVICE_ERRORS, DataError, naming, of_device
from likewise.io import storage
from likewise.io.headers import once
from likewise.records import Each, in_turn

READ_BYTES = 1 << 18
#: Bytes given to a decoder of members at once. It copies the rest at the end of each member, and members may be short.
STEP_BYTES = 1 << 14
#: Memory limit of an xz decoder, in bytes: a header may ask for 4 GiB; ``xz -9`` needs 65 MiB. The windows of zstd are limited to 128 MiB.
XZ_MEMORY = 160 << 20
CAREFUL_BYTES = 1 << 10
HEAD_BYTES = 10  # enough to identify the compression
FRAME_BYTES = 1 << 22
ZSTD_FRAMES = (b"\x28\xb5\x2f\xfd", *(bytes((0x50 + i, 0x2A, 0x4D, 0x18)) for i in range(16)))  # all but the first are skippable frames
BZ2_HEADS = tuple(b"BZh%d" % size + block for size in range(1, 10) for block in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"))  # 2nd: empty text


class _Inflate:
    """Decoder of gzip with the interface of those of bz2 and lzma."""

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
    """A compression: its file name suffixes, magic bytes, decoder and encoder."""

    name: str
    suffixes: tuple[str, ...]
    magic: tuple[bytes, ...]
    decoder: Callable[[], Any] | None  # of one member; None: Arrow reads the whole stream
    encoder: Callable[[], Any] | None  # of the whole stream; None: it is cut into frames


#: The compressions by file name extension. The gzip header has no name and no time, so equal texts give equal files.
KINDS: dict[str, Kind] = {
    "gz": Kind("gzip", (".gz", ".gzip"), (b"\x1f\x8b",), _Inflate, lambda: zlib.compressobj(6, zlib.DEFLATED, 31)),
    "zst": Kind("zstd", (".zst", ".zstd"), ZSTD_FRAMES, None, None),
    "bz2": Kind("bzip2", (".bz2",), BZ2_HEADS, bz2.BZ2Decompressor, bz2.BZ2Compressor),
    "xz": Kind("xz", (".xz",), (b"\xfd7zXZ\0",), lambda: lzma.LZMADecompressor(memlimit=XZ_MEMORY), lzma.LZMACompressor),
}


#: Place in the text -> place in the file.
Borders = dict[int, int]


class ForeignError(Exception):
    """Raised if a member is followed by bytes that do not begin another."""


#: Exceptions of decoders for damaged input.
DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, ForeignError)
ENDS_EARLY, FOREIGN = "ends early", "is followed by bytes that do not belong to it"


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Context manager: turn errors of opening a file into DataError. Errors of the device stay OSError."""
    try:
        with naming(path):
            yield
    except OSError as error:
        if error.errno in DEVICE_ERRORS:
            raise
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def kind_by_name(path: Path) -> str:
    """Return a key of KINDS, or "" if the name has no suffix of a compression."""
    return next((key for key, kind in KINDS.items() if path.name.lower().endswith(kind.suffixes)), "")


@once
def kind_of(path: Path) -> str:
    """Return the compression detected from the first bytes: a key of KINDS, or "". Raises DataError if only the suffix says so."""
    with opening(path), path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    for key, kind in KINDS.items():
        if head.startswith(kind.magic):
            return key
    if named := kind_by_name(path):
        what = "is empty" if not head else f"begins with {head[:4].hex(' ')}"
        raise DataError(f"{path}: expected {KINDS[named].name}, as the name says, but the file {what}; copy it again, or rename it if it is plain")
    return ""


def open_read(path: Path, borders: Borders | None = None) -> io.RawIOBase:
    """Open the file's decompressed content, across all members and frames, as a raw stream (``readinto``, ``read``).

    ``borders``: filled while reading: for each member and for both ends, the place in the text -> the place in the file. Empty for files without
    members. Reading raises DataError if the stream is truncated or damaged.
    """
    kind = kind_of(path)
    if not kind:
        return storage.raw(path)
    return _Text(path, KINDS[kind], borders)


def read_into(stream: io.RawIOBase, buffer: memoryview) -> int:
    """Fill the buffer and return the number of bytes, fewer only at the end of the stream. Raises DataError at damage."""
    size, damage = read_readable(stream, buffer)
    if damage is not None:
        raise damage
    return size


def read_readable(stream: io.RawIOBase, buffer: memoryview) -> tuple[int, DataError | None]:
    """Fill the buffer; return the number of bytes, fewer only at the end of the stream or before damage, and the damage or None."""
    size = 0
    try:
        while size < len(buffer) and (more := stream.readinto(buffer[size:])):
            size += more
    except DataError as error:
        return size, error.with_traceback(None)  # the traceback would keep the buffer alive
    return size, None


class _Text(io.RawIOBase):
    """The text of a compressed file. All decodable text is returned before an error is raised."""

    def __init__(self, path: Path, kind: Kind, borders: Borders | None = None):
        self.path, self.kind = path, kind
        self.borders = borders
        self.size = 0  # bytes of text so far
        self.source = self._open(STEP_BYTES)
        self.damage: BaseException | None = None

    def _open(self, step: int) -> Any:
        if self.kind.decoder is None:
            return pa.CompressedInputStream(storage.arrow(self.path, stream=True), "zstd")
        return _Members(storage.raw(self.path), self.kind, step, self.borders)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")[:READ_BYTES]
        if not len(view):  # decoders read 0 as no limit
            return 0
        size = 0
        try:
            if self.damage is None:
                size = self.source.readinto(view)
        except DAMAGE as error:
            if isinstance(error, OSError) and error.errno and error.errno in DEVICE_ERRORS:
                raise of_device(error, self.path) from error
            self.damage = error.with_traceback(None)  # the traceback would keep the buffer alive
            size = self._salvaged(view)
        if self.damage is not None and not size:
            raise self._error(self.damage) from None
        self.size += size
        return size

    def _salvaged(self, view: memoryview) -> int:
        """Decode the text before the damage again, byte by byte, because a decoder's error loses the text of its last step."""
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
        detail, remedy = str(damage), "copy or create the file again"
        if isinstance(damage, EOFError) or "Truncated" in detail:  # Arrow raises the same exception for everything
            what = ENDS_EARLY
        elif isinstance(damage, ForeignError) or "Unknown frame descriptor" in detail:
            what = FOREIGN
        elif "too much memory" in detail:
            what = "needs a window of more than 128 MiB"
            remedy = f"compress it again:  zstd -d --long=31 -c {self.path.name} | zstd > NEW.zst"
        elif "Memory usage limit" in detail:
            what = f"needs more than {XZ_MEMORY >> 20} MiB of memory"
            remedy = f"compress it again:  xz -dc {self.path.name} | xz -9 > NEW.xz"
        else:
            what = f"is damaged ({detail.removeprefix('ZSTD decompress failed: ')})"
        return DataError(f"{self.path}: the {self.kind.name} stream {what}, after {self.size:,} bytes of text; {remedy}")

    def close(self) -> None:
        if not self.closed:
            self.source.close()
        super().close()


class _Members:
    """The members of a compressed file in turn. The readers of the standard library silently ignore a damaged second member."""

    def __init__(self, file: io.RawIOBase, kind: Kind, step: int, borders: Borders | None):
        self.file, self.kind, self.step, self.borders = file, kind, step, borders
        self.size = 0  # bytes of text so far
        self._border(0)
        self.decoder = kind.decoder()  # type: ignore[misc]
        self.data = b""  # read but not decoded

    def _border(self, place: int) -> None:
        if self.borders is not None:
            self.borders[self.size] = place

    def readinto(self, buffer: memoryview) -> int:
        while True:
            if self.decoder.eof:
                self.data = (self.decoder.unused_data + self.data).lstrip(b"\0")  # tapes and xz files are padded with zeros
                while len(self.data) < HEAD_BYTES and (more := self.file.read(self.step)):
                    self.data = (self.data + more).lstrip(b"\0")
                self._border(self.file.tell() - len(self.data))
                if not self.data:
                    return 0
                if not any(self.data.startswith(head[: len(self.data)]) for head in self.kind.magic):
                    raise ForeignError
                self.decoder = self.kind.decoder()  # type: ignore[misc]
            given, self.data = self.data, b""
            text = self.decoder.decompress(given, len(buffer))
            if text:
                buffer[: len(text)] = text
                self.size += len(text)
                return len(text)
            if not self.decoder.eof:
                self.data = self.file.read(self.step) or b""
                if not self.data:
                    raise EOFError

    def close(self) -> None:
        self.file.close()


def save(path: Path, pieces: Iterable[Any], kind: str | None = None, each: Each = in_turn) -> None:
    """Write a new file of these bytes, compressed as ``kind`` (a key of KINDS or "") or, if it is None, by the name's suffix.

    Equal pieces give equal files.
    """
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
    """Yield the text of each frame: FRAME_BYTES, and less in the last one, which may be empty."""
    pending = bytearray()
    for piece in pieces:
        pending += piece
        while len(pending) >= FRAME_BYTES:
            yield bytes(pending[:FRAME_BYTES])
            del pending[:FRAME_BYTES]
    yield bytes(pending)


def _frame(text: bytes) -> bytes:
    """Return a zstd frame at the default level of ``zstd``. Releases the GIL."""
    return pa.Codec("zstd", compression_level=3).compress(text, asbytes=True)
