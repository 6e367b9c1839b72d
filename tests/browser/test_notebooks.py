"""Results as a notebook shows them: with headers for screen readers, readable on light and dark pages, and each figure once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import likewise as lw
import newspaper
import notebook_pages
from seen import SCHEMES, WIDTHS, seen


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of verbs for a corpus in files."""
    paths = newspaper.written(tmp_path_factory.mktemp("notebook"), newspaper.records())
    removal = lw.dedup(paths, threshold=0.7)
    return {
        "removal": removal,
        "removed": removal.removed,
        "clusters": removal.clusters,
        "pairs": lw.pairs(paths, threshold=0.7),
        "audit": lw.audit(paths, threshold=0.7, sample=50),
        "plan": lw.plan(threshold=0.7),
        "plans": lw.plan(threshold=0.7, layouts="5x10,10x5"),
        "quotes": lw.quotes(paths[1:2], paths[:1]),
    }


def test_outputs_have_no_finding_of_axe_on_light_and_dark_pages(browser: Browser, results: dict[str, Any], tmp_path: Path):
    output = "".join(f"<h2>{name}</h2>{result._repr_html_()}" for name, result in results.items())
    for scheme in SCHEMES:
        path = tmp_path / f"{scheme}.html"
        path.write_text(notebook_pages.page(output, scheme), encoding="utf-8")
        with seen(browser, path) as page:
            for width in WIDTHS[1:]:
                page.at(width)
                assert page.findings() == [], f"{scheme}, {width} px"
                assert page.too_wide() == [], f"{scheme}, {width} px"
            assert page.page.locator("table:not(:has(caption))").count() == 0
            assert page.page.locator("th:not([scope])").count() == 0


def test_the_parts_of_the_bar_of_a_removal_add_up_to_the_records_read(results: dict[str, Any]):
    removal = results["removal"]
    (legend,) = re.findall(r'<ul class="legend">.*?</ul>', removal._repr_html_())
    parts = [int(number.replace(",", "")) for number in re.findall(r"<b>([\d,]+)</b>", legend)]
    assert sum(parts) == removal.counts["read"] > 0


def test_pairs_show_both_texts_and_a_chart_of_all_similarities(browser: Browser, results: dict[str, Any], tmp_path: Path):
    pairs = results["pairs"]
    path = tmp_path / "pairs.html"
    path.write_text(notebook_pages.page(pairs._repr_html_()), encoding="utf-8")
    with seen(browser, path) as page:
        assert page.page.get_by_role("columnheader").all_inner_texts() == ["id_a", "text_a", "id_b", "text_b", "similarity"]
        assert page.page.locator("caption").inner_text() == f"Pairs: {len(pairs):,} rows, 3 columns"
        first = page.page.locator("tbody tr").first.locator("td").all_inner_texts()
        label = page.page.get_by_role("img").get_attribute("aria-label")
    row = pairs.head(1).with_text()[0]
    assert first == [row["id_a"], row["text_a"], row["id_b"], row["text_b"], f"{row['similarity']:.4f}"]
    assert sum(int(number.replace(",", "")) for number in re.findall(r": ([\d,]+) pair", label)) == len(pairs)


def test_few_pairs_have_no_chart_and_contents_that_are_gone_are_left_out(tmp_path: Path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": 1, "text": "a b c d e f"}\n{"id": 2, "text": "a b c d e f"}\n')
    pairs = lw.pairs(path, threshold=0.7)
    assert "<td" in pairs._repr_html_() and "text_a" in pairs._repr_html_() and 'role="img"' not in pairs._repr_html_()
    path.unlink()
    assert "text_a" not in pairs._repr_html_()


def test_a_plan_shows_its_curve_as_an_image_with_a_description(browser: Browser, results: dict[str, Any], tmp_path: Path):
    plan = results["plan"]
    path = tmp_path / "plan.html"
    path.write_text(notebook_pages.page(plan._repr_html_()), encoding="utf-8")
    with seen(browser, path) as page:
        image = page.page.get_by_role("img")
        assert image.evaluate("image => image.complete && image.naturalWidth") > 300
        assert "threshold" in image.get_attribute("alt")
        cells = dict(row.locator("td").all_inner_texts() for row in page.page.locator("table").first.locator("tbody tr").all())
    assert cells["0.7 (threshold)"] == "99.0%"  # the recall that the plan expects, 0.9903
    assert plan.recall == pytest.approx(0.9903, abs=1e-4)
