"""Draw the figures of docs/explanation/from-shingles-to-the-s-curve.md. tests/test_lecture.py holds the files to what this makes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from likewise.drawing.curves import Drawn, s_curves
from likewise.drawing.markup import tag
from likewise.drawing.svg import Plane, standalone, svg
from likewise.families import MinHash

FOLDER = Path(__file__).resolve().parent.parent / "docs/explanation/figures"


def estimates() -> str:
    """Estimates by 128 slots of 24 pairs at each tenth of similarity, side by side, and two standard errors on both sides of the truth."""
    family, plane, pairs, size = MinHash(128), Plane(), 24, 1000
    truth = [step / 100 for step in range(101)]
    dots = []
    for tenth in range(11):
        own = size * (10 - tenth) // 20
        left = [range(size * i, size * (i + 1) - own) for i in range(pairs)]
        right = [range(size * i + own, size * (i + 1)) for i in range(pairs)]
        found = family.estimate(family.signature(left), family.signature(right))
        for place, (x, y) in enumerate(plane.at(tenth / 10, share) for share in found.tolist()):
            aside = (place % 7 - 3) * 3 if 0 < tenth < 10 else 0  # without a spread all are one dot
            dots.append(tag("circle", cx=round(x + aside, 2), cy=y, r=2.2, class_="dot"))
    bounds = [[(j, min(max(j + side * family.standard_error(j), 0), 1)) for j in truth] for side in (-2, 2)]
    words = "The share of equal slots of 128, by the similarity of two sets with 1,000 elements in all: dots lie around the diagonal, nearly all "
    words += "within two standard errors, which are 0.088 at 0.5 and nothing at 0 and 1"
    picture = svg(
        plane.width,
        plane.height,
        words,
        *plane.axes("Jaccard similarity of two sets", "share of equal slots"),
        tag("polyline", points=plane.path([(0, 0), (1, 1)]), class_="curve third"),
        *(tag("polyline", points=plane.path(bound), class_="curve second", stroke_dasharray="5 4") for bound in bounds),
        plane.words("two standard errors", (0.36, 0.53), "end"),
        *dots,
    )
    return standalone(picture, "Estimates by 128 slots")


def threshold() -> str:
    layout = Drawn("20 bands of 5 rows", MinHash().all_of(5).any_of(20).probability)
    return standalone(s_curves([layout], 0.6), "20 bands of 5 rows around a threshold of 0.6")


def layouts() -> str:
    curves = [Drawn(f"{bands} bands of {rows} rows", MinHash().all_of(rows).any_of(bands).probability) for bands, rows in ((2, 25), (5, 10), (10, 5))]
    return standalone(s_curves(curves, None), "Three layouts of 50 slots")


def amplified() -> str:
    families = {
        "one function": MinHash().all_of(1),
        "AND of 4, then OR of 4": MinHash().all_of(4).any_of(4),
        "OR of 4, then AND of 4": MinHash().any_of(4).all_of(4),
    }
    return standalone(s_curves([Drawn(name, family.probability) for name, family in families.items()], None), "AND-OR and OR-AND of 16 functions")


FIGURES: dict[str, Callable[[], str]] = {
    "estimates.svg": estimates,
    "threshold.svg": threshold,
    "layouts.svg": layouts,
    "amplified.svg": amplified,
}


if __name__ == "__main__":
    for name, draw in FIGURES.items():
        (FOLDER / name).write_text(draw())
