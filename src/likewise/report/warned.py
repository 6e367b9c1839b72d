"""Warnings that a user should read before trusting a result, in reports and on standard error."""

from __future__ import annotations

from collections.abc import Iterator

from likewise.io.facts import least_judged
from likewise.io.idcolumn import QUOTED
from likewise.job import Job
from likewise.messages import option, verb
from likewise.methods import Text
from likewise.report import ignored, wording
from likewise.report.read import Read
from likewise.stages.facts import NAMED

#: Advice if no recall is guaranteed.
MEASURE = f"{verb('audit')} measures it on a sample, and {option('exact')} compares all pairs"


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
        unit, least = job.method.unit, job.method.length
        few, of = compared.total("few"), compared.readable
        if of and few * 2 > of and not (compared.rows.of_parts and job.threshold == 1):
            fewer = f"{'has' if few == 1 else 'have'} fewer than {least} {job.method.tokens_name} and match{'es' if few == 1 else ''} only when equal"
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


def about_short(read: Read, job: Job) -> Iterator[str]:
    """Yield the warning about items of which no pair can say whether another contains them, since they have fewer tokens than a shingle, or none.

    Only the first collection has items that others may contain.
    """
    if number := read.sides[0].total("not_judged"):
        text, least = job.method if isinstance(job.method, Text) else None, least_judged(job)
        tokens = text.tokens_name if text else "elements"
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
