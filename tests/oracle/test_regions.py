"""Images that share a part: features, maps, confirmation and candidates against slow definitions and planted answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations

import cv2
import numpy as np
import pytest

from likewise.items.regions import BODY, DIMENSION, FEATURE, MIRRORED, MOST, SIDE, Region, described, parsed, regions, spread
from likewise.joins import region_join
from likewise.joins.pairs import Among
from likewise.measures import regions as measure
from likewise.stages.workers import Workers
from pictures_made import scene


def region(pixels: np.ndarray) -> Region:
    body, features = described(pixels)
    return parsed(body.tobytes() + features.tobytes())


def batch_of(descriptors: list[np.ndarray]) -> region_join.Batch:
    """Images with these descriptors, uint8[m, 128] each."""
    rows = []
    for one in descriptors:
        features = np.zeros(len(one), FEATURE)
        features["descriptor"] = one
        rows.append(np.frombuffer(np.zeros((), BODY).tobytes() + features.tobytes(), np.uint64))
    return np.concatenate(rows), np.concatenate(([0], np.cumsum([len(row) for row in rows])))


# --------------------------------------------------------------------------------------------------------------- items


def test_features_are_spread_over_the_image() -> None:
    """A hundred strong features in one cell and one weak feature in each of the others: none of those is lost."""
    draw = np.random.default_rng(1)
    crowded = draw.uniform(0, 0.25, (MOST + 100, 2))
    others = np.array([((x + 0.5) / 4, (y + 0.5) / 4) for x in range(4) for y in range(4) if x or y])
    place = np.concatenate([crowded, others]).astype(np.float32)
    strength = np.concatenate([draw.uniform(1, 2, len(crowded)), np.full(len(others), 0.1)])
    kept = spread(place, strength, np.zeros(len(place)))
    assert len(kept) == MOST == len(set(kept.tolist()))
    assert set(range(len(crowded), len(place))) <= set(kept.tolist())
    strongest = set(np.argsort(-strength[: len(crowded)])[: MOST - len(others)].tolist())
    assert set(kept.tolist()) & set(range(len(crowded))) == strongest


def test_mirrored_features_are_those_of_the_mirrored_image() -> None:
    pixels = np.asarray(scene(1))
    one, seen = region(pixels), region(np.ascontiguousarray(pixels[:, ::-1]))
    rows, others = measure.matches(one.mirrored().descriptor, seen.descriptor)
    apart = np.abs(one.mirrored().place[rows] - seen.place[others]).max(axis=1)
    assert len(rows) > 0.7 * len(one.place) and (apart < 0.01).mean() > 0.95
    assert len(measure.matches(one.descriptor, seen.descriptor)[0]) < 0.2 * len(rows)
    assert (MIRRORED[MIRRORED] == np.arange(DIMENSION)).all()


# ------------------------------------------------------------------------------------------------------------- measure


def test_matches_are_nearest_both_ways_and_clearly() -> None:
    draw = np.random.default_rng(2)
    a = draw.integers(0, 40, (30, DIMENSION), np.uint8)
    b = np.concatenate([a[10:25] + draw.integers(0, 9, (15, DIMENSION), np.uint8), a[:2], a[:2], draw.integers(0, 40, (9, DIMENSION), np.uint8)])
    apart = [[sum((int(x) - int(y)) ** 2 for x, y in zip(one, other, strict=True)) for other in b] for one in a]
    wanted = []
    for i, j in np.ndindex(len(a), len(b)):
        row, column = apart[i], [line[j] for line in apart]
        second = min(min(row[:j] + row[j + 1 :]), min(column[:i] + column[i + 1 :]))
        if min(row) == min(column) == row[j] and row[j] < measure.RATIO**2 * second:
            wanted.append((i, j))
    assert [*zip(*(part.tolist() for part in measure.matches(a, b)), strict=True)] == wanted
    assert len(wanted) >= 10 and not {0, 1} & {i for i, _ in wanted}  # 0 and 1 have two equal neighbors each
    assert len(measure.matches(a[:1], b)[0]) == len(measure.matches(a[:0], b)[0]) == 0


def planted(matrix: np.ndarray, right: int, wrong: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(3)
    a = draw.uniform(0, 480, (right + wrong, 2))
    b = a @ matrix[:2, :2].T + matrix[:2, 2]
    b[right:] = draw.uniform(0, 480, (wrong, 2))
    return a.astype(np.float32), b.astype(np.float32)


def turned(degrees: float, x: float, y: float) -> np.ndarray:
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[x * cos, -y * sin, 7], [x * sin, y * cos, -4], [0, 0, 1]])


def test_the_map_is_found_among_wrong_matches() -> None:
    wanted = turned(35, 0.6, 0.8)
    assert measure.affine(*planted(wanted, 20, 20)) == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize(
    ("matrix", "right"),
    [(turned(10, 1, 1), measure.AGREE - 1), (turned(10, -1, 1), 40), (turned(10, 0.3, 1), 40), (turned(0, 0.05, 0.05), 40)],
    ids=["few", "mirrored", "stretched", "tiny"],
)
def test_an_implausible_map_is_refused(matrix: np.ndarray, right: int) -> None:
    assert measure.affine(*planted(matrix, right, 0)) is None


def test_the_map_depends_on_the_pair_only() -> None:
    """Neither OpenCV's seed, which a process shares, nor what other threads draw changes a bit."""
    given = [planted(turned(degrees, 0.7, 0.7), 12, 40) for degrees in range(24)]
    wanted = [measure.affine(*one) for one in given]
    assert sum(one is not None for one in wanted) > 12

    def again(number: int) -> bool:
        cv2.setRNGSeed(number)
        return np.array_equal(measure.affine(*given[number % 24]), wanted[number % 24])

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(again, range(96)))


def test_the_value_is_the_share_of_equal_blocks() -> None:
    """Two pictures in place of each other, of which the lower quarter is another; then one is a quarter of the other."""
    draw, size = np.random.default_rng(4), np.array([SIDE, SIDE], np.uint32)
    none = np.zeros((0, 2), np.float32), np.zeros((0, DIMENSION), np.uint8)
    gray = cv2.resize(draw.integers(0, 256, (48, 48), np.uint8), (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
    other = gray.copy()
    other[SIDE * 3 // 4 :] = draw.integers(0, 256, (SIDE // 4, SIDE), np.uint8)
    assert measure.confirmed(Region(size, gray, *none), Region(size, gray, *none), np.eye(3)) == 1
    assert measure.confirmed(Region(size, gray, *none), Region(size, other, *none), np.eye(3)) == 0.75
    assert measure.confirmed(Region(size, gray, *none), Region(size, gray // 2 + 9, *none), np.eye(3)) == 1  # contrast and brightness do not count
    assert measure.confirmed(Region(size, gray, *none), Region(size, gray, *none), np.array([[1, 0, SIDE / 2], [0, 1, 0], [0, 0, 1]])) < 0.1
    smooth = cv2.resize(draw.integers(0, 256, (16, 16), np.uint8), (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
    part = cv2.resize(smooth[: SIDE // 2, : SIDE // 2], (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
    half = np.diag([0.5, 0.5, 1])
    assert measure.confirmed(Region(size, part, *none), Region(size, smooth, *none), half) >= 0.95
    assert measure.confirmed(Region(size, smooth, *none), Region(size, part, *none), np.linalg.inv(half)) >= 0.95
    flat = np.full_like(gray, 9)
    assert measure.confirmed(Region(size, flat, *none), Region(size, flat, *none), np.eye(3)) == 0


def test_the_similarity_is_symmetric_and_one_for_equal_images() -> None:
    plain = np.full((60, 80, 3), 200, np.uint8)
    made = [np.asarray(scene(1)), np.asarray(scene(2)), np.asarray(scene(1).crop((40, 30, 300, 200))), plain, plain + 9]
    pairs = [(i, j) for i in range(5) for j in range(5)]
    left, right = (regions([made[pair[side]] for pair in pairs]) for side in (0, 1))
    values = measure.similarity(left, right).reshape(5, 5)
    assert (values == values.T).all() and (values.diagonal() == 1).all()
    assert values[0, 2] >= 0.9 and values[0, 1] == values[3, 4] == values[0, 3] == 0


# ---------------------------------------------------------------------------------------------------------- candidates


def test_pairs_with_enough_near_features_are_candidates() -> None:
    draw = np.random.default_rng(5)
    features = [draw.integers(0, 60, (20, DIMENSION), np.uint8) for _ in range(6)]
    features[1][:2] = features[0][:2]  # two votes
    features[2][:1] = features[0][:1]  # one
    features[4][:3] = features[3][4:7][:, MIRRORED]
    features[5] = features[5][:0]
    assert [part.tolist() for part in region_join.voted(batch_of(features))] == [[0, 3], [1, 4]]


def test_a_common_feature_does_not_vote() -> None:
    draw = np.random.default_rng(6)
    one = draw.integers(0, 60, (2, DIMENSION), np.uint8)
    few, many = ([one] * number + [draw.integers(0, 60, (9, DIMENSION), np.uint8)] * 2 for number in (3, region_join.COMMON + 1))
    assert [part.tolist() for part in region_join.voted(batch_of(few))] == [[0, 0, 1, 3], [1, 2, 2, 4]]
    assert [part.tolist() for part in region_join.voted(batch_of(many))] == [[region_join.COMMON + 1], [region_join.COMMON + 2]]


def test_the_codes_do_not_depend_on_how_many_images_are_coded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    given = batch_of([np.random.default_rng(seed).integers(0, 60, (seed, DIMENSION), np.uint8) for seed in range(9)])
    whole = region_join.coded(given)
    monkeypatch.setattr(region_join, "CODED_AT_ONCE", 4)
    parts = region_join.coded(given)
    rows = [np.lexsort((found[0][:, 1], found[0][:, 0], found[2], found[1])) for found in (whole, parts)]
    assert all((a[rows[0]] == b[rows[1]]).all() for a, b in zip(whole, parts, strict=True))


def test_the_join_has_the_pairs_of_some_items_across_sides() -> None:
    made = [np.asarray(scene(1)), np.asarray(scene(2)), np.asarray(scene(1).crop((40, 30, 300, 200))), np.asarray(scene(1).rotate(90, expand=True))]
    given = regions(made)
    for how in ({"exact": True}, {"exact": False}, {"exact": False, "workers": Workers(tasks=3)}):
        join = region_join.region_join(given, Fraction(1, 2), **how)
        for items in (None, np.array([0, 2]), np.array([1, 2, 3])):
            for side in (None, np.array([1, 2, 3, 1], np.uint8), np.array([2, 1, 1, 2], np.uint8)):
                some = range(4) if items is None else items.tolist()
                sides = None if side is None else side[some]
                found = [(i, j) for block in join.pairs(Among(items, sides)) for i, j in zip(block.left.tolist(), block.right.tolist(), strict=True)]
                across = [(i, j) for i, j in combinations(some, 2) if side is None or side[i] | side[j] == 3]
                assert sorted(found) == [pair for pair in across if 1 not in pair]


def test_groups_are_joined_apart() -> None:
    given = regions([np.asarray(scene(1))[:, cut:] for cut in (0, 20, 40)])
    for exact in (False, True):
        join = region_join.region_join(given, Fraction(1, 2), exact=exact, per=np.array([7, 8, 7], np.uint64))
        assert [(block.left.tolist(), block.right.tolist()) for block in join.pairs() if len(block.left)] == [([0], [2])]
