"""Key frames of a video as features: one frame per interval, described by the shares of its colors or by a perceptual hash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DataError
from likewise.io.address import Address
from likewise.io.media.images import hashed
from likewise.items.opencv import library

SUFFIXES = frozenset(".mp4 .m4v .mkv .webm .avi .mov .mpg .mpeg .ts .flv .wmv .ogv".split())  # noqa: SIM905
#: Levels of each of blue, green and red.
LEVELS = 4
DIMENSION = LEVELS**3
#: Pixels per side to which frames are reduced before their colors are counted, which averages out noise and compression artifacts.
SIDE = 64
#: Frames per second if a file does not state it.
USUAL_RATE = 25.0


def features_of(path: Path, every: float) -> NDArray[np.float32]:
    """Return the colors of the key frames of a video, float32[m, 64], one frame every ``every`` seconds. Raises DataError that names the file."""
    return np.array([colors(frame) for frame in key_frames(path, every)], np.float32).reshape(-1, DIMENSION)


def hashes_of(path: Path, every: float, name: str, bits: int) -> NDArray[np.float32]:
    """Return perceptual hashes of the key frames of a video, float32[m, bits]: 1 for each bit that is set, else -1. Raises DataError.

    The cosine of two hashes is 1 - 2 / bits times their Hamming distance.
    """
    found = [np.unpackbits(hashed(frame[:, :, ::-1], name, bits), bitorder="little") for frame in key_frames(path, every)]
    return np.array(found, np.float32).reshape(-1, bits) * 2 - 1


def key_frames(path: Path, every: float) -> Iterator[NDArray[np.uint8]]:
    """Yield the first frame, and the first one of each following ``every`` seconds. Raises DataError.

    A frame is uint8[height, width, 3]: blue, green and red.
    """
    cv2 = library()
    if isinstance(path, Address):
        raise DataError(f"{path}: videos can be read from this machine only; copy the file first")
    try:
        with open(path, "rb"):
            video = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeEncodeError:
        raise DataError(f"{path}: OpenCV cannot open a video whose name is not UTF-8; rename it") from None
    try:
        rate = video.get(cv2.CAP_PROP_FPS)
        step = every * (rate if np.isfinite(rate) and rate > 0 else USUAL_RATE)
        number, taken, decoded = 0, -1, False
        while video.grab():
            if int(number / step) > taken:
                right, frame = video.retrieve()
                if right:
                    taken, decoded = int(number / step), True
                    yield frame
            number += 1
    finally:
        video.release()
    if not decoded:
        raise DataError(f"{path}: no frame of this video can be decoded: it is damaged, or OpenCV does not read its format")


def colors(frame: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return square roots of the shares of LEVELS^3 colors, float32[64]; a pixel between two levels counts for both, weighted by distance.

    Roots, so that the L2 distance of two frames is the Hellinger distance of their colors.
    """
    cv2 = library()
    pixels = cv2.resize(frame, (SIDE, SIDE), interpolation=cv2.INTER_AREA).reshape(-1, 3)
    places = pixels / np.float64(255) * (LEVELS - 1)
    low = np.minimum(places.astype(np.int64), LEVELS - 2)
    shares = places - low
    counts = np.zeros(DIMENSION)
    for corner in np.ndindex(2, 2, 2):
        weights = np.where(corner, shares, 1 - shares).prod(axis=1)
        bins = (low + corner) @ (LEVELS**2, LEVELS, 1)
        counts += np.bincount(bins, weights, DIMENSION)
    return np.sqrt(counts / counts.sum()).astype(np.float32)
