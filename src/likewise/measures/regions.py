"""The share of one image that is found in another: features propose how one lies in the other, and gray values confirm it block by block.

1. One image is compared as it is and as in a mirror, and the better value counts.
2. Features are matched if each is nearest to the other and nearer than any second one by RATIO (Lowe 2004, section 7.1).
3. RANSAC (Fischler and Bolles 1981) fits an affine map to the matches. It must be plausible: enough matches agree with it, and it neither mirrors nor
   stretches much.
4. The image of which more lies in the other is the frame; the other is drawn into it by the map. Both are cut into BLOCKS × BLOCKS blocks. The
   similarity is the share of the blocks with texture in which the gray values correlate.

So the value is near 1 if one image is a crop of the other, or is shown inside it, and about the share of the smaller one that both have in common.
`benchmarks/images.py` measures how well this finds images that share a part.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from likewise.items.opencv import library
from likewise.items.regions import SIDE, Batch, Region, parsed

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

#: The maximum ratio of the distances to the nearest and to the second nearest feature.
RATIO = 0.8
#: RANSAC: the pixels of the second image within which a match agrees with a map, the samples at most, and the probability of a good one.
WITHIN, SAMPLES, CONFIDENCE = 4.0, 1000, 0.999
#: A plausible map: matches that agree with it; the maximum scale, or its inverse; the maximum ratio of the scales of two directions.
AGREE, SCALE, STRETCH = 5, 10.0, 2.0
#: Blocks of a row, and gray values of a row of a block; the least variance of a block with texture; the least correlation of equal blocks.
BLOCKS, EACH, TEXTURE, CORRELATION = 8, 6, 4.0, 0.7
#: The least share of a block that the other image covers.
INSIDE = 0.75


def similarity(a: Batch, b: Batch) -> Floats:
    """The similarity of the i-th images of two batches (items.regions), float64[n], 0 to 1; symmetric, and 1 for equal ones."""
    return of_pairs(a, b, np.arange(len(a[1]) - 1), np.arange(len(b[1]) - 1))


def of_pairs(a: Batch, b: Batch, left: Longs, right: Longs) -> Floats:
    """The similarities of pairs of rows of two batches, float64[m]."""
    return np.array([similar(words(a, i), words(b, j)) for i, j in zip(left.tolist(), right.tolist(), strict=True)], np.float64)


def words(batch: Batch, row: int) -> NDArray[np.uint64]:
    values, begins = batch
    return values[begins[row] : begins[row + 1]]


def similar(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
    """The similarity of two images. They are put in an order first, so that it is symmetric to the last bit."""
    first, second = sorted((one.tobytes(), other.tobytes()))
    if first == second:
        return 1.0
    a, b = parsed(first), parsed(second)
    return max(upright(a, b), upright(a, b.mirrored()))


def upright(a: Region, b: Region) -> float:
    """The similarity of two images, without mirroring."""
    matched = matches(a.descriptor, b.descriptor)
    found = None if len(matched[0]) < AGREE else affine(a.place[matched[0]] * a.size, b.place[matched[1]] * b.size)
    return 0.0 if found is None else confirmed(a, b, found)


def matches(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> tuple[Longs, Longs]:
    """The rows of matching features. a, b: uint8[m, 128]. Products of such numbers are exact in float32."""
    if min(len(a), len(b)) < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    x, y = a.astype(np.float32), b.astype(np.float32)
    apart = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1) - 2 * (x @ y.T)
    nearest, back = apart.argmin(axis=1), apart.argmin(axis=0)
    rows = np.flatnonzero(back[nearest] == np.arange(len(a)))
    nearest = nearest[rows]
    best = apart[rows, nearest]
    apart[rows, nearest] = np.inf
    second = np.minimum(apart[rows].min(axis=1), apart[:, nearest].min(axis=0))
    good = best < RATIO**2 * second
    return rows[good], nearest[good]


def affine(a: NDArray[np.float32], b: NDArray[np.float32]) -> Floats | None:
    """The plausible map from places of a to those of b, float64[3, 3], or None. OpenCV draws the samples from a fixed seed."""
    cv2 = library()
    how = {"method": cv2.RANSAC, "ransacReprojThreshold": WITHIN, "maxIters": SAMPLES, "confidence": CONFIDENCE}
    found, agree = cv2.estimateAffine2D(a.astype(np.float32), b.astype(np.float32), **how)
    if found is None or agree.sum() < AGREE or np.linalg.det(found[:, :2]) <= 0:
        return None
    most, least = np.linalg.svd(found[:, :2], compute_uv=False)
    if most > STRETCH * least or most > SCALE or least < 1 / SCALE:
        return None
    return np.vstack([found, [0, 0, 1]])


def confirmed(a: Region, b: Region, found: Floats) -> float:
    """The share of the blocks with texture of the smaller image, as the other shows it, whose gray values correlate. found: maps places of a to b."""
    cv2 = library()
    onto = np.diag([*(SIDE / b.size), 1]) @ found @ np.diag([*(a.size / SIDE), 1])
    frame, other = (a, b) if np.linalg.det(onto) <= 1 else (b, a)
    center = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])  # OpenCV counts from the center of the first pixel
    place = np.linalg.inv(center) @ (onto if frame is a else np.linalg.inv(onto)) @ center
    draw = partial(cv2.warpAffine, M=place[:2], dsize=(SIDE, SIDE), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    inside = in_blocks(draw(np.full((SIDE, SIDE), 255, np.uint8))).mean(axis=1) >= 255 * INSIDE
    seen = draw(np.ascontiguousarray(other.gray), borderMode=cv2.BORDER_REPLICATE)
    x, y = (part - part.mean(axis=1, keepdims=True) for part in (in_blocks(frame.gray), in_blocks(seen)))
    of_x, of_y = (x * x).mean(axis=1), (y * y).mean(axis=1)
    textured = np.maximum(of_x, np.where(inside, of_y, 0)) > TEXTURE
    equal = (x * y).mean(axis=1) >= CORRELATION * np.sqrt(np.maximum(of_x * of_y, 1))
    return float((equal & textured & inside).sum() / max(1, textured.sum()))


def in_blocks(gray: NDArray[np.uint8]) -> Floats:
    """The gray values of each block, float64[BLOCKS², EACH²]."""
    side = BLOCKS * EACH
    small = library().resize(gray.astype(np.float32), (side, side), interpolation=library().INTER_AREA).astype(np.float64)
    blocks: Floats = small.reshape(BLOCKS, EACH, BLOCKS, EACH).transpose(0, 2, 1, 3).reshape(BLOCKS**2, EACH**2)
    return blocks
