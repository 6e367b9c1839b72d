"""report.html in a browser: narrow and wide, light and dark, with the keyboard alone, without scripts, and on paper."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import newspaper
from seen import SCHEMES, WIDTHS, seen

#: Parts that are still folded in.
FOLDED = "[...document.querySelectorAll('details > :last-child')].filter(e => !e.checkVisibility()).length"


def test_the_page_fits_each_width_and_has_no_finding_of_axe(browser: Browser, output: Path):
    with seen(browser, output / "report.html") as page:
        for width in WIDTHS:
            for scheme in SCHEMES:
                page.at(width, scheme)
                assert page.too_wide() == [] == page.small(), f"{width} px, {scheme}"
                assert page.findings() == [], f"{width} px, {scheme}"


def test_the_keyboard_reaches_every_control_and_each_shows_its_focus(browser: Browser, output: Path):
    with seen(browser, output / "report.html") as page:
        controls = page.controls()
        reached, dim = page.reached()
        assert controls > 0
        assert reached == set(range(controls))
        assert dim == []


def test_without_scripts_everything_can_be_read(browser: Browser, output: Path):
    with seen(browser, output / "report.html", script=False) as page:
        without = page.page.locator("body").inner_text()
    counts = json.loads((output / "report.json").read_text())["counts"]
    for name in ("read", "kept", "removed"):
        assert f"{counts[name]:,}" in without
    with seen(browser, output / "report.html") as page:
        headings = page.page.locator("h1, h2").all_inner_texts()
    assert len(headings) > 3
    assert [heading for heading in headings if heading not in without] == []


def test_hostile_ids_texts_and_sources_are_text(browser: Browser, hostile: Path):
    with seen(browser, hostile / "report.html") as page:
        assert page.page.evaluate("window.hacked") is None
        assert page.page.locator("[src=x], [onerror], [onload], [href^=javascript], i").count() == 0
        words = page.words()
        shown = [words for example in newspaper.HOSTILE if newspaper.visible(example) in words]
        assert len(shown) == len(newspaper.HOSTILE)
        page.at(WIDTHS[0])
        assert page.too_wide() == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_on_paper_the_page_is_light_and_nothing_is_folded_in(browser: Browser, output: Path, scheme):
    with seen(browser, output / "report.html") as page:
        page.at(WIDTHS[1], scheme)
        assert page.page.evaluate(FOLDED) > 0
        page.page.emulate_media(media="print", color_scheme=scheme)
        assert page.page.evaluate(FOLDED) == 0
        assert page.page.evaluate("getComputedStyle(document.body).backgroundColor") in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
        assert page.page.pdf().startswith(b"%PDF")
