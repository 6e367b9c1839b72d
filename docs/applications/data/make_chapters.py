"""Make chapters.jsonl.xz: python make_chapters.py BIBLE

BIBLE is the output of `bible -f gen1:1-rev22:21` (Debian's bible-kjv and bible-kjv-text): one verse a line. A row is a chapter; its verses are lines.
"""

import json
import lzma
import sys
from pathlib import Path

HERE = Path(__file__).parent
CHAPTERS = {
    "1Sm": ("1 Samuel", [31]),
    "2Sm": ("2 Samuel", range(1, 25)),
    "Psa": ("Psalm", [96, 105, 106]),
    "1Chr": ("1 Chronicles", range(10, 30)),
}

rows: dict[str, list[str]] = {}
for line in Path(sys.argv[1]).read_text().splitlines():
    place, _, verse = line.partition(" ")
    book, chapter = place.partition(":")[0], 0
    for short, (name, chapters) in CHAPTERS.items():
        if book.startswith(short) and book[len(short) :].isdigit() and (chapter := int(book[len(short) :])) in chapters:
            rows.setdefault(f"{name} {chapter}", []).append(verse)
lines = "".join(json.dumps({"id": name, "text": "\n".join(verses)}) + "\n" for name, verses in rows.items())
(HERE / "chapters.jsonl.xz").write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))
print(len(rows), len(lines))
