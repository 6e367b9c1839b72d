#!/usr/bin/env python3
"""Re-cut videos, a sliding window over a long one, and images as sets of patches: random histograms, pooling and exact comparison.

    python benchmarks/media.py video | patches DATA

video: 60 films of moving colored shapes, made here with OpenCV, each in six versions (whole; a third of it; other scenes in front; half as large and
strongly compressed; half the frames a second; brighter), each a query for the other five. Then one video of 12,000 key frames, and windows over it.
patches: DATA/fm.X.npy, Fashion-MNIST, 10,000 images as sets of up to 121 patches of 7 x 7; 500 of them, shifted by two pixels and with noise,
are the queries.
Best of three timings, both cores; embedding is included, decoding is not.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from likewise.families import Histograms, Hyperplane, Space
from likewise.families.compact import occupied
from likewise.items.features import features
from likewise.measures.chamfer import chamfer
from likewise.measures.matching import correlation, every

RUN = ThreadPoolExecutor(2).map


def timed(job: Callable[[], Any]) -> tuple[float, Any]:
    times, result = [], None
    for _ in range(3):
        began = time.perf_counter()
        result = job()
        times.append(time.perf_counter() - began)
    return min(times), result


def precision(scores: np.ndarray, right: np.ndarray) -> float:
    """mAP of scores, larger is nearer; minus infinity comes last."""
    order = np.argsort(-scores, axis=1, kind="stable")
    found = []
    for row, places in zip(right, order, strict=True):
        at = np.flatnonzero(row[places])
        found.append(np.mean(np.arange(1, len(at) + 1) / (at + 1)))
    return float(np.mean(found))


def print_row(name: str, scores: np.ndarray, right: np.ndarray, size: float, embed: float, match: float) -> None:
    print(f"{name:52} mAP {precision(scores, right):.4f}  {size:8,.0f} bytes  embed {embed:7.3f} s  match {match:8.3f} s", flush=True)


def unit(table: np.ndarray) -> np.ndarray:
    return table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)


def compared(sets: Any, queries: np.ndarray, right: np.ndarray, sample: np.ndarray, axes: int, bits: int, again: int, itself: bool) -> None:
    """Pooling, histograms kept as bits and as bytes, the best 20 by Chamfer, and Chamfer alone."""
    values, offsets = sets
    everything = np.arange(len(offsets) - 1)

    def without(scores: np.ndarray) -> np.ndarray:
        if itself:
            scores[np.arange(len(queries)), queries] = -np.inf
        return scores

    seconds, pooled = timed(lambda: unit(np.add.reduceat(values - sample.mean(axis=0), offsets[:-1])))
    matched, scores = timed(lambda: pooled[queries] @ pooled.T)
    print_row("mean pooling, centered", without(scores), right, pooled[0].nbytes, seconds, matched)
    for name, more in (("bytes, square roots", {"normalize": "sqrt"}), ("bits", {})):
        family = Histograms(Hyperplane(seed=1), bits, 10, space=Space.fit(sample, axes), **more)
        as_kept = occupied if name == "bits" else np.asarray
        seconds, made = timed(lambda family=family, as_kept=as_kept: as_kept(family.embed(sets, run=RUN)))
        matched, scores = timed(lambda made=made: every(correlation, made[queries], made, run=RUN))
        print_row(f"histograms, {bits} bits, 10 tables, {name}", without(scores), right, made[0].nbytes, seconds, matched)
    small = Space.fit(sample, again)(sets)
    best = np.argpartition(-scores, 20, axis=1)[:, :20]
    more, distances = timed(lambda: chamfer(small, small, np.repeat(queries, 20), best.ravel(), both=True, run=RUN))
    second = scores - 1e6
    np.put_along_axis(second, best, -distances.reshape(best.shape), axis=1)
    print_row("the best 20 of these by Chamfer", second, right, made[0].nbytes, seconds, matched + more)
    began = time.perf_counter()
    some = queries[:: max(1, len(queries) // 60)]
    left, others = np.repeat(some, len(everything)), np.tile(everything, len(some))
    exact = -chamfer(sets, sets, left, others, both=True, run=RUN).reshape(len(some), -1)
    took = (time.perf_counter() - began) * len(queries) / len(some)
    rows = np.searchsorted(queries, some)
    if itself:
        exact[np.arange(len(some)), some] = -np.inf
    print_row(f"Chamfer of all ({len(some)} queries, time multiplied)", exact, right[rows], values.nbytes / len(everything), 0, took)


# Videos


def scene(draw: np.random.Generator) -> Callable[[float], np.ndarray]:
    """Some colored shapes that move over a background, by the time in seconds."""
    import cv2

    ground = cv2.resize(draw.integers(0, 256, (3, 4, 3), np.uint8), (160, 120), interpolation=cv2.INTER_LINEAR)
    shapes = [(draw.integers(10, 40), draw.random(2) * (160, 120), draw.normal(0, 20, 2), draw.integers(0, 256, 3).tolist()) for _ in range(4)]

    def at(seconds: float) -> np.ndarray:
        frame = ground.copy()
        for radius, place, speed, color in shapes:
            x, y = (place + speed * seconds) % (160, 120)
            cv2.circle(frame, (int(x), int(y)), int(radius), color, -1)
        return frame

    return at


def film(path: Path, scenes: list[Callable[[float], np.ndarray]], rate: int = 20, change: Callable[[np.ndarray], np.ndarray] = np.asarray) -> None:
    import cv2

    writer = None
    for one in scenes:
        for number in range(2 * rate):
            frame = change(one(number / rate))
            if writer is None:
                writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"mp4v"), rate, (frame.shape[1], frame.shape[0]))
            writer.write(frame)
    writer.release()


def versions(folder: Path, number: int, draw: np.random.Generator) -> list[Path]:
    import cv2

    scenes, others = [scene(draw) for _ in range(9)], [scene(draw) for _ in range(4)]

    def smaller(frame: np.ndarray) -> np.ndarray:
        small = cv2.resize(frame, (80, 60), interpolation=cv2.INTER_AREA)
        return cv2.imdecode(cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 15])[1], 1)

    films = [
        (scenes, 20, np.asarray),
        (scenes[3:6], 20, np.asarray),
        (others + scenes[2:], 20, np.asarray),
        (scenes, 20, smaller),
        (scenes, 10, np.asarray),
        (scenes, 20, lambda frame: cv2.convertScaleAbs(frame, alpha=1.15, beta=8)),
    ]
    paths = [folder / f"{number:03}-{version}.mp4" for version in range(len(films))]
    for path, made in zip(paths, films, strict=True):
        film(path, *made)
    return paths


def video() -> None:
    from likewise.io.media import videos

    draw = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        paths = [path for number in range(60) for path in versions(Path(folder), number, draw)]
        seconds, sets = timed(lambda: [videos.features_of(path, 0.5) for path in paths[:60]])
        print(f"decoding and describing: {seconds / 60 * 1e3:.0f} ms a film of {np.mean([len(one) for one in sets]):.0f} key frames, one core")
        sets = features([videos.features_of(path, 0.5) for path in paths])
    labels = np.arange(len(paths)) // 6
    right = labels[:, None] == labels
    np.fill_diagonal(right, False)
    compared(sets, np.arange(len(paths)), right, sets[0], 16, 9, 10, itself=True)
    window(sets[0], draw)


#: Key frames of the long video: the histograms of each are half a gigabyte in all.
LONG = 12_000


def window(frames: np.ndarray, draw: np.random.Generator) -> None:
    """Time a step of a window of 40 key frames: incremental, by adding and subtracting, and recounted."""
    long = frames[draw.integers(0, len(frames), LONG)]
    family = Histograms(Hyperplane(seed=1), 9, 10, store="float32", space=Space.fit(frames, 16))
    seconds, each = timed(lambda: family.counts((long, np.arange(len(long) + 1)), run=RUN))
    for wide in (40, 400):
        sums = each[:wide].sum(axis=0)

        def slide(sums: np.ndarray = sums, wide: int = wide) -> np.ndarray:
            here = sums.copy()
            for first in range(5_000):
                here += each[first + wide]
                here -= each[first]
            return here

        sliding, moved = timed(slide)
        anew, again = timed(lambda wide=wide: [each[first : first + wide].sum(axis=0) for first in range(0, 5_001, 100)][-1])
        assert (moved == again).all()
        frame = seconds / LONG * 1e6
        print(f"window of {wide}: {sliding / 5_000 * 1e6:.1f} us a step, recounted {anew / 51 * 1e6:.1f} us; counts of a frame {frame:.1f} us")


# Patches


def patches(folder: Path) -> None:
    images = np.load(folder / "fm.X.npy", mmap_mode="r")[:10_000].reshape(-1, 28, 28).astype(np.float32)
    draw = np.random.default_rng(3)
    chosen = np.sort(draw.choice(len(images), 500, replace=False))
    shift = draw.integers(0, 2, (500, 2)) * 4 - 2
    copies = np.stack([np.roll(images[item], move, axis=(0, 1)) for item, move in zip(chosen, shift, strict=True)])
    copies = np.clip(copies + draw.normal(0, 0.05 * images.max(), copies.shape), 0, images.max()).astype(np.float32)
    both = np.concatenate([images, copies])
    cut = np.lib.stride_tricks.sliding_window_view(both, (7, 7), axis=(1, 2))[:, ::2, ::2].reshape(len(both), 121, 49)
    kept = [one[one.std(axis=1) > 0.06 * images.max()] for one in cut]
    sets = features([one if len(one) else whole for one, whole in zip(kept, cut, strict=True)])
    queries = np.arange(len(images), len(both))
    right = np.zeros((500, len(both)), bool)
    right[np.arange(500), chosen] = True
    flat = both.reshape(len(both), -1)
    seconds, scores = timed(lambda: 2 * flat[queries] @ flat.T - (flat**2).sum(axis=1))
    scores[np.arange(500), queries] = -np.inf
    print_row("pixels, L2", scores, right, flat[0].nbytes, 0, seconds)
    compared(sets, queries, right, sets[0][::7], 16, 9, 10, itself=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["video"]:
        video()
    elif sys.argv[1:2] == ["patches"] and len(sys.argv) == 3:
        patches(Path(sys.argv[2]))
    else:
        raise SystemExit(__doc__)
