"""Pages of every kind of result, whose ids, contents and sources would become markup or turn the direction of writing if they were not text."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import likewise as lw
from kinds_of_pages import GOODS, deduped, lines
from newspaper import HOSTILE

SOURCE = "<img src=x onerror=window.hacked=1>.jsonl"
#: Ids and contents that pages must show as text: markup, control characters, and a word of 100 kB, of which pages show at least the beginning.
WORDS = [*HOSTILE, "\x07\x1b[31mred\x1b[0m\x85", "w" * 100_000]
#: Other words around them.
PLAIN = GOODS[:20]


def of(make: Callable[[str, int], list[Any]], field: str, **choices: Any) -> Callable[[Path], Path]:
    """The page of dedup on records of this field, in pairs of near-duplicates. make: both contents for a word and its number."""

    def made(folder: Path) -> Path:
        rows = [
            {"id": f"{word}{' again' * version}", field: content}
            for number, word in enumerate(WORDS)
            for version, content in enumerate(make(word, number))
        ]
        return deduped(folder, lines(folder / SOURCE, rows), field=field, **choices)

    return made


def text(word: str, number: int) -> list[str]:
    draw = random.Random(number)
    said = f"{word} {' '.join(''.join(draw.choices('abcdefghij', k=6)) for _ in range(60))} {word}"
    return [said, f"{said} {word} again"]


def basket(word: str, number: int) -> list[list[str]]:
    goods = random.Random(number).sample(PLAIN, 9)
    return [[word, *goods], [word, *goods[1:], f"{word} again"]]


def weights(word: str, number: int) -> list[dict[str, int]]:
    return [{name: 3 + (name == "garlic") for name in goods} for goods in basket(word, number)]


def typed(word: str, number: int) -> list[str]:
    return [f"{word[:500]} number {100 + number} of all", f"{word[:500]} number {100 + number} of al"]


def vector(_: str, number: int) -> list[list[float]]:
    draw = random.Random(number)
    values = [round(draw.gauss(0, 1), 3) for _ in range(16)]
    return [values, [*values[:15], round(values[15] + 0.05, 3)]]


def code(_: str, number: int) -> list[str]:
    bits = random.Random(number).getrandbits(64)
    return [bits.to_bytes(8, "little").hex(), (bits ^ 4).to_bytes(8, "little").hex()]


def page_lines(word: str, number: int) -> list[str]:
    first, second = text(word, number)
    return [f"{word}\n{first}", f"{second}\n{word}"]


def quotes(folder: Path) -> Path:
    """The page of passages of which books and essays have the words."""
    books = [{"id": word, "text": text(word, number)[0]} for number, word in enumerate(WORDS)]
    essays = [{"id": f"{word} quoted", "text": f"As {word} said: {text(word, number)[0]} And so on."} for number, word in enumerate(WORDS)]
    found = lw.quotes(lines(folder / SOURCE, books), lines(folder / f"essays {SOURCE}", essays))
    found.write_page(folder / "quotes.html")
    return folder / "quotes.html"


#: Makes the page in a new folder, by name.
PAGES: dict[str, Callable[[Path], Path]] = {
    "texts": of(text, "text", threshold=0.6),
    "sets": of(basket, "goods", by="elements", threshold=0.6),
    "weighted": of(weights, "goods", by="weighted", threshold=0.6),
    "strings": of(typed, "name", by="levenshtein", within=2),
    "vectors": of(vector, "embedding", by="cosine", threshold=0.9),
    "codes": of(code, "phash", by="hamming", within=3),
    "lines": of(page_lines, "text", level="line"),
    "quotes": quotes,
}
