"""Inspect the inputs before a run: the fields to read, and the facts about the items that the plan depends on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from likewise.drawing.numbers import counted
from likewise.errors import DataError, UsageError
from likewise.io import presence
from likewise.io.columns import unfit
from likewise.io.field_names import mapped
from likewise.io.groups import Groups
from likewise.io.inputs import Source
from likewise.io.source_names import printable
from likewise.items import unusable
from likewise.job import Grouping, Job, is_joined, plan_of
from likewise.kinds.kind import ASKED, NOT_GUARANTEED, PLANNED
from likewise.messages import option
from likewise.options import Options
from likewise.planning import Facts
from likewise.records import Want

#: Facts about items that were not inspected.
NOTHING = Facts()
#: Options that apply to some formats only (`io.formats.Format`), and the inputs of these formats.
OF_FORMATS = {"html": "web archives", "records": "JSON"}
#: Endings of text files that --html does not convert.
HTML_FILES = (".html", ".htm", ".xhtml")


def want(options: Options, facts: Facts = NOTHING) -> Want:
    """The fields to read of each row, given ``facts`` about the items."""
    method = options.method
    return Want(
        options.field,
        options.id or "id",
        options.per,
        options.score,
        kind=method.kind.seen(facts).payload,
        seed=options.seed,
        signed=options.plan is not None,
        wide=facts.wide,
        decimal=facts.decimal,
        width=facts.features or facts.dimension or 0,
        first=facts.first,
        most=options.max_record,
        mapped=mapped(options.fields),
        records=options.records,
        html=options.html or "text",
        located=options.level is not None,
    )


def inspect_inputs(sources: Sequence[Source], options: Options, *, walk: bool = False, like: Job | None = None) -> Job:
    """The job for these inputs: their field, the groups of elements, and the facts that a plan for vectors or codes needs, such as their dimension.

    walk: items will be removed. like: the job of an index that they are compared with, whose facts and bands are used. Raises UsageError for options
    that do not fit, and DataError if no source has the compared field.
    """
    check_verify(options)
    field, some = presence.settled(sources, options.field, options.fields)
    asked = want(options)._replace(text=field, mapped=mapped(some))
    check_kinds(sources, options, asked)
    grouped: Grouping | None = None if options.groups is None else Groups(options.groups, options.seed)
    field, facts = look(sources, options, asked) if options.method.kind.needs_data else (field, NOTHING)
    if like is not None:
        facts, grouped = fitting(facts, like), like.grouped
        check_groups(sources, asked)
    job = job_of(options, field=field, fields=some, facts=facts, grouped=grouped)
    if like is not None:
        job = replace(job, plan=like.plan, exact=False, kept=like.kept)
    job.kind.check(job)
    presence.check(sources, job.want)
    if like is not None or not (job.compared.weighed or job.compared.sparse):
        return job  # texts, above all, need none of the modules of joins
    from likewise.runs.join_choice import joined_unasked

    return replace(job, exact=True, plan=None) if joined_unasked(sources, job, walk=walk) else job


def job_of(options: Options, *, facts: Facts = NOTHING, grouped: Grouping | None = None, **fields: Any) -> Job:
    """The job, from the facts about the inputs. fields: ``field`` and ``fields`` of `Job`, if they differ from the options."""
    named = {"field": options.field, "fields": options.fields} | fields
    read = want(options, facts)._replace(text=named["field"], mapped=mapped(named["fields"]))
    return Job(options=options, want=read, plan=plan_of(options, facts), exact=bool(options.exact), facts=facts, grouped=grouped, **named)


def fitting(facts: Facts, like: Job) -> Facts:
    """The facts of an index, for items that are compared with its own. Raises DataError if they cannot be."""
    here, there = ((one.sparse, one.dimension or one.features or 0) for one in (facts, like.facts))
    if like.kind.needs_data and here != there:
        kind = like.kind
        has, needs = (f"{'sparse ' * sparse}{kind.name}" + f" of {kind.width_of(size)}" * (size > 0) for sparse, size in (here, there))
        raise DataError(f"the inputs hold {has}, and the index {needs}; they cannot be compared")
    return replace(like.facts, decimal=facts.decimal)


def check_groups(sources: Sequence[Source], asked: Want) -> None:
    """Raises DataError if no source has the field of groups, as far as their beginnings show: what is compared with an index has no column of it."""
    if asked.per and sources and all(presence.lacks(source, asked.per, asked) for source in sources):
        raise DataError(f"no row has the field {asked.per!r}, by which the items of the index are compared{presence.seen(sources, asked)}")


def look(sources: Sequence[Source], options: Options, asked: Want) -> tuple[str, Facts]:
    """The field of the items, and the facts about them that the first rows of the sources show."""
    spared = (DataError,) if options.on_error == "skip" else ()
    return options.method.kind.facts_of(sources, asked, spared, options.method, options.bound)


def without_effect(sources: Sequence[Source], options: Options) -> Iterator[str]:
    """A warning for each option that applies to none of the sources, or not to HTML files among them."""
    for name, needed in OF_FORMATS.items():
        value = getattr(options, name)
        pages = [file for source in sources if source.of_texts for file, _ in source.files if file.lower().endswith(HTML_FILES)]
        raw = pages if value in ("text", "main") else []
        if value is None or (not raw and any(name in getattr(source.format, "OPTIONS", ()) for source in sources)):
            continue
        on = f" on {counted(len(raw), 'HTML file', 'HTML files')}, such as {printable(raw[0])}, compared with all tags" if raw else ""
        yield f"{option(name, value)} has no effect{on}: it applies to {needed} only"


def check_kinds(sources: Sequence[Source], options: Options, asked: Want) -> None:
    """Raises DataError if the column of a source has values of a type that cannot be compared."""
    for source in sources:
        with suppress(DataError):  # reported or skipped when the source is read
            other = unfit(source, asked)
            if other:
                break
    else:
        return
    raise DataError(unusable.message(printable(source.name), other, source.asked(asked), str(options.method)))


def check_verify(options: Options) -> None:
    """Raises UsageError for --verify where items are always compared exactly."""
    kind = options.method.kind
    if options.verify == "estimate" and not kind.cut:
        raise UsageError(
            f"{option('verify', 'estimate')}: only documents can be compared by their signatures; leave it out to compare {kind.name} exactly"
        )
    if options.verify != "exact" and (is_joined(options, options.method.compared) or kind.bands == ASKED):
        always = kind.bands != PLANNED and not (kind.recall == NOT_GUARANTEED and options.exact)
        how = "by containment" if options.method.containment else f"with {option('exact')}"
        what = kind.name if always else f"{how} {kind.name}"
        raise UsageError(f"{option('verify', options.verify)}: {what} are always compared exactly; leave it out")
