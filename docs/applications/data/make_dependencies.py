"""Make dependencies.jsonl.gz: python make_dependencies.py PACKAGES, a file Packages of Debian 12 (amd64, main), unpacked."""

import gzip
import json
import re
import sys
from pathlib import Path

SECTIONS = ("games", "graphics", "sound", "video")


def main(text: str) -> None:
    """One line per package: its name and the packages that it needs. Of alternatives, the first."""
    lines = []
    for stanza in text.split("\n\n"):
        fields = dict(re.findall(r"(?m)^([\w-]+): (.*)$", stanza))
        needed = sorted({re.split(r"[ (:|]", part.strip())[0] for part in fields.get("Depends", "").split(",") if part.strip()})
        if fields.get("Section") in SECTIONS and needed:
            lines.append(json.dumps({"id": fields["Package"], "elements": needed}, separators=(",", ":")) + "\n")
    (Path(__file__).parent / "dependencies.jsonl.gz").write_bytes(gzip.compress("".join(sorted(lines)).encode(), 9, mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]).read_text(encoding="utf-8"))
