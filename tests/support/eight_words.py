"""Four items, three of which are similar, for tests of results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SAME = "one two three four five six seven eight"
ROWS = [
    {"id": "a", "text": SAME},
    {"id": 7, "text": SAME},
    {"id": "c", "text": SAME + " nine"},
    {"id": "d", "text": "other words\nthat  nobody repeats"},
]
#: By words:1: a and 7 share 8 of 8 words, and each 8 of 9 with c.
LIKE: dict[str, Any] = {"by": "words:1", "threshold": 0.8}
EIGHT_NINTHS = 8 / 9


def written_jsonl(path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path
