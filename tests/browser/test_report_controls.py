"""The controls of report.html in a browser: the slider, the boxes that show all, the copy button, links into what is closed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from likewise.report.html import render
from report_pages import CLUSTER, FOUND, example, report, run_facts
from seen import WIDTHS, seen


@pytest.fixture
def page_file(tmp_path: Path) -> Path:
    long = "\n".join(f"line {number}" for number in range(80))
    pairs = [example(long, f"{long} more", similarity=0.82), example("one", "two", similarity=0.93)]
    review = [{"text": "the recall", "target": "recall"}]
    sizes = {"number": 1_155_000, "largest": 321, "by_size": {"2": 1_154_690, "257-512": 310}}
    found = report(removals=FOUND, suspicious=[CLUSTER], needs_review=review, buckets=sizes)
    path = tmp_path / "report.html"
    path.write_text(render(found, run_facts() | {"command": "likewise dedup in -o 'out 1'"}, pairs))
    return path


def test_the_slider_counts_what_a_higher_threshold_leaves(browser: Browser, page_file: Path):
    with seen(browser, page_file) as page:
        slider, said = page.one("slider", "Threshold"), page.page.locator("output")
        assert slider.is_visible() and said.inner_text() == "Move the slider to try a stricter threshold."
        slider.focus()
        for threshold, number, share in (("0.85", "5", "50.0%"), ("0.9", "8", "80.0%"), ("0.95", "8", "80.0%")):
            page.page.keyboard.press("ArrowRight")
            assert said.inner_text().startswith(f"At a threshold of {threshold}, {number} of the 10 near-duplicates ({share}) would not be similar")
            assert slider.get_attribute("aria-valuetext") == said.inner_text()
        columns = page.page.locator(".columns > span")
        assert [columns.nth(place).evaluate("e => e.style.getPropertyValue('--apart')") for place in range(4)] == ["100%"] * 3 + ["0%"]
        apart = page.page.locator("article[data-value]").evaluate_all("all => all.map(e => e.classList.contains('apart'))")
        assert apart == [True, True]
        page.page.keyboard.press("ArrowLeft")
        assert page.page.locator("article.apart").count() == 1  # 0.82 is below 0.9, 0.93 is not
        page.page.keyboard.press("Home")
        assert said.inner_text().startswith("At a threshold of 0.8, 0 of the 10 near-duplicates (0%)") and page.page.locator(".apart").count() == 0


def test_long_boxes_show_all_by_keyboard_and_without_scripts(browser: Browser, page_file: Path):
    for script in (True, False):
        with seen(browser, page_file, script=script) as page:
            boxes = page.page.locator(".limited")
            assert boxes.count() == 2
            heights = "all => all.map(e => [e.clientHeight, e.scrollHeight])"
            assert all(shown < whole for shown, whole in boxes.evaluate_all(heights))
            page.one("checkbox", "Show all of both").focus()
            page.page.keyboard.press("Space")
            assert all(shown == whole for shown, whole in boxes.evaluate_all(heights))


def test_the_command_line_is_copied(browser: Browser, page_file: Path):
    with seen(browser, page_file, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.page.evaluate("window.setTimeout = () => 0")  # "Copied" stays until it is seen
        page.one("button", "Copy").click()
        page.one("button", "Copied").wait_for()
        assert page.page.evaluate("navigator.clipboard.readText()") == "likewise dedup in -o 'out 1'"
    with seen(browser, page_file, script=False) as page:
        assert page.page.locator("button").count() == 1 and not page.page.locator("button").is_visible()


def test_a_link_opens_what_is_closed(browser: Browser, page_file: Path):
    with seen(browser, page_file) as page:
        assert not page.page.locator("#recall").is_visible()
        page.one("link", "the recall").click()
        page.page.locator("#recall").wait_for(state="visible")
        assert json.loads(str(page.page.locator("figure").get_attribute("data-levels")))[0] == ["0.8", 0]


def test_large_numbers_and_what_is_closed_fit_on_a_phone(browser: Browser, page_file: Path):
    with seen(browser, page_file) as page:
        page.at(WIDTHS[0])
        page.page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
        assert page.too_wide() == [] and page.page.locator(".bars .number").first.is_visible()
        right = "all => Math.max(...all.map(e => e.getBoundingClientRect().right))"
        assert page.page.locator(".bars .number, .chart text, .histogram span").evaluate_all(right) <= WIDTHS[0]
