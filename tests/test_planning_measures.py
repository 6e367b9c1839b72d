"""Plans for every measure that has a hash family: what is promised at a similarity or a distance, and what is refused."""

from __future__ import annotations

import math

import pytest

import likewise as lw
from likewise.curves import bit_sampling, gaussian_line, jaccard
from likewise.errors import UsageError
from likewise.methods import MEASURES, parse
from likewise.planning import chance, choose
from likewise.planning.density import BACKGROUND, assumed
from likewise.planning.families import FAMILIES_FOR, WIDTHS, curves_for
from likewise.planning.presets import PRESETS

ASKED = [
    ("elements", {"threshold": "0.8"}, 0.8),
    ("weighted", {"threshold": "0.7"}, 0.7),
    ("words:5/bag", {"threshold": "0.7"}, 0.7),
    ("cosine", {"threshold": "0.9"}, 1 - math.acos(0.9) / math.pi),
    ("angle", {"within": 18}, 0.9),
    ("hamming", {"within": 8, "dimension": 64}, 56 / 64),
    ("l1", {"within": 2, "family": "Line"}, None),
    ("l2", {"within": 2}, None),
    ("l2", {"within": 2, "family": "Stripe"}, None),
]


@pytest.mark.parametrize(("by", "asked", "p"), ASKED)
@pytest.mark.parametrize("recall", [0.5, 0.9, 0.99])
def test_the_promise_at_the_threshold(by, asked, p, recall):
    plan = lw.plan(by=by, recall=recall, **asked)
    one = plan.collision.at(float(plan.threshold))
    if p is not None:
        assert one == pytest.approx(p, abs=1e-12)
    assert plan.recall == pytest.approx(1 - (1 - one**plan.rows) ** plan.bands, abs=1e-9)
    assert plan.recall >= recall
    values, chances = zip(*plan.table(), strict=True)
    assert list(values) == sorted(values)
    assert list(chances) == sorted(chances, reverse=plan.collision.distances)
    assert 0 < plan.candidates < math.inf


def test_every_measure_is_planned_or_refused():
    assert set(FAMILIES_FOR) <= set(MEASURES)
    for name in set(MEASURES) - set(FAMILIES_FOR) | {"l3", "elements/containment", "words:5/containment"}:
        with pytest.raises(UsageError, match="there is no hash family for it"):
            choose(method=parse(name), within=1)


def test_the_width_of_a_line_is_chosen():
    """Of all widths tried, the chosen one with its layout is the cheapest that keeps the promise."""
    plan = choose(method=parse("l2"), within=3)
    widths = [curve.parameters["width"] for curve in curves_for(parse("l2"), "Line", 3.0, None)]
    assert widths == [3 * width for width in WIDTHS]
    cost = plan.model.cost(plan.bands, plan.rows)
    for width in widths:
        p = gaussian_line(width).at(3)
        for rows in range(1, 40):
            bands = math.ceil(math.log(0.01) / math.log1p(-(p**rows)))
            if bands * rows <= 8192:
                other = plan.model.__class__(gaussian_line(width), plan.model.density, plan.items, plan.model.dimension)
                assert other.cost(bands, rows) >= cost * (1 - 1e-9)


def test_equal_points_and_codes_need_one_band():
    for by, more in (("l2", {}), ("hamming", {"dimension": 64}), ("angle", {})):
        plan = choose(method=parse(by), within=0, **more)
        assert (plan.bands, plan.recall) == (1, 1.0)


def test_threshold_and_within_are_one_thing():
    assert choose(within="0.2") == choose("0.8")
    assert choose(within=1 / 3).threshold == choose("2/3").threshold
    with pytest.raises(UsageError, match="say the same thing"):
        choose("0.8", within=0.2)
    with pytest.raises(UsageError, match=r"--within '1\.5': give a distance from 0 to 1"):
        choose(within=1.5)
    with pytest.raises(UsageError, match="give a similarity above 0"):
        choose(within=1)
    with pytest.raises(UsageError, match="l2 is a distance; give --within D"):
        choose("0.8", method=parse("l2"))
    with pytest.raises(UsageError, match="a cosine is no distance; give --threshold, or --by angle --within DEGREES"):
        choose(method=parse("cosine"), within=0.1)


@pytest.mark.parametrize("within", [-1, "x", "nan", "inf", True, [3], "1e999"])
def test_no_distances(within):
    with pytest.raises(UsageError, match="give a distance of 0 or more"):
        choose(method=parse("l2"), within=within)


def test_what_must_be_known():
    with pytest.raises(UsageError, match="Bits: give the data, or --dimension, how many bits a code has"):
        choose(method=parse("hamming"), within=3)
    with pytest.raises(UsageError, match="--within 65: the greatest Hamming distance there can be is 64"):
        choose(method=parse("hamming"), within=65, dimension=64)
    with pytest.raises(UsageError, match="--family Threshold: give the data"):
        choose(method=parse("l1"), within=3, family="Threshold")
    with pytest.raises(UsageError, match="--family 'MinHash': for l2 choose Line or Stripe"):
        choose(method=parse("l2"), within=3, family="MinHash")


def test_what_cannot_be_reached_is_said_with_the_distance():
    with pytest.raises(UsageError, match=r"--within 64: no layout finds a pair within 64 .* give a smaller --within"):
        choose(method=parse("hamming"), within=64, dimension=64)


def test_a_layout_by_hand_for_a_distance():
    plan = choose(method=parse("hamming"), within=8, dimension=64, bands=10, rows=60)
    assert plan.recall == pytest.approx(chance(56 / 64, 10, 60), abs=1e-12)
    said = "10 bands of 60 rows: a pair at a distance of 8 is found with chance 0.00331 only; leave the layout to the plan to find it with 0.99"
    assert plan.warnings == [said]


def test_least_error_for_a_distance():
    """The least area between the curve and the step, by trying all layouts of 128 slots on a finer grid."""
    plan = choose(method=parse("hamming"), within=16, dimension=64, tune="error")
    grid = [(step + 0.5) * 32 / 400 for step in range(400)]

    def area(bands, rows):
        return sum(chance(1 - d / 64, bands, rows) if d > 16 else 1 - chance(1 - d / 64, bands, rows) for d in grid)

    best = min(((b, r) for r in range(1, 65) for b in range(1, 128 // r + 1)), key=lambda layout: area(*layout))
    assert area(plan.bands, plan.rows) <= area(*best) * 1.01


# what is assumed of a collection


@pytest.mark.parametrize(
    ("by", "asked"), [("elements", {"threshold": 0.8}), ("cosine", {"threshold": 0.9}), ("angle", {"within": 9}), ("l2", {"within": 2})]
)
def test_assumed_shares_are_of_all_pairs(by, asked):
    points = choose(method=parse(by), **asked).model.density.points
    assert sum(share for _, share, _ in points) == pytest.approx(1, rel=2e-3)
    assert sum(alike for _, _, alike in points) == pytest.approx(1, rel=1e-6)


def test_random_codes_differ_binomially():
    points = {value: share for value, share, _ in assumed(bit_sampling(64), 3).points}
    assert points[32.0] == pytest.approx(math.comb(64, 32) / 2**64, rel=1e-9)
    assert points[3.0] == pytest.approx(math.comb(64, 3) / 2**64, rel=1e-9)


def test_unlike_sets_have_the_mean_of_their_beta():
    points = assumed(jaccard(), 0.8).points
    assert sum(value * share for value, share, _ in points) == pytest.approx(1 / (BACKGROUND + 1), rel=1e-3)


# presets: the values are those of notes on what the recipes catch, computed from bands and rows by 1-(1-s^r)^b

CATCH = {
    "fineweb": (0.8, 0.924),
    "slimpajama": (0.8, 0.399),
    "nemo-curator": (0.8, 0.677),
    "refinedweb": (0.8, 0.995),
    "the-stack": (0.7, 0.51),
    "rensa": (0.8, 0.20),
    "datasketch": (0.9, 0.31),
    "daft": (0.7, 0.38),
    "gaoya": (0.8, 1.0),
}


@pytest.mark.parametrize("name", CATCH)
def test_presets_state_their_true_curve(name):
    at, found = CATCH[name]
    plan = lw.plan(preset=name)
    assert (plan.bands, plan.rows) == (PRESETS[name].bands, PRESETS[name].rows)
    assert plan.curve(at) == pytest.approx(found, abs=0.005)
    assert float(plan.threshold) == float(PRESETS[name].threshold)


def test_a_preset_lies_under_what_is_given():
    plan = lw.plan(preset="fineweb", threshold=0.8, rows=6)
    assert (plan.bands, plan.rows, float(plan.threshold)) == (14, 6, 0.8)
    assert lw.plan(preset="slimpajama", within=0.1).threshold == lw.plan(threshold=0.9).threshold
    texts = ["one two three four five six seven", "one two three four five six seven", "x"]
    assert lw.dedup(texts, preset="slimpajama").report["method"]["by"] == "chars:13"
    with pytest.raises(UsageError, match="--preset 'finweb': did you mean fineweb"):
        lw.plan(preset="finweb")


# pictures


def test_a_plan_draws_itself():
    plan, other = lw.plan(bands=5, rows=10), lw.plan(bands=10, rows=5)
    assert plan.svg().startswith("<svg")
    assert "10 × 5" in plan.svg(other)
    assert plan._repr_svg_() == plan.svg()
    assert lw.plan(by="hamming", within=3, dimension=64).svg().count("Hamming distance")
