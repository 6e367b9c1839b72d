"""Images as payloads: who they are, their size in pixels, and a small picture that measures compare."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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
#: A payload: 128 bits of the image's bytes, which identify copies; width and height in pixels; and the prepared picture.
PAYLOAD = np.dtype([("digest", "u1", 16), ("width", "<u4"), ("height", "<u4"), ("prepared", "u1", WIDTH)])
#: Columns of images are structs: with payloads, or as other libraries have them, with the bytes of encoded images.
PREPARED, BYTES = "prepared", "bytes"


class Prepared(bytes):
    """A payload as an item in Python."""


def prepared(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The part of a payload that measures compare, a small gray picture, uint8[WIDTH]. pixels: as of `Picture`."""
    return small_gray(pixels, SIDE).ravel()


def payload(picture: Picture, digest: bytes) -> bytes:
    """The payload of a picture. digest: of the image's bytes."""
    return np.array((np.frombuffer(digest, np.uint8), picture.width, picture.height, prepared(picture.pixels)), PAYLOAD).tobytes()


def of_bytes(data: bytes, most: int = 64 << 20) -> bytes:
    """The payload of an encoded image. Raises DataError with the reason, without the image's name."""
    return payload(pictures.decoded(data, most), xxhash.xxh3_128_digest(data))


def of_value(value: Any) -> bytes | None:
    """The payload of an image in Python: a path, encoded bytes, an array, or an image of Pillow. None for None. Raises DataError and TypeError."""
    if value is None or isinstance(value, Prepared):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return of_bytes(bytes(value))
    if isinstance(value, str | os.PathLike):
        try:
            return of_bytes(Path(value).read_bytes())
        except OSError as error:
            raise DataError(f"{os.fspath(value)}: cannot be read: {error.strerror}") from error
    if hasattr(value, "getexif"):
        value.load()
        return payload(pictures.of_image(value), _digest(np.asarray(value), pictures.look(value)))
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        return payload(pictures.of_array(array), _digest(array))
    raise TypeError(f"a value of type {type(value).__name__} is not an image")


def _digest(array: NDArray[Any], look: bytes = b"") -> bytes:
    return xxhash.xxh3_128_digest(look + f"{array.shape}{array.dtype}".encode() + np.ascontiguousarray(array).tobytes())


def images(batch: Any) -> NDArray[np.uint8]:
    """A batch of images as prepared pictures, uint8[n, WIDTH], read-only.

    batch: a list of paths, encoded bytes, arrays or images of Pillow; an array [n, h, w] or [n, h, w, 3]; or an Arrow array of encoded bytes.
    Raises UsageError with the row, counted from 0, for one that cannot be decoded.
    """
    rows = read(batch, READER)
    return read_only(np.ascontiguousarray(rows.used.view(PAYLOAD)["prepared"]))


def alone(given: Any) -> bool:
    """True for a single image: a path, bytes, an image of Pillow, or an array of one."""
    if isinstance(given, str | os.PathLike | bytes | bytearray | memoryview) or hasattr(given, "getexif"):
        return True
    return isinstance(given, np.ndarray) and (given.ndim == 2 or (given.ndim == 3 and given.shape[2] in (1, 3, 4)))


def from_python(rows: list[Any]) -> pa.Array:
    """A column of payloads; of encoded bytes if all images are such."""
    if all(isinstance(row, bytes | None) and not isinstance(row, Prepared) for row in rows):
        return pa.array(rows, pa.large_binary())
    found = []
    for number, row in enumerate(rows):
        try:
            found.append(of_value(row))
        except (DataError, TypeError) as error:
            raise UsageError(f"row {number}: {getattr(error, 'marked', error)}") from error
    return pa.StructArray.from_arrays([binary.from_list(found)], [PREPARED], mask=pa.array([one is None for one in found], pa.bool_()))


def from_array(array: NDArray[Any]) -> pa.Array:
    """A column of payloads from an array of images, one for each row."""
    return from_python([*array])


def from_arrow(values: pa.Array, want: Want) -> Rows | None:
    """Images from payloads, from encoded bytes, or from structs with these; None for other types."""
    names = values.type.names if pa.types.is_struct(values.type) else []
    if BYTES in names:
        return from_arrow(plain(pc.struct_field(values, BYTES)), want)
    if PREPARED in names:
        return _rows(pc.struct_field(values, PREPARED).to_pylist(), {})
    if not pa.types.is_large_binary(values.type):
        return None
    faults: dict[int, Fault] = {}
    return _rows([*_decoded(values, want.most, faults)], faults)


def _decoded(values: pa.Array, most: int, faults: dict[int, Fault]) -> Iterator[bytes | None]:
    """Yield the payloads of encoded images; an image that cannot be decoded has none, and a fault."""
    for row, value in enumerate(values):
        try:
            yield None if not value.is_valid else of_bytes(value.as_py(), most)
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


READER = Reader(
    "image",
    "image",
    "images: a list of paths, of encoded bytes, of arrays [height, width, 3] or of images of Pillow",
    from_python,
    from_arrow,
    none,
    dimensions="34",
    numbers="uifb",
    single=(str, bytes),
    from_strings=none,
    from_array=from_array,
    joins=False,
)
