"""Images that packages ship, in two halves of different packages, and copies of them with planted changes.

`fetch_images.sh FOLDER` gets the packages. SOURCES lists what is taken from each: the half, the kind of image, a glob, and how many at most. Files
that are equal, links and series drawn by formula (SERIES) are left out; an image that is transparent is put on white. Some images are versions of
others: pairs that match one pattern of VERSIONS, found by eye among all pairs that any method reported, are neither right nor wrong.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np

Image = np.ndarray
PHOTO, DRAWING, ICON, DIAGRAM = "photographs", "illustrations", "icons", "diagrams"
CHOOSE, MEASURE = "choose", "measure"
#: half, kind, glob below the folder of packages, number of images at most
SOURCES = (
    (CHOOSE, PHOTO, "lomiri-wallpapers-16.04/**/*.jpg", 99),
    (CHOOSE, PHOTO, "lomiri-wallpapers-20.04/**/*.jpg", 99),
    (CHOOSE, PHOTO, "plasma-workspace-wallpapers/**/contents/screenshot.*", 99),
    (CHOOSE, PHOTO, "scikit_image/skimage/data/*.*", 99),
    (CHOOSE, PHOTO, "opencv-doc/usr/share/doc/opencv-doc/examples/data/*.jpg", 99),
    (CHOOSE, PHOTO, "opencv-doc/usr/share/doc/opencv-doc/examples/text/*.*", 99),
    (CHOOSE, PHOTO, "gnome-backgrounds/**/*.webp", 99),
    (CHOOSE, PHOTO, "stellarium-data/**/nebulae/**/*.png", 60),
    (CHOOSE, DRAWING, "openclipart-png/**/*.png", 150),
    (CHOOSE, ICON, "gnome-icon-theme/**/48x48/**/*.png", 60),
    (CHOOSE, ICON, "oxygen-icon-theme/**/64x64/**/*.png", 60),
    (CHOOSE, DIAGRAM, "python-skimage-doc/**/_images/*.png", 60),
    (CHOOSE, DIAGRAM, "opencv-doc/usr/share/doc/opencv-doc/opencv4/html/*.png", 60),
    (MEASURE, PHOTO, "mate-backgrounds/**/*.*", 99),
    (MEASURE, PHOTO, "ukui-wallpapers/**/*.*", 99),
    (MEASURE, PHOTO, "lxqt-themes/**/wallpapers/*.*", 99),
    (MEASURE, PHOTO, "gradio/gradio/media_assets/images/*.*", 99),
    (MEASURE, PHOTO, "gradio/gradio/test_data/*.*", 99),
    (MEASURE, PHOTO, "scikit_learn/**/*.jpg", 99),
    (MEASURE, PHOTO, "ultralytics/**/*.jpg", 99),
    (MEASURE, PHOTO, "matplotlib/**/sample_data/*.*", 99),
    (MEASURE, PHOTO, "gimp-help-en/**/filters/examples/*.*", 40),
    (MEASURE, DRAWING, "tuxpaint-stamps-default/**/*.png", 150),
    (MEASURE, DRAWING, "pysiogame/**/art4apps/**/*.*", 60),
    (MEASURE, ICON, "mate-icon-theme/**/48x48/**/*.png", 60),
    (MEASURE, ICON, "tango-icon-theme/**/32x32/**/*.png", 30),
    (MEASURE, ICON, "matplotlib/**/mpl-data/images/*_large.png", 30),
    (MEASURE, DIAGRAM, "python-sklearn-doc/**/_images/*.png", 60),
    (MEASURE, DIAGRAM, "gimp-help-en/**/using/*.png", 40),
)
#: Longer images are reduced, which saves time: hashes reduce them further.
LONGEST = 640
SERIES = re.compile("shapes/stars|scenetext_segmented")
VERSIONS = tuple(
    map(
        re.compile,
        (
            r"plot_(boundary|rag)_merge",
            r"tab_[hb]\.png",
            r"microphone-sensitivity",
            r"polyline",
            r"licorice-",
            r"user-(available|away|idle)",
            r"motorcycle_",
            r"aloe[LR]",
            r"jigsaw_",
            r"examples/data/(left|right)\d*\.jpg",
            r"wood-[dl]",
            r"tab_(duplicate|new)",
            r"folder-(drag-accept|visiting)",
            r"plot_polygon",
            r"Elephants",
            r"-taj-",
            r"plot_cv_indices",
            r"wilber-simple",
            r"origami",
            r"audio-volume",
            r"dreydl",
            r"Ubuntu-Mate-.*-no-logo",
            r"waves|simple_blue",
            r"threshold-(result|mask)",
            r"lensdistortion",
            r"plot_forest_importances",
            r"dropboxstatus",
            r"plasma-logo",
            r"select-outline",
        ),
    )
)


def are_versions(a: str, b: str) -> bool:
    return any(pattern.search(a) and pattern.search(b) for pattern in VERSIONS)


def opaque(path: Path) -> Image | None:
    """The image uint8[height, width, 3], on white where it is transparent; None if it cannot be decoded or has one color."""
    image = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_UNCHANGED) if path.stat().st_size else None
    if image is None or image.dtype != np.uint8:
        return None
    if image.ndim == 2:
        image = cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)
    if image.shape[2] == 4:
        alpha = image[:, :, 3:].astype(np.float32) / 255
        image = np.rint(image[:, :, :3] * alpha + 255 * (1 - alpha)).astype(np.uint8)
    return image if np.ptp(image) > 8 else None


def corpus(folder: Path, half: str) -> Iterator[tuple[str, str, Image]]:
    """Yield (kind, path below the folder, image) of each image of a half, none longer than LONGEST pixels."""
    seen: set[bytes] = set()
    for of_half, kind, glob, most in SOURCES:
        paths = sorted(path for path in folder.glob(glob) if path.is_file() and not path.is_symlink() and not SERIES.search(str(path)))
        random.Random(1).shuffle(paths)
        taken = 0
        for path in paths if of_half == half else ():
            digest = hashlib.sha256(path.read_bytes()).digest()
            if taken == most or digest in seen or (image := opaque(path)) is None:
                continue
            seen.add(digest)
            taken += 1
            yield kind, str(path.relative_to(folder)), scaled(image, min(1.0, LONGEST / max(image.shape)))


def scaled(image: Image, factor: float) -> Image:
    if factor == 1:
        return image
    size = tuple(max(1, round(side * factor)) for side in image.shape[1::-1])
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC)


def window(image: Image, share: float, draw: np.random.Generator) -> Image:
    """The part of the image that is left when ``share`` of its width and of its height is cut off, divided at random between the two ends."""
    (height, width), cut = image.shape[:2], [round(side * share) for side in image.shape[:2]]
    top, left = (int(draw.integers(0, one + 1)) for one in cut)
    return image[top : height - (cut[0] - top), left : width - (cut[1] - left)]


def side(image: Image, share: float, draw: np.random.Generator) -> Image:
    """The image without ``share`` of its height or width at one end."""
    turned = np.rot90(image, turns := int(draw.integers(4)))
    return np.ascontiguousarray(np.rot90(turned[round(len(turned) * share) :], -turns))


def encoded(image: Image, suffix: str, *quality: int) -> Image:
    return cv2.imdecode(cv2.imencode(suffix, image, list(quality))[1], cv2.IMREAD_COLOR)


def jpeg(image: Image, quality: int) -> Image:
    return encoded(image, ".jpg", cv2.IMWRITE_JPEG_QUALITY, quality)


def rotated(image: Image, degrees: float) -> Image:
    height, width = image.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    return cv2.warpAffine(image, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE)


def level(image: Image, gain: float, offset: float) -> Image:
    return np.clip(np.rint(image.astype(np.float32) * gain + offset), 0, 255).astype(np.uint8)


def gray(image: Image) -> Image:
    return cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)


def hue(image: Image, degrees: float) -> Image:
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    hsv[:, :, 0] = (hsv[:, :, 0].astype(int) + round(degrees / 2)) % 180
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)


def text(image: Image) -> Image:
    """White text with a black outline across the lower third."""
    made, (height, width) = image.copy(), image.shape[:2]
    size = width / 300
    for color, thickness in (((0, 0, 0), 4), ((255, 255, 255), 2)):
        place = (round(width * 0.05), round(height * 0.85))
        cv2.putText(made, "Copyright 2026", place, cv2.FONT_HERSHEY_SIMPLEX, size, color, max(1, round(thickness * size)), cv2.LINE_AA)
    return made


def border(image: Image, share: float) -> Image:
    wide = max(1, round(share * min(image.shape[:2])))
    return cv2.copyMakeBorder(image, wide, wide, wide, wide, cv2.BORDER_CONSTANT, value=(0, 0, 0))


Change = Callable[[Image, np.random.Generator], Image]
#: The changes that count as mild, each alone.
MILD: dict[str, Change] = {
    "crop 2%": lambda image, draw: window(image, 0.02, draw),
    "crop 5%": lambda image, draw: window(image, 0.05, draw),
    "one side cut by 5%": lambda image, draw: side(image, 0.05, draw),
    "scale 0.5": lambda image, draw: scaled(image, 0.5),
    "scale 0.7": lambda image, draw: scaled(image, 0.7),
    "scale 2": lambda image, draw: scaled(image, 2),
    "JPEG 90": lambda image, draw: jpeg(image, 90),
    "JPEG 75": lambda image, draw: jpeg(image, 75),
    "JPEG 50": lambda image, draw: jpeg(image, 50),
}
STRONG: dict[str, Change] = {
    "crop 10%": lambda image, draw: window(image, 0.1, draw),
    "crop 20%": lambda image, draw: window(image, 0.2, draw),
    "scale 0.25": lambda image, draw: scaled(image, 0.25),
    "JPEG 30": lambda image, draw: jpeg(image, 30),
    "WebP 50": lambda image, draw: encoded(image, ".webp", cv2.IMWRITE_WEBP_QUALITY, 50),
    "rotated by 2°": lambda image, draw: rotated(image, 2),
    "rotated by 5°": lambda image, draw: rotated(image, 5),
    "rotated by 90°": lambda image, draw: np.ascontiguousarray(np.rot90(image)),
    "mirrored": lambda image, draw: np.ascontiguousarray(image[:, ::-1]),
    "brighter by 40": lambda image, draw: level(image, 1, 40),
    "darker by 40": lambda image, draw: level(image, 1, -40),
    "contrast 0.6": lambda image, draw: level(image, 0.6, 51),
    "contrast 1.5": lambda image, draw: level(image, 1.5, -64),
    "gray": lambda image, draw: gray(image),
    "hue + 30°": lambda image, draw: hue(image, 30),
    "blurred": lambda image, draw: cv2.GaussianBlur(image, (0, 0), max(image.shape) / 150),
    "text": lambda image, draw: text(image),
    "border 5%": lambda image, draw: border(image, 0.05),
    "crop 5%, scale 0.7, JPEG 50": lambda image, draw: jpeg(scaled(window(image, 0.05, draw), 0.7), 50),
    "scale 0.5, JPEG 30, brighter by 20": lambda image, draw: level(jpeg(scaled(image, 0.5), 30), 1, 20),
    "crop 10%, gray, JPEG 50": lambda image, draw: jpeg(gray(window(image, 0.1, draw)), 50),
    "text, border 5%, scale 0.5": lambda image, draw: scaled(border(text(image), 0.05), 0.5),
}
CHANGES = MILD | STRONG


def changed(image: Image, name: str, number: int) -> Image:
    """The copy of an image with a change. number: that of the image, which with the name decides what is drawn at random."""
    return changed_by(CHANGES, image, name, number)


def changed_by(changes: dict[str, Change], image: Image, name: str, number: int) -> Image:
    """As `changed`, by any changes."""
    return changes[name](image, np.random.default_rng([number, *name.encode()]))


def collage(image: Image, other: Image) -> Image:
    """The image beside another, both as high as the lower one."""
    height = min(len(image), len(other))
    return np.hstack(
        [cv2.resize(one, (max(1, round(one.shape[1] * height / len(one))), height), interpolation=cv2.INTER_AREA) for one in (image, other)]
    )


#: Changes after which an image and its copy share a part, or all but seen in another way.
PARTS: dict[str, Change] = {
    **{f"crop {share}%": lambda image, draw, share=share: window(image, share / 100, draw) for share in (10, 20, 30, 40, 50, 60)},
    "text": STRONG["text"],
    "border 5%": STRONG["border 5%"],
    "border 20%": lambda image, draw: border(image, 0.2),
    **{f"rotated by {degrees}°": lambda image, draw, degrees=degrees: rotated(image, degrees) for degrees in (5, 15, 30, 45)},
    "rotated by 90°": STRONG["rotated by 90°"],
    "mirrored": STRONG["mirrored"],
    "crop 30%, scale 0.7, JPEG 50": lambda image, draw: jpeg(scaled(window(image, 0.3, draw), 0.7), 50),
}
