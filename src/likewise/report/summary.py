"""report.json: the result in numbers, none of which depend on the clock or the machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from likewise.engines.engine import Outcome
from likewise.io.facts import least_judged
from likewise.io.idcolumn import QUOTED
from likewise.io.inputs import printable
from likewise.io.numbered import Numbered
from likewise.job import Job
from likewise.messages import option, verb
from likewise.methods import Text
from likewise.planning.spread import spread
from likewise.report import ignored, leaks, parts, removals, wording
from likewise.report.examples import Example
from likewise.report.gather import Gathered
from likewise.report.read import Read, read_by
from likewise.report.review import needs_review
from likewise.runs.decontamination import Cleaned
from likewise.runs.fate import Fate
from likewise.runs.items import Run
from likewise.stages.clusters import Clusters
from likewise.stages.facts import NAMED, Facts

#: The counts of report.json, in order.
COUNTED = (
    *("read", "kept", "removed", "rejected", "removed_exact", "removed_equal", "removed_near", "removed_short", "shortened"),
    *("empty", "without_text", "too_short_to_judge", "nulls_left_out", "cut_short"),
)
#: Advice if no recall is guaranteed.
MEASURE = f"{verb('audit')} measures it on a sample, and {option('exact')} compares all pairs"


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
    for said in (*warnings(read, job, units), *about_losses(collection, fates), *removals.warning(found, suspicious, float(job.threshold))):
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


def warnings(read: Read, job: Job, units: Read | None = None) -> list[str]:
    """Return warnings a user should read before trusting the result.

    units: what was compared, if not whole documents.
    """
    collection, compared = read.rows, units or read
    usable = read.readable
    said = list(job.plan.about_layout) if job.plan else []
    if job.options.bound is not None and job.recall is None:
        how = f"candidates are found by {job.compared.proposed_by}; recall is measured, not guaranteed"
        said.append(f"{option('by', str(job.method))}: {how}: {MEASURE}")
    if job.contained:
        said += about_short(read, job)
    elif isinstance(job.method, Text):
        unit, k = job.method.unit, job.method.k
        few, of = compared.total("few"), compared.readable
        if of and few * 2 > of and not (compared.rows.of_parts and job.threshold == 1):
            fewer = f"{'has' if few == 1 else 'have'} fewer than {k} {unit} and match{'es' if few == 1 else ''} only when equal"
            said.append(f"{few:,} of {of:,} items {fewer}; use a smaller K in {option('by', placeholder=f'{unit}:K')}")
    if without := read.total("without_text"):
        what, have = job.method.kind.noun, "has" if without == 1 else "have"
        lacking = f"{have} no {what} in the field {job.field!r} (null, missing or not a {what})"
        said.append(f"{without:,} of {usable:,} items {lacking}: {read.first('without_text')}")
    if nulls := collection.nulls(range(len(collection.sources))):
        said.append(f"{nulls:,} null{'s' * (nulls > 1)} inside sets of the field {job.field!r} {'were' if nulls > 1 else 'was'} left out")
    if job.method.facts.directed and (zeros := compared.total("zero")):
        no_direction = job.kind.zeros[zeros > 1]
        said.append(f"{zeros:,} of {usable:,} items {no_direction} and {'matches' if zeros == 1 else 'match'} nothing: {read.first('zero')}")
    said += ignored.warnings(compared, job)
    if some := compared.total("bare"):
        have, are = ("has", "is") if some == 1 else ("have", "are")
        of = compared.total("read") if compared.rows.of_parts else usable
        only = f"{have} only ignored {wording.parts(str(job.method))} and {are} not compared"
        said.append(f"{some:,} of {of:,} items {only}: {compared.first('bare')}")
    unread, ends = collection.unreadable()
    if unread:
        more = " and others" if len(unread) > NAMED else ""
        said.append(f"{len(unread):,} of {read.total('read'):,} items could not be read and were rejected: {'; '.join(unread[:NAMED])}{more}")
    said += ends[:NAMED]
    if len(ends) > NAMED:
        said.append(f"{len(ends) - NAMED:,} more sources could not be read to their end")
    said += about_ids(read)
    return said


def about_losses(collection: Numbered, fates: Facts) -> Iterator[str]:
    """Yield warnings about sources that lost most of their items."""
    for number, total, gone in zip(fates.source.tolist(), *(fates.counts[name].tolist() for name in ("read", "removed")), strict=True):
        if total >= 1000 and gone * 10 > total * 9:
            name = printable(collection.sources[number].name)
            yield f"{name} lost {gone:,} of its {total:,} items; check its largest cluster before you trust this result"


def about_short(read: Read, job: Job) -> Iterator[str]:
    """Yield the warning about items of which no pair can say whether another contains them, since they have fewer tokens than a shingle, or none.

    Only the first collection has items that others may contain.
    """
    if number := read.sides[0].total("not_judged"):
        text, least = job.method if isinstance(job.method, Text) else None, least_judged(job)
        tokens = text.unit.removeprefix("stop") if text else "elements"
        few = f"fewer than {least} {tokens}" if least > 1 else f"no {tokens}"
        smaller = f"; use a smaller K in {option('by', placeholder=f'{text.unit}:K/containment')}" if text and text.k > 1 else ""
        subject = f"{number:,} of {read.readable:,} items {'has' if number == 1 else 'have'} {few}"
        where = read.first("not_judged", sides=[0])
        yield f"{subject}, so it is not judged whether other items contain {'it' if number == 1 else 'them'}: {where}{smaller}"


def about_ids(read: Read) -> Iterator[str]:
    """Yield warnings about ids that are repeated, missing, or not in their own type."""
    repeated, examples = read.rows.repeated_ids
    if repeated:
        name = f"{repeated:,} id{'s name' if repeated > 1 else ' names'} more than one item"
        yield f"{name} ({', '.join(examples)}); source and position distinguish these items"
    if without := sum(read.sides[side].total("without_id") for side in read.sides_with_ids):
        where = read.first("without_id", read.sides_with_ids)
        yield f"{without:,} of {read.readable:,} items {'has' if without == 1 else 'have'} no id (null in the output): {where}"
    if QUOTED in map(read.rows.id_note, range(2)):
        yield 'some ids are the same text but of different types, such as 7 and "7", so id columns hold JSON text'
