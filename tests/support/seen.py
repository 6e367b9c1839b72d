"""Pages in Debian's Chromium, with all that it reports about them: errors, requests, findings of axe-core."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, sync_playwright

#: Widths of a phone, a tablet and a screen, in CSS pixels.
WIDTHS = (360, 800, 1440)
SCHEMES = ("light", "dark")
#: Milliseconds in which a busy machine answers.
PATIENCE = 60_000
#: The rules of WCAG 2.2, A and AA, and the best practices of axe-core.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
#: Controls that the keyboard must reach.
CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']"


@contextmanager
def started() -> Iterator[Browser]:
    """Chromium without a window. Its driver keeps an event loop in this thread, so it must end before other tests start one of their own."""
    program = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    assert program, "Chromium is missing: tools/chromium installs it (Debian: chromium)"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--disable-dev-shm-usage"], timeout=PATIENCE)
        yield browser
        browser.close()


class Seen:
    """A page in a tab of its own, and what Chromium reported since it was opened."""

    def __init__(self, page: Page, own: str):
        """own: the beginning of the addresses that the page may load."""
        self.page, self.own = page, own
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda said: self.errors.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: (self.errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.context.on("request", lambda request: self.requests.append(request.url))

    def at(self, width: int, scheme: str = "light", height: int = 900) -> None:
        """Give the window a width and a color scheme."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]

    def check(self) -> None:
        """Check that nothing went wrong and that nothing was asked of another place."""
        assert self.errors == []
        assert [address for address in self.requests if not address.startswith((self.own, "data:"))] == []

    def too_wide(self) -> list[str]:
        """The elements that make the page scroll sideways; [] if it does not."""
        return self.page.evaluate(TOO_WIDE)

    def small(self) -> list[str]:
        """The controls that are too small for a finger, and small letters in charts; links in a text are as high as its lines."""
        return self.page.evaluate(SMALL)

    def findings(self) -> list[str]:
        """The findings of axe-core: the rule, the fault, and the elements."""
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
        found = self.page.evaluate("rules => axe.run({runOnly: {type: 'tag', values: rules}, resultTypes: ['violations']})", RULES)
        return [f"{one['id']}: {node['failureSummary']} {node['html'][:300]}" for one in found["violations"] for node in one["nodes"]]

    def controls(self) -> int:
        """The number of visible controls. Each gets a mark that `reached` reads."""
        return self.page.evaluate(MARK, CONTROLS)

    def reached(self) -> tuple[set[int], list[str]]:
        """The numbers of the controls that Tab reaches from the top of the page, and those of them that show no focus."""
        numbers: set[int] = set()
        dim: list[str] = []
        self.page.evaluate("document.activeElement.blur(); window.getSelection().removeAllRanges(); window.scrollTo(0, 0)")
        first = None
        for _ in range(2000):
            self.page.keyboard.press("Tab")
            number, shown, element = self.page.evaluate(FOCUSED)
            if element == "BODY" or (number is not None and number == first):
                break
            if number is not None:
                first = number if first is None else first
                numbers.add(number)
            if not shown:
                dim.append(element)
        return numbers, dim

    def words(self) -> str:
        """The text of the page, also where it is folded in."""
        return self.page.locator("body").evaluate("body => body.textContent")

    def one(self, role: str, name: str) -> Locator:
        """The control with this role and name, as a screen reader says them."""
        return self.page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]


@contextmanager
def seen(browser: Browser, address: str | Path, *, script: bool = True, status: int = 200, **more: Any) -> Iterator[Seen]:
    """Open a page, by its file or address; at the end, check that it had no errors and loaded nothing from elsewhere. status: of the answer."""
    url = address.as_uri() if isinstance(address, Path) else address
    own = url if isinstance(address, Path) else "/".join(url.split("/")[:3]) + "/"
    context = browser.new_context(java_script_enabled=script, reduced_motion="reduce", **more)
    context.set_default_timeout(PATIENCE)
    try:
        found = Seen(context.new_page(), own)
        found.at(WIDTHS[-1])
        with found.page.expect_console_message() if status != 200 else nullcontext():  # Chromium reports it, at any moment
            answer = found.page.goto(url)
        assert isinstance(address, Path) or (answer and answer.status == status)
        if status != 200:
            assert [f"status of {status}" in error for error in found.errors] == [True]
            found.errors.clear()
        yield found
        found.check()
    finally:
        context.close()


TOO_WIDE = """() => {
    const wide = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= wide) return [];
    const held = element => { for (let up = element.parentElement; up; up = up.parentElement)
        if (getComputedStyle(up).overflowX !== 'visible' && up !== document.body && up !== document.documentElement) return true; return false; };
    return [...document.body.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > wide + 1 && !held(e))
        .map(e => e.outerHTML.slice(0, 200));
}"""

SMALL = """() => {
    const shown = e => e.checkVisibility({visibilityProperty: true}), size = e => e.getBoundingClientRect();
    const target = e => e.type === 'checkbox' && e.closest('label') || e;
    const controls = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')].filter(shown);
    const fingers = controls.map(target).filter(e => getComputedStyle(e).display !== 'inline' && Math.min(size(e).width, size(e).height) < 24);
    const letters = [...document.querySelectorAll('.chart text')].filter(shown)
        .filter(e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a < 9.5 && !e.getAttribute('transform'));
    return [...fingers, ...letters].map(e => e.outerHTML.slice(0, 200));
}"""

MARK = """controls => {
    const shown = [...document.querySelectorAll(controls)].filter(e => e.checkVisibility({visibilityProperty: true}) && !e.disabled);
    const groups = new Set();
    return shown.filter(e => e.type !== 'radio' || e.checked || ![...document.getElementsByName(e.name)].some(o => o.checked))
        .filter(e => e.type !== 'radio' || !groups.has(e.name) && groups.add(e.name))
        .map((e, number) => e.dataset.control = number).length;
}"""

FOCUSED = """() => {
    const e = document.activeElement, style = getComputedStyle(e);
    const shown = e.tagName === 'BODY' || style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== 'none';
    return [e.dataset.control === undefined ? null : Number(e.dataset.control), shown, e.tagName === 'BODY' ? 'BODY' : e.outerHTML.slice(0, 200)];
}"""
