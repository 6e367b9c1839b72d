"""Buckets: items of equal keys, by a table, against a dictionary."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.kernels.bands import MIX, number_equal, repeated
from likewise.stages.buckets import number, spread

#: Keys whose products with MIX are 0, 1, 2 ...: the top bits of all are equal, so all want the same place of the table.
CLUSTERED = [i * pow(int(MIX), -1, 2**64) % 2**64 for i in range(40)]
keys = st.lists(st.sampled_from(CLUSTERED) | st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=120)


def numbered(keys: list[int]) -> list[int]:
    """The number of each key, given when it comes for the second time; -1 for those that do not."""
    count, numbers = Counter(keys), dict[int, int]()
    seen = set[int]()
    for key in keys:
        if key in seen:
            numbers.setdefault(key, len(numbers))
        seen.add(key)
    return [numbers[key] if count[key] > 1 else -1 for key in keys]


@settings(max_examples=200, deadline=None)
@given(keys)
def test_equal_keys_have_one_number(keys):
    wanted, sizes = numbered(keys), Counter(numbered(keys))
    del sizes[-1]
    for way, printed in {number_equal: len(sizes), number: [sizes[each] for each in range(len(sizes))]}.items():
        found = np.full(len(keys), 7, np.int32)
        assert np.array_equal(way(np.array(keys, np.uint64), found), printed)
        assert found.tolist() == wanted


@settings(max_examples=100, deadline=None)
@given(keys)
def test_no_key_that_repeats_is_taken_for_one_that_does_not(keys):
    count = Counter(keys)
    seen = repeated(np.array(keys, np.uint64)).tolist()
    assert all(seems for key, seems in zip(keys, seen, strict=True) if count[key] > 1)


def test_few_keys_that_do_not_repeat_seem_to():
    """100,000 keys in 2^19 places: a key meets another by chance 1 - exp(-100000 / 2^19) = 17.4% of the time, standard deviation .1%."""
    keys = np.random.default_rng(0).integers(0, 2**64, 100_000, np.uint64)
    assert 0.165 < repeated(keys).mean() < 0.183


def test_the_spread_of_sizes_by_hand():
    """Sizes of 2; 3 and 4; 5 to 8; 9 to 16: one, three, two and one."""
    found = spread(np.array([4, 8, 3, 2, 5, 9, 4]))
    assert found == {"number": 7, "largest": 9, "by_size": {"2": 1, "3-4": 3, "5-8": 2, "9-16": 1}}
    assert spread(np.zeros(0, np.int64)) == {"number": 0, "largest": 0, "by_size": {}}
