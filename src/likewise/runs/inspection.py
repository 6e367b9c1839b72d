"""The inputs before the run: the fields that are read, and the facts about the items on which the plan depends."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from likewise.errors import DataError, UsageError
from likewise.io import presence
from likewise.io.columns import unfit
from likewise.io.field_names import mapped
from likewise.io.fields import sparse as sparse_field
from likewise.io.fields import wide as wide_numbers
from likewise.io.groups import Groups
from likewise.io.inputs import Source, printable
from likewise.items import unusable
from likewise.joins.sparse_join import least_cosine
from likewise.kinds.kind import ASKED, NOT_PROMISED, PLANNED
from likewise.methods import Text
from likewise.options import Options
from likewise.planning import Facts
from likewise.records import Want
from likewise.runs.items import rule
from likewise.runs.job import Grouping, Job, is_joined, plan_of
from likewise.stages.kinds import KINDS

#: Of items that were not looked at.
NOTHING = Facts()


def want(options: Options, facts: Facts = NOTHING) -> Want:
    """What to read of each row, before more is known than ``facts`` of the items."""
    method = options.method
    if not isinstance(method, Text) and method.name not in KINDS:
        raise UsageError(
            f"--by {method}: there is no hash family for it, so similar items cannot be found; there are families for {', '.join(KINDS)}"
        )
    return Want(
        options.field,
        options.id or "id",
        options.per,
        options.score,
        kind=method.kind.seen(facts).payload,
        seed=options.seed,
        wide=facts.wide,
        decimal=facts.decimal,
        width=facts.features or facts.dimension or 0,
        first=facts.first,
        most=options.max_record,
        mapped=mapped(options.fields),
        records=options.records,
    )


def inspect_inputs(sources: Sequence[Source], options: Options) -> Job:
    """The job, by what the inputs show: which field they have, what a file of groups holds, and the facts that a plan of vectors or codes needs, such
    as how many numbers they have. Raises DataError for sources in which the field that is compared occurs nowhere."""
    check_verify(options)
    field, some = presence.settled(sources, options.field, options.fields)
    asked = want(options)._replace(text=field, mapped=mapped(some))
    check_kinds(sources, options, asked)
    grouped = None if options.groups is None else Groups(options.groups, options.seed)
    field, facts = look(sources, options, asked) if options.method.kind.needs_data else (field, NOTHING)
    job = job_of(options, field=field, fields=some, facts=facts, grouped=grouped)
    if job.want.kind == "sparse" and options.exact and options.bound is not None and not least_cosine(rule(job)):
        raise UsageError("--exact: sparse vectors are joined exactly by cosine, and by angles below 90 degrees; leave it out")
    presence.check(sources, job.want)
    return job


def job_of(options: Options, *, facts: Facts = NOTHING, grouped: Grouping | None = None, **fields: Any) -> Job:
    """The job, by what is known of the inputs. fields: ``field`` and ``fields`` of `Job`, where they are not those that were asked for."""
    named = {"field": options.field, "fields": options.fields} | fields
    read = want(options, facts)._replace(text=named["field"], mapped=mapped(named["fields"]))
    return Job(options=options, want=read, plan=plan_of(options, facts), exact=bool(options.exact), facts=facts, grouped=grouped, **named)


def look(sources: Sequence[Source], options: Options, asked: Want) -> tuple[str, Facts]:
    """The field of the items, and the facts about them that the beginnings of the sources show."""
    spared = (DataError,) if options.on_error == "skip" else ()  # a damaged source is passed over here, and rejected when it is read
    if asked.kind == "vector" and (field := sparse_field(sources, asked, spared)):
        return field, Facts(sparse=True)
    wide = asked.kind == "vector" and wide_numbers(sources, asked, spared)
    decimal = asked.kind == "code" and decimal_codes(sources, asked, spared)
    width, place = first_width(sources, asked._replace(wide=wide, decimal=decimal), spared)
    if width is None and asked.kind == "code":  # none has any bit, and any plan will do for none
        width = max(64, int(options.bound or 0) + 1)
    if asked.kind == "features":
        return asked.text, Facts(features=width, first=place, sparse=options.method.compared.sparse)
    return asked.text, Facts(width, wide=wide, decimal=decimal, first=place)


def check_kinds(sources: Sequence[Source], options: Options, asked: Want) -> None:
    """Refuse a source whose column has values of a type that cannot be compared."""
    for source in sources:
        with suppress(DataError):  # reported, or skipped, when the source is read
            other = unfit(source, asked)
            if other:
                break
    else:
        return
    raise DataError(unusable.message(printable(source.name), other, source.asked(asked), str(options.method)))


def check_verify(options: Options) -> None:
    """Refuse --verify where items are always compared exactly."""
    kind = options.method.kind
    if options.verify == "estimate" and not kind.cut:
        raise UsageError(f"--verify estimate: only of texts are signatures compared; leave it out, and {kind.name} are compared exactly")
    if options.verify != "exact" and (is_joined(options, options.method.compared) or kind.bands == ASKED):
        always = kind.bands != PLANNED and not (kind.recall == NOT_PROMISED and options.exact)
        what = kind.name if always else f"{'by containment' if options.method.containment else 'with --exact'} {kind.name}"
        raise UsageError(f"--verify {options.verify}: {what} are always compared exactly; leave it out")


def decimal_codes(sources: Sequence[Source], asked: Want, spared: tuple[type[Exception], ...]) -> bool:
    """True if the codes of some CSV file can only be decimal; then codes of undecided files are decimal too."""
    for source in sources:
        if forms := getattr(source.format, "code_forms", None):
            with suppress(*spared):
                if "decimal" in forms(source.path, source.asked(asked)).values():
                    return True
    return False


def first_width(sources: Sequence[Source], asked: Want, spared: tuple[type[Exception], ...]) -> tuple[int | None, str]:
    """The numbers or bits of the first item that has any, and its place; None without one. ``spared``: errors that end only their source."""
    for source in sources:
        rows = 0
        with suppress(*spared):
            for chunk in source.chunks_from_few(asked):
                width = source.parse(chunk, asked).width
                if width is not None and width.any():
                    row = int(np.argmax(width > 0))
                    return int(width[row]), f"{printable(source.name)}, item {rows + row + 1}"
                rows += 0 if width is None else len(width)
    return None, ""
