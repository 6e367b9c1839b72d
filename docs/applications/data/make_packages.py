"""Make packages.jsonl.xz: python make_packages.py PACKAGES TRANSLATION.

These are main/binary-amd64/Packages and main/i18n/Translation-en of Debian 12. Of each section in SECTIONS, 80 packages are drawn by the hashes of
their names. Parts of a program, such as its library or its data, are left out, since their descriptions repeat that of the program.
"""

import hashlib
import json
import lzma
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
SECTIONS = ["database", "editors", "electronics", "games", "graphics", "hamradio", "mail", "math", "sound", "video"]
PART = re.compile(r"^lib|-(dev|doc|data|dbg|common|plugins?|l10n|gui|cli)\b")


def entries(path: str) -> Iterator[dict[str, str]]:
    for block in Path(path).read_text().split("\n\n"):
        yield dict(re.findall(r"(?m)^(\S+): ?(.*(?:\n[ \t].*)*)", block))


packages, translation = sys.argv[1:]
texts = {(entry["Package"], entry["Description-md5"]): entry["Description-en"] for entry in entries(translation) if entry}
found: dict[str, dict[str, tuple[str, str, str]]] = defaultdict(dict)  # by section and source package: hash of the name, name, text
for entry in entries(packages):
    section, name = entry.get("Section"), entry.get("Package", "")
    text = texts.get((name, entry.get("Description-md5")))
    if section not in SECTIONS or PART.search(name) or not text:
        continue
    text = re.sub(r"\s+", " ", re.sub(r"(?m)^ \.$", " ", text)).strip()
    source = entry.get("Source", name).split()[0]
    row = (hashlib.sha256(name.encode()).hexdigest(), name, text)
    if len(text.split()) >= 40:
        found[section][source] = min(row, found[section].get(source, row))

rows = [{"id": name, "topic": section, "text": text} for section in SECTIONS for _, name, text in sorted(found[section].values())[:80]]
lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in sorted(rows, key=lambda row: row["id"]))
(HERE / "packages.jsonl.xz").write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))
print(len(rows))
