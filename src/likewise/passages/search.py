"""The settings of a search for passages, by unit of text."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from likewise.items.ignored import NOTHING, Ignored
from likewise.methods import Text

#: Places of a fingerprint in the corpus that are followed, and near repeats of one in a suspect.
MOST_PLACES = 64


class Scale(NamedTuple):
    """Numbers of tokens for a unit of text."""

    run: int  # default of ``min_run``
    gap: int  # default of ``gap``
    k: int  # of a fingerprint, or ``min_run`` if that is less
    sync: int  # that agree after a difference


_WORDS, _CHARACTERS, _LINES = Scale(12, 12, 5, 3), Scale(60, 60, 25, 15), Scale(3, 3, 1, 1)
#: The units of text in which passages are found. A word has about five characters.
SCALES = {
    **dict.fromkeys(("words", "whitespace", "code", "tokens"), _WORDS),
    "chars": _CHARACTERS,
    **dict.fromkeys(("lines", "paragraphs"), _LINES),
}


@dataclass(frozen=True)
class Search:
    """The settings of a search."""

    method: Text  # the unit, the tokens of a fingerprint, and the normalization
    seed: int
    run: int  # tokens: every shared run of so many is found; at least so many agree in a passage
    gap: int  # tokens of either text between two runs of a passage, at most
    threshold: Fraction  # least similarity of a passage
    ignored: Ignored = NOTHING  # shingles of ``method``

    @property
    def k(self) -> int:
        """Tokens of a fingerprint."""
        return self.method.k

    @property
    def tokens(self) -> str:
        """Tokens of the unit, for messages."""
        return self.method.tokens_name

    @property
    def window(self) -> int:
        """Consecutive k-grams of which one is a fingerprint."""
        return self.run - self.k + 1

    @property
    def sync(self) -> int:
        """Tokens that agree after a difference."""
        return min(SCALES[self.method.unit].sync, self.run)
