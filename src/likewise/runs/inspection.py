"""The inputs before the run: the fields that are read, and the facts about the items on which the plan depends."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

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
from likewise.options import Options, acquainted
from likewise.planning import Facts
from likewise.records import Want
from likewise.runs.items import rule
from likewise.stages.kinds import KINDS


def want(options: Options) -> Want:
    """The fields to read from each row."""
    method = options.method
    if not isinstance(method, Text) and method.name not in KINDS:
        raise UsageError(
            f"--by {method}: there is no hash family for it, so similar items cannot be found; there are families for {', '.join(KINDS)}"
        )
    facts, most = options.facts, options.max_record
    width = facts.features or facts.dimension or 0
    return Want(
        options.field,
        options.id or "id",
        options.per,
        options.score,
        kind=options.kind.payload,
        seed=options.seed,
        wide=facts.wide,
        decimal=facts.decimal,
        width=width,
        first=facts.first,
        most=most,
        mapped=mapped(options.fields),
        records=options.records,
    )


def inspect_inputs(sources: Sequence[Source], options: Options) -> Options:
    """The options, with the content of a file of groups, and the facts about vectors or codes that a plan needs: how many numbers or bits they have,
    or that they are sparse, and in which field. Raises DataError for sources in which the field that is compared occurs nowhere."""
    check_verify(options)
    field, some = presence.settled(sources, options.field, options.fields)
    options = look(sources, replace(options, field=field, fields=some))
    presence.check(sources, want(options))
    return options


def look(sources: Sequence[Source], options: Options) -> Options:
    """The options with the facts about the items that the beginnings of the sources show."""
    check_kinds(sources, options)
    if options.groups is not None:
        options = replace(options, grouped=Groups(options.groups, options.seed))
    if not options.method.kind.needs_data:
        return options
    asked = want(options)
    spared = (DataError,) if options.on_error == "skip" else ()  # a damaged source is passed over here, and rejected when it is read
    if asked.kind == "vector" and (field := sparse_field(sources, asked, spared)):
        options = acquainted(replace(options, field=field), Facts(sparse=True))
        if options.exact and options.bound is not None and not least_cosine(rule(options)):
            raise UsageError("--exact: sparse vectors are joined exactly by cosine, and by angles below 90 degrees; leave it out")
        return options
    wide = asked.kind == "vector" and wide_numbers(sources, asked, spared)
    decimal = asked.kind == "code" and decimal_codes(sources, asked, spared)
    width, place = first_width(sources, asked._replace(wide=wide, decimal=decimal), spared)
    if width is None and asked.kind == "code":  # none has any bit, and any plan will do for none
        width = max(64, int(options.bound or 0) + 1)
    if asked.kind == "features":
        return acquainted(options, Facts(features=width, first=place, sparse=options.compared.sparse))
    return acquainted(options, Facts(width, wide=wide, decimal=decimal, first=place))


def check_kinds(sources: Sequence[Source], options: Options) -> None:
    """Refuse a source whose column has values of a type that cannot be compared."""
    asked = want(options)
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
    if options.verify != "exact" and (options.joined or kind.bands == ASKED):
        always = kind.bands != PLANNED and not (kind.recall == NOT_PROMISED and options.exact)
        what = kind.name if always else f"{'by containment' if options.contained else 'with --exact'} {kind.name}"
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
            for chunk in source.chunks(asked):
                width = source.parse(chunk, asked).width
                if width is not None and width.any():
                    row = int(np.argmax(width > 0))
                    return int(width[row]), f"{printable(source.name)}, item {rows + row + 1}"
                rows += 0 if width is None else len(width)
    return None, ""
