"""The pages of an explorer, by path."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from starlette.routing import Route, Router

from likewise.drawing import page
from likewise.explorer import clusters, overview
from likewise.explorer.output import Output
from likewise.explorer.pages import Answer, File, Pages, Request
from likewise.explorer.planner import Planner
from likewise.explorer.review import Review
from likewise.explorer.search import Search
from likewise.explorer.serving import Exploring
from likewise.report.style import STYLE
from likewise.service.app import Outermost
from likewise.service.problems import ProblemError

STATIC = Path(__file__).parent / "static"
#: The navigation of the pages of an output.
NAVIGATION = (("/", "Overview"), ("/clusters", "Clusters"), ("/review", "Review"), ("/search", "Search"), ("/plan", "Plan"))


def application(exploring: Exploring, output: Output, host: str) -> Outermost:
    """The application of an output."""
    pages = Pages(exploring, host, {"navigation": NAVIGATION, "title": f"{output.folder.absolute().name}"})
    review, search = Review(output), Search(output)
    handlers: dict[str, Any] = {
        "/": partial(overview.page, output),
        "/report": partial(overview.report, output),
        "/clusters": partial(clusters.page, output),
        "/clusters/{number:int}": partial(clusters.one, output),
        "/review": review.page,
        "/search": search.page,
        "/plan": Planner(output).page,
    }
    forms: dict[str, Any] = {"/verdicts": review.judge, "/search": search.pasted}
    both = (("GET", handlers), ("POST", forms))
    routes = [Route(path, pages.page(partial(of_same, output, handle)), methods=[how]) for how, some in both for path, handle in some.items()]
    routes += files(pages)
    routes.append(Route("/{path:path}", pages.page(nothing), methods=["GET"]))
    return Outermost(exploring, Router(routes, redirect_slashes=False), [*handlers])


def of_same(output: Output, handle: Callable[[Request], Answer], request: Request) -> Answer:
    """The answer of a page, if the output was the same one all the time."""
    output.check_same()
    try:
        return handle(request)
    finally:
        output.check_same()


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


def nothing(_: Request) -> Any:
    raise ProblemError(404, "there is no such page")
