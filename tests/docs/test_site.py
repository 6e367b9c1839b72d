"""The site: it builds without a warning, needs nothing from elsewhere, and lists every page."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import likewise as lw
from command_line import SOURCE, run

ROOT = Path(__file__).resolve().parents[2]
LIST = (ROOT / "docs/README.md").read_text()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site. Sphinx ends with an error after a warning, such as one for a link or an anchor that leads nowhere."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, str(ROOT / "tools/site/build.py"), str(folder)]
    done = subprocess.run(build, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": SOURCE}, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return folder / "html"


class Loaded(HTMLParser):
    """Files that a page loads by itself: scripts, styles, pictures, frames."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attributes if name in ("src", "srcset", "data") or (name == "href" and tag in ("link", "use"))]


def test_the_site_loads_nothing_from_elsewhere(site):
    pages, styles = [*site.rglob("*.html")], [*site.rglob("*.css")]
    assert len(pages) > 80 and styles
    loaded = [address for page in pages for address in Loaded(page.read_text()).found]
    loaded += [address for style in styles for address in re.findall(r"(?:url\(|@import )['\"]?([^'\")]+)", style.read_text())]
    assert len(loaded) > len(pages)
    assert [address for address in loaded if re.match(r"(https?:)?//", address)] == []


def test_every_page_is_on_the_site_and_in_the_navigation(site):
    """A page is in the navigation if docs/README.md lists it, or if the README of its folder does, which is listed."""
    listed = {os.path.normpath(f"docs/{link}") for link in re.findall(r"(?m)^\| \[[^\]]*\]\(([^)#]+)\) \|", LIST)}
    for page in [page for page in listed if page.endswith("/README.md")]:
        listed |= {os.path.normpath(Path(page).parent / link) for link in re.findall(r"(?m)^\| \[[^\]]*\]\(([^)#]+)\) \|", (ROOT / page).read_text())}
    there = {str(page.relative_to(ROOT)) for kind in ("*.md", "*.ipynb") for page in (ROOT / "docs").rglob(kind)} - {"docs/README.md"}
    assert there - listed == set()
    assert {page for page in listed if not (ROOT / page).exists()} == set()


def test_a_page_has_one_title():
    """The list of pages calls each by its own title. The README of the project has the name of the project."""
    for title, link in re.findall(r"(?m)^\| \[([^\]]*)\]\(([^)#]+\.md)\) \|", LIST):
        if link != "../README.md":
            assert (ROOT / "docs" / link).read_text().startswith(f"# {title}\n"), link


def test_the_first_page_shows_what_the_command_prints(monkeypatch):
    command, shown = re.search(r"\$ likewise (.*)\n((?:\{.*\n)+)", LIST).groups()
    monkeypatch.chdir(ROOT)
    assert run(*command.split()).stdout == shown


def test_the_reference_has_every_public_name_and_every_option(site):
    """Options are in a table, the other arguments in a list; the parameter that catches unknown names is in neither."""
    page = "".join(page.read_text() for page in (site / "reference/api").glob("*.html"))
    assert [name for name in lw.__all__ if not re.search(rf'id="(module-)?likewise\.{name}"', page)] == []
    dedup = re.search(r'id="likewise\.dedup".*?id="likewise\.pairs"', page, re.DOTALL)[0]
    signature, _, text = dedup.partition("</dt>")
    taken = {*inspect.signature(lw.dedup).parameters} - {"unknown"}
    assert {name for name in taken if f">{name}</span>" not in signature} == set()
    assert {name for name in taken if f'<span class="pre">{name}</span></code>' not in text and f"<strong>{name}</strong>" not in text} == set()
    assert "unknown</span>" not in dedup
