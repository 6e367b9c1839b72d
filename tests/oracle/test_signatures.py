"""The types of kernels' arguments against Numba's."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numba
import numpy as np
import pytest

from likewise.compiled import signature
from likewise.kernels.compare import CodeRule, SetRule


class Pair(NamedTuple):
    left: object
    right: object


def read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


SQUARE = np.zeros((3, 4))
RECORD = np.dtype([("begin", "i8"), ("number", "i4")])
VALUES = [
    *(0, -1, 2**31, 2**63 - 1, -(2**63), 2**63, 2**64 - 1),
    *(True, False, None, 1.0, float("nan"), np.True_, np.float64(1), np.float32(1), np.int64(1), np.int32(-1), np.uint64(2**64 - 1), np.uint8(1)),
    *(np.zeros(0), np.zeros(1), np.zeros(3), np.arange(3), np.arange(3, dtype=np.uint64), np.zeros(3, bool), np.zeros(3, np.float32)),
    *(
        SQUARE,
        SQUARE.T,
        SQUARE[:, 1:],
        SQUARE[:, 1],
        SQUARE[:1],
        SQUARE[:, :1],
        np.asfortranarray(SQUARE),
        SQUARE[::2],
        np.zeros((2, 3, 4)),
        np.zeros(()),
    ),
    *(read_only(np.zeros(3)), read_only(np.zeros((3, 4))), read_only(SQUARE[:, 1:]), np.zeros(33, np.uint8)[1:].view(np.uint64)),
    *(np.zeros(2, RECORD), np.zeros(2, np.dtype([("begin", "i8"), ("size", "i4")])), np.zeros(2, np.dtype(RECORD.descr, align=True))),
    *((), (1,), (1, 2), (1, 2.0), (2, 1), ((1, 2), 3), (np.zeros(3), 1), (SQUARE.T, 1), (1, None)),
    *(SetRule(1, 2, 0), SetRule(3, 4, 1), CodeRule(1, 2), Pair(1, 2), Pair(1, 2.0), Pair(SQUARE, 1), Pair(SQUARE.T, 1)),
]


@pytest.mark.parametrize("value", VALUES, ids=signature.text)
def test_values_have_one_signature_where_numba_has_one_type(value: object) -> None:
    for other in VALUES:
        same = numba.typeof(value) == numba.typeof(other)
        assert (signature.of((value,)) == signature.of((other,))) == same, other


def test_equal_keys_mean_equal_signatures() -> None:
    for a, b in itertools.combinations(VALUES, 2):
        if signature.key(a) == signature.key(b):
            assert signature.text(a) == signature.text(b), (a, b)
    assert signature.key(np.zeros(3)) == signature.key(np.ones(5))
    assert signature.key(1) == signature.key(2) != signature.key(2**63)


def test_a_memory_map_has_the_type_of_an_array(tmp_path) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert signature.text(mapped) == signature.text(read_only(np.arange(3))) == "int64[1C readonly]"
    assert signature.key(mapped) == signature.key(read_only(np.arange(3)))


def test_other_types_are_refused() -> None:
    with pytest.raises(TypeError, match="not str"):
        signature.of((1, "text"))


def test_only_classes_of_likewise_are_stable() -> None:
    assert signature.is_stable((1, SQUARE, (SetRule(1, 2, 0), 3)))
    assert not signature.is_stable((1, (Pair(1, 2), 3)))
