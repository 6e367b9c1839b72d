"""A toy kind of item with a toy measure and a toy family: numbers, compared by their distance apart on the line.

This file declares all of them for likewise; tests register it temporarily.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.families.family import Family
from likewise.items.json_values import Texts, decoded, rows_of
from likewise.items.payloads import Rows
from likewise.items.reader import Reader
from likewise.kernels.compare import NormRule
from likewise.kinds.kind import NUMBERS, MeasureFacts
from likewise.kinds.stored import Stored
from likewise.planning.curves import Curve, distances
from likewise.planning.density import far_points
from likewise.planning.families import Costs, FamilyFacts
from likewise.stages.sketch import keys_of, sketched

APART = MeasureFacts("apart", "toy_numbers:apart", "the distance of the two on the line", units=("step", "steps"), distance=True)


def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """|a - b| of the i-th numbers, float64[n]."""
    return np.abs(a[:, 0] - b[:, 0])


def numbers(batch: Any) -> np.ndarray:
    """A batch as float64[n, 1]."""
    return np.asarray(batch, np.float64).reshape(-1, 1)


def from_arrow(values: pa.Array, want: Any) -> Rows | None:
    if not (pa.types.is_floating(values.type) or pa.types.is_integer(values.type)):
        return None
    gone = values.is_null().to_numpy(zero_copy_only=False)
    offsets = np.concatenate(([0], np.cumsum(~gone)))
    return Rows(gone, offsets, values.drop_null().cast(pa.float64()).to_numpy())


def from_json(texts: Texts, want: Any) -> Rows:
    values = decoded(texts, float, lambda value: None)
    return rows_of(values, [() if value is None else (value,) for value in values], lambda flat: np.array(flat, np.float64))


def from_cells(cells: pa.LargeBinaryArray, columns: int, want: Any, decimal: bool) -> Rows:
    texts = cells.to_pylist()
    return Rows(
        np.array([text is None for text in texts]),
        np.concatenate(([0], np.cumsum([text is not None for text in texts]))),
        np.array([float(text) for text in texts if text is not None]),
    )


READER = Reader(
    "number",
    "number",
    "numbers: a list of numbers, or a 1-D array",
    lambda rows: pa.array(rows, pa.float64()),
    from_arrow,
    from_json,
    from_cells=from_cells,
    dimensions="1",
    numbers="iuf",
)


class Numbers(Stored):
    name, noun, item = "numbers", "number", "a number"
    field = payload = holds = "number"
    reader, values, needed = "toy_numbers:READER", "f8", "numbers"
    look, same = NUMBERS, "The two numbers are the same."
    measures = (APART,)
    looked_for = False

    def alone(self, given: Any) -> bool | None:
        return isinstance(given, int | float)

    def converter(self, a: Any, b: Any, method: Any) -> Any:
        return numbers

    def sketch(self, given: Any, job: Any) -> Any:
        values, offsets = given.words()
        there = np.flatnonzero(np.diff(offsets))
        keys = np.zeros((job.plan.bands if job.plan else 0, len(given.there)), np.uint64)
        if job.plan and len(there):
            keys[:, there] = keys_of(job, values.view(np.float64)[:, None])
        return sketched(np.diff(offsets), values, np.diff(offsets), keys)

    def rule(self, job: Any, mode: int) -> NormRule:
        return NormRule(float(job.threshold), 1.0, 1, True, mode)

    def batch(self, words: Any, job: Any) -> np.ndarray:
        return words[0].view(np.float64)[:, None]

    def readable(self, raw: bytes, want: Any) -> str:
        return str(np.frombuffer(raw, np.float64)[0])

    def item_of(self, raw: bytes, want: Any, width: int) -> float:
        return float(np.frombuffer(raw, np.float64)[0])

    def plain(self, text: str) -> float:
        return float(text)


NUMBERS_KIND = Numbers()


def same_step(width: float, distance: float) -> float:
    """The probability that two numbers at this distance fall into the same step of this width, with a random shift of the steps."""
    return max(0.0, 1 - distance / width)


def steps(width: float) -> Curve:
    return distances("Steps", "distance", partial(same_step, width), width=width)


@dataclass(frozen=True, slots=True)
class Steps(Family):
    """The step that a number falls into, on lines cut into steps of one width, each with a random shift."""

    width: float
    slots: int = 64
    seed: int = 0

    @property
    def collision(self) -> Curve:
        return steps(self.width)

    def signature(self, batch: Any) -> np.ndarray:
        shifts = np.random.default_rng(self.seed).random(self.slots) * self.width
        return np.floor((numbers(batch) + shifts) / self.width).astype(np.int64).astype(np.uint32)


def twice_as_wide(method: Any, threshold: float, facts: Any) -> Iterator[Curve]:
    """Two numbers at the limit share a step with probability 1/2."""
    yield steps(2 * threshold)


STEPS = FamilyFacts(
    "Steps",
    "toy_numbers",
    steps,
    ("apart",),
    twice_as_wide,
    lambda length: Costs(1.0, 10.0, 512),
    lambda curve, threshold, sparse: far_points(float(threshold), curve),
    bytes=8,
)
