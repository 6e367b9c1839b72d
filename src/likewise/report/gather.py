"""The rows that a report shows, read again from their sources: examples of removals, and the clusters that people should look at."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from likewise.engines.engine import Outcome
from likewise.errors import DataError
from likewise.io.inputs import Source
from likewise.io.numbered import Named, Numbered
from likewise.io.ranges import END
from likewise.io.units import Units
from likewise.job import Job
from likewise.report.differences import groups_of, runs
from likewise.report.examples import Example, excerpt_of
from likewise.runs.shown import NEAR_THE_BEGINNING, in_brief, read_again
from likewise.schema import REASONS, WHOLE_DISTANCE
from likewise.stages.clusters import MEMBERS, Clusters, Listed
from likewise.stages.removed import GROUPS, Removed

Report = dict[str, Any]

#: Members of a template whose differences to the kept item are shown, and characters of a text that is compared for that.
COMPARED, LONGEST = 2, 20_000


class Gathered:
    """Examples and clusters with the names and contents of their rows."""

    def __init__(self, fate: Outcome, job: Job, clusters: Clusters):
        self.compared, self.side, self.job, self.value = fate.compared, fate.search.kept_side, job, fate.search.value.name
        self.whole = fate.search.value == WHOLE_DISTANCE
        self.chosen = self.in_order(fate.examples(float(job.threshold), ends_of(fate.compared)))
        heads = np.unique(np.concatenate([clusters.largest.head, clusters.suspicious.head]))
        members = fate.removed_for(heads)
        self.members = {head: members.at(members.kept_row == head) for head in heads.tolist()}
        self.first = {head: self.least_similar(removed) for head, removed in self.members.items()}
        rows = {*self.chosen, *(row for removed in self.first.values() for row in removed.row.tolist())}
        kept = {*heads.tolist(), *(row for _, row, *_ in self.chosen.values())}
        self.names = {row: name for some, side in ((rows, 0), (kept, self.side)) for row, name in named(self.compared, some, side)}
        self.texts = read_again(self.compared, within_reach(self.compared, rows | kept), job.want)

    def in_order(self, groups: Sequence[Removed]) -> dict[int, tuple[str, int, float, int]]:
        """Return the group, the kept row, the value and the reason of each example, the least similar first, those of other reasons last.

        With few removals an example of one group may be less similar than one of the group before; then they change places.
        """
        found: dict[int, tuple[str, int, float, int]] = {}
        for group, removed in zip(GROUPS, groups, strict=True):
            for row, *others in zip(*(column.tolist() for column in removed), strict=True):
                found.setdefault(row, (group, *others))
        falling = -1 if self.value == "distance" else 1
        near = sorted((row for row in found if found[row][0] != "other"), key=lambda row: falling * found[row][2])
        names = [group for group, *_ in found.values()]  # first those of near-duplicates
        return {row: (names[place], *found[row][1:]) for place, row in enumerate([*near, *(row for row in found if row not in near)])}

    def least_similar(self, removed: Removed) -> Removed:
        """Return the `MEMBERS` least similar of some rows, the first ones of equal value; rows of unknown value last."""
        closeness = -removed.value if self.value == "distance" else removed.value
        return removed.at(np.lexsort((removed.row, closeness))[:MEMBERS])

    def row(self, row: int) -> Report:
        """Return the id, the place and the beginning of a row."""
        name = self.names[row]
        place = {"source": name.source, "position": name.position}
        if isinstance(self.compared, Units):
            place |= dict(zip(("start", "end"), (int(each[0]) for each in self.compared.spans(np.array([row]))), strict=True))
        text = self.texts.get(row)
        return {"id": name.id, **place, "text": None if text is None else in_brief(self.job.want.kind, text)}

    def known(self, value: float) -> float | None:
        """Return a similarity or distance in its type; None if it was not computed."""
        return None if value != value else int(value) if self.whole else value

    @cached_property
    def examples(self) -> list[Example]:
        """The examples, each with the whole texts of both items."""
        groups = groups_of(self.job.options.groups)
        return [
            Example(
                **names_of("kept", self.names[kept]),
                **names_of("removed", self.names[row]),
                similarity=value,
                reason=REASONS[reason],
                kept_text=self.texts[kept],
                removed_text=self.texts[row],
                kind=self.job.want.kind,
                value=self.value,
                by=str(self.job.method),
                groups=groups,
                group=group,
            )
            for row, (group, kept, value, reason) in self.chosen.items()
            if row in self.texts and kept in self.texts
        ]

    def listed_examples(self) -> list[Report]:
        """Return ``examples`` of report.json."""
        different = {(example.removed_source, example.removed_position): example.excerpt for example in self.examples}
        return [
            {"group": group, self.value: self.known(value), "reason": REASONS[reason], "removed": self.row(row), "kept": self.row(kept)}
            | {"difference": different.get((self.names[row].source, self.names[row].position))}
            for row, (group, kept, value, reason) in self.chosen.items()
        ]

    def listed(self, clusters: Listed, *, templates: bool) -> list[Report]:
        """Return clusters for report.json. templates: items have templates, so that ``low`` has been counted."""
        reasons = clusters.reasons
        template = reasons["template"]
        return [
            {
                **self.cluster(head, COMPARED if template[place] else 0),
                **{name: int(getattr(clusters, name)[place]) for name in ("items", "near", "low", "sources")},
                **({} if templates else {"low": None}),
                "reasons": [reason for reason, of in reasons.items() if of[place]],
            }
            for place, head in enumerate(clusters.head.tolist())
        ]

    def cluster(self, head: int, compared: int) -> Report:
        """Return the representative of a cluster, the values of its members, and the first of them. compared: how many of these say what differs."""
        values, members = self.members[head].value, self.first[head]
        values = values[~np.isnan(values)]
        least = (values.max if self.value == "distance" else values.min)() if len(values) else np.nan
        row = self.row(head)
        return {
            "representative": row.pop("id"),
            **row,
            "least": self.known(float(least)),
            "median": float(np.median(values)) if len(values) else None,
            "members": [
                {**self.row(row), self.value: self.known(value), "reason": REASONS[reason]}
                | ({"difference": self.difference(row, head)} if place < compared else {})
                for place, (row, value, reason) in enumerate(
                    zip(*(column.tolist() for column in (members.row, members.value, members.reason)), strict=True)
                )
            ],
        }

    def difference(self, removed: int, kept: int) -> list[tuple[str, str]] | None:
        """Return how two rows differ, from the first difference on; None for long ones, and those that were not read again."""
        texts = [self.texts.get(row) for row in (removed, kept)]
        here, there = texts
        if here is None or there is None or max(len(here), len(there)) > LONGEST:
            return None
        return excerpt_of(runs(self.job.want.kind, here, there))


def names_of(side: str, name: Named) -> dict[str, Any]:
    """Return the fields of an `Example` that name an item."""
    return {f"{side}_id": name.id, f"{side}_source": name.source, f"{side}_position": name.position}


def named(compared: Numbered, rows: set[int], side: int) -> Sequence[tuple[int, Named]]:
    """Return (row, name) of rows of a side."""
    chosen = sorted(rows)
    return list(zip(chosen, compared.named(chosen, side), strict=True))


def ends_of(compared: Numbered) -> np.ndarray | None:
    """Return the row in each source after those that can be read again quickly: all rows if ranges of the source can be read (`Source.few`),
    otherwise about those in its first `NEAR_THE_BEGINNING` bytes.

    int64[sources]; None if this is true of all sources.
    """
    if isinstance(compared, Units):
        ends = ends_of(compared.documents)
        return None if ends is None else compared.first[ends]
    slow = np.array([slow_again(source) for source in compared.sources], bool)
    if not slow.any():
        return None
    ends = compared.first_row[1:].copy()
    far = compared.marks[compared.marks[:, 1] >= NEAR_THE_BEGINNING, 0]
    source = compared.source_of(far)
    np.minimum.at(ends, source[slow[source]], far[slow[source]])
    return ends


def within_reach(compared: Numbered, rows: set[int]) -> list[int]:
    """Return the rows among some that can be read again quickly."""
    ends = ends_of(compared)
    chosen = np.array(sorted(rows), np.int64)
    return (chosen if ends is None else chosen[chosen < ends[compared.source_of(chosen)]]).tolist()


def slow_again(source: Source) -> bool:
    """Return whether a source can be read again from its beginning only. A damaged one cannot be read at all, and has no row to show."""
    try:
        return source.few == END
    except DataError:
        return True
