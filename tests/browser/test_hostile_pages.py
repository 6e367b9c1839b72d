"""Hostile ids, contents and sources in a browser, in the pages of every kind of result: all of it is text, and fits."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

import hostile_pages
import newspaper
from seen import WIDTHS, seen
from services import command

#: The elements that a page would have if it took the data for markup.
MARKUP = "[src=x], [onerror], [onload], [href^='javascript:'], main i, main svg[onload], script:not([src]):not(:last-child)"
#: Kinds whose explorer is read, too; with --all, each of those that have one.
EXPLORED, ALL = ("texts", "sets"), ("texts", "sets", "weighted", "strings", "vectors", "codes", "lines")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "explored" in metafunc.fixturenames:
        metafunc.parametrize("explored", ALL if metafunc.config.getoption("--all") else EXPLORED)


def check(page, name: str) -> str:
    """The words of a page, in which no data has become markup and nothing is too wide for a phone."""
    assert page.page.evaluate("window.hacked") is None
    assert page.page.locator(MARKUP).count() == 0
    page.page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    page.at(WIDTHS[0])
    assert page.too_wide() == [], name
    return page.words()


def missing(words: str) -> list[str]:
    """The hostile words that do not occur as text; a page shows the beginning of a long one."""
    return [word for word in hostile_pages.WORDS if newspaper.visible(word[:60]) not in words]


@pytest.mark.parametrize("name", hostile_pages.PAGES)
def test_hostile_data_is_text_in_the_page_of_a_result(browser: Browser, tmp_path: Path, name: str):
    with seen(browser, hostile_pages.PAGES[name](tmp_path)) as page:
        words = check(page, name)
        assert hostile_pages.SOURCE in words
        left = missing(words)
        assert left == [] if name == "quotes" else len(left) < len(hostile_pages.WORDS)  # a report shows examples


def test_hostile_data_is_text_in_the_explorer(browser: Browser, tmp_path: Path, explored: str):
    out = hostile_pages.PAGES[explored](tmp_path).parent
    words = ""
    with command(out, tmp_path / "served") as served:
        clusters = len(hostile_pages.WORDS)
        paths = ["/", "/clusters", *(f"/clusters/{number}" for number in range(clusters)), "/review?range=all", "/search?id=%3Cimg%3E", "/plan"]
        with seen(browser, served.url + "/") as page:
            for path in paths:
                page.page.goto(served.url + path)
                words += check(page, path)
    assert missing(words) == []
