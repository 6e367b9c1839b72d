"""Encoded images as pictures: upright, opaque, in color and reduced. Only this module imports Pillow, an optional dependency."""

from __future__ import annotations

import warnings
from functools import cache
from io import BytesIO
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DataError, missing_part
from likewise.messages import option

#: Formats of Pillow that are read; the first one whose magic bytes match decodes an image, whatever the file's extension.
FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP", "JPEG2000", "PPM", "AVIF")
#: Brands of HEIC, which Pillow does not decode, behind the eighth byte.
HEIC = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
#: By default the shorter side of a reduced picture has at least so many pixels.
SIDE = 512
#: The maximum number of pixels for each byte of the maximum size of a record. A pixel takes four bytes, or eight if it may be transparent.
PIXELS = 4
#: Images of more pixels are decoded one at a time.
LARGE = 1 << 24
#: The EXIF tag of the orientation, and its values as methods of Pillow's ``transpose``.
ORIENTATION = 0x0112
TURNS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
#: Parts of Pillow's messages, and the reasons that they stand for.
REASONS = {
    "truncated": "it is truncated",
    "unknown pixel mode": "its type of pixels, such as three floats, is not supported; convert it to PNG or JPEG",
    "decompressed data too large": "its metadata exceed the limit of Pillow; save it without them",
    "too much memory used in text chunks": "its metadata exceed the limit of Pillow; save it without them",
}
#: Quality of JPEG for thumbnails.
QUALITY = 80
#: The background of transparent images.
BACKGROUND = (255, 255, 255)

_one_at_a_time = Lock()


class Picture(NamedTuple):
    """A decoded image."""

    pixels: NDArray[np.uint8]  # [h, w, 3]: red, green, blue, upright and perhaps reduced
    width: int  # of the upright image before it was reduced
    height: int


@cache
def _library() -> Any:
    try:
        import PIL.Image
    except ImportError as error:
        raise missing_part("images are decoded with", "Pillow", "pillow") from error
    PIL.Image.init()
    return PIL.Image


def library() -> Any:
    """The module PIL.Image. Raises MissingPartError if it is not installed."""
    warnings.filterwarnings("ignore", module=r"PIL\.")  # damaged metadata; catch_warnings is not safe with threads
    return _library()


def decoded(data: bytes, most: int = 64 << 20, side: int = SIDE) -> Picture:
    """Decode an image: the first frame of an animated one, rotated as its EXIF metadata say, transparent parts on white.

    most: maximum size of a record in bytes, which limits the number of pixels. side: a larger picture is reduced until its shorter side has
    from this many to twice as many pixels; a JPEG is decoded to a reduced size, which saves time and memory.
    Raises DataError with the reason, without the image's name.
    """
    image = _opened(data)
    width, height = image.size
    if width * height > PIXELS * most:
        allowed = f"{option('max_record')} allows {PIXELS * most:,}, {PIXELS} for each of its bytes"
        raise DataError(f"the image has {width:,} x {height:,} pixels, but {allowed}; raise it, or leave the image out")
    try:
        image.draft(None, (side, side))  # only JPEG
        if image.width * image.height > LARGE:
            with _one_at_a_time:
                small = _reduced(image, side)
        else:
            small = _reduced(image, side)
    except Exception as error:
        raise DataError(f"this image cannot be decoded: {_reason(error)}") from error
    return Picture(np.asarray(small), *((height, width) if _is_turned(image) else (width, height)))


def thumbnail(data: bytes, most: int) -> bytes:
    """A small picture of an encoded image, as JPEG: at most ``most`` pixels wide and high, never enlarged. Raises DataError as `decoded`."""
    small = library().fromarray(decoded(data, side=most).pixels)
    small.thumbnail((most, most))
    into = BytesIO()
    small.save(into, "JPEG", quality=QUALITY, optimize=True)
    return into.getvalue()


def of_array(array: NDArray[Any]) -> Picture:
    """A picture from an array of gray values, [h, w] or [h, w, 1], or of red, green, blue and perhaps opacity, [h, w, 3 or 4].

    Integers of 8 and 16 bits have their full range, bool and floats the range from 0 to 1. Raises DataError.
    """
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 3, 4)) or not array.size:
        raise DataError(f"an array of shape {array.shape} is not an image; give [height, width] or [height, width, 3]")
    if array.dtype.kind == "f":
        if not np.isfinite(array).all() or array.min() < 0 or array.max() > 1:
            raise DataError("an image of floats has values from 0 to 1")
        array = np.rint(array * 255).astype(np.uint8)
    elif array.dtype.kind == "b":
        array = array.astype(np.uint8) * np.uint8(255)
    elif array.dtype == np.uint16:
        array = (array >> 8).astype(np.uint8)
    elif array.dtype != np.uint8:
        raise DataError(f"an array of {array.dtype} is not an image; give uint8, uint16, bool, or floats from 0 to 1")
    return of_image(library().fromarray(np.ascontiguousarray(array[:, :, 0] if array.ndim == 3 and array.shape[2] == 1 else array)))


def of_image(image: Any) -> Picture:
    """A picture from an image of Pillow. Raises DataError."""
    try:
        return Picture(np.asarray(_reduced(image, SIDE)), *(image.size[::-1] if _is_turned(image) else image.size))
    except Exception as error:
        raise DataError(f"this image cannot be decoded: {_reason(error)}") from error


def look(image: Any) -> bytes:
    """Properties of an image of Pillow that decide its look, as bytes: mode, palette, transparency, orientation. Empty if the values decide."""
    palette = image.getpalette("RGBA") if image.mode in ("P", "PA") else None
    given = (image.mode, palette, image.info.get("transparency"), _orientation(image))
    return b"" if given in [(mode, None, None, 1) for mode in ("L", "RGB", "RGBA")] else repr(given).encode()


def _opened(data: bytes) -> Any:
    """An image of which only the header was read."""
    pillow = library()
    if not data:
        raise DataError("this image cannot be decoded: the file is empty")
    for name in FORMATS:
        factory, accept = pillow.OPEN.get(name, (None, None))  # Image.open would refuse many pixels by a limit of its own
        if factory is not None and accept(data[:16]) is True:
            try:
                return factory(BytesIO(data), "")
            except Exception as error:
                raise DataError(f"this image cannot be decoded: {_reason(error)}") from error
    if data[4:8] == b"ftyp" and data[8:12] in HEIC:
        raise DataError("this image cannot be decoded: it is a HEIC file; convert it to JPEG")
    raise DataError("this image cannot be decoded: it is damaged, or its format is not read")


def _reduced(image: Any, side: int) -> Any:
    """The image upright and in color; if its shorter side is longer than twice ``side``, reduced."""
    image.load()
    plain = _of_bytes(image)
    if (times := min(plain.size) // side) > 1:
        plain = plain.reduce(times)
    turn = TURNS.get(_orientation(image))
    return _opaque(plain if turn is None else plain.transpose(getattr(library().Transpose, turn)))


def _of_bytes(image: Any) -> Any:
    """The image with 8 bits a channel in a mode that can be reduced: L, RGB, CMYK, or RGBA where it may be transparent."""
    if image.mode in ("L", "RGB", "RGBA", "CMYK") and "transparency" not in image.info:
        return image
    if image.mode.startswith(("I", "F")):
        return library().fromarray(_leveled(np.asarray(image), image.mode.startswith("I;16") or image.format in ("PNG", "PPM")))
    transparent = "transparency" in image.info or image.mode in ("LA", "PA", "La", "RGBA", "RGBa")
    return image.convert("RGBA" if transparent else "L" if image.mode == "1" else "RGB")


def _leveled(values: NDArray[Any], sixteen: bool) -> NDArray[np.uint8]:
    """Gray values of 16 bits by their high byte; others, which have no fixed range, from the smallest to the largest."""
    if sixteen and values.dtype.kind in "iu":
        return (values >> 8).astype(np.uint8)
    finite = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    low, high = finite.min(), finite.max()
    return np.rint((finite - low) * (255 / (high - low) if high > low else 0.0)).astype(np.uint8)


def _opaque(image: Any) -> Any:
    """The image in red, green and blue."""
    if image.mode != "RGBA":
        return image.convert("RGB")
    below = library().new("RGBA", image.size, BACKGROUND)
    below.alpha_composite(image)
    return below.convert("RGB")


def _orientation(image: Any) -> int:
    """The orientation in the metadata of a loaded image, 1 to 8; 1 if they are damaged."""
    try:
        return int(image.getexif().get(ORIENTATION, 1))
    except Exception:
        return 1


def _is_turned(image: Any) -> bool:
    """True if width and height of a loaded image are exchanged when it is made upright."""
    return _orientation(image) in (5, 6, 7, 8)


def _reason(error: Exception) -> str:
    """The reason of a failure, the same on every machine: messages of Pillow contain addresses in memory."""
    if isinstance(error, MemoryError):
        return "it needs more memory than is available"
    said = str(error).lower()
    return next((reason for part, reason in REASONS.items() if part in said), "it is damaged")
