"""A corpus for pages that people look at: sections of this project's own documentation, and near-duplicates of them from other sources.

`records` has three sources: "handbook" has the sections; "mirror" has exact copies and versions of them with a few words changed, so that the
similarities spread from the threshold to 1; "shop" has pages of one template, which differ in a few words only.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import likewise as lw
from likewise.drawing.controls import CONTROL

DOCS = Path(__file__).resolve().parents[2] / "docs"
#: Ids and texts that would become markup, scripts, addresses or another direction of writing if a page did not show them as text.
HOSTILE = [
    "<script>window.hacked = 1</script>",
    '<img src=x onerror="window.hacked = 1">',
    '"><svg onload=window.hacked=1>',
    "'-window.hacked-'",
    "</style><b>bold</b>",
    "</script><script>window.hacked = 1</script>",
    "javascript:window.hacked=1",
    "&lt;i&gt;",
    "{{ 7 * 7 }} {% raw %} ${7 * 7}",
    "../../etc/passwd?x=1&y=2#part",
    "שלום <b> עולם \u202egnp.exe",
]
SHOP = (
    "Order the {name} today. Free delivery on orders above 40 euros. Our shop has served customers in the whole country since 1987, and every "
    "article is checked by hand before it leaves the warehouse. Payment by card, invoice or transfer. You may return the {name} within thirty days "
    "without giving a reason. Our staff answers the telephone from Monday to Friday between nine and five. Article {number}, color {color}."
)
#: Sentences of essays.
OWN = [
    "I read this on the train, and wrote it down before I forgot it.",
    "Nobody has said it better since.",
    "My teacher would disagree, but she never gave a reason.",
    "The second edition leaves this out, which is a pity.",
    "Whoever has tried it once will not do without it.",
    "One may doubt that it was meant so, but it is a good thought all the same.",
    "The rest of the chapter is less clear, and I leave it to the patient reader.",
    "Let us look at the words themselves.",
]
NAMES = ["lamp", "kettle", "bicycle bell", "wool blanket", "desk clock", "garden hose", "bread knife", "rain jacket", "oak stool", "picture frame"]
COLORS = ["red", "green", "blue", "white", "black"]


def sections() -> list[str]:
    """The sections of the documentation as plain text, those of 60 to 300 words without code and tables."""
    found = []
    for path in sorted(DOCS.rglob("*.md")):
        for part in re.split(r"(?m)^#+ ", path.read_text(encoding="utf-8")):
            words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", part).split()
            if 60 <= len(words) <= 300 and not re.search(r"(?m)^```|^ {4}|^\|", part):
                found.append(" ".join(words))
    return found


def changed(text: str, share: float, draw: random.Random) -> str:
    """The text with runs of words replaced by words from elsewhere in it: about this share of it in all."""
    words = text.split()
    gone = max(1, round(share * len(words)))
    while gone > 0:
        length = min(gone, draw.randint(1, 6))
        at, other = draw.randrange(len(words)), draw.randrange(len(words))
        words[at : at + length] = words[other : other + length]
        gone -= length
    return " ".join(words)


def records(count: int = 120, seed: int = 7) -> dict[str, list[dict[str, str]]]:
    """Records by source. count: the sections that are used."""
    draw = random.Random(seed)
    texts = draw.sample(found := sections(), min(count, len(found)))
    handbook = [{"id": f"page-{number:03}", "text": text} for number, text in enumerate(texts)]
    mirror = []
    for number, text in enumerate(texts):
        if number % 4 == 0:
            mirror.append({"id": f"copy-{number:03}", "text": text})
        for version in range(number % 3):
            mirror.append({"id": f"version-{number:03}-{version}", "text": changed(text, draw.uniform(0.0, 0.09), draw)})
    shop = [
        {"id": f"article-{number}", "text": SHOP.format(name=NAMES[number % len(NAMES)], number=4000 + 37 * number, color=draw.choice(COLORS))}
        for number in range(24)
    ]
    return {"handbook": handbook, "mirror": mirror, "shop": shop}


def essays(count: int = 12, seed: int = 3) -> list[dict[str, str]]:
    """Essays of OWN sentences, in which passages of `sections` stand, several of one section, some of them with a few words changed."""
    draw = random.Random(seed)
    texts = sections()
    made = []
    for number in range(count):
        parts = []
        for text in draw.sample(texts, 1 + number % 3):
            words = text.split()
            for begin in draw.sample(range(0, len(words) - 20, 30), min(2, len(words) // 50)):
                quoted = " ".join(words[begin : begin + draw.randint(18, 28)])
                parts += [" ".join(draw.sample(OWN, draw.randint(1, 3))), changed(quoted, 0.05, draw) if draw.random() < 0.5 else quoted]
        made.append({"id": f"essay-{number:02}", "text": "\n\n".join([*parts, draw.choice(OWN)])})
    return made


def hostile() -> list[dict[str, str]]:
    """Records whose ids and texts are HOSTILE, each with a near-duplicate."""
    draw = random.Random(1)
    made = []
    for number, words in enumerate(HOSTILE):
        text = f"{words} " + " ".join("".join(draw.choices("abcdefghij", k=6)) for _ in range(60)) + f" {words}"
        made += [{"id": words, "text": text}, {"id": f"{words} {number}", "text": f"{text} {words} again"}]
    return made


def written(folder: Path, sources: dict[str, list[dict[str, str]]]) -> list[Path]:
    """The records as files of JSON lines."""
    paths = []
    for name, rows in sources.items():
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return paths


def quoted(folder: Path) -> Path:
    """The passages of `essays` that stand in two sources of `records`, beside the files of both."""
    handbook, mirror, essay = written(folder, {name: records()[name] for name in ("handbook", "mirror")} | {"essays": essays()})
    lw.quotes([handbook, mirror], essay).write(folder / "quotes.parquet")
    return folder / "quotes.parquet"


def visible(text: str) -> str:
    """The text as a page shows it: characters that would reorder it are written as escapes."""
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)
