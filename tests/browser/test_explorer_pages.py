"""The explorer in a browser: narrow and wide, light and dark, with the keyboard alone, without scripts, and with hostile data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import newspaper
from likewise.report.verdicts import path_of
from seen import SCHEMES, WIDTHS, seen
from services import Service, command

PATHS = ("/", "/clusters", "/clusters/0", "/review", "/search?id=1", "/plan")


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
                assert page.too_wide() == [], f"{width} px, {scheme}"
                assert page.findings() == [], f"{width} px, {scheme}"


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


def test_hostile_ids_texts_and_sources_are_text(browser: Browser, hostile: Path, tmp_path: Path) -> None:
    words = []
    with command(hostile, tmp_path / "served") as served:
        clusters = 0
        while served.ask("GET", f"/clusters/{clusters}", token=None).status == 200:
            clusters += 1
        paths = ["/", "/clusters", *(f"/clusters/{number}" for number in range(clusters)), "/review?range=all", "/plan", "/search?id=%3Cimg%3E"]
        for path in paths:
            with seen(browser, served.url + path) as page:
                assert page.page.evaluate("window.hacked") is None
                assert page.page.locator("[src=x], [onerror], [onload], [href^=javascript], main i").count() == 0
                page.at(WIDTHS[0])
                assert page.too_wide() == [], path
                words.append(page.words())
    shown = [example for example in newspaper.HOSTILE if any(newspaper.visible(example) in one for one in words)]
    assert shown == list(newspaper.HOSTILE)
