"""An output folder that is explored. Facts come from small files; its tables and its sources are read when a page shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any

from likewise.drawing.markup import Html
from likewise.errors import LikewiseError, UsageError
from likewise.explorer import pair
from likewise.explorer.pages import Request
from likewise.explorer.removals import Removals
from likewise.explorer.unchanged import Unchanged
from likewise.explorer.waiting import still_waited_for
from likewise.io.manifest import MANIFEST
from likewise.kinds import of_payload
from likewise.messages import quoted
from likewise.report.contents import Original, Place
from likewise.report.differences import Groups
from likewise.report.originals import Originals
from likewise.report.own_files import whole
from likewise.report.pictures import LARGE, Pictures, pictures_of
from likewise.report.precision import Near
from likewise.report.verdicts import digest_of
from likewise.runs.shown import in_brief
from likewise.verbs.recomputed import value_now


class Output:
    """An output folder. Raises UsageError if it is none, and FormatError if its files are damaged."""

    def __init__(self, folder: Path):
        self.folder = self.place = folder
        self.unchanged = Unchanged(folder / MANIFEST, folder)
        self.originals = Originals(folder, still_waited_for)
        self._lock = RLock()
        self._removals: Removals | None = None
        if "report.json" not in {entry["path"] for entry in self.originals.manifest["outputs"]}:
            raise UsageError(f"{quoted(str(folder))}: this output has no report; explore an output of dedup")
        self.report: dict[str, Any] = self.originals.report

    def beginnings(self, items: Sequence[tuple[Place, tuple[int, int] | None]]) -> list[str | None]:
        """Return how items begin, or the spans of them that are given; None for those that cannot be read quickly, and for image files."""
        sources = set() if self.files else {source for (source, _), _ in items}
        quick = {source for source in sources if not self.unreadable([source]) and self.originals.is_quick(source)}
        found = self.read([place for place, _ in items if place[0] in quick])
        texts = {} if isinstance(found, str) else found
        spans = ((place, *(span or (0, None))) for place, span in items)
        return [in_brief(self.kind, texts[place].text[begin:end]) if place in texts else None for place, begin, end in spans]

    @property
    def files(self) -> bool:
        """Each item is a file, which is its own source."""
        return bool(of_payload(self.kind).files)

    @cached_property
    def pictures(self) -> Pictures:
        """Gives the pictures of items that are image files."""
        return pictures_of(self.report, self.originals.run)

    @property
    def kind(self) -> str:
        return self.originals.want.kind

    @property
    def groups(self) -> Groups | None:
        return self.originals.groups

    @property
    def exact(self) -> bool:
        """True if similarities were computed, not estimated."""
        return bool(self.report["verified"] == "exact")

    @property
    def value(self) -> str:
        return self.originals.value

    @property
    def by(self) -> str:
        return str(self.originals.method["by"])

    @property
    def removals(self) -> Removals:
        """removed.parquet, whose checksum is compared first."""
        with self._lock:
            if self._removals is None:
                path = whole(self.folder, self.originals.manifest, "removed.parquet")
                self._removals = Removals(path, self.value, float(self.report["threshold"]), [*self.originals.inputs])
            return self._removals

    def pictures_of(self, left: pair.Item, right: pair.Item) -> tuple[Html | None, Html | None]:
        return self.pictures(left.source, LARGE), self.pictures(right.source, LARGE)

    def both(self, left: pair.Item, right: pair.Item) -> tuple[Original, Original] | str:
        """Two items, or why they cannot be read."""
        found = self.read([left.place, right.place])
        return found if isinstance(found, str) else (found[left.place], found[right.place])

    @property
    def digest(self) -> str:
        return digest_of(self.originals.manifest)

    @property
    def near(self) -> Near:
        return self.removals.near

    def row(self, number: int) -> dict[str, Any]:
        """A removal."""
        return self.removals.rows([number])[0]

    def pair_of(self, number: int, request: Request) -> pair.Pair:
        """A removed item and the kept one side by side."""
        found = self.row(number)
        return pair.beside(self, pair.removed_of(found), pair.kept_of(found), found, request)

    def prepare(self) -> None:
        """Read what the lists of clusters and of pairs need."""
        with self._lock:
            _ = self.removals.clusters, self.removals.near

    def unreadable(self, sources: Iterable[str]) -> str:
        """Why the items of these sources cannot be shown; empty if they can."""
        changed = self.originals.changed({*sources})
        return f"{self.originals.paths[min(changed)]} has changed since the run, or no longer exists, so its items cannot be shown" if changed else ""

    def read(self, places: list[Place]) -> dict[Place, Original] | str:
        """The items at these places, or why they cannot be read."""
        try:
            return self.unreadable(source for source, _ in places) or self.originals.texts(places)
        except LikewiseError as error:
            return str(error)

    def value_of(self, one: Any, other: Any) -> float | None:
        """The exact value of two items; None where a run left parts of them out, which are not known here, or compared groups."""
        method = self.originals.method
        if method.get("ignore") or method.get("ignore_common") or method.get("groups"):
            return None
        return value_now(self.originals, one, other)
