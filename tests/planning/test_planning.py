"""The choice of bands and rows: its recall, its errors, and that it is the same everywhere."""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import UsageError
from likewise.planning import choose, parse_threshold, probability
from likewise.planning.choose import MAX_SLOTS, OPH_BANDS
from likewise.planning.families import costs
from likewise.planning.threshold import parse_within


def exact_probability(similarity: Fraction, bands: int, rows: int) -> Fraction:
    return 1 - (1 - similarity**rows) ** bands


@pytest.mark.parametrize(("threshold", "layout"), [("0.8", (16, 6)), ("0.5", (146, 5)), ("0.7", (37, 6)), ("0.9", (8, 7)), ("0.95", (4, 7))])
def test_default_plans_are_fixed(threshold, layout):
    """A change of these changes every user's result: it belongs in the changelog."""
    plan = choose(threshold)
    assert (plan.bands, plan.rows) == layout
    assert plan.chosen_by == "plan"
    assert not plan.warnings


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 100), st.floats(0.01, 0.999), st.sampled_from(["oph", "classic"]), st.integers(1, 10**9))
def test_the_expected_recall_holds(hundredths, recall, sketch, items):
    threshold = Fraction(hundredths, 100)
    plan = choose(threshold, recall, sketch=sketch, items=items)
    assert exact_probability(threshold, plan.bands, plan.rows) >= Fraction(recall) - Fraction(1, 10**12)
    assert plan.slots == plan.bands * plan.rows <= MAX_SLOTS
    assert plan.target == recall
    if sketch == "oph" and threshold < 1:
        assert plan.bands >= OPH_BANDS
        assert plan.recall >= min(recall + 0.05, max(recall, 0.7)) - 1e-12


def test_no_cheaper_layout_has_the_recall():
    """Against every layout, not only those that the search looks at."""
    plan = choose("0.8", 0.95, items=1_000_000)
    others = [(b, r) for b in range(2, 80) for r in range(1, 14) if probability(0.8, b, r) >= 0.95]
    assert min(others, key=lambda layout: plan.model.cost(*layout)) == (plan.bands, plan.rows)


def test_more_items_want_more_rows():
    rows = [choose("0.8", items=10**n).rows for n in range(3, 10)]
    assert rows == sorted(rows)
    assert rows[0] < rows[-1]


@given(st.integers(1, 60), st.integers(1, 12))
def test_the_curve(bands, rows):
    plan = choose("0.8", bands=bands, rows=rows)
    table = plan.table()
    assert [s for s, _ in table] == pytest.approx([n / 20 for n in range(1, 21)])
    assert all(p == pytest.approx(float(exact_probability(Fraction(n, 20), bands, rows)), abs=1e-11) for n, (_, p) in enumerate(table, 1))
    assert [p for _, p in table] == sorted(p for _, p in table)
    assert (plan.curve(0), plan.curve(1)) == (0, 1)


@pytest.mark.parametrize("p", [-0.1, 1.1, 2, math.nan, math.inf, "much", None])
def test_what_is_no_probability(p):
    with pytest.raises(UsageError, match=r"a probability of .*: give a number from 0 to 1"):
        probability(p, 20, 5)


def test_probabilities_near_nothing_keep_their_digits():
    """1 - (1 - p)^b computed as written gives 0 here."""
    assert probability(0.001, 10, 6) == pytest.approx(1e-17, rel=1e-9)


def test_predicted_candidates_against_the_closed_form():
    """With few bands the curve is b s^r where the background lies, and the moments of Beta(1, 60) are known."""
    for rows in range(1, 9):
        moment = math.factorial(rows) * math.factorial(60) / math.factorial(60 + rows)
        similar = sum(probability((n + 0.5) / 10_000, 2, rows) for n in range(10_000)) / 10_000
        assert choose("0.8", items=10**12).model.candidates(2, rows) - similar == pytest.approx(
            2 * moment * 10**12 / 2, rel=0.02 if rows > 1 else 0.05
        )


# thresholds at the ends


def test_equal_sets_need_one_band():
    plan = choose("1")
    assert (plan.bands, plan.recall) == (1, 1.0)
    assert not plan.warnings
    assert plan.slots <= 64


def test_a_low_threshold_takes_what_it_needs():
    plan = choose("0.05", 0.99)
    assert plan.slots <= costs("MinHash", 0).slots
    assert "may be compared with" in plan.warnings[0]
    assert choose("0.002", 0.99).slots > costs("MinHash", 0).slots
    with pytest.raises(UsageError, match=r"threshold=1e-05: no layout finds a pair at 1e-05 with probability 0.99; .* give a higher threshold"):
        choose("0.00001")


# layouts by hand


def test_bands_and_rows_by_hand():
    plan = choose("0.8", bands=60, rows=13)
    assert (plan.slots, plan.chosen_by, plan.warnings) == (780, "hand", [])
    assert plan.recall == pytest.approx(0.9663812294716706, abs=1e-12)


def test_swapped_by_mistake_is_said():
    """13 bands of 60 rows find next to nothing, and an empty result would look like a clean corpus."""
    plan = choose("0.8", bands=13, rows=60)
    assert plan.recall == pytest.approx(1.992225884661636e-05, abs=1e-12)
    advice = "leave the layout to the plan for a recall of 0.99"
    assert plan.warnings == [f"13 bands of 60 rows: a pair at 0.8 is found with a probability of only 0.0020%; {advice}"]


def test_one_band_is_said():
    """See OPH_BANDS: the figure is that of small sets."""
    assert "small sets are found less often" in choose("0.8", bands=1, rows=2).warnings[0]
    assert not choose("0.8", bands=1, rows=2, sketch="classic").warnings


def test_a_product_and_one_factor():
    assert (choose("0.8", slots=780, rows=13).bands, choose("0.8", slots=780, bands=60).rows) == (60, 13)
    assert choose("0.8", slots=780, rows=13).chosen_by == "hand"
    with pytest.raises(UsageError, match="slots=100 is not a multiple of rows=13; give slots=91 or 104"):
        choose("0.8", slots=100, rows=13)
    with pytest.raises(UsageError, match="slots=5 is not a multiple of bands=13; give slots=13"):
        choose("0.8", slots=5, bands=13)


@pytest.mark.parametrize("rows", [1, 2, 5, 8, 13])
def test_rows_alone(rows):
    plan = choose("0.8", rows=rows)
    assert plan.rows == rows
    assert plan.recall >= 0.99
    assert plan.bands == OPH_BANDS or probability(0.8, plan.bands - 1, rows) < 0.99


def test_bands_alone():
    plan = choose("0.8", bands=40)
    assert plan.bands == 40
    assert plan.recall >= 0.99
    with pytest.raises(UsageError, match=r"bands=2: .* the maximum is 0.96, with one row; give 3 bands or more"):
        choose("0.8", bands=2)


# the length of a signature


@pytest.mark.parametrize("slots", [3, 20, 64, 96, 97, 128, 1000])
def test_slots_bound_the_signature(slots):
    plan = choose("0.8", slots=slots)
    assert plan.slots <= slots
    assert plan.recall >= 0.99


def test_too_few_slots():
    with pytest.raises(UsageError, match=r"slots=2: no layout .* the maximum is 0.96, .* give 3 slots or more"):
        choose("0.8", slots=2)
    with pytest.raises(UsageError, match=r"slots=40: no layout finds a pair at 0.1 .* the maximum is 0.9852, .* give 44 slots or more"):
        choose("0.1", slots=40)
    assert choose("0.1", slots=44).recall >= 0.99


def test_what_does_not_fit():
    with pytest.raises(UsageError, match="bands=20 and rows=7 take 140 slots, more than 128"):
        choose("0.8", bands=20, rows=7, slots=128)
    assert choose("0.8", bands=18, rows=7, slots=128).slots == 126
    with pytest.raises(UsageError, match="more than 65,536"):
        choose("0.8", bands=1000, rows=1000)
    with pytest.raises(UsageError, match=r"rows=300: .* give fewer rows"):
        choose("0.8", rows=300)


# tune="error"


def test_least_error_is_that_of_datasketch():
    """notes B: its optimizer takes 9 bands of 13 rows of 128 for 0.8, which finds four pairs of ten at the threshold."""
    plan = choose("0.8", tune="error")
    assert (plan.bands, plan.rows) == (9, 13)
    assert plan.recall == pytest.approx(0.399, abs=5e-4)
    assert plan.warnings == [
        "9 bands of 13 rows: a pair at 0.8 is found with a probability of only 39.9%; leave out tune='error' for a recall of 0.99"
    ]


def test_least_error_within_what_is_given():
    assert choose("0.5", tune="error", slots=64).slots <= 64
    assert choose("0.5", tune="error", rows=4).rows == 4
    assert choose("0.5", tune="error", bands=10).bands == 10
    assert choose("0.5", tune="error", bands=10, rows=3).chosen_by == "hand"
    area = {
        b: sum(probability(s, b, 4) if s < 0.5 else 1 - probability(s, b, 4) for s in [(n + 0.5) / 1000 for n in range(1000)]) for b in range(1, 33)
    }
    assert choose("0.5", tune="error", rows=4).bands == min(area, key=area.__getitem__)


# what is refused


@pytest.mark.parametrize(
    ("value", "ratio"),
    [
        ("0.8", Fraction(4, 5)),
        (0.8, Fraction(4, 5)),
        ("4/5", Fraction(4, 5)),
        (Fraction(4, 5), Fraction(4, 5)),
        (0.29, Fraction(29, 100)),
        ("1", Fraction(1)),
        (1, Fraction(1)),
        ("1.0", Fraction(1)),
        ("0.999", Fraction(999, 1000)),
        (1 / 3, Fraction(1, 3)),
        ("8e-1", Fraction(4, 5)),
        ("1e-9", Fraction(1, 10**9)),
    ],
)
def test_thresholds(value, ratio):
    assert parse_threshold(value) == ratio


@pytest.mark.parametrize(
    ("value", "meant"), [("90%", "0.9"), ("90", "0.9"), (95, "0.95"), ("92.5 %", "0.925"), ("2%", "0.02"), ("0,9", "0.8"), ("100", "0.8")]
)
def test_a_percentage_is_no_threshold_but_the_error_names_the_share(value, meant):
    with pytest.raises(UsageError, match=rf"up to 1, for example {meant}$"):
        parse_threshold(value)


NO_THRESHOLDS = ["1.01", "-0.1", "0", "nan", "inf", "0,8", "80", "", "80%", "1e-12", "1e999999999", "1e-999999999", "1/0", "5/4", "-1/2", "0/5", "x"]


@pytest.mark.parametrize("value", [*NO_THRESHOLDS, 0, 0.0, -1, 1.5, 80, float("nan"), float("inf"), True, None, [0.8]])
def test_no_thresholds(value):
    with pytest.raises(UsageError, match=r"give a similarity above 0 and up to 1, for example 0.8") as error:
        parse_threshold(value)
    assert f"threshold={value!r}: " in str(error.value)


@given(st.floats() | st.text(max_size=12))
def test_any_threshold_is_read_or_refused(value):
    with contextlib.suppress(UsageError):
        assert 0 < parse_threshold(value) <= 1


def test_real_similarities_are_taken_to_the_last_digit():
    """Cosines and weighted similarities are no quotients of counts: 1 - 10^-10 is not 1."""
    assert parse_threshold(0.9999999999) == 1
    assert parse_threshold(0.9999999999, real=True) == 1 - Fraction(1, 10**10)
    assert parse_threshold(1e-12, real=True) == Fraction(1, 10**12)


@pytest.mark.parametrize(
    ("value", "distance"),
    [
        (2e-11, Fraction(2, 10**11)),
        ("2e-11", Fraction(2, 10**11)),
        (0.1, Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (1 / 3, Fraction(3333333333333333, 10**16)),
        ("1e-300", Fraction(1, 10**300)),
        (1e300, Fraction(10**300)),
        (12345678901.000000001, Fraction(12345678901)),
        ("12345678901.000000001", 12345678901 + Fraction(1, 10**9)),
        (0, Fraction(0)),
        (-0.0, Fraction(0)),
        ("0e999999999", Fraction(0)),
    ],
)
def test_distances_are_taken_to_the_last_digit(value, distance):
    assert parse_within(value) == distance


@pytest.mark.parametrize(
    "value", [-1, -1e-300, "1e-301", 1e301, "1e999999999", "1e-999999999", "nan", "-inf", "snan", "1/0", True, None, "", "3 m", [3]]
)
def test_no_distances(value):
    with pytest.raises(UsageError, match="give a distance from 0 to 1e300") as error:
        parse_within(value)
    assert f"within={value!r}: " in str(error.value)


@given(st.floats() | st.text(max_size=12))
def test_any_distance_is_read_or_refused(value):
    with contextlib.suppress(UsageError):
        assert float(parse_within(value)) == float(value)


@pytest.mark.parametrize("recall", [0, 1, 1.0, 1.5, -0.1, float("nan"), "0.9", None, True])
def test_no_recalls(recall):
    with pytest.raises(UsageError, match="give a number above 0 and below 1") as error:
        choose("0.8", recall)
    assert ("hashing never reaches 1, but exact=True does" in str(error.value)) == (recall == 1)


@pytest.mark.parametrize("wrong", [{"bands": 0}, {"rows": -1}, {"slots": 2.0}, {"items": 0}, {"bands": True}, {"slots": 10**9}])
def test_no_counts(wrong):
    with pytest.raises(UsageError, match=f"{next(iter(wrong))}=.*: give a whole number from 1"):
        choose("0.8", **wrong)


@pytest.mark.parametrize("wrong", [{"sketch": "simhash"}, {"tune": "best"}])
def test_choices_that_do_not_exist_are_refused(wrong):
    with pytest.raises(UsageError, match="choose one of"):
        choose("0.8", **wrong)


def test_numbers_of_numpy_are_numbers():
    one = np.int64(20)
    assert choose("0.8", bands=one, rows=np.uint8(5), items=np.int32(10**6)) == choose("0.8", bands=20, rows=5)
    assert type(choose("0.8", bands=one).bands) is int


# what others read


def test_in_a_line():
    assert repr(choose("0.8")) == "<Plan: 16 bands of 6 rows of MinHash, Jaccard similarity at 0.8, recall 0.9923>"
    assert repr(choose("0.8", bands=1, rows=1)) == "<Plan: 1 band of 1 row of MinHash, Jaccard similarity at 0.8, recall 0.8>"
    assert choose("0.99", bands=5, rows=5).recall > 0.999999
    assert repr(choose("0.99", bands=5, rows=5)).endswith("at 0.99, recall 0.9999>")
    assert repr(choose("1", bands=20, rows=5)).endswith("at 1, recall 1>")


def test_a_plan_as_json():
    plan = choose("0.8")
    assert json.loads(json.dumps(plan.to_dict())) == plan.to_dict()
    printed = plan.to_dict()
    assert (printed["bands"], printed["rows"], printed["slots"], printed["threshold"], printed["threshold_exact"]) == (16, 6, 96, 0.8, "4/5")
    assert (printed["recall"], printed["target"], printed["sketch"], printed["tune"], printed["chosen_by"]) == (
        plan.recall,
        0.99,
        "oph",
        "recall",
        "plan",
    )


def test_predicted_bytes():
    plan = choose("0.8")
    assert plan.disk_per_item == 8 * 300 + 8 * 16 + 61 + 64
    assert plan.memory == (109 + 8 * 16) * 1_000_000
    assert choose("0.8", shingles=350).disk_per_item - plan.disk_per_item == 8 * 50


def test_importing_it_loads_nothing_heavy():
    """``likewise plan`` and ``--help`` answer at once."""
    code = "import sys, likewise.planning; print([m for m in ('numpy', 'numba', 'pyarrow') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize(("bands", "rows", "slots"), [(None, None, 128), (None, None, 300), (7, None, 128), (None, 5, 128)])
@pytest.mark.parametrize("threshold", ["0.3", "0.8", "0.95"])
def test_least_error_is_that_of_all_layouts(threshold, bands, rows, slots):
    if rows or bands:
        plan = choose(threshold, tune="error", bands=bands, rows=rows)
    else:
        plan = choose(threshold, tune="error", slots=slots)
    every = [
        (b, r) for b in range(1, slots + 1) for r in range(1, slots // b + 1) if b in (bands, b if bands is None else bands) and r == (rows or r)
    ]
    if slots > 128:
        every = [(b, r) for b, r in every if r <= 128]
    assert plan.error <= min(choose(threshold, bands=b, rows=r).error for b, r in every[:: max(1, len(every) // 60)]) + 1e-12


def test_a_layout_of_least_error_is_found_at_once():
    started = time.process_time()
    assert choose("0.8", tune="error", slots=MAX_SLOTS).slots <= MAX_SLOTS
    assert time.process_time() - started < 5
