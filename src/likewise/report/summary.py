"""report.json: the result in numbers, none of which depend on the clock or the machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from likewise.io.collection import Collection
from likewise.io.idcolumn import QUOTED
from likewise.io.inputs import printable
from likewise.io.units import Units
from likewise.job import Job
from likewise.messages import option, verb
from likewise.methods import Text
from likewise.planning.spread import spread
from likewise.records import NO_TEXT, REJECTED, TEXT
from likewise.report import ignored, leaks, parts, removals, wording
from likewise.runs.decontamination import Cleaned
from likewise.runs.fate import Fate
from likewise.runs.items import Items, Run, bare
from likewise.runs.results import REASONS, Decision

LARGEST = 10
#: The counts of report.json, in order.
COUNTED = (
    *("read", "kept", "removed", "rejected", "removed_exact", "removed_equal", "removed_near", "removed_short", "shortened"),
    *("empty", "without_text", "too_short_to_judge", "nulls_left_out", "cut_short"),
)
#: Advice if no recall is guaranteed.
MEASURE = f"{verb('audit')} measures it on a sample, and {option('exact')} compares all pairs"
NAMED = 5  # maximum number of places named in a warning


def summary(fate: Fate, items: Items, run: Run) -> dict[str, Any]:
    """Return the content of report.json. Raises AssertionError if the counts do not add up. Warns of what the user should know about the result."""
    job, collection, compared, decision = run.job, fate.documents, fate.compared, fate.decision
    kind = collection.column("kind")
    removed, rejected = fate.removed, kind == REJECTED
    reasons, facts = by_reason(decision), {}
    empty, short = items.empty, items.short
    if compared.of_parts:
        facts = {
            "units": parts.counts(fate, items, run) | reasons,
            **({} if isinstance(fate, Cleaned) else {"largest_parts": parts.largest(fate, job)}),
        }
        reasons = dict.fromkeys(COUNTED[4:7], 0) | {"removed_short": int(removed.sum()), "shortened": parts.shortened(fate)}
        empty, short = (kind != REJECTED) & (collection.column("tokens") == 0), np.zeros(len(kind), bool)
    counts = {
        **read_of(collection, 0, empty, short),
        "kept": int(fate.kept.sum()),
        "removed": int(removed.sum()),
        **reasons,
    }
    counts = {name: counts[name] for name in COUNTED if name in counts}
    if counts["kept"] + counts["removed"] + counts["rejected"] != counts["read"]:
        raise AssertionError(f"rows were lost: {counts}; this is a bug in likewise, please report it")
    found = removals.removals(compared, decision, job)
    for said in (*warnings(collection, items.empty, job, removed, compared), *removals.warning(found, float(job.threshold))):
        run.warn(said)
    return {
        "schema": "likewise/report/1",
        "counts": counts,
        **({} if run.alone else {"against": against(fate, empty, short)}),
        **facts,
        **({"leaks": leaks.facts(fate, run)} if isinstance(fate, Cleaned) else {}),
        "method": job.described(),
        "threshold": float(job.threshold),
        "value": decision.value.name,
        "curve": [list(point) for point in job.plan.table()] if job.plan else [],  # empty for an exact join
        "verified": job.verify,
        **decision.facts,
        "spread": spread(job.target, decision.facts["budget"]["recall"], decision.facts["matched"]),
        "removals": found,
        "clusters": clusters(compared, decision),
        "sources": sources(collection, removed, rejected),
        "ids": {"missing": missing_ids(collection), "repeated": collection.repeated_ids[0]},
        **ignored.facts(compared, run),
        "warnings": run.warnings,
    }


def read_of(collection: Collection, side: int, empty: np.ndarray, short: np.ndarray) -> dict[str, int]:
    """Return the counts of what was read of a side."""
    rows, numbers = collection.rows_of_sides[side], collection.sources_of_sides[side]
    kind = collection.column("kind")[rows]
    return {
        "read": len(kind),
        "rejected": int((kind == REJECTED).sum()),
        "empty": int(empty[rows].sum()),
        "without_text": int((kind == NO_TEXT).sum()),
        "too_short_to_judge": int(short[rows].sum()),
        "nulls_left_out": collection.nulls(numbers),
        "cut_short": sum(map(collection.failed, numbers)),  # files whose rest could not be read: each counts as one item that was read and rejected
    }


def against(fate: Fate, empty: np.ndarray, short: np.ndarray) -> dict[str, Any]:
    """Return the counts of the second collection; the items of the first that were removed for one of its items, and their share.

    Of parts of documents, those that matched are counted by document, and those that were removed are parts.
    """
    collection, decision, compared = fate.documents, fate.decision, fate.compared
    for_it = decision.kept_row[decision.kept_row >= (border := compared.rows_of_sides[0].stop)]
    matched = np.zeros(len(collection), bool)
    matched[compared.document[for_it] if isinstance(compared, Units) else for_it] = True
    rejected = collection.column("kind") == REJECTED
    listed = [
        {"source": printable(collection.sources[number].name), "read": here.stop - here.start}
        | {name: int(values[here].sum()) for name, values in (("rejected", rejected), ("matched", matched))}
        for number in collection.sources_of_sides[1]
        for here in [collection.rows_of(number)]
    ]
    counts = {**read_of(collection, 1, empty, short), "matched": int(matched.sum()), "removed": len(for_it)}
    return {**counts, "share": len(for_it) / border if border else None, "sources": listed}


def by_reason(decision: Decision) -> dict[str, int]:
    """Return the numbers of compared items that were removed, by reason."""
    exact, equal = decision.exact, decision.equal
    numbers = {"exact": exact, "equal": equal, "near": decision.removed & ~exact & ~equal}
    if decision.given is not None:
        some = decision.given[decision.removed]
        return dict.fromkeys(("removed_exact", "removed_equal", "removed_near"), 0) | {
            f"removed_{name}": int(np.count_nonzero(some == REASONS.index(name))) for name in ("passage", "rest")
        }
    return {f"removed_{reason}": int(np.count_nonzero(found)) for reason, found in numbers.items()}


def missing_ids(collection: Collection) -> int:
    """Return how many readable items have no id."""
    missing = collection.without_id if collection.has_ids(0) else collection.column("kind") != REJECTED
    return int(missing[collection.rows_of_sides[0]].sum())


def clusters(collection: Collection, decision: Decision) -> dict[str, Any]:
    """Return numbers and sizes of the clusters, and the largest ones."""
    removed = decision.removed
    heads, members = np.unique(decision.kept_row[removed], return_counts=True)
    sizes = members + 1
    order = np.lexsort((heads, -sizes))[:LARGEST]
    names, positions = collection.places(heads[order])
    ids = collection.names(heads[order], decision.kept_side)
    components = np.unique(decision.component[heads])
    numbers, counts = np.unique(sizes, return_counts=True)
    return {
        "number": len(heads),
        "components": len(components),
        "by_size": {str(size): int(count) for size, count in zip(numbers.tolist(), counts, strict=True)},
        "largest": [
            {"representative": identity, "source": name, "position": int(position), "items": int(size)}
            for identity, name, position, size in zip(ids, names.to_pylist(), positions, sizes[order], strict=True)
        ],
    }


def sources(collection: Collection, removed: np.ndarray, rejected: np.ndarray) -> list[dict[str, Any]]:
    """Return the counts of each source of the first collection."""
    out = []
    for number, source in enumerate(collection.sources[: collection.first_side]):
        rows = collection.rows_of(number)
        gone, bad = int(removed[rows].sum()), int(rejected[rows].sum())
        read = rows.stop - rows.start
        out.append({"source": printable(source.name), "read": read, "kept": read - gone - bad, "removed": gone, "rejected": bad})
    return out


def warnings(collection: Collection, empty: np.ndarray, job: Job, removed: np.ndarray, units: Collection | None = None) -> list[str]:
    """Return warnings a user should read before trusting the result.

    units: what was compared, if not the rows of ``collection``. empty: bool[n], compared items without tokens. removed: bool[rows].
    """
    compared = collection if units is None else units
    kind = collection.column("kind")
    said = list(job.plan.about_layout) if job.plan else []
    usable = int((kind != REJECTED).sum())
    if job.options.bound is not None and job.recall is None:
        how = f"candidates are found by {job.compared.proposed_by}; recall is measured, not guaranteed"
        said.append(f"{option('by', str(job.method))}: {how}: {MEASURE}")
    if job.contained:
        said += about_short(collection, usable, job)
    elif isinstance(job.method, Text):
        unit, k = job.method.unit, job.method.k
        read = compared.column("kind") != REJECTED
        few, usable = int(((compared.column("tokens") < k) & read & ~empty).sum()), int(read.sum())
        if usable and few * 2 > usable and not (compared.of_parts and job.threshold == 1):
            fewer = f"{'has' if few == 1 else 'have'} fewer than {k} {unit} and match{'es' if few == 1 else ''} only when equal"
            said.append(f"{few:,} of {usable:,} items {fewer}; use a smaller K in {option('by', placeholder=f'{unit}:K')}")
    usable = int((kind != REJECTED).sum())
    if without := int((kind == NO_TEXT).sum()):
        where = first_places(collection, kind == NO_TEXT)
        more = " and others" if without > NAMED else ""
        what, have = job.method.kind.noun, "has" if without == 1 else "have"
        said.append(f"{without:,} of {usable:,} items {have} no {what} in the field {job.field!r} (null, missing or not a {what}): {where}{more}")
    if nulls := collection.nulls(range(len(collection.sources))):
        said.append(f"{nulls:,} null{'s' * (nulls > 1)} inside sets of the field {job.field!r} {'were' if nulls > 1 else 'was'} left out")
    if job.method.facts.directed and (zeros := int((zero := empty & (kind == TEXT)).sum())):
        where = first_places(collection, zero)
        more = " and others" if zeros > NAMED else ""
        no_direction = job.kind.zeros[zeros > 1]
        said.append(f"{zeros:,} of {usable:,} items {no_direction} and {'matches' if zeros == 1 else 'match'} nothing: {where}{more}")
    said += ignored.warnings(collection, job)
    nothing_left = bare(compared)
    if some := int(nothing_left.sum()):
        where = first_places(compared, nothing_left)
        more = " and others" if some > NAMED else ""
        have, are = ("has", "is") if some == 1 else ("have", "are")
        of = len(compared) if compared.of_parts else usable
        said.append(f"{some:,} of {of:,} items {have} only ignored {wording.parts(str(job.method))} and {are} not compared: {where}{more}")
    unread, ends = collection.unreadable()
    if unread:
        more = " and others" if len(unread) > NAMED else ""
        said.append(f"{len(unread):,} of {len(kind):,} items could not be read and were rejected: {'; '.join(unread[:NAMED])}{more}")
    said += ends[:NAMED]
    if len(ends) > NAMED:
        said.append(f"{len(ends) - NAMED:,} more sources could not be read to their end")
    said += about_ids(collection, usable)
    for number, source in enumerate(collection.sources):
        rows = collection.rows_of(number)
        total, gone = rows.stop - rows.start, int(removed[rows].sum())
        if total >= 1000 and gone * 10 > total * 9:
            said.append(f"{printable(source.name)} lost {gone:,} of its {total:,} items; check its largest cluster before you trust this result")
    return said


def not_judged(collection: Collection, job: Job) -> np.ndarray:
    """Return bool[n]: items of which no pair can say whether another contains them, since they have fewer tokens than a shingle, or none.

    Only the first collection has items that others may contain.
    """
    least = max(job.options.min_tokens, job.method.length if isinstance(job.method, Text) else 1)
    found = (collection.column("kind") == TEXT) & (collection.column("tokens") < least)
    found[collection.rows_of_sides[0].stop :] = False
    return found


def about_short(collection: Collection, usable: int, job: Job) -> Iterator[str]:
    """Yield the warning about items that are `not_judged`."""
    short = not_judged(collection, job)
    if number := int(short.sum()):
        text = job.method if isinstance(job.method, Text) else None
        least, tokens = max(job.options.min_tokens, text.length if text else 1), text.unit.removeprefix("stop") if text else "elements"
        few = f"fewer than {least} {tokens}" if least > 1 else f"no {tokens}"
        where = first_places(collection, short) + (" and others" if number > NAMED else "")
        smaller = f"; use a smaller K in {option('by', placeholder=f'{text.unit}:K/containment')}" if text and text.k > 1 else ""
        subject = f"{number:,} of {usable:,} items {'has' if number == 1 else 'have'} {few}"
        yield f"{subject}, so it is not judged whether other items contain {'it' if number == 1 else 'them'}: {where}{smaller}"


def about_ids(collection: Collection, usable: int) -> Iterator[str]:
    """Yield warnings about ids that are repeated, missing, or not in their own type."""
    repeated, examples = collection.repeated_ids
    if repeated:
        name = f"{repeated:,} id{'s name' if repeated > 1 else ' names'} more than one item"
        yield f"{name} ({', '.join(examples)}); source and position distinguish these items"
    if without := int(collection.without_id.sum()):
        where = first_places(collection, collection.without_id)
        more = " and others" if without > NAMED else ""
        yield f"{without:,} of {usable:,} items {'has' if without == 1 else 'have'} no id (null in the output): {where}{more}"
    if QUOTED in map(collection.id_note, range(2)):
        yield 'some ids are the same text but of different types, such as 7 and "7", so id columns hold JSON text'


def first_places(collection: Collection, chosen: np.ndarray) -> str:
    """Return the places of the first NAMED rows of ``chosen`` (bool[n]), with their ids, such as the names of images."""
    rows = np.flatnonzero(chosen)[:NAMED]
    names, positions = collection.places(rows)
    border = collection.rows_of_sides[0].stop
    ids = [collection.names(np.array([row]), int(row >= border))[0] for row in rows.tolist()]  # positions on a side without ids
    return ", ".join(
        f"{name} item {position + 1}" + ("" if identity in (None, name, position) else f" (id {identity!r})")
        for name, position, identity in zip(names.to_pylist(), positions.tolist(), ids, strict=True)
    )
