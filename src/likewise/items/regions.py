"""Images as payloads with local features: what is needed to find a part that two images share, and to compare it.

The features are SIFT (Lowe 2004) as RootSIFT (Arandjelović and Zisserman 2012), spread over the image, so that every part of it has some.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.items import images
from likewise.items.opencv import library
from likewise.items.pictures import Picture
from likewise.items.reader import read
from likewise.items.sets import read_only

#: Maximum pixels of the longer side of the picture that is described, and maximum number of its features.
LONGEST_SIDE, MOST = 480, 300
#: The weakest features that are used, as OpenCV defines it. So many are detected for each that is kept; the strongest of each of CELLS × CELLS cells
#: are kept.
CONTRAST, DETECTED, CELLS = 0.02, 2, 4
#: Rows and columns of the gray picture by which shared parts are compared.
SIDE = 128
#: A feature: its place as a share of width and of height, and the descriptor times SCALE.
DIMENSION = 128
FEATURE = np.dtype([("place", "<f4", 2), ("descriptor", "u1", DIMENSION)])
SCALE = 255
#: The descriptor of a feature in the mirrored image: OpenCV's has 4 rows and columns of 8 directions, relative to that of the feature.
MIRRORED = np.arange(DIMENSION).reshape(4, 4, 8)[::-1, :, -np.arange(8)].reshape(-1)
#: The part of a payload between head and features: the gray picture, and width and height of the picture that was described.
BODY = np.dtype([("size", "<u4", 2), ("gray", "u1", (SIDE, SIDE))])

#: Regions one after another as words, uint64[m], and where each begins, int64[n + 1].
Batch = tuple[NDArray[np.uint64], NDArray[np.int64]]


class Region(NamedTuple):
    """An image as it is compared."""

    size: NDArray[np.uint32]  # width and height
    gray: NDArray[np.uint8]  # [SIDE, SIDE]
    place: NDArray[np.float32]  # [m, 2]
    descriptor: NDArray[np.uint8]  # [m, 128]

    def mirrored(self) -> Region:
        """The image seen in a mirror."""
        return Region(
            self.size, self.gray[:, ::-1], np.array([1, 0], np.float32) + self.place * np.array([-1, 1], np.float32), self.descriptor[:, MIRRORED]
        )


def payload(picture: Picture, digest: bytes) -> bytes:
    """The payload of a picture: head, body and features. digest: of the image's bytes."""
    return images.head(picture, digest) + b"".join(part.tobytes() for part in described(picture.pixels))


def described(pixels: NDArray[np.uint8]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The body, BODY, and the features, FEATURE[m], of a picture. pixels: as of `Picture`."""
    cv2 = library()
    gray = cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY)
    if (scale := LONGEST_SIDE / max(gray.shape)) < 1:
        height, width = (max(1, round(side * scale)) for side in gray.shape)
        gray = cv2.resize(gray, (width, height), interpolation=cv2.INTER_AREA)
    size = np.array(gray.shape[::-1], np.uint32)
    body = np.array((size, cv2.resize(gray, (SIDE, SIDE), interpolation=cv2.INTER_AREA)), BODY)
    keys, found = cv2.SIFT_create(nfeatures=DETECTED * MOST, contrastThreshold=CONTRAST).detectAndCompute(gray, None)
    if not keys:
        return body, np.zeros(0, FEATURE)
    place = (np.array([key.pt for key in keys]) / size).astype(np.float32)
    kept = spread(place, np.array([key.response for key in keys]), np.array([key.angle for key in keys]))
    features = np.zeros(len(kept), FEATURE)
    features["place"], features["descriptor"] = place[kept], np.rint(SCALE * rooted(found[kept]))
    return body, features


def spread(place: NDArray[np.float32], response: NDArray[np.float64], angle: NDArray[np.float64]) -> NDArray[np.int64]:
    """The features to keep, up to MOST: the strongest one of each cell, then the second ones, and so on."""
    order = np.lexsort((angle, place[:, 1], place[:, 0], -response))
    cells = np.clip(place[order] * CELLS, 0, CELLS - 1).astype(np.int64) @ np.array([1, CELLS])
    rank = np.empty(len(order), np.int64)
    for cell in range(CELLS**2):
        here = np.flatnonzero(cells == cell)
        rank[here] = np.arange(len(here))
    kept: NDArray[np.int64] = order[np.argsort(rank, kind="stable")[:MOST]]
    return kept


def rooted(descriptors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The square roots of descriptors divided by their sums, so that their L2 distance is the Hellinger distance."""
    sums = descriptors.sum(axis=1, keepdims=True)
    return np.sqrt(np.divide(descriptors, sums, out=np.zeros_like(descriptors), where=sums > 0))


def regions(batch: Any) -> Batch:
    """A batch of images, as `items.images.images` takes it, for the measure. Raises UsageError."""
    rows = read(batch, READER)
    _, words, size = images.parted(rows.used, rows.sizes)
    return read_only(words), read_only(np.concatenate(([0], np.cumsum(size))))


def parsed(raw: bytes) -> Region:
    """An image of a batch from the bytes of its words."""
    [body] = np.frombuffer(raw, BODY, count=1)
    features = np.frombuffer(raw, FEATURE, offset=BODY.itemsize)
    return Region(body["size"], body["gray"], features["place"], features["descriptor"])


def descriptors(batch: Batch) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The descriptors of all features, uint8[m, 128], and the row of each, int64[m]."""
    values, begins = batch
    each = [parsed(values[begin:end].tobytes()).descriptor for begin, end in itertools.pairwise(begins.tolist())]
    return np.concatenate([np.zeros((0, DIMENSION), np.uint8), *each]), np.repeat(np.arange(len(each)), [len(one) for one in each])


READER = images.reader("region", payload)
