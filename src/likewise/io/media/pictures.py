"""The local features of a picture: SIFT (Lowe 2004) as RootSIFT (Arandjelović and Zisserman 2012)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DataError
from likewise.io.media.opencv import library

SUFFIXES = frozenset(".jpg .jpeg .png .webp .bmp .tif .tiff .ppm .pgm .pbm .gif .jp2".split())  # noqa: SIM905
DIMENSION = 128
#: Pixels of the longer side; larger pictures are reduced, so that a picture in two sizes has features of the same places.
LONGEST_SIDE = 640


def features_of(path: Path, most: int) -> NDArray[np.float32]:
    """The strongest ``most`` features of a picture file, float32[m, 128], or none of a plain one. Raises DataError, the file named."""
    return described(decoded(path), most)


def decoded(path: Path) -> NDArray[np.uint8]:
    """The grey values of a picture, upright where its file says how it was held."""
    cv2 = library()
    try:
        data = np.fromfile(path, np.uint8)  # OpenCV takes no name that is not in the system's encoding
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        grey = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if len(data) else None
    except cv2.error as error:
        raise DataError(f"{path}: this picture cannot be decoded: {' '.join(str(error.err).split())}") from None
    if grey is None:
        what = "the file is empty" if not len(data) else "it is damaged, or no picture of a format that OpenCV reads"
        raise DataError(f"{path}: this picture cannot be decoded: {what}")
    return grey


def described(grey: NDArray[np.uint8], most: int) -> NDArray[np.float32]:
    """The features of a picture in memory, uint8[height, width]."""
    cv2 = library()
    scale = LONGEST_SIDE / max(grey.shape)
    if scale < 1:
        height, width = (max(1, round(side * scale)) for side in grey.shape)
        grey = cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA)
    keys, found = cv2.SIFT_create(nfeatures=most).detectAndCompute(grey, None)
    if found is None or not len(found):
        return np.empty((0, DIMENSION), np.float32)
    return rooted(found[strongest(keys, most)])


def strongest(keys: Any, most: int) -> NDArray[np.int64]:
    """The places of the strongest key points, in one order for all machines; several may be equally strong, and OpenCV then keeps all."""
    facts = [(-key.response, key.pt, key.size, key.angle, place) for place, key in enumerate(keys)]
    return np.array([fact[-1] for fact in sorted(facts)[:most]])


def rooted(descriptors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Descriptors divided by their sums, and the square roots of that: their L2 distance is then the Hellinger distance."""
    sums = descriptors.sum(axis=1, keepdims=True)
    return np.sqrt(np.divide(descriptors, sums, out=np.zeros_like(descriptors), where=sums > 0))
