"""Plans for every measure that has a hash family: the recall at a similarity or a distance, and the errors."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import likewise as lw
from likewise.errors import UsageError
from likewise.families import FAMILIES, from_plan
from likewise.kinds import measures
from likewise.methods import parse
from likewise.planning import choose, probability
from likewise.planning.curves import bit_sampling, gaussian_line, jaccard
from likewise.planning.density import BACKGROUND
from likewise.planning.expected import assumed
from likewise.planning.families import WIDTHS, families_of

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
def test_the_recall_at_the_threshold(by, asked, p, recall):
    plan = lw.plan(by=by, recall=recall, **asked)
    one = plan.collision.at(float(plan.threshold))
    if p is not None:
        assert one == pytest.approx(p, abs=1e-12)
    assert plan.recall == pytest.approx(1 - (1 - one**plan.rows) ** plan.bands, abs=1e-9)
    assert plan.recall >= recall
    values, probabilities = zip(*plan.table(), strict=True)
    assert list(values) == sorted(values)
    assert list(probabilities) == sorted(probabilities, reverse=plan.collision.distances)
    assert 0 < plan.candidates < math.inf


def test_every_measure_is_planned_or_refused():
    planned = {name for family in FAMILIES.values() for name in family.measures} | {"features", "features/one-to-many"}
    assert planned <= set(measures())
    for name in set(measures()) - planned | {"l3", "elements/containment", "words:5/containment"}:
        with pytest.raises(UsageError, match="this measure has no hash family"):
            choose(method=parse(name), within=1)


def test_the_width_of_a_line_is_chosen():
    """Among all widths, the chosen one with its layout is the cheapest that reaches the recall."""
    plan = choose(method=parse("l2"), within=3)
    widths = [curve.parameters["width"] for curve in FAMILIES["Line"].curves(parse("l2"), 3.0, None)]
    assert widths == [3 * width for width in WIDTHS]
    cost = plan.model.cost(plan.bands, plan.rows)
    for width in widths:
        p = gaussian_line(width).at(3)
        for rows in range(1, 40):
            bands = math.ceil(math.log(0.01) / math.log1p(-(p**rows)))
            if bands * rows <= 8192:
                other = plan.model.__class__(gaussian_line(width), plan.model.density, plan.items, plan.model.dimension)
                assert other.cost(bands, rows) >= cost * (1 - 1e-9)


@pytest.mark.parametrize("within", [2e-11, "2e-11", "1e-300", 1e300])
@pytest.mark.parametrize("by", ["l1", "l2"])
def test_tiny_and_huge_distances_have_the_expected_recall_as_any_other(by, within):
    """A layout depends on the width in thresholds alone."""
    plan, other = choose(method=parse(by), within=within), choose(method=parse(by), within=1)
    assert float(plan.threshold) == float(within)
    assert (plan.bands, plan.rows) == (other.bands, other.rows)
    assert plan.curve(float(within)) >= 0.99
    assert plan.collision.parameters["width"] == pytest.approx(float(within) * other.collision.parameters["width"])
    assert plan.svg().count("</svg>") == 1


def test_similarities_near_1_are_no_equality():
    plan = choose(1 - 1e-10, method=parse("cosine"))
    assert plan.threshold == 1 - Fraction(1, 10**10)
    assert 0.99 <= plan.recall < 1
    assert plan.place == "at 0.9999999999"


def test_equal_points_and_codes_need_one_band():
    for by, more in (("l2", {}), ("hamming", {"dimension": 64}), ("angle", {})):
        plan = choose(method=parse(by), within=0, **more)
        assert (plan.bands, plan.recall) == (1, 1.0)


def test_threshold_and_within_are_one_thing():
    assert choose(within="0.2") == choose("0.8")
    assert choose(within=1 / 3).threshold == choose("2/3").threshold
    with pytest.raises(UsageError, match=r"^threshold='0\.8' and within=0\.2 set the same limit"):
        choose("0.8", within=0.2)
    for within in (1, 1.5, -0.1, "1e-999999999", "nan", True, 1 - 1e-12):
        with pytest.raises(UsageError, match=r"within=.*: the distance is 1 - similarity; give a number from 0 to below 1"):
            choose(within=within)
    with pytest.raises(UsageError, match=r"l2 is a distance: use within=D \(maximum distance\) instead of threshold='0\.8'$"):
        choose("0.8", method=parse("l2"))
    with pytest.raises(UsageError, match=r"^within=0\.1: cosine is a similarity; use threshold=S, or by='angle' with within=DEGREES$"):
        choose(method=parse("cosine"), within=0.1)


def test_what_must_be_known():
    with pytest.raises(UsageError, match="by='hamming': give the data, or dimension=N, the number of bits of a code"):
        choose(method=parse("hamming"), within=3)
    with pytest.raises(UsageError, match="within=65: the maximum Hamming distance is 64"):
        choose(method=parse("hamming"), within=65, dimension=64)
    with pytest.raises(UsageError, match="family='Threshold': give the data"):
        choose(method=parse("l1"), within=3, family="Threshold")
    with pytest.raises(UsageError, match="family='MinHash': for l2 choose Line or Stripe"):
        choose(method=parse("l2"), within=3, family="MinHash")


def test_what_cannot_be_reached_is_said_with_the_distance():
    with pytest.raises(UsageError, match=r"within=64: no layout finds a pair within 64 .* give a smaller distance"):
        choose(method=parse("hamming"), within=64, dimension=64)


def test_a_layout_by_hand_for_a_distance():
    plan = choose(method=parse("hamming"), within=8, dimension=64, bands=10, rows=60)
    assert plan.recall == pytest.approx(probability(56 / 64, 10, 60), abs=1e-12)
    said = (
        "10 bands of 60 rows: a pair at a distance of 8 is found with a probability of only 0.33%; leave the layout to the plan for a recall of 0.99"
    )
    assert plan.warnings == [said]


def test_least_error_for_a_distance():
    """The least area between the curve and the step, by trying all layouts of 128 slots on a finer grid."""
    plan = choose(method=parse("hamming"), within=16, dimension=64, tune="error")
    grid = [(step + 0.5) * 32 / 400 for step in range(400)]

    def area(bands, rows):
        return sum(probability(1 - d / 64, bands, rows) if d > 16 else 1 - probability(1 - d / 64, bands, rows) for d in grid)

    best = min(((b, r) for r in range(1, 65) for b in range(1, 128 // r + 1)), key=lambda layout: area(*layout))
    assert area(plan.bands, plan.rows) <= area(*best) * 1.01


def test_least_error_over_all_widths():
    """The least area of all widths and layouts of 128 slots, on a grid five times as fine: width 6 for a distance of 3, area 0.123."""
    plan = choose(method=parse("l2"), within=3, tune="error")
    grid = [6 * (step + 0.5) / 1000 for step in range(1000)]
    similar = np.array(grid) <= 3
    areas = {}
    for width in WIDTHS:
        p = np.array([gaussian_line(3 * width).at(value) for value in grid])
        for rows in range(1, 129):
            for bands in range(1, 128 // rows + 1):
                found = 1 - (1 - p**rows) ** bands
                areas[3 * width, bands, rows] = float(np.where(similar, 1 - found, found).mean())
    best = min(areas, key=areas.__getitem__)
    assert best[0] == plan.collision.parameters["width"] == 6
    assert areas[best] == pytest.approx(plan.error, abs=5e-4)
    assert round(plan.error, 3) == 0.123
    assert areas[6, plan.bands, plan.rows] <= areas[best] + 5e-4


def test_the_error_of_a_layout_by_hand():
    """Two bands of one row of bits of 8, within 2: 1 - (d/8)^2 is missed by (d/8)^2 up to 2, and found beyond up to 4."""
    plan = choose(method=parse("hamming"), within=2, dimension=8, bands=2, rows=1, tune="error")
    missed, found = 1 / 24, 2 - (64 - 8) / 3 / 64  # integrals of (d/8)^2 from 0 to 2, and of 1 - (d/8)^2 from 2 to 4
    assert plan.error == pytest.approx((missed + found) / 4, abs=1e-4)
    widths = [choose(method=parse("l2"), within=3, bands=b, rows=r, tune="error").collision.parameters["width"] for b, r in ((1, 1), (20, 2))]
    assert widths[0] > widths[1]  # one function alone must be wide


# what it takes


def test_reading_weighted_sets_is_in_the_time():
    """300 ns an element and 300 elements a set: 90 s for a million sets, beside the slots, keys and comparisons."""
    plan, longer = (choose("0.8", method=parse("weighted"), shingles=shingles) for shingles in (300, 600))
    assert plan.core_seconds == pytest.approx(90 + plan.model.cost(plan.bands, plan.rows) / 1000)
    assert longer.core_seconds - plan.core_seconds == pytest.approx(90)
    assert (plan.bands, plan.rows) == (longer.bands, longer.rows)
    text = choose("0.8")
    assert text.core_seconds == pytest.approx(15 + text.model.cost(text.bands, text.rows) / 1000)  # 50 ns a shingle


def test_vectors_of_unknown_dimension():
    known, unknown = (choose("0.9", method=parse("cosine"), dimension=dimension) for dimension in (384, None))
    assert (known.bands, known.rows, known.disk) == (unknown.bands, unknown.rows, unknown.disk)
    assert (known.model.dimension, unknown.model.dimension, unknown.model.numbers) == (384, None, 384)


# the family of a plan


@pytest.mark.parametrize(
    ("plan", "family"),
    [
        (lambda: lw.plan(), "MinHash(slots=96, mode='oph', seed=0)"),
        (lambda: lw.plan(sketch="classic", bands=2, rows=3), "MinHash(slots=6, mode='classic', seed=0)"),
        (lambda: lw.plan(by="weighted", bands=2, rows=3), "WeightedMinHash(slots=6, seed=0)"),
        (lambda: lw.plan(by="l2", within=3, bands=2, rows=3), "Line(width=36.0, slots=6, norm='l2', seed=0)"),
        (lambda: lw.plan(by="l1", within=3, bands=2, rows=3), "Line(width=36.0, slots=6, norm='l1', seed=0)"),
        (lambda: lw.plan(by="l2", within=3, family="Stripe", bands=2, rows=3), "Stripe(width=36.0, slots=6, seed=0)"),
        (lambda: lw.plan(by="hamming", within=3, dimension=64, bands=2, rows=3), "Bits(dimension=64, slots=6, seed=0)"),
        (lambda: lw.plan(by="angle", within=9, family="CrossPolytope", dimension=5, bands=2, rows=3), "CrossPolytope(dimension=5, slots=6, seed=0)"),
        (
            lambda: lw.plan(np.array([[0.0, 1], [2, 3]]), by="l1", within=1, family="Threshold", bands=2, rows=3),
            "Threshold(low=0.0, high=3.0, dimension=2, slots=6, seed=0)",
        ),
    ],
)
def test_a_plan_leads_to_its_family(plan, family):
    plan = plan()
    made = from_plan(plan)
    assert repr(made) == family
    assert from_plan(plan, 7).seed == 7
    at = {"distance": 9} if plan.collision.measure == "angle in degrees" else {"value": float(plan.threshold)}
    assert made.all_of(plan.rows).any_of(plan.bands).probability(**at) == pytest.approx(plan.recall, abs=1e-12)


def test_every_family_that_is_planned_for_is_made():
    for by in measures():
        for name in families_of(parse(by)):
            asked = {"within": 1} if measures()[by].distance else {}
            data = np.eye(3) if by not in ("elements", "weighted", "hamming") else None
            data = np.stack([np.eye(3), 1 - np.eye(3)]) if by.startswith("features") else data
            plan = lw.plan(data, by=by, family=name, dimension=64 if by == "hamming" else None, **asked)
            family = from_plan(plan)
            assert (type(family).__name__, family.slots, family.collision.family) == (name, plan.slots, name)
    assert {name for name, family in FAMILIES.items() if not family.measures} == {"BBit"}  # which is for storing what was planned


def test_directions_in_a_line_and_their_family():
    plan = lw.plan(by="angle", within=18)
    assert repr(plan).endswith(f"rows of Hyperplane, angle in degrees within 18, recall {plan.recall:.4g}>")
    assert repr(lw.plan(by="l2", within=3)) == "<Plan: 253 bands of 13 rows of Line of width 9, L2 distance within 3, recall 0.99>"
    assert from_plan(plan).all_of(plan.rows).any_of(plan.bands).probability(distance=18) == pytest.approx(plan.recall, abs=1e-12)


# what is assumed of a collection


@pytest.mark.parametrize(
    ("by", "asked"), [("elements", {"threshold": 0.8}), ("cosine", {"threshold": 0.9}), ("angle", {"within": 9}), ("l2", {"within": 2})]
)
def test_assumed_shares_are_of_all_pairs(by, asked):
    points = choose(method=parse(by), **asked).model.density.points
    assert sum(share for _, share, _ in points) == pytest.approx(1, rel=2e-3)
    assert sum(similar for _, _, similar in points) == pytest.approx(1, rel=1e-6)


def test_random_codes_differ_binomially():
    points = {value: share for value, share, _ in assumed(bit_sampling(64), 3).points}
    assert points[32.0] == pytest.approx(math.comb(64, 32) / 2**64, rel=1e-9)
    assert points[3.0] == pytest.approx(math.comb(64, 3) / 2**64, rel=1e-9)


def test_unlike_sets_have_the_mean_of_their_beta():
    points = assumed(jaccard(), 0.8).points
    assert sum(value * share for value, share, _ in points) == pytest.approx(1 / (BACKGROUND + 1), rel=1e-3)


def test_codes_of_many_bits_are_counted_in_bins():
    """The normal distribution stands for the binomial one: as many candidates, in a moment."""
    exact, bins = (lw.plan(by="hamming", within=1000, dimension=bits, bands=20, rows=10).candidates for bits in (4096, 4097))
    assert bins == pytest.approx(exact, rel=0.01)
    for bits in (10**6, 10**8):
        assert len(assumed(bit_sampling(bits), Fraction(3)).points) == 400
        assert lw.plan(by="hamming", within=3, dimension=bits).recall >= 0.99


def test_no_plan_holds_infinity():
    printed = lw.plan(by="l2", within=1e299, family="Stripe", bands=3, rows=3).to_dict()
    assert printed["approximate_threshold"] is None
    assert all(not isinstance(value, float) or math.isfinite(value) for value in printed.values())


def test_nothing_is_certain_but_what_is():
    plan = choose("0.8", bands=1000, rows=2)
    assert plan.curve(0) == 0 and plan.curve(1) == 1
    assert 0 < choose("0.8", bands=1, rows=64).curve(0.01) < plan.curve(0.01) < plan.curve(0.99) < 1
