"""How similar removed items are to the kept ones, in the report; and a warning where a cluster looks like pages of one template."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from command_line import lines, run
from likewise.report import removals
from likewise.report.html import render
from likewise.runs.outcome import in_a_line
from likewise.stages.bins import bins_of

#: Words of a template, and of the text of one page: with words:1 two pages share 180 of 180 + 2 x 20 words, a similarity of 180 / 220 = 0.818.
SHARED, OWN = 180, 20


def words(lead: str, number: int) -> list[str]:
    return [f"{lead}{i}" for i in range(number)]


def pages(number: int) -> list[str]:
    return [" ".join(words("menu", SHARED) + words(f"page{page}n", OWN)) for page in range(number)]


def copies(number: int) -> list[str]:
    """A text of 200 words and edited copies of it, each with two words replaced: 198 of 202 words shared, a similarity of 0.980."""
    return [" ".join(words("text", 198) + words(f"edit{copy}n", 2)) for copy in range(number)]


def report(texts: list[str], **choices: Any) -> dict[str, Any]:
    return lw.dedup(texts, **{"by": "words:1", "exact": True, **choices}).report


def printed(found: dict[str, Any]) -> list[str]:
    return [message for message in found["warnings"] if "template" in message]


def test_pages_of_a_template_are_reported() -> None:
    found = report(pages(61))
    assert found["counts"]["removed_near"] == 60
    assert found["removals"]["near"] == 60 and found["removals"]["median"] == 180 / 220
    assert found["removals"]["by_value"][0] == [0.8, 0.82, 60]
    [message] = printed(found)
    assert message.startswith(
        "1 large cluster looks like pages of one template rather than duplicates: 60 documents were removed, most at a similarity from 0.8 to 0.9. "
        "The kept document is 0 (60 removed, 100% in this range). Check some with likewise show"
    )
    assert found["removals"]["templates"] == {"number": 1, "removed": 60}
    [cluster] = found["suspicious"]
    assert [cluster[name] for name in ("representative", "source", "position", "items", "near", "low", "sources")] == [
        0,
        "memory.arrow",
        0,
        61,
        60,
        60,
        1,
    ]
    assert cluster["least"] == cluster["median"] == 180 / 220 and cluster["reasons"] == ["template"]
    assert [member["id"] for member in cluster["members"]] == [1, 2, 3, 4, 5] and cluster["text"].startswith("menu0 menu1 ")
    assert found["clusters"]["largest"] == [cluster]


def test_edited_and_exact_copies_are_not() -> None:
    found = report([*copies(100), *["one text that is there often"] * 100])
    assert found["counts"]["removed_near"] == 99 and found["counts"]["removed_exact"] == 99
    assert found["removals"]["by_value"][-1] == [0.98, 1.0, 99] and found["removals"]["median"] == 198 / 202
    assert found["removals"]["templates"]["number"] == 0 and not printed(found)


@pytest.mark.parametrize(("number", "warned"), [(30, 0), (31, 1)])
def test_small_clusters_are_not(number: int, warned: int) -> None:
    assert len(printed(report(pages(number)))) == warned


@pytest.mark.parametrize(("higher", "warned"), [(10, 1), (11, 0)])
def test_three_quarters_lie_in_the_lower_half(higher: int, warned: int) -> None:
    """30 pages below 0.9, and ``higher`` variants of the kept page with a similarity of 198 / 202."""
    first = pages(1)[0].split()
    near = [" ".join(first[:-2] + words(f"edit{i}n", 2)) for i in range(higher)]
    assert len(printed(report([*pages(31), *near]))) == warned


def test_several_are_named_the_largest_first_and_the_rest_counted() -> None:
    texts = [text.replace("menu", f"kind{kind}menu").replace("page", f"kind{kind}page") for kind in range(4) for text in pages(32 + kind)]
    [message] = printed(report(texts))
    assert message.startswith("4 large clusters each look like pages of one template rather than duplicates: 130 documents were removed")
    named = [f"{first} ({number} removed, 100% in this range)" for first, number in ((99, 34), (65, 33), (32, 32))]
    assert f"The kept documents are {', '.join(named)} and others. " in message


def test_an_item_without_an_id_of_its_own_is_named_by_its_place() -> None:
    assert removals.called({"source": "a.jsonl", "position": 7, "representative": None}) == "record 8 of a.jsonl"


def binned(values: list[float], limit: float, *, distances: bool = False, whole: bool = False) -> list[list[float]]:
    bins = bins_of(limit, distances=distances, whole=whole)
    return bins.listed(bins.count(np.array(values)))


def test_bins_hold_all_values_once() -> None:
    """An edge belongs to the bin that begins there, equality to the last one."""
    found = binned([0.8, 0.82, 0.8199, 0.99, 1.0, 1.0 + 1e-12], 0.8)
    assert [number for _, _, number in found] == [2, 1, 0, 0, 0, 0, 0, 0, 0, 3]
    assert [edge for edge, _, _ in found] == [0.8, 0.82, 0.84, 0.86, 0.88, 0.9, 0.92, 0.94, 0.96, 0.98] and found[-1][1] == 1
    assert binned([0.0, 5.0, 12.5], 12.5, distances=True)[4] == [5.0, 6.25, 1]
    assert binned([1.0] * 3, 1.0) == [[1.0, 1.0, 3]]
    assert binned([1.0, 3.0, 3.0], 3, distances=True, whole=True) == [[0, 0, 0], [1, 1, 1], [2, 2, 0], [3, 3, 2]]
    few = [[i, i + 2, 0] for i in range(6, 24, 3)]
    assert binned([0.0, 4.0, 25.0], 25, distances=True, whole=True) == [[0, 2, 1], [3, 5, 1], *few, [24, 25, 1]]


def test_other_kinds_have_a_distribution_and_no_templates() -> None:
    found = lw.dedup(["anna", "hanna", "hannah", "otto"], by="levenshtein", within=2).report["removals"]
    histogram = {"first": 0, "step": 1, "counts": [0, 1, 1]}
    assert found == {"near": 2, "median": 1.5, "by_value": [[0, 0, 0], [1, 1, 1], [2, 2, 1]], "histogram": histogram}
    vectors = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], np.float32)
    found = lw.dedup(vectors, by="cosine", threshold=0.9).report["removals"]
    assert found["near"] == 1 and found["by_value"][9][2] == 1 and "templates" not in found
    found = lw.dedup(vectors, by="l2", within=0.5).report["removals"]
    assert [number for _, _, number in found["by_value"]] == [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]  # at a distance of 0.1, the edge of the third bin


def test_what_was_not_compared_has_no_distribution() -> None:
    found = lw.dedup(copies(3), by="words:1", verify="none").report
    assert found["counts"]["removed"] == 2 and found["removals"]["near"] == 0 and found["removals"]["median"] is None


def test_it_is_said_in_the_summary_and_on_the_page(folder: Path) -> None:
    rows = [{"id": f"p{number}", "text": text} for number, text in enumerate([*pages(40), *copies(5)])]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = run("dedup", "a.jsonl", "-o", "out", "--by", "words:1", "--exact")
    assert result.exit_code == 0, result.output
    assert lines(result.stderr)["similar"] == "0.8-0.84: 39, 0.96-1: 4"
    assert (
        result.stderr.count("1 large cluster looks like pages of one template") == 1
        and "The kept document is 'p0' (39 removed, 100% in this range)" in result.stderr
    )
    document = json.loads(Path("out/report.json").read_text())
    page = Path("out/report.html").read_text()
    assert "Similarity of removed and kept documents" in page and "Clusters to check" in page and "menu0 menu1 menu2" in page
    assert "The chart shows 43 near-duplicates by similarity to the document that was kept instead. The median is 0.8182." in page
    assert "0.81-0.82: 39 near-duplicates" in page and "0.98-0.99: 4 near-duplicates" in page

    (cluster,) = document["suspicious"]
    first, second, *others = cluster["members"]
    kept, removed = pages(40)[0], next(text for row, text in zip(rows, pages(40), strict=False) if row["id"] == first["id"])
    for what, text in first["difference"]:
        assert all(part.strip() in (kept if what == "insert" else removed) for part in text.split("…"))
    assert {what for what, _ in first["difference"]} == {"equal", "delete", "insert"} and second["difference"]
    assert not any("difference" in other for other in others) and "<details open" in page and "<ins>" in page

    del document["removals"]  # as an earlier version wrote it
    assert "Similarity of removed and kept documents" not in render(document, None, [])
    assert in_a_line(document) is None
