"""Local features of an image, SIFT (Lowe 2004) as RootSIFT (Arandjelović and Zisserman 2012), and its perceptual hashes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DataError
from likewise.io.formats import FORMATS
from likewise.items import pictures
from likewise.items.opencv import library
from likewise.items.perceptual import HASHES, small_gray
from likewise.items.regions import rooted

SUFFIXES = frozenset(f".{extension}" for extension in FORMATS["images"][0])
DIMENSION = 128
#: Maximum pixels of the longer side; larger images are reduced, so that two sizes of an image have features at the same places.
LONGEST_SIDE = 640


def features_of(path: Path, most: int) -> NDArray[np.float32]:
    """Return the strongest ``most`` features of an image file, float32[m, 128]; m is 0 for a plain one. Raises DataError that names the file."""
    return described(decoded(path), most)


def hash_of(path: Path, name: str, bits: int) -> NDArray[np.uint8]:
    """Return a perceptual hash of an image file, uint8[bits / 8]. name: a key of HASHES. Raises DataError that names the file."""
    return hashed(pixels_of(path), name, bits)


def hashed(pixels: NDArray[np.uint8], name: str, bits: int) -> NDArray[np.uint8]:
    """Return a perceptual hash of a picture, uint8[height, width, 3] in the order red, green, blue: uint8[bits / 8], the first bit lowest."""
    return np.packbits(HASHES[name](small_gray(pixels)[None], bits)[0], bitorder="little")


def decoded(path: Path) -> NDArray[np.uint8]:
    """Return the gray values of an image, uint8[height, width]. Raises DataError."""
    gray: NDArray[np.uint8] = library().cvtColor(pixels_of(path), library().COLOR_RGB2GRAY)
    return gray


def pixels_of(path: Path) -> NDArray[np.uint8]:
    """Return the picture of an image file as `items.pictures` decodes it. Raises DataError."""
    try:
        return pictures.decoded(path.read_bytes(), side=LONGEST_SIDE).pixels
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    except DataError as error:
        raise DataError(f"{path}: {error.marked}") from None


def described(gray: NDArray[np.uint8], most: int) -> NDArray[np.float32]:
    """Return the features, float32[m, 128], of an image in memory, uint8[height, width]."""
    cv2 = library()
    scale = LONGEST_SIDE / max(gray.shape)
    if scale < 1:
        height, width = (max(1, round(side * scale)) for side in gray.shape)
        gray = cv2.resize(gray, (width, height), interpolation=cv2.INTER_AREA)
    keys, found = cv2.SIFT_create(nfeatures=most).detectAndCompute(gray, None)
    if found is None or not len(found):
        return np.empty((0, DIMENSION), np.float32)
    return rooted(found[strongest(keys, most)])


def strongest(keys: Any, most: int) -> NDArray[np.int64]:
    """Return the indices of the strongest key points, int64[m], in the same order on all machines.

    OpenCV may return more than ``most`` key points if some are equally strong.
    """
    facts = [(-key.response, key.pt, key.size, key.angle, place) for place, key in enumerate(keys)]
    return np.array([fact[-1] for fact in sorted(facts)[:most]])
