"""Messages about values of any size: Python refuses to write out whole numbers of more than 4,300 digits, and no message may fail of that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likewise as lw

HUGE = 10**5000
BITS = "a whole number of 16610 bits"
DIGITS = "a whole number with thousands of digits"


@pytest.mark.parametrize(
    ("given", "choices", "message"),
    [
        (HUGE, {}, f"an input is int {BITS}; give a table"),
        (["a", HUGE], {}, f"row 1 holds whole numbers, such as {BITS}; give a table"),
        ([{"text": "a"}, HUGE], {}, f"row 1 holds whole numbers, such as {BITS}; give a table"),
        ([{HUGE: "a"}], {}, f"an input has the key {BITS}, but keys are column names"),
        ({HUGE: ["a"]}, {}, f"an input has the key {BITS}"),
        ({1: ["a"]}, {}, "an input has the key 1, "),
        ([{"text": "a", "id": HUGE}, {"text": "a", "id": "x"}], {}, f"column 'id' of an input mixes .*{DIGITS}"),
        ({"text": "abc"}, {}, "an input is a dict of columns, but 'text' is str 'abc'; give a list with a value for each row"),
        ({"text": ["a"], "id": 7}, {}, "an input is a dict of columns, but 'id' is int 7; give a list"),
        ([[HUGE], [1]], {"by": "elements"}, f"{DIGITS}.*; give sets"),
        ([{1.5, HUGE, (1,)}], {"by": "elements"}, f"row 0 is .*{BITS}.*; an element must be"),
        ([{HUGE: 1.0}], {"by": "weighted"}, f"{DIGITS}.*; give weighted sets"),
        ([[1.0, HUGE]], {"by": "cosine"}, f"{DIGITS}.*; give vectors"),
        ([1, HUGE], {"by": "hamming", "within": 1}, f"row 1 is {BITS}; a code given as a number"),
        (["a"], {"max_pairs": HUGE}, "max_pairs=a number of thousands of digits: give a whole number from 0 to"),
        (["a"], {"threads": -HUGE}, "threads=a number of thousands of digits: give a whole number from 1 to"),
        (["a"], {"threads": 0}, "threads=0: give a whole number from 1 to"),
        (["a"], {"limit": True}, "limit=True: give a whole number"),
        (["a"], {"threshold": HUGE}, "threshold=a number of thousands of digits"),
        (["a"], {"within": HUGE}, "within=a number of thousands of digits"),
        ([[1.0]], {"by": "l2", "within": HUGE}, "within=a number of thousands of digits"),
        (["a"], {"seed": HUGE}, "seed=a number of thousands of digits"),
        (["a"], {"memory": HUGE}, "memory=a number of thousands of digits"),
        (["a"], {"field": HUGE}, "field=a number of thousands of digits"),
        (["a"], {"verify": HUGE}, "verify=a number of thousands of digits"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",  # pytest would write them out
)
def test_huge_whole_numbers_are_refused_in_words(given: Any, choices: dict[str, Any], message: str) -> None:
    with pytest.raises(lw.UsageError, match=message):
        lw.pairs(given, **choices)


def test_huge_whole_numbers_are_refused_by_neighbors_and_audit() -> None:
    for call in (lambda: lw.neighbors(["a"], k=-HUGE), lambda: lw.audit(["a"], sample=-HUGE)):
        with pytest.raises(lw.UsageError, match=r"(k|sample)=a number of thousands of digits: give a whole number of 1 or more"):
            call()


def test_offsets_of_items_in_memory() -> None:
    """The same rule and the same words as for `similarity`."""
    values, weights = np.array([1, 2]), np.array([1.0, 2.0])
    rule = "offsets rise from 0 to the number of values, 2, one more of them than items; offset 2 is 1, after 2"
    for by, given in (("elements", (values, np.array([0, 2, 1]))), ("weighted", (values, weights, np.array([0, 2, 1])))):
        for call in (lambda given=given, by=by: lw.pairs(given, by=by), lambda given=given, by=by: lw.similarity(given, given, by=by)):
            with pytest.raises(lw.UsageError, match=rule):
                call()
