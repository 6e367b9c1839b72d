"""The search for an item by its id or place, and for items that are similar to a pasted one."""

from __future__ import annotations

import json
from threading import Lock
from typing import Any

from likewise.errors import LikewiseError, UsageError
from likewise.explorer.output import Output
from likewise.explorer.pages import Request, Shown
from likewise.kinds.kind import SIGNS, WORDS
from likewise.messages import in_document
from likewise.report.identity import spellings
from likewise.verbs.index import Index

#: Items listed.
MOST = 50
#: Kept records up to which an index of them is made in memory, and bytes of sources that are read through for an id at once.
MOST_ITEMS, SMALL = 200_000, 64 << 20
#: Digits of a line.
DIGITS = 18


class Search:
    """The search in an output."""

    def __init__(self, output: Output):
        self._output, self._lock = output, Lock()
        self._index: Index | None = None

    def page(self, request: Request) -> Shown:
        """By id, or the empty page."""
        identity = request.query.get("id", "").strip()
        values = self._values(identity, "")
        if identity:
            values["hits"], values["more"] = self._hits(identity)
            if not values["hits"]:
                deep = request.query.get("deep") == "yes" or self._small
                values["unreadable"] = self._output.unreadable(self._output.originals.paths)
                values["alone"] = self._alone(identity) if deep and not values["unreadable"] else None
                values["deeper"] = not deep
        return Shown("search.html", values)

    def pasted(self, request: Request) -> Shown:
        """By the content of an item."""
        pasted = request.form.get("text", "")
        values = self._values("", pasted)
        if pasted.strip():
            try:
                values["found"] = similar(self.index(), pasted)
            except LikewiseError as error:
                values["fault"] = in_document(error)
        return Shown("search.html", values)

    def _values(self, identity: str, pasted: str) -> dict[str, Any]:
        values: dict[str, Any] = {
            "here": "/search",
            "id": identity,
            "text": pasted,
            "hits": [],
            "more": False,
            "alone": None,
            "deeper": False,
            "unreadable": "",
        }
        return values | {"found": None, "fault": "", "missing": self.missing, "value": self._output.value, "out": str(self._output.folder)}

    @property
    def missing(self) -> str:
        """Why pasted items cannot be compared; empty if they can."""
        if not (self._output.folder / "sketches").is_dir():
            return "this output has no sketches"
        kept = self._output.report["counts"]["kept"]
        return f"{kept:,} items are too many for an index in memory" if kept > MOST_ITEMS else ""

    def index(self) -> Index:
        """An index of the kept records, made once."""
        with self._lock:
            if self._index is None:
                self._index = Index.from_output(None, self._output.folder)
            return self._index

    @property
    def _small(self) -> bool:
        sizes = [entry.get("size") for entry in self._output.originals.inputs.values()]
        return None not in sizes and sum(map(int, filter(None, sizes))) <= SMALL

    def _hits(self, identity: str) -> tuple[list[dict[str, Any]], bool]:
        """The removals of items with this id, or at this place, and the clusters that such items stand for."""
        removals = self._output.removals
        for spelled in spellings(removals.schema, identity):
            removed, kept = removals.find("id", spelled, MOST), removals.find("kept_id", spelled, MOST)
            if removed.rows or kept.rows:
                return self._listed(removed.rows, kept.rows), removed.more
        if place := self._place(identity):
            removed, kept = removals.at(("source", "position"), *place, MOST), removals.at(("kept_source", "kept_position"), *place, MOST)
            return self._listed(removed.rows, kept.rows), removed.more
        return [], False

    def _listed(self, removed: list[int], kept: list[int]) -> list[dict[str, Any]]:
        removals, clusters = self._output.removals, self._output.removals.clusters
        found = []
        for row, data in zip(removed, removals.rows(removed), strict=True):
            cluster = int(clusters.of[row])
            member = int((clusters.members(cluster) == row).argmax()) + 1
            found.append({"what": "removed", "cluster": cluster, "member": member, "row": data, "size": int(clusters.size[cluster])})
        heads = dict(zip((int(clusters.of[row]) for row in kept), kept, strict=True))
        for cluster, data in zip(heads, removals.rows([*heads.values()]), strict=True):
            found.append({"what": "kept", "cluster": cluster, "member": 0, "row": data, "size": int(clusters.size[cluster])})
        return found

    def _place(self, identity: str) -> tuple[str, int] | None:
        source, _, line = identity.rpartition(":")
        if not source or not (line.isascii() and line.isdecimal()) or len(line) > DIGITS:
            return None
        if source not in self._output.originals.paths or self._output.unreadable([source]):
            return None
        position = self._output.originals.position(source, int(line))
        return None if position is None else (source, position)

    def _alone(self, identity: str) -> dict[str, Any] | None:
        """An item that was neither removed nor has duplicates. The sources are read through."""
        originals = self._output.originals
        try:
            found = originals.find(identity)
            if found is None and (place := self._place(identity)):
                found = place, originals.texts([place])[place]
        except LikewiseError:
            return None
        if found is None:
            return None
        place, item = found
        return {"id": originals.called(place, item), "source": place[0], "position": place[1], "text": item.text}


def similar(index: Index, pasted: str) -> list[dict[str, Any]]:
    """The items of an index that are similar to a pasted one, the most similar first. Raises UsageError for content that is no item."""
    is_text = index.settings.options.method.kind.look in (WORDS, SIGNS)
    try:
        item = pasted if is_text else json.loads(pasted)
    except (ValueError, RecursionError):
        raise UsageError("expected an item as in the input files, in JSON") from None
    return [dict(row) for row in index.query([item], k=MOST)]
