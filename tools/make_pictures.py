"""Make the pictures of pages in docs/images: the report, the explorer and a notebook, of a corpus that tests make. Needs Chromium (tools/chromium).

tests/browser/test_pictures.py checks that the pictures exist, are small, and have the sizes that this tool gives them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "src")]

import likewise as lw  # noqa: E402
import newspaper  # noqa: E402
import notebook_pages  # noqa: E402
import seen  # noqa: E402
from services import command  # noqa: E402

FOLDER = ROOT / "docs/images"
#: Colors of a picture: few enough for a small file, many enough for smooth letters.
COLORS = 64
#: Parts of a page that differ from run to run.
CHANGING = "document.querySelectorAll('time').forEach(e => { e.previousSibling?.remove(); e.remove(); })"


class Picture(NamedTuple):
    """A picture of the upper part of a page."""

    name: str
    address: str  # of the page, below that of its kind
    size: tuple[int, int]  # CSS pixels
    scheme: str = "light"
    before: Callable[[Page], object] | None = None  # what to do on the page first


def slide(page: Page) -> None:
    """Move the slider of the report a little."""
    page.get_by_role("slider").focus()
    for _ in range(15):
        page.keyboard.press("ArrowRight")
    page.evaluate("document.activeElement.blur()")


def second(page: Page) -> None:
    """Open the second line of a list."""
    page.locator("tbody a").nth(1).click()


REPORT = [Picture(f"report-{scheme}.png", "", (1180, 1070), scheme, slide) for scheme in seen.SCHEMES]
EXPLORER = [
    Picture("explorer-clusters.png", "/clusters", (1180, 620)),
    Picture("explorer-cluster.png", "/clusters", (1180, 760), before=second),
    Picture("explorer-review.png", "/review", (1180, 640)),
]
QUOTES = [Picture("explorer-quotes.png", "/pairs?sort=passages", (1180, 760), before=second)]
NOTEBOOK = [Picture("notebook.png", "", (900, 660))]


def made(browser: Browser, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each picture. folder: for the corpus and its results, empty."""
    paths = newspaper.written(folder, newspaper.records())
    (folder / "quotations").mkdir()
    lw.dedup(paths, out=folder / "clean", threshold=0.7)
    page = folder / "notebook.html"
    page.write_text(notebook_pages.page(lw.dedup(paths, threshold=0.7)._repr_html_()).replace("<h1>Notebook</h1>", ""), encoding="utf-8")
    with ExitStack() as stack:
        served = stack.enter_context(command(folder / "clean", folder / "served"))
        quoted = stack.enter_context(command(newspaper.quoted(folder / "quotations"), folder / "quoted"))
        report = (folder / "clean/report.html").as_uri()
        for start, pictures in ((report, REPORT), (served.url, EXPLORER), (quoted.url, QUOTES), (page.as_uri(), NOTEBOOK)):
            for one in pictures:
                yield one.name, drawn(browser, start + one.address, one)


def drawn(browser: Browser, address: str, picture: Picture) -> bytes:
    """The picture of a page as PNG."""
    width, height = picture.size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=picture.scheme, reduced_motion="reduce")
    try:
        page.goto(address)
        if picture.before:
            picture.before(page)
        assert page.locator(".banner").count() == 0  # such as one of inputs that changed
        page.evaluate(CHANGING)
        return fewer_colors(page.screenshot())
    finally:
        page.close()


def fewer_colors(png: bytes) -> bytes:
    """The picture with COLORS colors."""
    file = BytesIO()
    Image.open(BytesIO(png)).convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


if __name__ == "__main__":
    with TemporaryDirectory() as folder, seen.started() as browser:
        for name, content in made(browser, Path(folder)):
            (FOLDER / name).write_bytes(content)
            print(f"{name}: {len(content):,} bytes")
