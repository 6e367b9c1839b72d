"""The pages of result files in a browser: narrow and wide, light and dark, with the keyboard alone, without scripts, and with hostile data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import likewise as lw
import newspaper
from seen import SCHEMES, WIDTHS, seen
from services import Service, command

PATHS = ("/", "/passages", "/pairs/2", "/search?id=essay-02")


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("quoted")
    with command(newspaper.quoted(folder), folder / "served") as found:
        yield found


@pytest.mark.parametrize("path", PATHS)
def test_pages_fit_each_width_and_have_no_finding_of_axe(browser: Browser, explored: Service, path: str) -> None:
    with seen(browser, explored.url + path, bypass_csp=True) as page:  # axe-core is put into the page
        for width, scheme in zip(WIDTHS, (*SCHEMES, *SCHEMES), strict=False):  # colors do not depend on the width
            page.at(width, scheme)
            assert page.too_wide() == [], f"{width} px, {scheme}"
            assert page.findings() == [], f"{width} px, {scheme}"


def test_the_keyboard_reaches_every_control(browser: Browser, explored: Service) -> None:
    with seen(browser, f"{explored.url}/pairs/2") as page:
        controls = page.controls()
        reached, dim = page.reached()
        assert controls > 5 and reached == set(range(controls)) and dim == []


def test_the_number_of_a_passage_leads_to_the_other_side_without_scripts(browser: Browser, explored: Service) -> None:
    with seen(browser, f"{explored.url}/pairs?sort=passages", script=False) as page:
        page.page.locator("tbody a").first.click()
        page.at(WIDTHS[0])
        for here, there in (("l2", "r2"), ("r2", "l2")):
            page.page.locator(f"#{here}").click()
            assert page.page.locator(f"#{there}").evaluate("e => e.matches(':target')")
            top = page.page.locator(f"#{there}").bounding_box()
            assert top is not None and 0 <= top["y"] < 900  # in sight


def test_a_choice_of_an_order_is_taken_at_once(browser: Browser, explored: Service) -> None:
    with seen(browser, f"{explored.url}/passages") as page:
        page.page.mouse.click(1, 1)  # choices by keyboard wait for the button
        with page.page.expect_navigation():
            page.page.get_by_label("Sort by").select_option("least")
        values = [float(text) for text in page.page.locator("td[data-name=similarity]").all_inner_texts()]
        assert values == sorted(values) and values[0] < 1


def test_hostile_ids_texts_and_sources_are_text(browser: Browser, tmp_path: Path) -> None:
    """Texts and their near-duplicates as passages, and as pairs."""
    words = []
    [path] = newspaper.written(tmp_path, {"<img src=x onerror=alert(1)>": newspaper.hostile()})
    lw.quotes(path, path).write(tmp_path / "<b>quotes.parquet")
    lw.pairs(path, threshold=0.6).write(tmp_path / "<b>pairs.parquet")
    for name, first in (("quotes", "/"), ("pairs", "/search?id=%3Cscript%3E")):
        with command(tmp_path / f"<b>{name}.parquet", tmp_path / name) as served:
            for path_ in (first, "/pairs?sort=place", "/pairs/2"):
                with seen(browser, served.url + path_) as page:
                    assert page.page.evaluate("window.hacked") is None
                    assert page.page.locator("[src=x], [onerror], [onload], [href^=javascript], main i, b").count() == 0
                    page.at(WIDTHS[0])
                    assert page.too_wide() == [], path_
                    words.append(page.words())
    assert [one for one in newspaper.HOSTILE if any(newspaper.visible(one) in said for said in words)] == list(newspaper.HOSTILE)
