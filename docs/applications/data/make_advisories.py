"""Make advisories.jsonl.xz: python make_advisories.py RELEASES CHANGELOG VULNS (needs the package pyyaml).

RELEASES is the folder docs/releases of the source package Django 5.2.8, CHANGELOG the file changelog.Debian.gz of the Debian package
python-django-doc 3:3.2.25-0+deb12u7, and VULNS the folder vulns/django of the PyPA Advisory Database, as of 10 October 2024.
"""

import gzip
import json
import lzma
import re
import sys
from collections import defaultdict
from pathlib import Path

import yaml

HERE = Path(__file__).parent
releases, changelog, vulns = map(Path, sys.argv[1:])


def plain(text: str) -> str:
    """A text without markup, and without the number of the vulnerability, by which anybody could tell the story."""
    text = re.sub(r":[a-z:]+:`~?\.?!?([^`<]*?)(?: *<[^>]*>)?`", r"\1", text)
    text = re.sub(r"(?m)^\.\. .*?::.*$|\bCVE-\d{4}-\d+\b|`|\*\*|\(Closes:[^)]*\)|<http[^>]*>", "", text)
    return re.sub(r"\s+", " ", text).strip(" :,.") + "."


stories: dict[str, dict[str, str]] = defaultdict(dict)  # by vulnerability, then by source
for path in sorted(releases.glob("*.txt")):
    _, *parts = re.split(r"(?m)^(.+)\n([=~-])\2{5,}\n", path.read_text())
    for title, text in zip(parts[::3], parts[2::3], strict=True):
        if found := re.match(r"(CVE-\d{4}-\d+): (.*)", title):
            stories[found[1]].setdefault("django", plain(f"{found[2]}. {text}"))
for path in sorted(vulns.glob("*.yaml")):
    entry = yaml.safe_load(path.read_text())
    for alias in entry.get("aliases", []):
        if "details" in entry:
            stories[alias]["pypa"] = plain(entry["details"])
for item in re.split(r"(?m)^ +[*+-] |^ -- .*$", gzip.decompress(changelog.read_bytes()).decode()):
    found = re.match(r"(CVE-\d{4}-\d+): +(.*)", item, re.DOTALL)
    if found:
        stories[found[1]].setdefault("debian", plain(found[2].split("\n\n")[0]))

SHORTEST = 15  # words; shorter ones are titles
articles = {story: {source: text for source, text in texts.items() if len(text.split()) >= SHORTEST} for story, texts in stories.items()}
rows = [
    {"id": f"{source}/{story}", "source": source, "story": story, "text": text}
    for story, texts in sorted(articles.items(), key=lambda item: [int(number) for number in re.findall(r"\d+", item[0])])
    for source, text in sorted(texts.items())
    if story.startswith("CVE") and len(texts) > 1
]
lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
(HERE / "advisories.jsonl.xz").write_bytes(lzma.compress(lines.encode(), preset=9))
print(len(rows), len({row["story"] for row in rows}))
