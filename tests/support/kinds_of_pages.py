"""Small outputs of every kind of page, from made data: one for each kind of item, for each level, and for the ends of what can happen."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import likewise as lw
import newspaper
from pictures_made import scene

GOODS = [
    "apples", "bananas", "bread", "butter", "carrots", "cheese", "chocolate", "coffee", "cucumber", "dishsoap", "eggs", "flour", "garlic",
    "ham", "honey", "jam", "juice", "lemons", "lentils", "milk", "mushrooms", "mustard", "noodles", "oats", "oil", "olives", "onions", "pears",
    "pepper", "potatoes", "rice", "salmon", "salt", "spinach", "sugar", "tea", "tomatoes", "tuna", "vinegar", "yogurt",
]  # fmt: skip
CITIES = ["Aachen", "Bremen", "Chemnitz", "Dresden", "Erfurt", "Freiburg", "Göttingen", "Heidelberg"]
STREETS = ["Lindenallee", "Marktplatz", "Schulstraße", "Bahnhofstraße", "Am Mühlbach", "Gartenweg", "Rosengasse", "Hauptstraße"]
NAMES = [
    "Anna Schneider",
    "Johann Weber",
    "Katharina Wagner",
    "Friedrich Becker",
    "Ursula Hoffmann",
    "Heinrich Schäfer",
    "Elisabeth Koch",
    "Karl Bauer",
]


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Records as a file of JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def deduped(folder: Path, inputs: Any, **choices: Any) -> Path:
    """The page of what dedup writes."""
    lw.dedup(inputs, out=folder / "out", **choices)
    return folder / "out" / "report.html"


def texts(folder: Path) -> Path:
    paths = newspaper.written(folder, newspaper.records())
    return deduped(folder, paths, threshold=0.7)


def sets(folder: Path) -> Path:
    """Baskets of goods; some are another one with one or two goods exchanged."""
    draw = random.Random(3)
    rows: list[dict[str, Any]] = []
    for number in range(60):
        basket = draw.sample(GOODS, draw.randint(8, 14))
        rows.append({"id": f"basket-{number:03}", "goods": basket})
        for version in range(number % 3):
            other = [*draw.sample(basket, len(basket) - version), *draw.sample(GOODS, version)]
            rows.append({"id": f"basket-{number:03}-{version}", "goods": sorted(set(other))})
    return deduped(folder, lines(folder / "baskets.jsonl", rows), by="elements", field="goods", threshold=0.7)


def weighted(folder: Path) -> Path:
    """Baskets with amounts."""
    draw = random.Random(4)
    rows: list[dict[str, Any]] = []
    for number in range(40):
        basket = {good: draw.randint(1, 9) for good in draw.sample(GOODS, 10)}
        rows.append({"id": f"order-{number:03}", "goods": basket})
        if number % 2:
            rows.append({"id": f"order-{number:03}-again", "goods": {good: n + (draw.random() < 0.4) for good, n in basket.items()}})
    return deduped(folder, lines(folder / "orders.jsonl", rows), by="weighted", field="goods", threshold=0.7)


def vectors(folder: Path) -> Path:
    """Embeddings, each with up to two others at a small angle."""
    draw = np.random.default_rng(5)
    rows: list[dict[str, Any]] = []
    for number, center in enumerate(draw.standard_normal((80, 48))):
        for version in range(1 + number % 3):
            vector = center + 0.28 * draw.random() * draw.standard_normal(48) * (version > 0)
            rows.append({"id": f"photo-{number:03}" + f"-{version}" * (version > 0), "embedding": [round(float(x), 4) for x in vector]})
    return deduped(folder, lines(folder / "embeddings.jsonl", rows), by="cosine", field="embedding", threshold=0.95)


def codes(folder: Path) -> Path:
    """Codes of 64 bits, each with others in which a few bits differ."""
    draw = random.Random(6)
    rows: list[dict[str, Any]] = []
    for number in range(80):
        code = draw.getrandbits(64)
        for version in range(1 + number % 3):
            other = code
            for bit in draw.sample(range(64), version * draw.randint(1, 3)):
                other ^= 1 << bit
            rows.append({"id": f"scan-{number:03}" + f"-{version}" * (version > 0), "phash": other.to_bytes(8, "little").hex()})
    return deduped(folder, lines(folder / "hashes.jsonl", rows), by="hamming", field="phash", within=6)


def strings(folder: Path) -> Path:
    """Addresses with errors of typing."""
    draw = random.Random(7)
    rows: list[dict[str, Any]] = []
    for number in range(60):
        address = f"{draw.choice(NAMES)}, {draw.choice(STREETS)} {draw.randint(1, 99)}, {draw.randint(10000, 99999)} {draw.choice(CITIES)}"
        rows.append({"id": f"row-{number:03}", "address": address})
        for version in range(number % 3):
            typed = list(address)
            for _ in range(draw.randint(1, 3)):
                place = draw.randrange(len(typed))
                typed[place] = draw.choice(["", "e", "n", typed[place] * 2])
            rows.append({"id": f"row-{number:03}-{version}", "address": "".join(typed)})
    return deduped(folder, lines(folder / "addresses.jsonl", rows), by="levenshtein", field="address", within=5)


def chamfer(folder: Path) -> Path:
    """Sets of vectors, such as passages of a document by their embeddings."""
    draw = np.random.default_rng(8)
    rows: list[dict[str, Any]] = []
    for number in range(40):
        features = draw.standard_normal((6, 8))
        for version in range(1 + number % 2):
            moved = features + 0.25 * draw.random() * draw.standard_normal(features.shape) * version
            rows.append({"id": f"document-{number:03}" + f"-{version}" * version, "features": moved.round(3).tolist()})
    return deduped(folder, lines(folder / "features.jsonl", rows), by="features/chamfer", field="features", threshold=0.95)


def images(folder: Path) -> Path:
    """Pictures, some again smaller, cropped or compressed."""
    photos = folder / "photos"
    photos.mkdir()
    for seed in range(8):
        picture = scene(seed)
        picture.save(photos / f"holiday {seed}.png")
        if seed % 2:
            picture.resize((200, 150)).save(photos / f"holiday {seed} small.jpg", quality=70)
        if seed % 4 == 1:
            picture.crop((8, 6, 312, 234)).save(photos / f"holiday {seed} edited.jpg", quality=85)
    return deduped(folder, photos, keep="longest", threshold=0.7)


def against(folder: Path) -> Path:
    handbook, mirror, shop = newspaper.written(folder, newspaper.records())
    return deduped(folder, [mirror, shop], against=handbook, threshold=0.7)


def of_level(level: Any) -> Callable[[Path], Path]:
    """Documents with a header and a footer that a site repeats."""

    def made(folder: Path) -> Path:
        draw = random.Random(9)
        head = "Home | Products | About us | Contact | Sign in"
        foot = "We use cookies to improve your experience on our site.\n\n© Example Ltd. All rights reserved. Terms of use. Privacy."
        texts = draw.sample(newspaper.sections(), 30)
        rows = [{"id": f"page-{number:02}", "text": f"{head}\n\n{text}\n\n{texts[number // 2]}\n\n{foot}"} for number, text in enumerate(texts)]
        return deduped(folder, lines(folder / "site.jsonl", rows), level=level)

    return made


def decontaminated(folder: Path) -> Path:
    """Training documents, some of which quote test items."""
    draw = random.Random(10)
    texts = newspaper.sections()
    tests = [" ".join(text.split()[:40]) for text in texts[:12]]
    rows = [
        {"id": f"page-{number:02}", "text": text + (f" {draw.choice(tests)} {texts[number + 20]}" if number % 3 == 0 else "")}
        for number, text in enumerate(texts[20:60])
    ]
    asked = lines(folder / "questions.jsonl", [{"id": f"question-{number}", "text": text} for number, text in enumerate(tests)])
    return deduped(folder, lines(folder / "crawl.jsonl", rows), against=asked, level="passage")


def empty(folder: Path) -> Path:
    return deduped(folder, lines(folder / "empty.jsonl", []))


def unchanged(folder: Path) -> Path:
    """Documents without duplicates."""
    rows = [{"id": f"page-{number}", "text": text} for number, text in enumerate(newspaper.sections()[:20])]
    return deduped(folder, lines(folder / "pages.jsonl", rows))


def all_removed(folder: Path) -> Path:
    """Documents that a second collection has, too."""
    rows = [{"id": f"page-{number}", "text": text} for number, text in enumerate(newspaper.sections()[:20])]
    path = lines(folder / "pages.jsonl", rows)
    return deduped(folder, path, against=path)


def quotes(folder: Path) -> Path:
    """The page of passages that essays share with books."""
    draw = random.Random(12)
    books = newspaper.sections()[:30]
    essays = []
    for number in range(5):
        parts = [newspaper.changed(" ".join(text.split()[5:50]), 0.04, draw) for text in draw.sample(books, 3)]
        own = [" ".join(newspaper.sections()[40 + 3 * number + part].split()[:60]) for part in range(3)]
        essays.append({"id": f"essay-{number}", "text": "\n\n".join(f"{mine} {theirs}" for mine, theirs in zip(own, parts, strict=True))})
    found = lw.quotes(
        lines(folder / "books.jsonl", [{"id": f"book-{n}", "text": t} for n, t in enumerate(books)]), lines(folder / "essays.jsonl", essays)
    )
    found.write_page(folder / "quotes.html")
    return folder / "quotes.html"


#: Makes the page in a new folder, by name.
PAGES: dict[str, Callable[[Path], Path]] = {
    "texts": texts,
    "sets": sets,
    "weighted": weighted,
    "vectors": vectors,
    "codes": codes,
    "strings": strings,
    "chamfer": chamfer,
    "images": images,
    "against": against,
    "lines": of_level("line"),
    "paragraphs": of_level("paragraph"),
    "passages": of_level("passage"),
    "decontaminated": decontaminated,
    "empty": empty,
    "unchanged": unchanged,
    "all-removed": all_removed,
    "quotes": quotes,
}
