"""Published recipes of decontamination in plain Python, from their papers: slow, and written without a look at the package."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict

Token = tuple[str, int, int]


def plain(text: str) -> list[Token]:
    """The words between white space, in lower case and without punctuation, each with its place from the first to the last character that is left."""
    found = []
    for match in re.finditer(r"\S+", text):
        here = [at for at in range(match.start(), match.end()) if unicodedata.category(text[at])[0] != "P"]
        if here:
            token = unicodedata.normalize("NFC", "".join(text[at] for at in here)).lower()
            found.append((token, here[0], here[-1] + 1))
    return found


def words(text: str) -> list[Token]:
    """Runs of letters and digits in lower case."""
    return [(match[0].lower(), match.start(), match.end()) for match in re.finditer(r"\w+", text)]


def grams(tokens: list[Token], n: int) -> list[tuple[str, ...]]:
    return [tuple(token for token, _, _ in tokens[at : at + n]) for at in range(len(tokens) - n + 1)]


def gpt3(
    training: list[str], tests: list[str], n: int = 13, around: int = 200, piece: int = 200, pieces: int = 10, common: int = 10
) -> list[str | None]:
    """The rest of each document, None for those that are removed. Brown et al. 2020, appendix C."""
    wanted = {gram for text in tests for gram in grams(plain(text), n)}
    documents = defaultdict(set)
    for row, text in enumerate(training):
        for gram in grams(plain(text), n):
            documents[gram].add(row)
    left: list[str | None] = []
    for text in training:
        tokens = plain(text)
        gone = [False] * len(text)
        for at, gram in enumerate(grams(tokens, n)):
            if gram in wanted and len(documents[gram]) <= common:
                first, last = tokens[at][1], tokens[at + n - 1][2]
                for place in range(max(0, first - around), min(len(text), last + around)):
                    gone[place] = True
        if not any(gone):
            left.append(text)
            continue
        parts = [match.span() for match in re.finditer("0+", "".join("01"[flag] for flag in gone))]
        kept = [text[begin:end] for begin, end in parts if end - begin >= piece]
        left.append("".join(kept) if kept and len(parts) <= pieces else None)
    return left


def seen(training: list[str], test: str, n: int, cut=words) -> dict[str, int]:
    """How much of a test item stands in the documents, by n-grams."""
    tokens, texts = cut(test), [set(grams(cut(text), n)) for text in training]
    mine = grams(tokens, n)
    there = [any(gram in text for text in texts) for gram in mine]
    covered = [any(there[max(0, at - n + 1) : at + 1]) for at in range(len(tokens))]
    runs = "".join("01"[flag] for flag in covered).split("0")
    return {
        "tokens": len(tokens),
        "ngrams": len(mine),
        "ngrams_seen": sum(there),
        "tokens_seen": sum(covered),
        "longest": max(map(len, runs)),
        "documents": sum(bool(text & set(mine)) for text in texts),
    }
