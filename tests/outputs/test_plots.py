"""Charts by matplotlib, and measured points in both kinds of charts."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

import likewise as lw
from likewise import families
from likewise.errors import MissingPartError, UsageError
from likewise.families import Bits, Line, MinHash, Stripe


@pytest.fixture(autouse=True)
def charts() -> Iterator[None]:
    mpl.use("Agg")
    yield
    pyplot.close("all")


def test_a_plan_is_plotted_with_its_threshold_and_areas():
    ax = lw.plan(bands=20, rows=5, threshold=0.6).plot(lw.plan(bands=10, rows=10, threshold=0.6), points=[(0.3, 0.05)])
    first, second, threshold, measured = ax.lines
    x, y = first.get_data()
    np.testing.assert_allclose(y, 1 - (1 - np.asarray(x) ** 5) ** 20, atol=1e-9)
    assert (first.get_label(), second.get_label()) == ("20 × 5", "10 × 10")
    assert list(threshold.get_xdata()) == [0.6, 0.6]
    assert measured.get_data() == ([0.3], [0.05]) or [list(part) for part in measured.get_data()] == [[0.3], [0.05]]
    assert ax.get_xlabel() == "Jaccard similarity" and ax.get_ylabel() == "probability of being found"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["20 × 5", "10 × 10", "false positives by 1, below the threshold", "may be missed by 1", "measured"]


def test_families_are_plotted_on_given_axes():
    _, ax = pyplot.subplots()
    assert Line(4.0).plot(Stripe(4.0), ax=ax) is ax
    assert len(ax.lines) == 2 and ax.get_xlabel() == "L2 distance" and ax.get_ylim() == (0, 1)
    alone = MinHash().plot()
    assert alone.get_legend() is None and alone.get_title() == "MinHash"
    with pytest.raises(UsageError, match="cannot be drawn over"):
        MinHash().plot(Bits(64))


@pytest.mark.parametrize("name", families.FAMILIES)
def test_every_family_and_construction_draws_itself_in_both_ways(name):
    given = {"CrossPolytope": (8,), "Line": (4.0,), "Stripe": (4.0,), "Threshold": (0, 1, 8), "Bits": (64,)}
    family = getattr(families, name)(*given.get(name, ()))
    at = family.collision.value(0.7)
    for drawn in (family, family.all_of(3).any_of(5)):
        assert family.collision.measure in drawn.svg(threshold=at) and drawn._repr_svg_() == drawn.svg()
        assert drawn.plot(family, threshold=at).get_title() == drawn.title


PLANS = [
    {"by": "elements", "threshold": 0.8},
    {"by": "weighted", "threshold": 0.8},
    {"by": "words:2/bag", "within": 0.2},
    {"by": "cosine", "threshold": 0.9},
    {"by": "angle", "within": 20},
    {"by": "cosine", "threshold": 0.9, "family": "CrossPolytope", "dimension": 64},
    {"by": "l1", "within": 1},
    {"by": "l2", "within": 1, "family": "Stripe"},
    {"by": "hamming", "within": 3, "dimension": 64},
]


@pytest.mark.parametrize("options", PLANS, ids=lambda options: " ".join(map(str, options.values())))
def test_plans_for_every_measure_draw_themselves_in_both_ways(options):
    plan = lw.plan(**options)
    drawn = plan.svg()
    assert plan._repr_svg_() == drawn and f"threshold {float(plan.threshold):g}" in drawn and plan.collision.measure in drawn
    ax = plan.plot()
    assert ax.get_title() == plan.title and ax.get_xlim() == plan.span


def test_families_are_drawn_with_areas_around_a_threshold():
    family = MinHash().all_of(5).any_of(20)
    ax = family.plot(MinHash().any_of(4).all_of(4), threshold=0.8)
    assert list(ax.lines[-1].get_xdata()) == [0.8, 0.8]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    areas = ["false positives by 1, below the threshold", "may be missed by 1"]
    assert labels == ["AND of 5, then OR of 20 by MinHash", "OR of 4, then AND of 4 by MinHash", *areas]
    assert "at the threshold 0.8: 99.96%" in family.svg(threshold=0.8) and "at the threshold" not in family.svg()
    falling = Line(4.0).svg(threshold=3)
    assert "beyond the threshold" in falling and "threshold 3" in falling
    assert lw.plan(bands=20, rows=5, threshold=0.6).svg(threshold=0.8).count("threshold 0.8") == 2  # drawn and described


@pytest.mark.parametrize("threshold", [2, -1, float("nan"), "high"])
def test_a_threshold_outside_the_chart_is_refused(threshold):
    for draw in (MinHash().svg, MinHash().plot, lw.plan().svg):
        with pytest.raises(UsageError, match="outside the chart, which goes from 0 to 1"):
            draw(threshold=threshold)


def test_measured_points_are_drawn_and_described():
    drawn = MinHash().all_of(2).svg(points=[(0.5, 0.25), (1, 1)])
    assert "measured: 25.0% at 0.5, 100% at 1" in drawn and drawn.count("<path d=") == 3  # two points, and one in the legend
    assert "measured" not in MinHash().svg()


@pytest.mark.parametrize(
    ("points", "said"), [([(2, 0.5)], "a value from 0 to 1"), ([(0.5, 1.5)], "a share from 0 to 1"), ([0.5], "give pairs"), ("ab", "give pairs")]
)
def test_wrong_points_are_refused(points, said):
    for draw in (lw.plan().svg, lw.plan().plot, MinHash().svg, MinHash().plot):
        with pytest.raises(UsageError, match=said):
            draw(points=points)


def test_without_matplotlib_the_error_names_it(monkeypatch):
    load = builtins.__import__

    def without(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingPartError, match=r"charts are drawn with matplotlib, which is not installed: .*install matplotlib"):
        lw.plan().plot()
