"""Facts about the rows that were read, and the names of the first rows for warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from likewise.io.facts import limits_of
from likewise.io.numbered import Named, Numbered
from likewise.job import Job
from likewise.stages.facts import NAMED, Facts


class Read(NamedTuple):
    """The rows of both collections, documents or parts of them, with the facts about them."""

    rows: Numbered
    sides: tuple[Facts, Facts]

    def total(self, name: str) -> int:
        """Return the number of rows of both sides that are counted under a name."""
        return sum(side.total(name) for side in self.sides)

    @property
    def readable(self) -> int:
        """The number of rows of both sides that were not rejected."""
        return sum(side.readable for side in self.sides)

    @property
    def sides_with_ids(self) -> list[int]:
        """The sides of which a row has an id."""
        return [side for side, facts in enumerate(self.sides) if facts.have_ids]

    def first(self, name: str, sides: Sequence[int] = (0, 1)) -> str:
        """Return the places of the first NAMED rows that are counted under a name, with their ids, such as the names of images."""
        found = [row for side in sides for row in self.rows.named(self.sides[side].first.get(name, []), side)][:NAMED]
        more = " and others" if sum(self.sides[side].total(name) for side in sides) > NAMED else ""
        return ", ".join(map(placed, found)) + more


def placed(row: Named) -> str:
    """Return a place for a sentence; with the id if it says more."""
    return f"{row.source} item {row.position + 1}" + ("" if row.id in (None, row.source, row.position) else f" (id {row.id!r})")


def read_by(collection: Numbered, job: Job) -> Read:
    """Return the rows of a collection with the facts about them."""
    return Read(collection, collection.facts(limits_of(job, of_parts=collection.of_parts)))
