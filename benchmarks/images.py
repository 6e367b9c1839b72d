#!/usr/bin/env python3
"""Copies of images with planted changes: recall and precision of `image` and of perceptual hashes, on images that thresholds were not chosen on.

    bash benchmarks/fetch_images.sh FOLDER
    python benchmarks/images.py FOLDER [--json FILE] [--false]

For each change the collection is a half of the images and a changed copy of each. A pair of an image and its copy is right, a pair of versions of an
image (image_copies.VERSIONS) does not count, any other pair is wrong. `image` compares pairs whose hashes are near, as `likewise pairs` does, at its
default threshold. Hashes are compared by Hamming distance, within LIMITS. If the package imagehash is installed, its hashes are measured in the same
way. The half `choose`, on which everything about `image` was decided, is measured for mild changes only. --false lists the wrong pairs of `image`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from image_copies import CHANGES, CHOOSE, MEASURE, MILD, are_versions, changed, corpus
from likewise.items.images import prepared
from likewise.items.perceptual import HASHES, SIZES, packed, small_gray
from likewise.measures.images import THRESHOLD, WITHIN, hashes_of, similarity

ORIGINAL = "original"
#: Hamming distances by the number of bits.
LIMITS = {64: (4, 8, 12), 256: (24, 40, 56)}


def peers() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """The hashes of other packages: functions of uint8[height, width, 3], red, green and blue, that return bits."""
    found: dict[str, Callable[[np.ndarray], np.ndarray]] = {}
    try:
        import imagehash
        from PIL import Image

        for name, size in (("phash", 8), ("phash", 16), ("dhash", 8)):
            function = getattr(imagehash, name)
            found[f"imagehash {name} {size * size}"] = lambda image, function=function, size=size: function(Image.fromarray(image), size).hash.ravel()
    except ImportError:
        pass
    return found


class Half:
    """The images of one half and their copies by change, prepared for all methods."""

    def __init__(self, folder: Path, half: str):
        kinds, self.paths = [], []
        self.changes = MILD if half == CHOOSE else CHANGES
        made: dict[str, dict[str, list[np.ndarray]]] = {change: {} for change in (ORIGINAL, *self.changes)}
        others = peers()
        for number, (kind, path, image) in enumerate(corpus(folder, half)):
            kinds.append(kind)
            self.paths.append(path)
            for change, codes in made.items():
                copy = image if change == ORIGINAL else changed(image, change, number)
                rgb = np.ascontiguousarray(copy[:, :, ::-1])
                small = small_gray(rgb)[None]
                codes.setdefault("prepared", []).append(prepared(rgb))
                for name, function in HASHES.items():
                    for bits in SIZES:
                        codes.setdefault(f"{name} {bits}", []).append(function(small, bits)[0])
                for name, peer in others.items():
                    codes.setdefault(name, []).append(peer(rgb))
        self.kinds = np.array(kinds)
        self.versions = np.array([[are_versions(a, b) for b in self.paths] for a in self.paths]) | np.eye(len(kinds), dtype=bool)
        self.prepared = {change: np.stack(codes.pop("prepared")) for change, codes in made.items()}
        self.codes = {change: {name: packed(np.stack(bits)) for name, bits in codes.items()} for change, codes in made.items()}
        for change, pictures in self.prepared.items():
            self.codes[change]["image"] = hashes_of(pictures)

    def scores(self, method: str, change: str) -> tuple[np.ndarray, np.ndarray]:
        """The distance of each copy from its original, and of other pairs that count: smaller is nearer, infinite is not found."""
        n = len(self.paths)
        both = np.concatenate([self.codes[ORIGINAL][method], self.codes[change][method]])
        a, b = np.triu_indices(2 * n, 1)
        distances = np.bitwise_count(both[a] ^ both[b]).sum(axis=1).astype(float)
        if method == "image":
            pictures = np.concatenate([self.prepared[ORIGINAL], self.prepared[change]])
            near = np.flatnonzero(distances <= WITHIN)
            values = similarity(pictures[a[near]], pictures[b[near]])
            distances[:] = np.inf
            distances[near] = 1 - values
        other = ~self.versions[a % n, b % n]
        right = b == a + n
        return distances[right], np.where(other, distances, np.nan)

    def wrong(self, change: str) -> list[tuple[float, str, str]]:
        """The wrong pairs of `image`."""
        n = len(self.paths)
        _, others = self.scores("image", change)
        a, b = np.triu_indices(2 * n, 1)
        rows = np.flatnonzero(others <= 1 - THRESHOLD)
        return sorted((round(1 - float(others[row]), 3), self.paths[a[row] % n], self.paths[b[row] % n]) for row in rows)


def share(values: np.ndarray, limit: float) -> float:
    return round(float((values <= limit).mean()), 4)


def row(half: Half, method: str, limit: float) -> dict[str, Any]:
    """Recall by change and kind, and precision, of a method within a limit; for `image` also the recall if all pairs are compared (`--exact`)."""
    kinds, found = list(dict.fromkeys(half.kinds.tolist())), {}
    for change in half.changes:
        copies, others = half.scores(method, change)
        wrong, right = int(np.nansum(others <= limit)), int((copies <= limit).sum())
        found[change] = {"recall": share(copies, limit), "precision": round(right / (right + wrong), 4) if right + wrong else None, "wrong": wrong}
        found[change] |= {kind: share(copies[half.kinds == kind], limit) for kind in kinds}
        if method == "image":
            values = similarity(half.prepared[ORIGINAL], half.prepared[change])
            found[change] |= {f"exact {least}": share(-values, -least) for least in (THRESHOLD, 0.7, 0.6)}
    return found


def mild(found: dict[str, Any]) -> dict[str, float]:
    """The mean and least recall over the mild changes, and the mean precision."""
    recalls, precisions = ([found[change][key] for change in MILD] for key in ("recall", "precision"))
    return {"recall": round(float(np.mean(recalls)), 4), "least": min(recalls), "precision": round(float(np.mean(precisions)), 4)}


def speed(half: Half) -> dict[str, float]:
    """Microseconds of one core to compare two images, and milliseconds to make a payload from a picture of 1,024 × 768 pixels."""
    pictures = half.prepared[ORIGINAL]
    left = np.random.default_rng(0).integers(0, len(pictures), 2000)
    similarity(pictures[left], pictures[left[::-1]])
    began = time.perf_counter()
    similarity(pictures[left], pictures[left[::-1]])
    pairs = (time.perf_counter() - began) / len(left) * 1e6
    image = np.random.default_rng(0).integers(0, 256, (768, 1024, 3), np.uint8)
    began = time.perf_counter()
    for _ in range(20):
        prepared(image)
    return {"compare_us": round(pairs, 1), "prepare_ms": round((time.perf_counter() - began) / 20 * 1e3, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--false", action="store_true")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    halves = {name: Half(given.folder, name) for name in (CHOOSE, MEASURE)}
    result: dict[str, Any] = {"images": {}, "candidates": {}, "methods": {}}
    for name, half in halves.items():
        kinds, counts = np.unique(half.kinds, return_counts=True)
        result["images"][name] = dict(zip(kinds.tolist(), counts.tolist(), strict=True))
        near = {
            change: share(np.bitwise_count(half.codes[ORIGINAL]["image"] ^ half.codes[change]["image"]).sum(axis=1), WITHIN)
            for change in half.changes
        }
        a, b = np.triu_indices(len(half.paths), 1)
        codes = half.codes[ORIGINAL]["image"]
        pairs = share(np.bitwise_count(codes[a] ^ codes[b]).sum(axis=1), WITHIN)
        result["candidates"][name] = {"pairs": pairs, "recall": near}
    for method in halves[CHOOSE].codes[ORIGINAL]:
        limits = (1 - THRESHOLD,) if method == "image" else LIMITS[int(method.split()[-1])]
        for limit in limits:
            title = method if method == "image" else f"{method} within {limit}"
            rows = {name: row(half, method, limit) for name, half in halves.items()}
            result["methods"][title] = {name: mild(found) for name, found in rows.items()}
            print(f"{title:28}", result["methods"][title], flush=True)
            if method == "image":
                result["changes"] = rows[MEASURE]
    result["speed"] = speed(halves[MEASURE])
    for change, found in result["changes"].items():
        print(f"{change:36}", found, f"candidates {result['candidates'][MEASURE]['recall'][change]:.4f}")
    print(result["images"], result["speed"], {name: result["candidates"][name]["pairs"] for name in halves})
    if given.false:
        for name, half in halves.items():
            print(name, *half.wrong("JPEG 75"), sep="\n")
    if given.json:
        given.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
