"""Pages of every kind of result in a browser: they fit, axe-core finds nothing, the keyboard reaches all, and the slider counts removals."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser

import kinds_of_pages
from seen import SCHEMES, WIDTHS, seen

#: Kinds whose pages differ most from each other; with --all, every one is looked at, at every width, in both colors.
FEW = ("vectors", "codes", "images", "lines", "empty", "quotes")
#: Pages whose removals have a slider.
SLIDERS, FEW_SLIDERS = ("texts", "sets", "weighted", "vectors", "codes", "strings", "chamfer", "images", "against"), ("sets", "codes")
#: The threshold at the slider, and the number of removals that do not reach it.
LEVEL = "JSON.parse(document.querySelector('figure').dataset.levels)[document.querySelector('#slider').value]"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    whole = metafunc.config.getoption("--all")
    for argument, every, few in (("name", kinds_of_pages.PAGES, FEW), ("with_slider", SLIDERS, FEW_SLIDERS)):
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, every if whole else few)


@pytest.fixture(scope="module")
def page_of(tmp_path_factory: pytest.TempPathFactory):
    made: dict[str, Path] = {}

    def page(name: str) -> Path:
        if name not in made:
            made[name] = kinds_of_pages.PAGES[name](tmp_path_factory.mktemp(name))
        return made[name]

    return page


def test_the_page_fits_has_no_finding_and_is_reached_by_keyboard(browser: Browser, page_of, scaled, name: str):
    with seen(browser, page_of(name)) as page:
        controls = page.controls()
        reached, dim = page.reached()
        assert reached == set(range(controls)) and dim == []
        page.page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
        for width in WIDTHS:
            page.at(width)
            assert page.too_wide() == [] == page.small(), f"{width} px"
        for width, scheme in itertools.product(*scaled((WIDTHS, SCHEMES), (WIDTHS[:1], SCHEMES[1:]))):
            page.at(width, scheme)
            assert page.findings() == [], f"{width} px, {scheme}"


def test_the_slider_counts_what_was_removed(browser: Browser, page_of, with_slider: str):
    """Each place of the slider says how many values of removed.parquet do not reach the threshold that it names."""
    path = page_of(with_slider)
    report = json.loads(path.with_name("report.json").read_text())
    removed = pq.read_table(path.with_name("removed.parquet"), columns=["reason", report["value"]])
    values = [value for reason, value in zip(*(column.to_pylist() for column in removed.columns), strict=True) if reason == "near"]
    far = report["value"] == "distance"
    with seen(browser, path) as page:
        said, slider = page.page.locator("output"), page.one("slider", "Threshold")
        slider.focus()
        last = int(slider.get_attribute("max") or 0)
        for key in ["ArrowLeft" if far else "ArrowRight"] * min(last, 12):
            page.page.keyboard.press(key)
            threshold, number = page.page.evaluate(LEVEL)
            expected = sum(value > float(threshold) if far else value < float(threshold) for value in values)
            assert number == expected and f"{threshold}, {expected:,} of the {len(values):,} near-duplicate" in said.inner_text()


def test_links_of_the_page_of_quotations_lead_to_passages_and_back(browser: Browser, page_of):
    with seen(browser, page_of("quotes")) as page:
        page.page.locator("a[href='#c1-1']").click()
        assert page.page.locator("#c1-1:target").count() == 1
        back = page.page.locator("#c1-1 a[href='#s1-1']")
        back.focus()
        page.page.keyboard.press("Enter")
        assert page.page.locator("#s1-1:target").count() == 1
