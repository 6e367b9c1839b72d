"""The list of what people should review follows from the numbers of the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from command_line import lines, run
from likewise.report.review import needs_review


def pages(number: int) -> list[str]:
    """Pages of a template of 180 words and 20 own ones: two pages share 180 of 220 words."""
    return [" ".join([f"menu{i}" for i in range(180)] + [f"page{page}n{i}" for i in range(20)]) for page in range(number)]


def targets(found: dict[str, Any]) -> list[str]:
    return [each["target"] for each in found["needs_review"]]


def test_a_clean_result_needs_no_review() -> None:
    found = lw.dedup(["one text here", "one text here", "another text there"], by="words:1").report
    assert found["counts"]["removed"] == 1 and found["needs_review"] == []


def test_templates_and_many_values_next_to_the_threshold_do() -> None:
    found = lw.dedup(pages(41), by="words:1", exact=True).report
    assert targets(found) == ["suspicious", "borderline", "warnings"]
    said = [each["text"] for each in found["needs_review"]]
    assert said[0] == "1 cluster looks like pages of one template: 40 documents removed"
    assert said[1] == "40 of 40 near-duplicates (100%) are next to the threshold, from 0.8 to 0.82"


def test_many_copies_do() -> None:
    found = lw.dedup(["access denied here"] * 100 + ["one other text"] * 3, by="words:1").report
    assert targets(found) == ["suspicious"] and found["needs_review"][0]["text"] == "1 cluster with many items or sources, up to 100 documents"
    assert [cluster["reasons"] for cluster in found["suspicious"]] == [["large"]]
    assert targets(lw.dedup(["access denied here"] * 99, by="words:1").report) == []


@pytest.mark.parametrize(("lost", "said"), [(0.0, []), (0.004, []), (0.2, ["crowded"])])
def test_a_lower_recall_does(lost: float, said: list[str]) -> None:
    found = lw.dedup(pages(3), by="words:1", threshold=0.9, exact=False).report
    plan = found["method"]["plan"]
    found["budget"] |= {"cut": 5, "recall": plan["recall"] - lost}
    assert [each["target"] for each in needs_review(found)] == said


def test_the_summary_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"p{number}", "text": text} for number, text in enumerate(pages(41))]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    printed = run("dedup", "a.jsonl", "-o", "out", "--by", "words:1", "--exact").stderr
    assert "review      1 cluster looks like pages of one template: 40 documents removed\n" in printed
    assert lines(printed)["borderline"] == "'p1', a duplicate of 'p0': similarity 0.8182"
    assert lines(printed)["next"] == "likewise show out p1"
