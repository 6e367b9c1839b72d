"""The pages of an explorer, by path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from starlette.routing import Route, Router

from likewise.explorer import clusters, compared, overview
from likewise.explorer.assets import files
from likewise.explorer.exploring import Exploring
from likewise.explorer.listed import Lists
from likewise.explorer.listing import Listing
from likewise.explorer.output import Output
from likewise.explorer.pages import Answer, Pages, Request
from likewise.explorer.planner import Planner
from likewise.explorer.review import Review
from likewise.explorer.search import Search
from likewise.explorer.unchanged import Unchanged
from likewise.service.app import Outermost
from likewise.service.problems import ProblemError

#: The navigation of the pages of an output.
NAVIGATION = (("/", "Overview"), ("/clusters", "Clusters"), ("/review", "Review"), ("/search", "Search"), ("/plan", "Plan"))


def application(exploring: Exploring, output: Output, host: str) -> Outermost:
    """The application of an output."""
    pages = Pages(exploring, host, {"navigation": NAVIGATION, "title": f"{output.folder.absolute().name}"})
    review, search = Review(output, "near-duplicates", ("Removed", "Kept"), audited=True), Search(output)
    handlers: dict[str, Any] = {
        "/": partial(overview.page, output),
        "/report": partial(overview.report, output),
        "/clusters": partial(clusters.page, output),
        "/clusters/of": partial(clusters.of, output),
        "/clusters/{number:int}": partial(clusters.one, output),
        "/review": review.page,
        "/search": search.page,
        "/plan": Planner(output).page,
    }
    return routed(exploring, output.unchanged, pages, handlers, {"/verdicts": review.judge, "/search": search.pasted})


def application_of_file(exploring: Exploring, listing: Listing, host: str) -> Outermost:
    """The application of a result file."""
    lists = Lists(listing)
    navigation = [("/", "Overview"), ("/pairs", "Texts" if listing.quotes else "Pairs"), ("/search", "Search")]
    handlers: dict[str, Any] = {
        "/": lists.overview,
        "/pairs": lists.main,
        "/pairs/{number:int}": partial(compared.one, lists),
        "/search": lists.search,
    }
    forms: dict[str, Any] = {}
    if not listing.quotes and listing.facts.get("threshold") is not None:
        review = Review(listing, "pairs", ("a", "b"), audited=False)
        navigation.insert(2, ("/review", "Review"))
        handlers["/review"], forms["/verdicts"] = review.page, review.judge
    if listing.quotes:
        navigation.insert(2, ("/passages", "Passages"))
        handlers["/passages"] = lists.passages
    pages = Pages(exploring, host, {"navigation": navigation, "title": listing.path.name})
    return routed(exploring, listing.unchanged, pages, {path: partial(prepared, listing, handle) for path, handle in handlers.items()}, forms)


def prepared(listing: Listing, handle: Callable[[Request], Answer], request: Request) -> Answer:
    """The answer of a page once the tables are read, which the first one of several threads does for all."""
    listing.prepare()
    return handle(request)


def routed(exploring: Exploring, same: Unchanged, pages: Pages, handlers: Mapping[str, Any], forms: Mapping[str, Any]) -> Outermost:
    """The application of pages and of answers to forms, about a file that stays the same."""
    both = (("GET", handlers), ("POST", forms))
    routes = [Route(path, pages.page(partial(of_same, same, handle)), methods=[how]) for how, some in both for path, handle in some.items()]
    routes += [*files(pages), Route("/{path:path}", pages.page(nothing), methods=["GET"])]
    return Outermost(exploring, Router(routes, redirect_slashes=False), [*handlers])


def of_same(same: Unchanged, handle: Callable[[Request], Answer], request: Request) -> Answer:
    """The answer of a page, if the result was the same one all the time."""
    same.check()
    try:
        return handle(request)
    finally:
        same.check()


def nothing(_: Request) -> Any:
    raise ProblemError(404, "There is no such page.")
