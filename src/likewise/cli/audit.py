"""likewise audit"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from likewise.choices import TAKES
from likewise.cli.screen import Screen, counted, in_line, percent
from likewise.cli.verbs import INPUTS, inputs, verb
from likewise.drawing.numbers import ranged
from likewise.errors import LikewiseError
from likewise.io.address import place
from likewise.io.manifest import is_output

if TYPE_CHECKING:
    from pathlib import Path

    from likewise.runs.audit import Audit
    from likewise.runs.planting import Planted


@verb(
    "audit",
    "OUT | INPUT...",
    examples=("audit clean", "audit pages.jsonl --threshold 0.8 --sample 2000"),
    flags=f"{TAKES['audit']} config json quiet verbose color progress",
    arguments=[inputs("OUT | INPUT...")],
    notes=f"OUT: an output folder of dedup.\n{INPUTS}",
    exact={"brief": None},
    work={"shown": "a temporary folder"},
)
def command(screen: Screen, inputs: tuple[str, ...], **choices: Any) -> None:
    from likewise.cli.progress import progress_on
    from likewise.runs.planting import Planted
    from likewise.verbs.audit import audit

    progress = progress_on(screen)
    given = place(inputs[0]) if len(inputs) == 1 else [place(one) for one in inputs]
    found = audit(given, progress=progress, **choices)
    if not isinstance(given, list) and is_output(given) and not isinstance(found, Planted):
        kept(screen, given, found, choices)
    if screen.json:
        screen.document({"schema": "likewise/planted/1" if isinstance(found, Planted) else "likewise/audit/1", **found.to_dict()})
        return
    if isinstance(found, Planted):
        screen.rows(planted(found), data=True)
        progress.steps()
        return
    screen.rows(described(found), data=True)
    for example in found.missed:
        pair = " and ".join(f"{example[f'id_{side}']} ({example[f'source_{side}']}, item {example[f'position_{side}'] + 1})" for side in "ab")
        screen.data(f"missed at {example['value']:.4g}: {in_line(pair)}")
    progress.steps()


def kept(screen: Screen, out: Path, found: Audit, choices: dict[str, Any]) -> None:
    """Store the audit in the output, whose page then has it. That of other options is not stored, nor one in a folder that cannot be written."""
    from likewise.cli.report import written
    from likewise.report import measured

    if not {*choices} <= measured.SAME:
        return
    try:
        measured.store(out, found)
        written(screen, out)
    except (LikewiseError, OSError) as error:
        screen.warn(f"the report does not have this audit: {getattr(error, 'marked', error)}")


def planted(found: Planted) -> Iterator[tuple[str, str]]:
    """The lines about planted leaks, by kind."""
    from likewise.runs.planting import interval, removed, said

    yield "planted", said(found)
    for one in found.kinds:
        less = f"; {removed(one)} of their text removed" if found.removes else ""
        yield one.kind, f"{one.found:,} of {counted(one.planted, 'leak')} found: {interval(one)}{less}"


def described(found: Audit) -> Iterator[tuple[str, str]]:
    yield "sampled", f"{found.sampled:,} of {counted(found.items, 'distinct item')} (without copies, empty and rejected items)"
    yield "similar", f"{counted(found.pairs, 'pair')} with a sampled item, found by an exact search"
    if found.pairs:
        yield "recall", f"{percent(found.recall)} measured; {percent(found.low)} to {percent(found.high)} with 95% confidence"
    place = "at a distance of exactly" if found.value == "distance" else "exactly at"
    if found.expected_recall is None:
        yield "expected", "unknown: this measure has no guaranteed recall"
    else:
        least = f"at least {percent(found.expected_recall, down=True)} of pairs {place} {found.threshold:g}"
        yield "expected", "100%" if found.expected_recall == 1 else least
    exact = "100%: all reported pairs were compared exactly"
    yield "precision", exact if found.precision == 1 else "unknown: removed items were not compared exactly"
    for one in found.people:
        span = "all" if one is found.people[0] else f"{ranged(one['from'], one['to'])}"
        judged = counted(one["same"] + one["different"], "pair is", "pairs are")
        skipped = f"; {one['skipped']:,} skipped" if one["skipped"] else ""
        share = "" if one["precision"] is None else f"{percent(one['precision'])} "
        yield "people", f"{span}: {one['same']:,} of {judged} the same: {share}({percent(one['low'])} to {percent(one['high'])}){skipped}"
    if found.by_value:
        yield "found", f"by {found.value}:"
    for low, high, pairs, hits in found.by_value:
        if pairs:
            yield ranged(min(low, high), max(low, high)), f"{hits:,} of {counted(pairs, 'pair')}"
