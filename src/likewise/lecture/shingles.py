"""Shingles as strings and as numbers: the same that `likewise.similarity` compares."""

from __future__ import annotations

from collections import Counter

from likewise import methods
from likewise.errors import UsageError
from likewise.items.pieces import fingerprints, joined, runs
from likewise.messages import option, quoted
from likewise.methods import Text


def method_of(text: str, by: str, normalize: str | None) -> Text:
    """The unit and the steps. Raises UsageError for anything but a text and a unit of text."""
    if not isinstance(text, str):
        raise UsageError(f"shingles of {quoted(text)}: give one text, a str")
    method = methods.parse(by, normalize)
    if not isinstance(method, Text) or method.unit == "tokens":
        raise UsageError(f"{option('by', by)}: give a unit of text, such as chars:2 or words:5")
    return method


def shingles(text: str, by: str = "words:5", normalize: str | None = None) -> list[str]:
    """The set of shingles of a text, as strings, in the order of their first occurrence. by, normalize: as for `likewise.similarity`.

    >>> shingles("abcab", "chars:2"), shingles("abcdabd", "chars:2")
    (['ab', 'bc', 'ca'], ['ab', 'bc', 'cd', 'da', 'bd'])
    >>> shingles("a rose is a rose is a rose", "words:4")
    ['a rose is a', 'rose is a rose', 'is a rose is']
    >>> shingles("A spokesperson for the company said", "stopwords:2")
    ['a spokesperson for', 'for the company', 'the company said']
    """
    return list(bag(text, by, normalize))


def bag(text: str, by: str = "words:5", normalize: str | None = None) -> dict[str, int]:
    """The bag of shingles of a text: shingle -> its number of occurrences.

    >>> bag("abcab", "chars:2")
    {'ab': 2, 'bc': 1, 'ca': 1}
    """
    method = method_of(text, by, normalize)
    return dict(Counter(joined(run, method) for run in runs(text, method)))


def shingle_numbers(text: str, by: str = "words:5", normalize: str | None = None, *, bits: int = 64, seed: int = 0) -> dict[str, int]:
    """Shingle -> its fingerprint, from 0 to 2^bits - 1: the leading bits of the 64-bit number that likewise stores.

    Few bits make different shingles collide. Raises UsageError unless bits is 1 to 64.

    >>> list(shingle_numbers("abcab", "chars:2", bits=10))
    ['ab', 'bc', 'ca']
    >>> max(shingle_numbers("to be or not to be, that is the question", "words:2", bits=4).values()) < 16
    True
    """
    if not 1 <= bits <= 64:
        raise UsageError(f"{option('bits', bits)}: give 1 to 64 bits")
    method = method_of(text, by.removesuffix("/bag"), normalize)
    each = {joined(run, method): run for run in runs(text, method)}
    return {name: number >> (64 - bits) for name, number in zip(each, fingerprints([*each.values()], method, seed), strict=True)}
