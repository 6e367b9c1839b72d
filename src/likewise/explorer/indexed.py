"""The pages of an index: its facts, its ids, and the items that are similar to a pasted one. They only read."""

from __future__ import annotations

from functools import partial
from typing import Any

from starlette.routing import Route

from likewise.drawing.numbers import count, counted, percent, size
from likewise.errors import LikewiseError
from likewise.explorer.assets import files
from likewise.explorer.pages import Pages, Request, Shown
from likewise.explorer.search import similar
from likewise.messages import in_document
from likewise.service.serving import Serving

#: Facts of `Index.info` that the overview shows, and their names there.
FACTS = {
    "items": "items",
    "removed": "removed items that still take space",
    "in_log": "items in the log",
    "segments": "segments",
    "bytes": "size",
    "durability": "durability",
    "by": "compared by",
    "threshold": "threshold",
    "within": "maximum distance",
    "normalize": "normalization",
    "per": "compared only within the same",
    "family": "hash family",
    "bands": "bands",
    "rows": "rows of a band",
    "recall": "recall at the threshold",
    "sets": "what is stored of each item",
    "seed": "seed",
    "likewise": "made by likewise",
}
NAVIGATION = (("/", "Overview"), ("/search", "Search"))


def routes(serving: Serving) -> list[Route]:
    """The routes of the pages, beside those of the service."""
    pages = Pages(serving, serving.host, {"navigation": NAVIGATION, "title": str(serving.index.store.where).rpartition("/")[2] or "index"})
    made = [Route("/", pages.page(partial(overview, serving)), methods=["GET"])]
    made.append(Route("/search", pages.page(partial(search, serving)), methods=["GET", "POST"]))
    return [*made, *files(pages)]


def overview(serving: Serving, _: Request) -> Shown:
    info = serving.index.info()
    facts = [(name, said(key, info[key])) for key, name in FACTS.items() if info.get(key) is not None]
    return Shown("index.html", {"here": "/", "facts": facts, "heading": f"Index of {counted(info['items'], 'item')}"})


def said(key: str, value: Any) -> str:
    """A fact about an index in words."""
    if isinstance(value, dict):
        return ", ".join(str(one) if name == "name" else f"{name} {one}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if key in ("bytes", "recall"):
        return size(value) if key == "bytes" else percent(value, down=True)
    return count(value) if type(value) is int else str(value)


def search(serving: Serving, request: Request) -> Shown:
    """By id, or by content."""
    index, identity, pasted = serving.index, request.query.get("id", ""), request.form.get("text", "")
    values: dict[str, Any] = {"here": "/search", "id": identity, "text": pasted, "found": None, "fault": "", "there": None}
    values["value"] = "distance" if index.settings.job().distances else "similarity"
    if identity:
        values["there"] = identity in index or (identity.isdecimal() and len(identity) < 19 and int(identity) in index)
    if pasted.strip():
        try:
            values["found"] = similar(index, pasted)
        except LikewiseError as error:
            values["fault"] = in_document(error)
    return Shown("index_search.html", values)
