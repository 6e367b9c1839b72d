"""Passages planted in real text, edited as in the corpora of the PAN competitions, and PAN's scores by characters.

Potthast, Stein, Barrón-Cedeño and Rosso: An Evaluation Framework for Plagiarism Detection, COLING 2010.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import log2
from typing import NamedTuple

import numpy as np

from texts import Runs

#: Words of letters, separated by white space, commas and periods.
PLAIN = re.compile(r"[A-Za-z]+(?:[,.]?\s+[A-Za-z]+)*")
RECIPES = ("verbatim", "edit5", "edit10", "edit20", "shuffle25", "shuffle10", "insert")


class Span(NamedTuple):
    """Characters start to end of a suspect, and source_start to source_end of a text of the corpus."""

    suspect: int
    start: int
    end: int
    source: int
    source_start: int
    source_end: int


class Scores(NamedTuple):
    precision: float
    recall: float
    granularity: float
    plagdet: float


def scores(found: Iterable[Span], planted: Iterable[Span]) -> Scores:
    """PAN's scores; each case and each detection counts once (macro).

    A detection detects a case if they overlap in the suspect and in the source. Recall is the mean share of the characters of a case, both sides
    together, that are detected; precision that of a detection that are in a case which it detects; granularity the number of detections of a case.

    >>> scores([Span(0, 0, 10, 0, 0, 10)], [Span(0, 0, 20, 0, 0, 20)])
    Scores(precision=1.0, recall=0.5, granularity=1.0, plagdet=0.6666666666666666)
    """
    found, planted = list(found), list(planted)
    of_case, of_detection = detected(planted, found), detected(found, planted)
    recall = mean(covered(case, ones) for case, ones in zip(planted, of_case, strict=True))
    precision = mean(covered(one, cases) for one, cases in zip(found, of_detection, strict=True))
    granularity = mean(len(ones) for ones in of_case if ones)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return Scores(precision, recall, granularity, f1 / log2(1 + granularity))


def detected(spans: Sequence[Span], others: Sequence[Span]) -> list[list[Span]]:
    """For each span, the others that overlap it in the suspect and in the source."""
    of_pair = defaultdict(list)
    for other in others:
        of_pair[other.suspect, other.source].append(other)
    return [[other for other in of_pair[span.suspect, span.source] if overlap(span, other)] for span in spans]


def overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end and one.source_start < other.source_end and other.source_start < one.source_end


def covered(one: Span, others: Sequence[Span]) -> float:
    """The share of the characters of both sides of a span that others cover."""
    here = union((max(one.start, other.start), min(one.end, other.end)) for other in others)
    there = union((max(one.source_start, other.source_start), min(one.source_end, other.source_end)) for other in others)
    return (here + there) / (one.end - one.start + one.source_end - one.source_start)


def union(spans: Iterable[tuple[int, int]]) -> int:
    """The number of characters in spans that may overlap."""
    total = last = 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, last))
        last = max(last, end)
    return total


def mean(values: Iterable[float]) -> float:
    """The mean; 1.0 of no value."""
    several = list(values)
    return sum(several) / len(several) if several else 1.0


def edited(words: list[str], how: str, rng: np.random.Generator, vocabulary: Sequence[str]) -> list[str]:
    """Words edited by a recipe: ``verbatim``; ``edit10``: 10% of the words replaced, left out, or others put in, in the ratio 2 : 1 : 1;
    ``shuffle25``: pieces of 25 words in another order; ``insert``: 20 foreign words after each 40."""

    def other() -> str:
        return vocabulary[int(rng.integers(len(vocabulary)))]

    if how.startswith("edit"):
        rate, made = int(how[4:]) / 100, []
        for word, chance in zip(words, (rng.random(len(words)) / rate).tolist(), strict=True):
            made += [other()] if chance < 0.5 else [] if chance < 0.75 else [word, other()] if chance < 1 else [word]
        return made
    if how.startswith("shuffle"):
        size = int(how[7:])
        pieces = [words[at : at + size] for at in range(0, len(words), size)]
        return [word for piece in rng.permutation(len(pieces)) for word in pieces[piece]]
    if how == "insert":
        return [word for at in range(0, len(words), 40) for word in [*words[at : at + 40], *(other() for _ in range(20))]]
    return words


class Planter:
    """Plants passages of ``corpus`` into ``ground``, real texts that share no run of eight words with it.

    Passages stand once in the corpus, so a detection elsewhere is an error: no run of eight words of them stands elsewhere, and at most a tenth of
    their runs of five words.
    """

    def __init__(self, corpus: Sequence[str], ground: Sequence[str], seed: int, longest: int = 250) -> None:
        self.corpus, self.rng, self.runs, self.short_runs = corpus, np.random.default_rng(seed), Runs(corpus, 8), Runs(corpus, 5)
        self.ground = [text for text in ground if len(text.split()) > 100 and not self.runs.count(text).any()]
        self.words = [[match.span() for match in re.finditer(r"\S+", text)] for text in corpus]
        self.long = [place for place, words in enumerate(self.words) if len(words) > 2 * longest]
        self.vocabulary = sorted({word for text in self.ground[:200] for word in text.split()})

    def passage(self, size: int, plain: bool = False) -> tuple[int, int, int]:
        """A passage of ``size`` words between white space that stands once: (text of the corpus, first character, end).

        plain: of letters only, apart from commas and periods inside, so that any tool sees ``size`` words.
        """
        while True:
            source = self.long[int(self.rng.integers(len(self.long)))]
            begin = int(self.rng.integers(0, len(self.words[source]) - size))
            low, high = self.words[source][begin][0], self.words[source][begin + size - 1][1]
            text = self.corpus[source][low:high]
            several, short = self.runs.count(text), self.short_runs.count(text)
            if len(several) and (several == 1).all() and (short > 1).mean() <= 0.1 and (not plain or PLAIN.fullmatch(text)):
                return source, low, high

    def suspects(self, how: str, number: int, sizes: tuple[int, int] = (50, 250), *, plain: bool = False) -> tuple[list[str], list[Span]]:
        """Suspects of at most 1,000 words of ground, each with two edited passages, and the places of these."""
        texts, cases = [], []
        for suspect in range(number):
            around = self.ground[suspect % len(self.ground)].split()[:1000]
            parts = [" ".join(around[at * len(around) // 3 : (at + 1) * len(around) // 3]) for at in range(3)]
            text = parts[0]
            for part in parts[1:]:
                source, low, high = self.passage(int(self.rng.integers(*sizes)), plain)
                copied = " ".join(edited(self.corpus[source][low:high].split(), how, self.rng, self.vocabulary))
                cases.append(Span(suspect, len(text) + 1, len(text) + 1 + len(copied), source, low, high))
                text = f"{text} {copied} {part}"
            texts.append(text)
        return texts, cases
