"""Charts of S-curves: points, areas and words that can be worked out by hand, as SVG and in a terminal."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET  # of our own making
from itertools import combinations, pairwise

import pytest

from likewise.cli import curve
from likewise.drawing.curves import APART, STEPS, Drawn, reach, s_curves
from likewise.drawing.markup import Html
from likewise.drawing.style import COLORS
from likewise.drawing.svg import Plane, standalone, svg, ticks
from likewise.errors import UsageError

SVG = "{http://www.w3.org/2000/svg}"
PLANE = Plane()
#: The corners of the axes in pixels.
LEFT, RIGHT, TOP, FLOOR = PLANE.left, PLANE.width - PLANE.right, PLANE.top, PLANE.height - PLANE.bottom
LINE = Drawn("a line", lambda similarity: similarity)
STEP = Drawn("a step", lambda similarity: float(similarity > 0.5))


def banding(bands: int, rows: int) -> Drawn:
    return Drawn(f"{rows} x {bands}", lambda similarity: 1 - (1 - similarity**rows) ** bands)


#: Fifty functions in three ways.
FIFTY = [banding(25, 2), banding(10, 5), banding(5, 10)]


def parsed(chart: Html) -> ET.Element:
    return ET.fromstring(standalone(chart, "title"))


def elements(chart: Html, name: str, *classes: str) -> list[ET.Element]:
    """In the plane of the curves, not in the legend."""
    found = [element for element in parsed(chart) if element.tag == SVG + name]
    return [element for element in found if not classes or element.get("class", "").split()[0] in classes]


def corners(element: ET.Element) -> list[tuple[float, float]]:
    return [tuple(map(float, point.split(","))) for point in element.attrib["points"].split()]  # type: ignore[misc]


def words(chart: Html) -> list[str]:
    return [element.text or "" for element in parsed(chart).iter(SVG + "text")]


def test_a_linear_probability_is_a_straight_line_from_corner_to_corner():
    (line,) = elements(s_curves([LINE], None), "polyline")
    points = corners(line)
    assert len(points) == STEPS + 1
    assert points[0] == (LEFT, FLOOR) and points[-1] == (RIGHT, TOP)
    assert points[STEPS // 4] == (LEFT + (RIGHT - LEFT) / 4, FLOOR - (FLOOR - TOP) / 4)
    assert all(x1 < x2 and y1 >= y2 for (x1, y1), (x2, y2) in pairwise(points))


def test_misses_lie_above_the_curve_and_false_positives_below():
    chart = s_curves([LINE], 0.75)
    needless, missed = elements(chart, "polygon")
    across, up = LEFT + 0.75 * (RIGHT - LEFT), FLOOR - 0.75 * (FLOOR - TOP)
    assert (needless.get("class"), missed.get("class")) == ("needless", "missed")
    assert corners(needless)[:2] == [(LEFT, FLOOR), (LEFT, FLOOR)] and corners(needless)[-2:] == [(across, up), (across, FLOOR)]
    assert corners(missed)[:2] == [(across, TOP), (across, up)] and corners(missed)[-2:] == [(RIGHT, TOP), (RIGHT, TOP)]
    (dot,) = elements(chart, "circle")
    assert (float(dot.attrib["cx"]), float(dot.attrib["cy"])) == (across, up)
    assert {"threshold 0.75", "a line: 75.0% at the threshold", "may be missed", "false positives, below the threshold"} <= {*words(chart)}


def test_distances_fall_and_the_areas_are_mirrored():
    rising, falling = s_curves([LINE], 0.75), s_curves([Drawn("a line", lambda distance: 1 - distance)], 0.25, falling=True)
    needless, missed = elements(rising, "polygon")
    missed_near, needless_far = elements(falling, "polygon")
    assert (missed_near.get("class"), needless_far.get("class")) == ("missed", "needless")
    for one, other in ((missed, missed_near), (needless, needless_far)):
        assert corners(other) == [(round(LEFT + RIGHT - x, 2), y) for x, y in reversed(corners(one))]
    assert "false positives, beyond the threshold" in words(falling)


def test_a_threshold_between_the_sampled_values_is_a_corner_of_both_areas():
    chart = s_curves([LINE], 1 / 3)
    needless, missed = elements(chart, "polygon")
    here = PLANE.at(1 / 3, 1 / 3)
    assert corners(needless)[-2] == here == corners(missed)[1]
    assert len(corners(elements(chart, "polyline")[0])) == STEPS + 2


def test_a_step_is_steep():
    points = corners(elements(s_curves([STEP], None), "polyline")[0])
    assert {y for _, y in points} == {TOP, FLOOR}
    middle = (LEFT + RIGHT) / 2
    assert max(x for x, y in points if y == FLOOR) == middle < min(x for x, y in points if y == TOP) < middle + 3


def test_several_curves_are_distinguished_without_color():
    chart = s_curves(FIFTY, 0.8)
    lines = elements(chart, "polyline")
    assert len({line.get("stroke-dasharray") for line in lines}) == len({line.get("class") for line in lines}) == 3
    numbers = [element for element in elements(chart, "text") if element.get("class") == "number"]
    assert [number.text for number in numbers] == ["1", "2", "3"]
    for number, line in zip(numbers, lines, strict=True):
        assert (float(number.attrib["x"]), round(float(number.attrib["y"]) - 4, 2)) in corners(line)
    assert [said for said in words(chart) if "at the" in said] == [
        "2 x 25: > 99.99999% at the threshold",  # 1 - .36^25
        "5 x 10: 98.1% at the threshold",  # 1 - (1 - .32768)^10 = .98113
        "10 x 5: 43.3% at the threshold",  # 1 - (1 - .107374)^5 = .43331
    ]
    assert "may be missed by 1" in words(chart) and len(elements(chart, "polygon")) == 2


@pytest.mark.parametrize(
    ("curves", "span", "falling"),
    [
        (FIFTY, (0, 1), False),
        ([banding(20, 5)] * 7, (0, 1), False),
        ([STEP, LINE], (0, 1), False),
        ([Drawn("", lambda degrees, rows=rows: (1 - degrees / 180) ** rows) for rows in (1, 2, 30)], (0, 180), True),
        ([Drawn("", lambda distance, rows=rows: (1 - distance / 1e6) ** rows) for rows in (1, 2)], (0, 1e6), True),
    ],
)
@pytest.mark.parametrize("share", [None, 0.0, 0.02, 0.5, 0.8, 0.98, 1.0])
def test_words_do_not_overlap(curves, span, falling, share):
    threshold = None if share is None else span[0] + share * (span[1] - span[0])
    chart = s_curves(curves, threshold, span=span, falling=falling)
    circles = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in elements(chart, "circle") if c.get("r") == "9"]
    assert len(circles) == len(curves) and all(math.dist(*two) >= APART for two in combinations(circles, 2))
    assert all(LEFT + 9 < x < RIGHT - 9 for x, _ in circles)
    boxes = []
    for text in elements(chart, "text"):
        if text.get("class") in ("number", "axis"):
            continue
        x, y, wide = float(text.attrib["x"]), float(text.attrib["y"]), 8 * len(text.text or "")
        left = x - {"start": 0, "middle": wide / 2, "end": wide}[text.attrib["text-anchor"]]
        boxes.append((left, left + wide, y - 11, y + 3))
    for one, other in combinations(boxes, 2):
        assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]
    assert all(left >= 0 and right <= PLANE.width and top >= 0 for left, right, top, _ in boxes)


def test_a_file_of_its_own():
    hostile = "</svg><script>alert(1)</script> & \"'\x00\x1b\ud800\uffff"
    written = standalone(s_curves([Drawn(hostile, lambda s: s), LINE], 0.5, axis=hostile), hostile)
    root = ET.fromstring(written.encode("utf-8"))
    assert root.tag == SVG + "svg" and (root.get("width"), root.get("height")) == ("640", "416")
    assert root.get("viewBox") == "0 0 640 416"
    shown = hostile.replace("\x00", "\\x00").replace("\x1b", "\\x1b").replace("\ud800", "\\ud800").replace("\uffff", "\\uffff")
    assert root.findtext(SVG + "title") == shown and shown in (root.findtext(SVG + "desc") or "")
    assert {element.tag for element in root.iter()} <= {SVG + name for name in NAMES.split()}
    assert not re.search(r"https?:(?!//www\.w3\.org/2000/svg)|@import|url\((?!#)|var\(|href", written)
    identities = {element.get("id") for element in root.iter()} - {None}
    assert set(re.findall(r"url\(#(\w+)\)", written)) == identities
    assert written.endswith("</svg>\n") and written == standalone(s_curves([Drawn(hostile, lambda s: s), LINE], 0.5, axis=hostile), hostile)


NAMES = "svg title desc style rect defs pattern circle path line polygon polyline text g"


def test_a_file_has_the_colors_of_light_and_dark_and_no_rule_for_other_parts_of_a_page():
    style = parsed(s_curves([LINE], 0.5)).findtext(SVG + "style") or ""
    light, dark = style.split("@media (prefers-color-scheme: dark) {")
    for scheme, rules in enumerate((light, dark)):
        for name in ("ink", "ground", "curve", "second", "third", "missed", "needless"):
            assert COLORS[name][scheme] + ";" in rules
    selectors = re.findall(r"([^{}]+)\{[^{}]*\}", light + dark.removesuffix("}\n"))
    assert len(selectors) > 20 and all(selector.strip().startswith(".chart ") for selector in selectors)


def luminance(color: str) -> float:
    digits = color[1:] if len(color) == 7 else "".join(digit * 2 for digit in color[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    return sum(w * (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4) for w, p in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


@pytest.mark.parametrize("scheme", [0, 1])
def test_lines_and_words_stand_out_from_the_page(scheme):
    page = luminance(COLORS["ground"][scheme])
    for name, least in (("ink", 7), ("faint", 4.5), ("curve", 3), ("second", 3), ("third", 3), ("missed", 3), ("needless", 3)):
        low, high = sorted([page, luminance(COLORS[name][scheme])])
        assert (high + 0.05) / (low + 0.05) >= least, name


def test_only_charts_become_files():
    assert "<desc>a &amp; b</desc>" in standalone(svg(10, 20, "a & b"), "title")
    with pytest.raises(ValueError, match="a chart"):
        standalone(Html("<p>"), "title")


def test_ticks_are_round_and_few():
    assert ticks(0, 1) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert ticks(0, 64) == [0, 20, 40, 60] and ticks(0, 1_000_000)[1] == 200_000
    assert {"1,000,000", "200,000", "0.2"} <= {*words(s_curves([Drawn("", lambda d: 1 - d / 1e6)], None, span=(0, 1e6), falling=True))}
    for high in range(1, 400):
        assert 3 <= len(ticks(0, high / 7)) <= 7 and ticks(0, high / 7)[-1] <= high / 7 * (1 + 1e-9)


def test_a_span_without_end_is_drawn_as_far_as_the_curves_fall():
    halves = Drawn("", lambda distance: 2**-distance)  # 1/32 at 5 is the first below .05
    assert reach([halves], 1.0) == reach([halves], None) == 5.0
    assert reach([halves], 30.0) == 40.0, "past the threshold"
    assert reach([Drawn("", lambda distance: 1 / (1 + distance))], 1.0) == 10.0, "slow: ten thresholds"
    assert reach([Drawn("", lambda distance: 0.5 + 0.5 * 2**-distance)], 1.0) == 5.0, "down to where it ends, which need not be 0"
    assert s_curves([halves], 1.0, span=(0, math.inf), falling=True) == s_curves([halves], 1.0, span=(0, 5), falling=True)
    with pytest.raises(UsageError, match="give the end of the span"):
        reach([Drawn("", lambda distance: 1 - distance / 2.0**100)], None)


@pytest.mark.parametrize(
    ("curves", "threshold", "span", "said"),
    [
        ([], 0.5, (0, 1), "no curve"),
        ([LINE], 1.5, (0, 1), "1.5 is outside the chart, which goes from 0 to 1"),
        ([LINE], None, (1, 1), "the end must be above"),
    ],
)
def test_what_cannot_be_drawn(curves, threshold, span, said):
    for drawing in (lambda: s_curves(curves, threshold, span=span), lambda: [*curve.draw_many(curves, threshold, 20, 5, span=span)]):
        with pytest.raises(UsageError, match=said):
            drawing()


# In a terminal


def test_one_curve_in_a_terminal():
    assert [*curve.draw(lambda s: s, 0.5, 11, 4)] == [
        "100% ┤     ××××██",  # 0.9 x 4 = 3.6
        "     │     ××████",  # 0.6 x 4 = 2.4
        " 50% ┤    ░██████",
        "     │  ░░░██████",
        "  0% └─────┴─────",
        "      0   0.5   1",
        "      █ found   × missed   ░ false-positive candidates (compared, then rejected)",
    ]


def test_the_legend_lists_the_areas_that_are_drawn():
    """Pairs that are always found are never missed, and below the threshold they are false-positive candidates."""
    assert [*curve.draw(lambda s: 1.0, 0.5, 4, 2)][-1] == "      █ found   ░ false-positive candidates (compared, then rejected)"
    assert [*curve.draw(lambda s: 0.0, 0.5, 4, 2)][-1] == "      × missed"


def test_one_curve_of_distances_in_a_terminal_is_mirrored():
    rising, falling = ([*curve.draw(*given)] for given in ((lambda s: s, 0.7, 11, 4), (lambda d: 1 - d, 0.3, 11, 4, curve.BLOCKS, (0, 1), True)))
    assert [row[6:] for row in falling[:4]] == [row[6:][::-1] for row in rising[:4]]
    assert [*curve.draw(lambda d: 1 - d / 100, 20, 11, 4, curve.ASCII, span=(0, 100), falling=True)] == [
        "100% +##x        ",
        "     |###.       ",
        " 50% +###....    ",
        "     |###......  ",
        "  0% +--^--------",
        "       20     100",
        "      # found   x missed   . false-positive candidates (compared, then rejected)",
    ]


def test_several_curves_in_a_terminal():
    three = [LINE, Drawn("square \x1b[31m", lambda s: s * s), STEP]
    assert [*curve.draw_many(three, 0.75, 9, 4)] == [
        "100% ┤     3333",  # column 8, where all meet, is the third one's turn
        "     │     312",
        " 50% ┤   1132",
        "     │  1223│",
        "  0% └──────┴──",
        "      0   0.75",
        "      1 = a line            75.0% at 0.75",
        "      2 = square \\x1b[31m   56.2% at 0.75",
        "      3 = a step             100% at 0.75",
    ]
    assert [*curve.draw_many([Drawn("line", lambda d: 1 - d), Drawn("step", lambda d: float(d < 0.5))], 0.25, 9, 4, curve.ASCII, falling=True)] == [
        "100% +1222",
        "     |  12",
        " 50% +  |211",
        "     |  |2  1",
        "  0% +--^------",
        "      0.25    1",
        "      1 = line   75.0% at 0.25",
        "      2 = step    100% at 0.25",
    ]
    assert [*curve.draw_many([LINE], None, 9, 2)] == [
        "100% ┤      111",
        " 50% ┤   111",  # 2/8 x 2 = 0.5, which rounds to 0: even
        "  0% └─────────",
        "      0       1",
        "      1 = a line",
    ]


def test_more_curves_than_there_are_letters():
    assert "      z = a line" in [*curve.draw_many([LINE] * 61, None, 20, 5)]
    with pytest.raises(UsageError, match="62 curves: give at most 61"):
        [*curve.draw_many([LINE] * 62, None, 20, 5)]


def test_a_family_draws_its_curve():
    """In a notebook. Every family and every construction has one; that of distances falls."""
    from likewise.families import Bits, Hyperplane, Line, MinHash

    for family in (MinHash(), Hyperplane(), Line(width=2.0), Bits(dimension=64), MinHash().all_of(5).any_of(20)):
        tree = ET.fromstring(family._repr_svg_())
        assert tree.find(f"{SVG}title").text == family.title
        assert family.collision.measure in "".join(tree.itertext())
