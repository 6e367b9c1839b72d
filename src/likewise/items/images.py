"""Images as payloads: a digest that identifies copies, the size in pixels, and a small picture that measures compare."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash
from numpy.typing import NDArray

from likewise.errors import DataError, UsageError
from likewise.items import binary, pictures
from likewise.items.arrow import plain
from likewise.items.json_values import Texts
from likewise.items.payloads import Fault, Rows, ends, nothing
from likewise.items.perceptual import small_gray
from likewise.items.pictures import Picture
from likewise.items.reader import Reader, read
from likewise.items.sets import read_only
from likewise.records import Want

#: Rows and columns of the small picture, and its bytes.
SIDE = 32
WIDTH = SIDE * SIDE
#: The head of a payload: 128 bits of the image's bytes, which identify copies, and width and height in pixels. What measures compare follows.
HEAD = np.dtype([("digest", "u1", 16), ("width", "<u4"), ("height", "<u4")])
#: Makes the payload of a picture; the digest is that of the image's bytes.
Make = Callable[[Picture, bytes], bytes]
#: Maximum bytes of an image in Python.
MOST = 64 << 20
#: Columns of images are structs: with payloads, or as other libraries have them, with the bytes of encoded images.
PREPARED, BYTES = "prepared", "bytes"


class Prepared(bytes):
    """A payload as an item in Python."""


def prepared(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The part of a payload that measures compare, a small gray picture, uint8[WIDTH]. pixels: as of `Picture`."""
    return small_gray(pixels, SIDE).ravel()


def head(picture: Picture, digest: bytes) -> bytes:
    """The head of the payload of a picture."""
    return np.array((np.frombuffer(digest, np.uint8), picture.width, picture.height), HEAD).tobytes()


def payload(picture: Picture, digest: bytes) -> bytes:
    """The payload for `image`: the head and the prepared picture."""
    return head(picture, digest) + prepared(picture.pixels).tobytes()


def of_bytes(data: bytes, most: int, make: Make) -> bytes:
    """The payload of an encoded image. most: as of `pictures.decoded`. Raises DataError with the reason, without the image's name."""
    return make(pictures.decoded(data, most), xxhash.xxh3_128_digest(data))


def of_value(value: Any, make: Make) -> bytes | None:
    """The payload of an image in Python: a path, encoded bytes, an array, or an image of Pillow. None for None. Raises DataError and TypeError."""
    if value is None or isinstance(value, Prepared):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return of_bytes(bytes(value), MOST, make)
    if isinstance(value, str | os.PathLike):
        try:
            return of_bytes(Path(value).read_bytes(), MOST, make)
        except OSError as error:
            raise DataError(f"{os.fspath(value)}: cannot be read: {error.strerror}") from error
    if hasattr(value, "getexif"):
        value.load()
        return make(pictures.of_image(value), _digest(np.asarray(value), pictures.look(value)))
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        return make(pictures.of_array(array), _digest(array))
    raise TypeError(f"a value of type {type(value).__name__} is not an image")


def _digest(array: NDArray[Any], look: bytes = b"") -> bytes:
    return xxhash.xxh3_128_digest(look + f"{array.shape}{array.dtype}".encode() + np.ascontiguousarray(array).tobytes())


def images(batch: Any) -> NDArray[np.uint8]:
    """A batch of images as prepared pictures, uint8[n, WIDTH], read-only.

    batch: a list of paths, encoded bytes, arrays or images of Pillow; an array [n, h, w] or [n, h, w, 3]; or an Arrow array of encoded bytes.
    Raises UsageError with the row, counted from 0, for one that cannot be decoded.
    """
    rows = read(batch, READER)
    return read_only(parted(rows.used, rows.sizes).words.view(np.uint8).reshape(-1, WIDTH))


class Parted(NamedTuple):
    """Payloads of n images, some of which may be empty."""

    head: NDArray[Any]  # HEAD, of those that are not empty
    words: NDArray[np.uint64]  # what follows the heads
    size: NDArray[np.int64]  # [n]: the words of each


def parted(data: NDArray[np.uint8], sizes: NDArray[np.int64]) -> Parted:
    """Payloads end to end, of ``sizes`` bytes, as heads and words."""
    words, taken = data.view(np.uint64), HEAD.itemsize // 8
    begins = ((np.cumsum(sizes) - sizes)[sizes > 0]) // 8
    heads = begins[:, None] + np.arange(taken)
    return Parted(words[heads].view(HEAD)[:, 0], np.delete(words, heads), sizes // 8 - taken * (sizes > 0))


def alone(given: Any) -> bool:
    """True for a single image: a path, bytes, an image of Pillow, or an array of one."""
    if isinstance(given, str | os.PathLike | bytes | bytearray | memoryview) or hasattr(given, "getexif"):
        return True
    return isinstance(given, np.ndarray) and (given.ndim == 2 or (given.ndim == 3 and given.shape[2] in (1, 3, 4)))


def from_python(rows: list[Any], make: Make) -> pa.Array:
    """A column of payloads; of encoded bytes if all images are such."""
    if all(isinstance(row, bytes | None) and not isinstance(row, Prepared) for row in rows):
        return pa.array(rows, pa.large_binary())
    found = []
    for number, row in enumerate(rows):
        try:
            found.append(of_value(row, make))
        except (DataError, TypeError) as error:
            raise UsageError(f"row {number}: {getattr(error, 'marked', error)}") from error
    return pa.StructArray.from_arrays([binary.from_list(found)], [PREPARED], mask=pa.array([one is None for one in found], pa.bool_()))


def from_array(array: NDArray[Any], make: Make) -> pa.Array:
    """A column of payloads from an array of images, one for each row."""
    return from_python([*array], make)


def from_arrow(values: pa.Array, want: Want, make: Make) -> Rows | None:
    """Images from payloads, from encoded bytes, or from structs with these; None for other types."""
    names = values.type.names if pa.types.is_struct(values.type) else []
    if BYTES in names:
        return from_arrow(plain(pc.struct_field(values, BYTES)), want, make)
    if PREPARED in names:
        return _rows(pc.struct_field(values, PREPARED).to_pylist(), {})
    if not pa.types.is_large_binary(values.type):
        return None
    faults: dict[int, Fault] = {}
    return _rows([*_decoded(values, want.most, make, faults)], faults)


def _decoded(values: pa.Array, most: int, make: Make, faults: dict[int, Fault]) -> Iterator[bytes | None]:
    """Yield the payloads of encoded images; an image that cannot be decoded has none, and a fault."""
    for row, value in enumerate(values):
        try:
            yield None if not value.is_valid else of_bytes(value.as_py(), most, make)
        except DataError as error:
            faults[row] = Fault(error.marked)
            yield b""


def _rows(found: Sequence[bytes | None], faults: dict[int, Fault]) -> Rows:
    sizes = [len(one or b"") for one in found]
    gone = np.array([one is None for one in found], bool)
    return Rows(gone, ends(sizes), np.frombuffer(b"".join(one or b"" for one in found), np.uint8), faults=faults)


def none(values: Texts | pa.Array, want: Want | None = None) -> Rows:
    """Rows without images: neither JSON nor a column of strings has any. Names in data are not read as files."""
    return nothing(len(values), np.uint8)


def reader(kind: str, make: Make) -> Reader:
    """The reader of a kind of images. kind: its payload."""
    return Reader(
        kind,
        "image",
        "images: a list of paths, of encoded bytes, of arrays [height, width, 3] or of images of Pillow",
        partial(from_python, make=make),
        partial(from_arrow, make=make),
        none,
        dimensions="34",
        numbers="uifb",
        single=(str, bytes),
        from_strings=none,
        from_array=partial(from_array, make=make),
        joins=False,
    )


READER = reader("image", payload)
