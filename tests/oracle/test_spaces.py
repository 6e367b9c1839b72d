"""A center and axes for features, and histograms of what was moved there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from feature_sets import some_sets
from likewise.errors import UsageError
from likewise.families import Histograms, Hyperplane, Space
from likewise.items.features import features
from likewise.measures.matching import correlation, every


def test_a_center_and_axes():
    """Whitened features have variance 1 along each axis, and no two go together."""
    draw = np.random.default_rng(3)
    sample = draw.normal(size=(2000, 5)) @ draw.normal(size=(5, 5)) + 100
    moved = Space.fit(sample, 3).moved(features([sample])[0])
    np.testing.assert_allclose(moved.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(np.cov(moved.T, bias=True), np.eye(3), atol=1e-4)
    centered = Space.fit(sample).moved(features([sample])[0])
    np.testing.assert_allclose(centered, (sample - sample.mean(axis=0)).astype(np.float32), atol=1e-4)
    unit = Space.fit(sample, 4, unit=True)
    np.testing.assert_allclose(np.linalg.norm(unit.moved(features([sample])[0]), axis=1), 1, atol=1e-6)
    assert unit.dimension == 4
    sets = [sample[:7].astype(np.float32), sample[7:9].astype(np.float32)]
    values, offsets = unit(sets)
    assert offsets.tolist() == [0, 7, 9]
    assert (values[7:] == unit([sets[1]])[0]).all()
    with ThreadPoolExecutor(3) as pool:
        assert (unit((np.tile(sample, (12, 1)), np.array([0, 24000])), pool.map)[0] == np.tile(unit([sample])[0], (12, 1))).all()


def test_a_sample_in_any_form_gives_one_space():
    sample = np.random.default_rng(3).normal(size=(40, 3)).astype(np.float32)
    spaces = [Space.fit(given, 2) for given in (sample, sample.tolist(), [sample[:9], sample[9:]], [sample[:9].tolist(), sample[9:].tolist()])]
    for other in spaces[1:]:
        assert (other.center == spaces[0].center).all()
        assert (other.axes == spaces[0].axes).all()
    assert (spaces[0].axes[abs(spaces[0].axes).argmax(axis=0), [0, 1]] > 0).all()


def test_refused_spaces():
    flat = np.zeros((10, 3))
    flat[:, 0] = range(10)
    with pytest.raises(UsageError, match="from 1 to 1, the number of axes along which this sample varies"):
        Space.fit(flat, 2)
    with pytest.raises(UsageError, match="from 1 to 0"):
        Space.fit(np.ones((3, 3)), 1)
    with pytest.raises(UsageError, match="no features"):
        Space.fit(np.ones((0, 3)))
    with pytest.raises(UsageError, match="2 dimensions, but the axes have 3 rows"):
        Space(np.zeros(2), np.zeros((3, 1)))
    with pytest.raises(UsageError, match="features of 4 dimensions, but this space is for 3"):
        Space(np.zeros(3))([np.ones((2, 4))])


def test_histograms_in_a_space_are_those_of_what_was_moved():
    sets = some_sets()
    space = Space.fit(sets, 3)
    family = Histograms(Hyperplane(), bits=4, tables=3, space=space)
    assert (family.counts(sets) == replace(family, space=None).counts(space(sets))).all()
    assert family.expected(sets[0], sets[1]) == pytest.approx(replace(family, space=None).expected(*np.split(space(sets[:2])[0], [len(sets[0])])))


def test_a_center_tells_features_without_negative_numbers_apart():
    """Sixty sets of colors, each twice with noise: without a center the second of a set is not found."""
    draw = np.random.default_rng(8)
    base = [np.abs(draw.normal(3, 0.1, (20, 8))) for _ in range(60)]
    again = [np.abs(one + draw.normal(0, 0.02, one.shape)) for one in base]
    found = {}
    for name, space in (("none", None), ("center", Space.fit(base))):
        family = Histograms(Hyperplane(), bits=6, tables=10, space=space)
        found[name] = (every(correlation, family.embed(base), family.embed(again)).argmax(axis=1) == np.arange(60)).mean()
    assert found["center"] > 0.95
    assert found["none"] < 0.6
