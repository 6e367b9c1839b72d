"""Answers written from a text by the recipe of Clough and Stevenson: cut, light, heavy, none.

Clough and Stevenson: Developing a corpus of plagiarised short answers, Language Resources and Evaluation 45, 2011. People wrote their answers;
these are generated, with synonyms from a thesaurus.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

LEVELS = ("cut", "light", "heavy", "none")
#: Words that a heavy revision leaves out or puts in.
SMALL = ("also", "however", "often", "then", "so", "in fact", "usually", "the", "a", "of", "for", "in", "that", "which")

Synonyms = Mapping[str, Sequence[str]]


def sentences(text: str) -> list[str]:
    """The sentences of prose, each on one line: of five words or more, nine in ten of letters only."""
    several = [" ".join(one.split()) for one in re.split(r"(?<=[.!?])\s+|\n\s*\n", text)]
    return [one for one in several if one[-1:] in ".!?" and len(of := one.split()) >= 5 and sum(map(is_word, of)) >= 0.9 * len(of)]


def is_word(word: str) -> bool:
    """Letters, with marks around them."""
    return re.fullmatch(r"[(\"']?[A-Za-z][A-Za-z'-]*[)\"',;:.!?]*", word) is not None


def cut(several: list[str], rng: np.random.Generator, synonyms: Synonyms) -> list[str]:
    """Whole parts of the text, copied as they are, in another order."""
    middle = int(rng.integers(1, len(several)))
    return several[middle:] + several[:middle]


def light(several: list[str], rng: np.random.Generator, synonyms: Synonyms) -> list[str]:
    """The same sentences in the same order, some words replaced by synonyms."""
    return [" ".join(reworded(one.split(), 0.35, rng, synonyms)) for one in several]


def heavy(several: list[str], rng: np.random.Generator, synonyms: Synonyms) -> list[str]:
    """Sentences split or joined, clauses in another order, half of the words that have synonyms replaced, small words left out and put in."""
    clauses = [clause for one in several for clause in re.split(r"[,;:]\s|\s(?=and |but |or |which |that |because |if )", one.rstrip(".!?"))]
    for at in range(0, len(clauses) - 1, 2):
        if rng.random() < 0.5:
            clauses[at], clauses[at + 1] = clauses[at + 1], clauses[at]
    made: list[str] = []
    for clause in clauses:
        words = reworded(clause.split(), 0.5, rng, synonyms)
        words = [word for word in words if word not in SMALL or rng.random() < 0.6]
        for _ in range(1 + len(words) // 8):
            words.insert(int(rng.integers(len(words) + 1)), SMALL[int(rng.integers(len(SMALL)))])
        joined = " ".join(words)
        if made and rng.random() < 0.4:
            made[-1] += ", " + joined
        else:
            made.append(joined)
    return [one[:1].upper() + one[1:] + "." for one in made]


def reworded(words: Sequence[str], rate: float, rng: np.random.Generator, synonyms: Synonyms) -> list[str]:
    """Each word that has synonyms is replaced by one of them with this chance; marks around it stay."""

    def other(word: str) -> str:
        before, core, after = re.fullmatch(r"(\W*)(.*?)(\W*)", word, re.DOTALL).groups()
        several = synonyms.get(core.lower())
        return before + several[int(rng.integers(len(several)))] + after if several and rng.random() < rate else word

    return [other(word) for word in words]


REVISIONS: dict[str, Callable[[list[str], np.random.Generator, Synonyms], list[str]]] = {"cut": cut, "light": light, "heavy": heavy}


def answers(several: list[str], others: list[str], words: int, rng: np.random.Generator, synonyms: Synonyms) -> dict[str, str]:
    """An answer of about ``words`` words of each level: from a part of the sentences of a text, or from those of another text on the subject."""

    def part(of: list[str]) -> list[str]:
        begin, end, size = int(rng.integers(0, max(1, len(of) - words // 8))), 0, 0
        for end in range(begin, len(of)):
            size += len(of[end].split())
            if size >= words:
                break
        return of[begin : end + 1]

    return {name: " ".join(revision(part(several), rng, synonyms)) for name, revision in REVISIONS.items()} | {"none": " ".join(part(others))}


#: Searches whose coverages tell the levels apart: exact runs, edited passages, and short edited passages; and the least coverage of each level.
SEARCHES = {
    "exact runs": {"gap": 0},
    "similar passages": {"threshold": 0.7},
    "short passages": {"min_run": 5, "threshold": 0.4},
}


def level(exact: float, similar: float, short: float) -> str:
    """The level of an answer by its coverage in each of the searches."""
    return "cut" if exact >= 0.8 else "light" if similar >= 0.6 else "heavy" if short >= 0.05 else "none"
