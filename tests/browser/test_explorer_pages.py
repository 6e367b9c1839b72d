"""The explorer in a browser: narrow and wide, light and dark, with the keyboard alone, and without scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import likewise as lw
import newspaper
from likewise.report.verdicts import path_of
from seen import SCHEMES, WIDTHS, seen
from services import Service, command

PATHS = ("/", "/clusters", "/clusters/0", "/review", "/search?id=1", "/plan")
#: Further states of pages, with the status of the answer.
STATES = {
    "/clusters?sort=least&source=shop.jsonl": 200,
    "/clusters/0?view=shared": 200,
    "/search?id=page-002": 200,
    "/search?id=copy-000": 200,
    "/review?range=all": 200,
    "/plan?limit=2": 200,
    "/nowhere": 404,
    "/clusters/99999": 404,
    "/clusters?sort=nothing": 422,
}


@pytest.fixture(scope="module")
def explored(output: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with command(output, tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.mark.parametrize("path", PATHS)
def test_pages_fit_each_width_and_have_no_finding_of_axe(browser: Browser, explored: Service, path: str) -> None:
    with seen(browser, explored.url + path, bypass_csp=True) as page:  # axe-core is put into the page
        for width in WIDTHS:
            for scheme in SCHEMES:
                page.at(width, scheme)
                assert page.too_wide() == [] == page.small(), f"{width} px, {scheme}"
                assert page.findings() == [], f"{width} px, {scheme}"


@pytest.mark.parametrize("path", STATES)
def test_hits_errors_and_empty_lists_fit_and_have_no_finding_of_axe(browser: Browser, explored: Service, path: str) -> None:
    with seen(browser, explored.url + path, status=STATES[path], bypass_csp=True) as page:
        for width in WIDTHS:
            page.at(width, SCHEMES[1])
            assert page.too_wide() == [], f"{width} px"
        page.at(WIDTHS[0], SCHEMES[1])
        assert page.findings() == []


def test_pages_of_an_index_fit_and_find_a_pasted_text(browser: Browser, output: Path, tmp_path: Path) -> None:
    pasted = next(iter(newspaper.records()["mirror"]))["text"]
    lw.Index.from_output(tmp_path / "seen.lw", output)
    with command(tmp_path / "seen.lw", tmp_path / "served") as served:
        for path in ("/", "/search?id=page-000", "/search"):
            with seen(browser, served.url + path, bypass_csp=True) as page:
                if path == "/search":
                    page.page.locator("textarea").fill(pasted)
                    page.one("button", "Find similar items").click()
                    assert page.page.locator("tbody tr").first.inner_text().split()[1] == "1.0000"
                page.at(WIDTHS[0], SCHEMES[1])
                assert page.too_wide() == [] and page.findings() == []


@pytest.mark.parametrize("path", PATHS)
def test_the_keyboard_reaches_every_control(browser: Browser, explored: Service, path: str) -> None:
    with seen(browser, explored.url + path) as page:
        controls = page.controls()
        reached, dim = page.reached()
        assert controls > 5 and reached == set(range(controls)) and dim == []


@pytest.mark.parametrize("path", PATHS)
def test_without_scripts_the_same_can_be_read(browser: Browser, explored: Service, path: str) -> None:
    texts = []
    for script in (False, True):
        with seen(browser, explored.url + path, script=script) as page:
            texts.append([one.inner_text() for one in page.page.locator("h1, h2, th, .text").all()])
    assert texts[0] == texts[1] and len(texts[0]) > 1


def test_pairs_are_judged_by_keys_and_a_verdict_is_undone(browser: Browser, explored: Service, output: Path) -> None:
    path_of(output).unlink(missing_ok=True)
    with seen(browser, f"{explored.url}/review?range=all") as page:
        for key, before in (("s", "1 pair has"), ("d", "2 pairs have"), ("k", "3 pairs have"), ("u", "2 pairs have")):
            with page.page.expect_navigation():
                page.page.keyboard.press(key)
            assert before in page.words(), key
        with page.page.expect_navigation():
            page.one("button", "Skip k").click()
        assert "3 pairs have" in page.words()
    said = [json.loads(line)["verdict"] for line in path_of(output).read_text().splitlines()]
    assert said == ["same", "different", "skip", "undo", "skip"]


def test_the_slider_of_the_planner_shows_the_plan_of_the_server(browser: Browser, explored: Service) -> None:
    with seen(browser, f"{explored.url}/plan") as page:
        with page.page.expect_response(lambda answer: "part=yes" in answer.url):
            page.one("slider", "limit, slider").fill("0.9")
        page.page.wait_for_function("document.querySelector('#result').textContent.includes('threshold 0.9')")
        live = page.page.locator("#result").inner_text()
        assert page.one("textbox", "Threshold").input_value() == "0.9"
        page.page.reload()  # the address names the plan
        assert page.page.locator("#result").inner_text() == live


def test_a_choice_of_members_compares_them(browser: Browser, explored: Service) -> None:
    with seen(browser, f"{explored.url}/clusters/0?a=0&b=1") as page:
        with page.page.expect_navigation():
            page.page.locator("input[name=a][value='1']").check()
        assert "a=1" in page.page.url


def test_choices_by_keyboard_wait_for_the_button(browser: Browser, explored: Service) -> None:
    with seen(browser, f"{explored.url}/clusters/0?a=0&b=1") as page:
        page.page.locator("input[name=a][value='0']").focus()
        page.page.keyboard.press("ArrowDown")
        assert page.page.locator("input[name=a][value='1']").is_checked() and "a=0" in page.page.url
        with page.page.expect_navigation():
            page.page.keyboard.press("Enter")
        assert "a=1" in page.page.url
