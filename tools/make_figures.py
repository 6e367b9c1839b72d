"""Draw the figures of the docs: those of docs/explanation that need more than a few lines, and those that code on a page writes.

tests/docs checks that the files are up to date.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

from scale_model import chart as scale

from likewise.drawing.markup import tag
from likewise.drawing.svg import Plane, standalone, svg
from likewise.families import MinHash

DOCS = Path(__file__).resolve().parent.parent / "docs"
FOLDER = DOCS / "explanation/figures"
sys.path.append(str(DOCS.parent / "benchmarks"))

import picture  # noqa: E402


def estimates() -> str:
    """Estimates of 24 pairs from 128 slots at each tenth of similarity, side by side, with two standard errors on both sides of the truth."""
    family, plane, pairs, size = MinHash(128), Plane(), 24, 1000
    truth = [step / 100 for step in range(101)]
    dots = []
    for tenth in range(11):
        own = size * (10 - tenth) // 20
        left = [range(size * i, size * (i + 1) - own) for i in range(pairs)]
        right = [range(size * i + own, size * (i + 1)) for i in range(pairs)]
        found = family.estimate(family.signature(left), family.signature(right))
        for place, (x, y) in enumerate(plane.at(tenth / 10, share) for share in found.tolist()):
            offset = (place % 7 - 3) * 3 if 0 < tenth < 10 else 0  # without an offset all would be one dot
            dots.append(tag("circle", cx=round(x + offset, 2), cy=y, r=2.2, class_="dot"))
    bounds = [[(j, min(max(j + side * family.standard_error(j), 0), 1)) for j in truth] for side in (-2, 2)]
    words = "The share of equal slots among 128, by the similarity of two sets with 1,000 elements together: dots lie around the diagonal, nearly "
    words += "all within two standard errors, which are 0.088 at 0.5 and 0 at 0 and 1"
    chart = svg(
        plane.width,
        plane.height,
        words,
        *plane.axes("Jaccard similarity of two sets", "share of equal slots"),
        tag("polyline", points=plane.path([(0, 0), (1, 1)]), class_="curve third"),
        *(tag("polyline", points=plane.path(bound), class_="curve second", stroke_dasharray="5 4") for bound in bounds),
        plane.words("two standard errors", (0.36, 0.53), "end"),
        *dots,
    )
    return standalone(chart, "Estimates by 128 slots")


#: Results of benchmarks/all.py, whose summary is in docs/explanation/comparison.md.
ALL = DOCS.parent / "benchmarks/results.json"
#: Results of benchmarks/histograms.py.
STUDY = DOCS.parent / "benchmarks/histograms.json"
#: mAP on the images of benchmarks/features.py --sweep, by tables N, then by bits B from 6 on: with one bit per bin, or with the square root of its
#: count as a byte.
BITS_KEPT = {
    1: (0.2348, 0.4533, 0.6776, 0.8063, 0.8698, 0.8975, 0.9150, 0.9305),
    2: (0.3354, 0.5991, 0.8029, 0.8794, 0.9109, 0.9245, 0.9357, 0.9419),
    5: (0.4967, 0.7778, 0.8932, 0.9149, 0.9292, 0.9368, 0.9460, 0.9493),
    10: (0.5765, 0.8541, 0.9195, 0.9277, 0.9356, 0.9422, 0.9480, 0.9508),
    20: (0.6832, 0.8952, 0.9276, 0.9355, 0.9391, 0.9444, 0.9493),
    40: (0.7595, 0.9137, 0.9327, 0.9382, 0.9410, 0.9471),
}
BYTES_KEPT = {
    1: (0.7013, 0.7627, 0.8127, 0.8405, 0.8785, 0.8963),
    5: (0.8474, 0.8714, 0.8905, 0.8981, 0.9141, 0.9241),
    10: (0.8616, 0.8828, 0.8968, 0.9056, 0.9169, 0.9247),
    40: (0.8702, 0.8877, 0.9025, 0.9120, 0.9198, 0.9270),
}
#: Other methods on the same images: base-2 logarithm of the bytes per set, mAP, and the side of the dot that has the name.
OTHERS = {
    "mean pooling": (9, 0.718, "start"),
    "words": (11.97, 0.899, "start"),
    "VLAD": (15, 0.950, "middle"),
    "pyramid": (13.39, 0.937, "start"),
    "MUVERA, centered": (16.32, 0.777, "end"),
}
LEAST_BITS = 6
LINES = ("curve", "curve second", "curve third")


def by_bits() -> str:
    """Accuracy by bits of a bin, with a line for each number of tables."""
    plane = Plane((6.0, 13.0))
    words = "Mean average precision of images by bits of a bin, 6 to 13, for 1 to 40 tables with one bit stored per bin: with few bits"
    words += " it rises steeply with both, from 0.23 to 0.91; at 13 bits one table is at 0.93 and ten are at 0.95"
    drawn = []
    for place, (tables, found) in enumerate(BITS_KEPT.items()):
        points = [(LEAST_BITS + at, precision) for at, precision in enumerate(found)]
        drawn.append(tag("polyline", points=plane.path(points), class_=LINES[place % 3], stroke_dasharray="9 4" if place > 2 else None))
        drawn.append(plane.words(f"N {tables}", points[0], "start", 6, 12 if place < 5 else -6, class_="strong"))
    axes = plane.axes("bits B of a bin number; N: number of tables", "mAP")
    return standalone(svg(plane.width, plane.height, words, *axes, *drawn), "Accuracy by bits and tables")


def of_study(task: str, measure: str, title: str) -> str:
    """The quality of random histograms by the bits of a bin, with a line for each number of tables (benchmarks/histograms.py)."""
    lines: dict[int, list[tuple[float, float]]] = {}
    for row in json.loads(STUDY.read_text())[task]["parameters"]:
        if "tables" in row:
            lines.setdefault(row["tables"], []).append((row["bits"], row["quality"]))
    plane, drawn, said = Plane((4.0, 12.0)), [], []
    for place, (tables, points) in enumerate(lines.items()):
        drawn.append(tag("polyline", points=plane.path(points), class_=LINES[place % 3], stroke_dasharray="9 4" if place > 2 else None))
        drawn.append(plane.words(f"N {tables}", points[0], "start", 4, -6 if place == len(lines) - 1 else 16, class_="strong"))
        said.append(f"{tables} tables from {points[0][1]:.2f} to {points[-1][1]:.2f}")
    words = f"{title}: {measure} by bits of a bin, from 4 on: {', '.join(said)}"
    axes = plane.axes("bits B of a bin number; N: number of tables", measure)
    return standalone(svg(plane.width, plane.height, words, *axes, *drawn), title)


def by_size() -> str:
    """Accuracy by the bytes stored per set."""
    plane = Plane((3.0, 17.0))
    words = "Mean average precision of images by the base-2 logarithm of the bytes per set: histograms with one bit per bin, at the left and the top,"
    words += " reach 0.92 with 320 bytes and 0.95 with 10,240; those with a byte per bin, and other methods, need more bytes"
    drawn = []
    for kept, shift, class_ in ((BITS_KEPT, -3, "dot"), (BYTES_KEPT, 0, "marker")):
        for tables, found in kept.items():
            for at, precision in enumerate(found):
                x, y = plane.at(math.log2(tables) + LEAST_BITS + at + shift, precision)
                drawn.append(tag("circle", cx=x, cy=y, r=3, class_=class_))
    for name, (size, precision, anchor) in OTHERS.items():
        x, y = plane.at(size, precision)
        drawn.append(tag("rect", x=round(x - 4, 2), y=round(y - 4, 2), width=8, height=8, class_="marker third"))
        offset, below = {"start": (8, 18), "middle": (0, -10), "end": (-8, 18)}[anchor]
        drawn.append(plane.words(name, (size, precision), anchor, offset, below, class_="strong"))
    axes = plane.axes("log2 of the bytes per set; filled: one bit per bin, hollow: one byte per bin", "mAP")
    return standalone(svg(plane.width, plane.height, words, *axes, *drawn), "Accuracy by size")


FIGURES: dict[str, Callable[[], str]] = {
    "comparison.svg": lambda: picture.drawn(json.loads(ALL.read_text())),
    "scale.svg": scale,
    "estimates.svg": estimates,
    "features-by-bits.svg": by_bits,
    "features-by-size.svg": by_size,
    "study-images.svg": lambda: of_study("images", "mAP", "Copies of images"),
    "study-films.svg": lambda: of_study("films", "mAP", "Copies of parts of films"),
    "study-objects.svg": lambda: of_study("objects", "accuracy", "Recognition of drawings"),
}


if __name__ == "__main__":
    for name, draw in FIGURES.items():
        (FOLDER / name).write_text(draw())
    for page in DOCS.rglob("*.md"):
        code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
        if '.svg").write_text' in code:
            os.chdir(page.parent / "figures")
            with redirect_stdout(None):
                exec(code, {})
