"""Edit distances of strings, and similarities made of them, by RapidFuzz (bit-parallel; Hyyrö 2004). No other module imports it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import missing_part
from likewise.items.strings import Longs, Strings
from likewise.kernels.strings import PREFIX
from likewise.measures.checks import same_size

Floats = NDArray[np.float64]
Good = NDArray[np.bool_]

#: An upper bound for all distances; larger numbers could overflow.
MOST_EDITS = 2**40
#: Distances computed at once, and the number from which threads pay off.
MEASURED_AT_ONCE, MANY = 1 << 16, 1 << 12


@dataclass(frozen=True)
class Edits:
    """A distance, or a similarity: 1 - distance / span, where the span of two strings is the distance that they cannot exceed."""

    name: str  # of RapidFuzz's module
    relative: bool = False  # a similarity

    @property
    def differing(self) -> int:
        """The code points by which an edit can make two strings differ: one that is replaced counts on both sides."""
        return 2 if self.name == "Levenshtein" else 1

    @property
    def slope(self) -> int:
        """Fewer code points that strings may lack for each code point by which one is shorter: as many more must be inserted."""
        return self.differing - 1

    def floor(self, limit: Fraction) -> Floats:
        """Nothing but signs and lengths is compared before strings are measured."""
        return np.zeros(PREFIX + 1)

    def span(self, a: Longs, b: Longs) -> Longs:
        """The maximum distance of strings of these lengths."""
        return np.maximum(a, b) if self.name == "Levenshtein" else a + b

    def most(self, span: Longs, limit: Fraction) -> Longs:
        """The maximum distance of similar strings with these spans."""
        if not self.relative:
            return np.full(len(span), min(int(limit), MOST_EDITS))
        return span * (limit.denominator - limit.numerator) // limit.denominator

    def edits(self, longer: Longs, limit: Fraction) -> Longs:
        """The maximum distance of similar strings of which the longer one has this length."""
        return self.most(self.span(longer, longer), limit)

    def least(self, longer: Longs, limit: Fraction) -> Longs:
        """The minimum length of the shorter of two similar strings."""
        return np.maximum(longer - self.edits(longer, limit), 0)

    def room(self, longer: Longs, limit: Fraction) -> Longs:
        """The maximum number of code points that one of two similar strings lacks, by the length of their common prefix: int64[PREFIX + 1, n]."""
        return np.tile(self.differing * self.edits(longer, limit), (PREFIX + 1, 1))

    def best(self, bits: Longs, prefix: Longs, a: Longs, b: Longs) -> Floats:
        """The smallest distance, or greatest similarity, of strings that lack at least so many code points of each other."""
        return self.valued((bits + self.slope * abs(a - b) + self.slope) // self.differing, self.span(a, b))

    def valued(self, distance: Longs, span: Longs) -> Floats:
        """The values for distances. Correctly rounded, so equal ratios are equal."""
        return np.divide(span - distance, span, out=np.ones(len(span)), where=span > 0) if self.relative else distance.astype(np.float64)

    def compare(
        self,
        strings: Strings,
        left: Longs | int,
        right: Longs,
        limit: Fraction | None,
        worst: float = math.nan,
        run: Callable[..., Any] = map,
        tasks: int = 1,
    ) -> tuple[Floats, Good]:
        """The values of pairs, and which of them are within the limit, exactly. Values worse than the limit, or than ``worst``, may not be exact."""
        values, good = np.empty(len(right)), np.empty(len(right), np.bool_)
        for at in range(0, len(right), MEASURED_AT_ONCE):
            here = slice(at, at + MEASURED_AT_ONCE)
            a, b = left if isinstance(left, int) else left[here], right[here]
            span = self.span(strings.length[a], strings.length[b])
            most = np.full(len(b), MOST_EDITS) if limit is None else self.most(span, limit)
            cutoff = int(most.max())
            if not math.isnan(worst):
                cutoff = min(cutoff, math.ceil((1 - worst) * int(span.max())) if self.relative else int(worst))
            texts: Any = strings.texts[a] if isinstance(left, int) else strings.texts[a].tolist()
            distance = distances(self.name, texts, strings.texts[b].tolist(), cutoff, tasks if len(b) > MANY else 1)
            values[here], good[here] = self.valued(np.minimum(distance, span), span), distance <= most
        return values, good


#: The measures by name.
EDITS = {
    "edit": Edits("Indel"),
    "levenshtein": Edits("Levenshtein"),
    "edit/ratio": Edits("Indel", relative=True),
    "levenshtein/ratio": Edits("Levenshtein", relative=True),
}


def edit(a: list[str], b: list[str]) -> Longs:
    """The minimum number of inserted and deleted code points between the i-th strings of two batches: |a| + |b| - 2 |LCS|. int64[n]

    Raises MissingPartError without RapidFuzz.
    """
    same_size(len(a), len(b))
    return distances("Indel", a, b)


def levenshtein(a: list[str], b: list[str]) -> Longs:
    """The minimum number of inserted, deleted and substituted code points between the i-th strings of two batches. int64[n]

    Raises MissingPartError without RapidFuzz.
    """
    same_size(len(a), len(b))
    return distances("Levenshtein", a, b)


def edit_ratio(a: list[str], b: list[str]) -> Floats:
    """1 - edit / (|a| + |b|), RapidFuzz's Indel.normalized_similarity; 1 for two empty strings. float64[n]"""
    return ratio("edit/ratio", a, b)


def levenshtein_ratio(a: list[str], b: list[str]) -> Floats:
    """1 - levenshtein / max(|a|, |b|), RapidFuzz's Levenshtein.normalized_similarity; 1 for two empty strings. float64[n]"""
    return ratio("levenshtein/ratio", a, b)


def ratio(name: str, a: list[str], b: list[str]) -> Floats:
    measure = EDITS[name]
    same_size(len(a), len(b))
    lengths = (np.fromiter(map(len, side), np.int64, len(side)) for side in (a, b))
    return measure.valued(distances(measure.name, a, b), measure.span(*lengths))


def distances(name: str, a: list[str] | str, b: list[str], most: int | None = None, threads: int = 1) -> Longs:
    """The distances of RapidFuzz's module of this name, of the i-th strings or of one and each: int64[n]. Those above ``most`` are most + 1."""
    if not b:
        return np.empty(0, np.int64)
    rapidfuzz = library()
    how: dict[str, Any] = {"scorer": getattr(rapidfuzz.distance, name).distance, "score_cutoff": most, "dtype": np.int64, "workers": threads}
    values: Longs = rapidfuzz.process.cdist([a], b, **how)[0] if isinstance(a, str) else rapidfuzz.process.cpdist(a, b, **how)
    return values.view(np.int64)  # RapidFuzz's type is long long


def library() -> ModuleType:
    """The RapidFuzz module. Raises MissingPartError if it is not installed."""
    try:
        import rapidfuzz.distance
        import rapidfuzz.process
    except ImportError as error:
        raise missing_part("edit distances are computed with", "RapidFuzz", "rapidfuzz") from error
    return rapidfuzz
