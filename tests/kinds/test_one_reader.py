"""One table of inputs for every verb and every measure: all accept and refuse the same inputs, with the same messages."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from given_forms import INF, NAN, array
from likewise.families import Hyperplane, Line, MinHash, WeightedMinHash
from likewise.items.codes import codes
from likewise.items.features import features
from likewise.methods import parse

ITEMS: dict[str, Any] = {
    # single values
    "hexadecimal": "f0",
    "odd digits": "abc",
    "word": "no",
    "bytes": b"ab",
    "bytearray": bytearray(b"ab"),
    "whole": 5,
    "below zero": -1,
    "beyond 64 bits": 2**64,
    "true": True,
    "float": 1.5,
    "whole float": 2.0,
    "nan": NAN,
    "numpy's whole": np.int64(5),
    "numpy's float": np.float32(1.5),
    "decimal": Decimal(1),
    "fraction": Fraction(1, 2),
    "complex": 1j,
    "date": datetime.date(2020, 1, 1),
    "datetime64": np.datetime64("2020"),
    "object": object(),
    # lists
    "empty": [],
    "empty tuple": (),
    "wholes": [3, 1, 2],
    "tuple": (3, 1, 2),
    "range": range(1, 4),
    "negatives": [-1, 2],
    "large": [2**64 - 1, 1],
    "huge": [2**64, 1],
    "400 digits": [10**400],
    "5000 digits": [10**5000],
    "whole floats": [1.0, 2.0],
    "floats": [1.5, 2.0],
    "wholes and a float": [1, 1.5],
    "with nan": [1.0, NAN],
    "with infinity": [1.0, INF],
    "with None": [1, None],
    "Nones": [None, None],
    "bools": [True, False],
    "a whole and True": [2, True],
    "strings": ["a", "b"],
    "strings and wholes": ["1", 1],
    "surrogates": ["\ud800"],
    "list of bytes": [b"a"],
    "decimals": [Decimal(1), Decimal(2)],
    "complexes": [1j],
    "dates": [datetime.date(2020, 1, 1)],
    "timedeltas": [np.timedelta64(5)],
    # sets and mappings
    "set": {1, 2},
    "frozenset": frozenset({1, 2}),
    "set of all": {"1", 1, 2**70, None},
    "set with a float": {1.5, 2},
    "set of bytes": {b"a"},
    "set of tuples": {(1, 2)},
    "weights": {"a": 1.0, "b": 2.0},
    "weights of wholes": {1: 2.0, 2: 1},
    "weight below zero": {1: -1.0},
    "weight True": {1: True},
    "weight as a string": {1: "2"},
    "weight nan": {1: NAN},
    "weight 1e300": {1: 1e300},
    "weight of 400 digits": {1: 10**400},
    "weight of a float": {1.5: 1.0},
    "weight of a whole float": {1.0: 1.0},
    "pairs": [("a", 2.0), (3, 1)],
    "pair without an element": [(None, 2.0), (1, 1.0)],
    "triples": [(1, 2, 3)],
    # arrays
    "int8": array([3, 1], np.int8),
    "uint8": array([3, 1], np.uint8),
    "int64": array([3, 1]),
    "uint64": array([3, 2**64 - 1], np.uint64),
    "float16": array([1, 2], np.float16),
    "float32": array([1.5, 2], np.float32),
    "float64": array([1.0, 2.0]),
    "big endian": array([1, 2], ">f4"),
    "longdouble": array([1, 2], np.longdouble),
    "complex128": array([1j]),
    "bool": array([True, False, True]),
    "str": array(["a", "b"]),
    "bytes array": array([b"a"]),
    "objects": array([1, 2], object),
    "objects of all": array(["a", 1], object),
    "times": array(["2020", "2021"], "M8[ns]"),
    "durations": array([5], "m8[ns]"),
    "no dimension": array(5),
    "masked": np.ma.array([1, 2], mask=[0, 1]),
    "2-D": array([[1.0, 2], [3, 4]]),
    "2-D of wholes": array([[1, 2], [3, 4]]),
    "3-D": np.ones((1, 1, 1)),
    "Arrow": pa.array([1, 2]),
    "Arrow of strings": pa.array(["a"]),
    # lists of lists
    "lists": [[1, 2], [3, 4]],
    "uneven": [[1, 2], [3]],
    "lists with nan": [[1, NAN], [3, 4]],
    "lists of strings": [["a"]],
    "lists of lists of lists": [[[1]]],
    "iterator": iter([1, 2]),
}
WHOLES = "wholes tuple range negatives large int8 uint8 int64 uint64 objects Arrow"
NUMBERS = f"{WHOLES} float16 float32 float64 ,big endian,huge,whole floats,floats,wholes and a float"
SETS = f"{WHOLES} float16 float64 ,big endian,empty,empty tuple,huge,400 digits,whole floats,with nan,with None,Nones,strings,strings and wholes"
SETS += ",surrogates,set,frozenset,set of all,bool,str,objects of all,Arrow of strings"
#: by -> (the limit, the accepted items, the function that computes signatures).
ACCEPTED: dict[str, tuple[dict[str, float], str, Callable[[Any], Any] | None]] = {
    "elements": (
        {"threshold": 0.5},
        SETS,
        MinHash(4).signature,
    ),
    "weighted": (
        {"threshold": 0.5},
        "empty,empty tuple,weights,weights of wholes,weight of a whole float,pairs,pair without an element,set of tuples,2-D,2-D of wholes,lists",
        WeightedMinHash(4).signature,
    ),
    "cosine": ({"threshold": 0.5}, NUMBERS, Hyperplane(4).signature),
    "l2": ({"within": 0.5}, NUMBERS, Line(1e10, 4).signature),
    "hamming": (
        {"within": 1},
        "hexadecimal,bytes,bytearray,whole,below zero,numpy's whole,bools,uint8,uint64,bool,no dimension",
        codes,
    ),
    "features": ({"threshold": 0.5}, "2-D,2-D of wholes,lists,triples", features),
    "tokens:1": ({"threshold": 0.5}, f"{WHOLES} ,empty,empty tuple", lambda batch: lw.sketch(batch, by="tokens:1")),
    "words:1": ({"threshold": 0.5}, "hexadecimal,odd digits,word,bytes,bytearray", lambda batch: lw.sketch(batch, by="words:1")),
    "edit": ({"within": 1}, "hexadecimal,odd digits,word,bytes,bytearray", None),
}


#: Texts have a separate reader; its messages describe these items by their Arrow types.
TEXTS = ("words:1", "edit")
ODD = ("range", "masked", "longdouble", "complex128", "times", "durations", "timedeltas", "pair without an element", "5000 digits")
ODD += ("complexes", "wholes and a float", "lists with nan", "bytes array", "wholes and True")
#: The reason why empty items, which a collection keeps, cannot be compared or signed.
EMPTY = {"cosine": "has no numbers", "l2": "has no numbers", "hamming": "has no bits", "features": "has no features"}


def named(names: str) -> set[str]:
    return {name for part in names.split(",") for name in ([part] if part in ITEMS else part.split())}


def verbs(by: str) -> dict[str, Callable[[Any], Any]]:
    limit, _, sign = ACCEPTED[by]
    found = {
        "plan": lambda batch: lw.plan(batch, by=by, **limit),
        "pairs": lambda batch: lw.pairs(batch, by=by, **limit),
        "dedup": lambda batch: lw.dedup(batch, by=by, **limit),
        "neighbors": lambda batch: lw.neighbors(batch, by=by, k=1),
        "similarity": lambda batch: lw.similarity(batch, batch, by=by),
    }
    if by == "edit":
        del found["plan"], found["neighbors"]  # they refuse the measure
    return found | ({"signature": sign} if sign else {})


def refused(call: Callable[[Any], Any], batch: Any) -> str:
    """The message with which a verb refuses a batch; empty if it accepts it. Two equal items are too few for a sample, but still accepted."""
    try:
        call(batch)
    except lw.LikewiseError as error:
        message = str(error)
        return "" if "a sample needs at least two" in message or "of the sample" in message else message
    return ""


def core(message: str) -> str:
    """The reason in a message, without the place."""
    message = re.sub(r"^on the left, ", "", message)
    return re.sub(r"^row 0(, item \d+ of \d+)?:? ", "", message).partition(";")[0]


def is_alone(by: str, batch: Any) -> bool:
    return bool(parse(by, None).kind.alone(batch))


@pytest.mark.parametrize("by", ACCEPTED)
def test_every_verb_takes_the_same_items(by: str) -> None:
    wrong = {}
    for name in sorted(named(ACCEPTED[by][1])):
        batch = [ITEMS[name]] * 2
        said = {verb: refused(call, batch) for verb, call in verbs(by).items() if verb != "similarity" or not is_alone(by, batch)}
        if any(said.values()):
            wrong[name] = said
    assert not wrong


@pytest.mark.parametrize("by", ACCEPTED)
def test_every_verb_refuses_the_same_items_with_the_same_words(by: str) -> None:
    wrong = {}
    for name in ITEMS.keys() - named(ACCEPTED[by][1]):
        if name in ("empty", "empty tuple"):
            continue
        if isinstance(ITEMS[name], dict) and by != "weighted":
            continue  # a list of dicts is a table of records: see below
        batch = [ITEMS[name]] * 2
        said = {verb: refused(call, batch) for verb, call in verbs(by).items()}
        if is_alone(by, batch):
            del said["similarity"], said["plan"]
        if name == "weight 1e300":
            assert not said.pop("similarity") and not said.pop("neighbors")  # they compute no signatures
        first = said.get("similarity", said.get("signature", ""))
        words = core(first).partition(", such as")[0] if by in TEXTS else core(first)
        if not all(said.values()) or not (all(words in other for other in said.values()) or (by in TEXTS and name in ODD)):
            wrong[name] = said
    assert not wrong


@pytest.mark.parametrize("by", ACCEPTED)
def test_missing_and_empty_items_are_kept_and_have_no_value(by: str) -> None:
    """Collections count a row without a value; a measure names it in its refusal. Texts and sets without tokens are empty, so comparable."""
    calls, limit = verbs(by), ACCEPTED[by][0]
    for empty, said in [(None, "row 1 is None"), *([([], f"row 1 {EMPTY[by]}")] if by in EMPTY else [])]:
        item = next(ITEMS[name] for name in sorted(named(ACCEPTED[by][1])) if isinstance(ITEMS[name], list | str | dict) and ITEMS[name])
        batch = [item, empty, item]
        pairs = lw.pairs(batch, by=by, **limit)
        assert [(row["id_a"], row["id_b"]) for row in pairs.to_arrow().to_pylist()] == [(0, 2)]
        assert lw.dedup(batch, by=by, **limit).report["counts"]["kept"] == 2
        for verb in calls.keys() & ({"similarity"} if by in ("tokens:1", "edit") else {"similarity", "plan", "signature"}):
            assert (said in refused(calls[verb], batch)) == (by != "words:1"), verb  # a None counts as an empty text
