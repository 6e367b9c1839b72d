"""report.json: the result in numbers, none of which depend on the clock or the machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from likewise.engines.engine import Outcome
from likewise.io.numbered import Numbered
from likewise.io.source_names import printable
from likewise.planning.spread import spread
from likewise.report import ignored, leaks, parts, removals, warned
from likewise.report.examples import Example
from likewise.report.gather import Gathered
from likewise.report.read import Read, read_by
from likewise.report.review import needs_review
from likewise.runs.decontamination import Cleaned
from likewise.runs.fate import Fate
from likewise.runs.items import Run
from likewise.stages.clusters import Clusters
from likewise.stages.facts import Facts

#: The counts of report.json, in order.
COUNTED = (
    *("read", "kept", "removed", "rejected", "removed_exact", "removed_equal", "removed_near", "removed_short", "shortened"),
    *("empty", "without_text", "too_short_to_judge", "nulls_left_out", "cut_short"),
)


def summary(fate: Outcome, run: Run) -> tuple[dict[str, Any], list[Example]]:
    """Return the content of report.json, and the examples for report.html. Warns of what the user should know about the result.

    Raises AssertionError if the counts do not add up.
    """
    job, collection, compared, search = run.job, fate.documents, fate.compared, fate.search
    into, half_way = removals.scales(search, job), removals.half_way(job)
    outcomes, fates, clustered = fate.reasons(into), fate.outcomes, fate.clusters(half_way)
    read = read_by(collection, job)
    units = read_by(compared, job) if compared.of_parts else read
    reasons, facts = {f"removed_{name}": outcomes.total(f"removed_{name}") for name in search.reasons}, {}
    if isinstance(fate, Fate) and compared.of_parts:
        facts = {
            "units": parts.counts(fate, units, run) | reasons,
            **({} if isinstance(fate, Cleaned) else {"largest_parts": parts.largest(fate, job)}),
        }
        reasons = dict.fromkeys(COUNTED[4:7], 0) | {"removed_short": fates.total("removed"), "shortened": parts.shortened(fate)}
    counts = {**read_of(read, 0, compared), "kept": fates.total("kept"), "removed": fates.total("removed"), **reasons}
    counts = {name: counts[name] for name in COUNTED if name in counts}
    if counts["kept"] + counts["removed"] + counts["rejected"] != counts["read"]:
        raise AssertionError(f"rows were lost: {counts}; this is a bug in likewise, please report it")
    gathered, templates = Gathered(fate, job, clustered), half_way is not None
    found = removals.removals(outcomes, fate.median(), into, clustered if templates else None)
    suspicious = gathered.listed(clustered.suspicious, templates=templates)
    for said in (*warned.warnings(read, job, units), *about_losses(collection, fates), *removals.warning(found, suspicious, float(job.threshold))):
        run.warn(said)
    report = {
        "schema": "likewise/report/1",
        "counts": counts,
        **({} if run.alone else {"against": against(read, compared, outcomes, clustered)}),
        **facts,
        **({"leaks": leaks.facts(fate, run)} if isinstance(fate, Cleaned) else {}),
        "method": job.described(),
        "threshold": float(job.threshold),
        "value": search.value.name,
        "curve": [list(point) for point in job.plan.table()] if job.plan else [],  # empty for an exact join
        "verified": job.verify,
        **search.facts,
        "spread": spread(job.target, search.facts["budget"]["recall"], search.facts["matched"]),
        "removals": found,
        "examples": gathered.listed_examples(),
        "clusters": clusters(clustered, gathered.listed(clustered.largest, templates=templates)),
        "suspicious": suspicious,
        "sources": sources(collection, read.sides[0], fates),
        "matrix": removals.matrix(fate, outcomes, clustered),
        "ids": {"missing": read.sides[0].total("without_id"), "repeated": collection.repeated_ids[0]},
        **ignored.facts(units, run),
        "warnings": run.warnings,
    }
    report["needs_review"] = needs_review(report)
    return report, gathered.examples


def read_of(read: Read, side: int, compared: Numbered) -> dict[str, int]:
    """Return the counts of what was read of a side."""
    facts, numbers = read.sides[side], read.rows.sources_of_sides[side]
    return {
        **{name: facts.total(name) for name in ("read", "rejected", "empty", "without_text")},
        "too_short_to_judge": 0 if compared.of_parts else facts.total("short"),
        "nulls_left_out": read.rows.nulls(numbers),
        "cut_short": sum(map(read.rows.failed, numbers)),  # files whose rest could not be read: each counts as one item that was read and rejected
    }


def against(read: Read, compared: Numbered, outcomes: Facts, clustered: Clusters) -> dict[str, Any]:
    """Return the counts of the second collection; the items of the first that were removed for one of its items, and their share.

    Of parts of documents, those that matched are counted by document, and those that were removed are parts.
    """
    numbers, of = read.rows.sources_of_sides[1], outcomes.total("read")
    matched = dict(zip(clustered.source.tolist(), clustered.matched.tolist(), strict=True))
    counts = {name: read.sides[1].by_source(name, numbers) for name in ("read", "rejected")}
    listed = [
        {"source": printable(read.rows.sources[number].name), "read": here, "rejected": bad, "matched": matched.get(number, 0)}
        for number, here, bad in zip(numbers, *counts.values(), strict=True)
    ]
    removed = outcomes.total("for_second")
    totals = {**read_of(read, 1, compared), "matched": sum(matched.values()), "removed": removed}
    return {**totals, "share": removed / of if of else None, "sources": listed}


def clusters(found: Clusters, largest: list[dict[str, Any]]) -> dict[str, Any]:
    """Return numbers and sizes of the clusters, and the largest ones."""
    return {
        "number": found.number,
        "components": found.components,
        "by_size": {str(size): times for size, times in zip(found.sizes.tolist(), found.times.tolist(), strict=True)},
        "largest": largest,
    }


def sources(collection: Numbered, read: Facts, fates: Facts) -> list[dict[str, Any]]:
    """Return the counts of each source of the first collection."""
    numbers = collection.sources_of_sides[0]
    counts = read.by_source("read", numbers), fates.by_source("removed", numbers), read.by_source("rejected", numbers)
    return [
        {"source": printable(collection.sources[number].name), "read": here, "kept": here - gone - bad, "removed": gone, "rejected": bad}
        for number, here, gone, bad in zip(numbers, *counts, strict=True)
    ]


def about_losses(collection: Numbered, fates: Facts) -> Iterator[str]:
    """Yield warnings about sources that lost most of their items."""
    for number, total, gone in zip(fates.source.tolist(), *(fates.counts[name].tolist() for name in ("read", "removed")), strict=True):
        if total >= 1000 and gone * 10 > total * 9:
            name = printable(collection.sources[number].name)
            yield f"{name} lost {gone:,} of its {total:,} items; check its largest cluster before you trust this result"
