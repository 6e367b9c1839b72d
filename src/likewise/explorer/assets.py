"""The style sheet and the script of the pages of an explorer."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from starlette.routing import Route

from likewise.drawing import page
from likewise.explorer.pages import File, Pages, Request
from likewise.report.style import STYLE

STATIC = Path(__file__).parent / "static"


def files(pages: Pages) -> list[Route]:
    """The routes of the style sheet and of the script."""
    style, script = (
        STYLE + (STATIC / "explorer.css").read_text(encoding="utf-8"),
        page.script() + (STATIC / "explorer.js").read_text(encoding="utf-8"),
    )
    made = {"/style.css": File(style.encode(), "text/css; charset=utf-8"), "/script.js": File(script.encode(), "text/javascript; charset=utf-8")}
    return [Route(path, pages.page(partial(given, file)), methods=["GET"]) for path, file in made.items()]


def given(file: File, _: Request) -> File:
    return file
