"""Pages of reports for tests: a report and its facts as `render` takes them, and the page as a browser reads it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from likewise.drawing.markup import VOID
from likewise.report.examples import Example

CURVE = [[0.0, 0.0], [0.5, 0.1], [0.7, 0.6], [0.9, 0.998], [1.0, 1.0]]
PLAN = {"bands": 16, "rows": 6, "recall": 0.99228, "sketch": "oph", "chosen_by": "plan"}
#: Ten near-duplicates: five from 0.80 to 0.85, three from 0.85 to 0.90, two above.
FOUND = {"near": 10, "median": 0.84, "by_value": [[0.8, 0.9, 8], [0.9, 1.0, 2]], "histogram": {"first": 0.8, "step": 0.05, "counts": [5, 3, 0, 2]}}
CLUSTER = {
    "representative": "doc-7", "source": "a.jsonl", "position": 17, "text": "Page of the menu", "items": 40, "near": 38, "low": 36, "sources": 3,
    "least": 0.8, "median": 0.82, "reasons": ["template", "sources"],
    "members": [
        {"id": "doc-9", "source": "b.jsonl", "position": 4, "similarity": 0.8, "reason": "near", "text": "Another page"},
        {"id": "doc-8", "source": "a.jsonl", "position": 3, "similarity": 1.0, "reason": "exact", "text": None},
    ],
}  # fmt: skip


class Page(HTMLParser):
    """The page as a browser takes it; fails where tags do not balance."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.words = ""
        self.by_tag: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag in VOID:
            return
        self._open.append(tag)
        self.by_tag.setdefault(tag, []).append("")
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if {"style", "script"} & {*self._open}:
            return
        self.words += data
        for name in {*self._open}:
            self.by_tag[name][-1] += data
        if {"td", "th"} & {*self._open}:
            self.rows[-1][-1] += data

    def comment_or_instruction(self, data):
        raise AssertionError(f"neither comments nor instructions stand in the page: {data!r}")

    handle_comment = handle_pi = unknown_decl = comment_or_instruction

    def handle_decl(self, decl):
        assert decl == "doctype html"


def report(**changed: Any) -> dict[str, Any]:
    method = {"by": "words:5", "normalize": ["nfc", "lower"], "plan": PLAN, "keep": "first", "prefer": [], "copies": "none", "seed": 0}
    made = {
        "schema": "likewise/report/1",
        "counts": {
            "read": 1234, "kept": 1000, "removed": 229, "rejected": 5, "removed_exact": 150, "removed_near": 79,
            "empty": 3, "without_text": 2, "too_short_to_judge": 4,
        },
        "method": method,
        "threshold": 0.8,
        "curve": CURVE,
        "verified": "exact",
        "items": 1111,
        "buckets": {"number": 640, "largest": 321, "by_size": {"2": 600, "3-4": 39, "257-512": 1}},
        "matched": 87,
        "budget": {"cut": 0, "recall": 0.99228, "buckets": []},
        "clusters": {
            "number": 61,
            "components": 59,
            "by_size": {"2": 50, "3": 6, "4": 4, "133": 1},
            "largest": [{"representative": "doc-7", "source": "a.jsonl", "position": 17, "items": 133}],
        },
        "sources": [
            {"source": "a.jsonl", "read": 1000, "kept": 900, "removed": 98, "rejected": 2},
            {"source": "b.jsonl", "read": 234, "kept": 100, "removed": 131, "rejected": 3},
        ],
        "warnings": [],
    }  # fmt: skip
    return made | changed


def run_facts() -> dict[str, Any]:
    return {
        "seconds": {"reading": 3.0, "comparing": 1.0},
        "compared": 7654,
        "inputs": [{"path": "/home"}],
        "threads": 2,
        "peak_memory_bytes": 123456,
        "versions": {"numpy": "2.4"},
    }


def example(kept: str, removed: str, **changed: Any) -> Example:
    given = {"kept_id": "k", "kept_source": "a", "removed_id": "r", "removed_source": "b", "similarity": 0.875, "reason": "near"}
    return Example(**(given | {"kept_text": kept, "removed_text": removed} | changed))
