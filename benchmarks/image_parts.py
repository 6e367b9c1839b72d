#!/usr/bin/env python3
"""Images that share a part with another: recall and precision of `image/region`, beside `image` and a perceptual hash.

    bash benchmarks/fetch_images.sh FOLDER
    python benchmarks/image_parts.py FOLDER [--half choose] [--every N] [--json FILE] [--false]

For each change of image_copies.PARTS the collection is a half of the images and a changed copy of each. In a collage the copy is the image beside the
next one, and both should be found. Other pairs that show the same thing (image_copies.VERSIONS, SHOWN) do not count. Each method works as `likewise
pairs` does: it proposes candidates and checks them. `exact` is the recall of `image/region` if all pairs are compared. --false lists wrong pairs.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from image_copies import CHOOSE, MEASURE, PARTS, are_versions, changed_by, collage, corpus
from likewise.items.images import prepared
from likewise.items.perceptual import HASHES, packed, small_gray
from likewise.items.regions import Batch, described
from likewise.joins.hamming_join import code_join
from likewise.joins.image_join import image_join
from likewise.joins.pairs import Join
from likewise.joins.region_join import joined, region_join
from likewise.measures.regions import of_pairs

COLLAGE = "collage of two"
#: Default thresholds, and the Hamming distance of `phash` of 64 bits.
REGION, IMAGE, WITHIN = 0.5, 0.8, 8
#: Images of different kinds that show the same photograph or the same window, found by eye as VERSIONS were.
SHOWN = tuple(map(re.compile, ()))


def batch(images: list[np.ndarray]) -> Batch:
    """Images, blue, green and red, as `items.regions.regions` returns them."""
    rows = [b"".join(part.tobytes() for part in described(np.ascontiguousarray(image[:, :, ::-1]))) for image in images]
    begins = np.concatenate(([0], np.cumsum([len(row) // 8 for row in rows])))
    return np.frombuffer(b"".join(rows), np.uint64), begins


class Pairs:
    """Which pairs of n images, and n copies that follow them, are right and which are wrong."""

    def __init__(self, paths: list[str], change: str):
        self.n, self.both = len(paths), change == COLLAGE
        one = [[are_versions(a, b) or any(shown.search(a) and shown.search(b) for shown in SHOWN) for b in paths] for a in paths]
        same = np.array(one) | np.eye(self.n, dtype=bool)
        if self.both:  # an image is shown in its copy and in that of the image before it
            shows = np.eye(self.n, dtype=bool) | np.roll(np.eye(self.n, dtype=bool), 1, axis=1)
            same_and_copy = (same.astype(int) @ shows.T.astype(int)) > 0
            copies = (shows.astype(int) @ same_and_copy.astype(int)) > 0
            self.same = np.block([[same, same_and_copy], [same_and_copy.T, copies]])
        else:
            self.same = np.tile(same, (2, 2))

    def right(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The pairs to be found."""
        here = np.arange(self.n)
        return [(here, self.n + here), *([((here + 1) % self.n, self.n + here)] if self.both else [])]

    def judged(self, join: Join) -> tuple[np.ndarray, list[tuple[int, int, float]]]:
        """The share of pairs found for each image, float64[n], and the wrong pairs with their values."""
        found = np.zeros((2 * self.n, 2 * self.n), bool)
        wrong = []
        for block in join.pairs():
            found[block.left, block.right] = True
            bad = ~self.same[block.left, block.right]
            wrong += zip(block.left[bad].tolist(), block.right[bad].tolist(), block.value[bad].tolist(), strict=True)
        return np.mean([found[left, right] for left, right in self.right()], axis=0), wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", default=MEASURE, choices=(CHOOSE, MEASURE))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--false", action="store_true")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    kinds, paths, images = (list(part) for part in zip(*list(corpus(given.folder, given.half))[:: given.every], strict=True))
    kind, shown = np.array(kinds), set()
    originals, result = batch(images), {"half": given.half, "images": len(images), "changes": {}}
    for change in (*PARTS, COLLAGE):
        others = [*images[1:], images[0]]
        made = [
            collage(image, other) if change == COLLAGE else changed_by(PARTS, image, change, number)
            for number, (image, other) in enumerate(zip(images, others, strict=True))
        ]
        pairs, copies = Pairs(paths, change), batch(made)
        began = time.process_time()
        regions = region_join(joined(originals, copies), Fraction(REGION), exact=False)
        pictures = np.stack([prepared(np.ascontiguousarray(image[:, :, ::-1])) for image in (*images, *made)])
        small = np.stack([small_gray(np.ascontiguousarray(image[:, :, ::-1])) for image in (*images, *made)])
        joins = {
            "image/region": regions,
            "image": image_join(pictures, Fraction(IMAGE), exact=False),
            "phash": code_join(packed(HASHES["phash"](small, 64)), 64, WITHIN),
        }
        row: dict[str, Any] = {}
        for name, join in joins.items():
            found, wrong = pairs.judged(join)
            right = found.sum() * (1 + pairs.both)
            row[name] = {
                "recall": round(float(found.mean()), 4),
                "precision": round(float(right / (right + len(wrong))), 4) if right + len(wrong) else None,
                "wrong": len(wrong),
            }
            if name == "image/region":
                row[name] |= {one: round(float(found[kind == one].mean()), 4) for one in dict.fromkeys(kinds)}
                exact = [of_pairs(joined(originals, copies), joined(originals, copies), left, right) >= REGION for left, right in pairs.right()]
                row[name]["exact"] = round(float(np.mean(exact)), 4)
                row[name]["candidates"] = round(len(regions.candidates[0]) / (pairs.n * (2 * pairs.n - 1)), 4)
                row[name]["seconds"] = round(time.process_time() - began, 1)
                for left, right_, value in wrong if given.false else ():
                    if (key := tuple(sorted((paths[left % pairs.n], paths[right_ % pairs.n])))) not in shown:
                        shown.add(key)
                        print("wrong", change, round(value, 2), *key)
        result["changes"][change] = row
        print(f"{change:30}", row, flush=True)
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
