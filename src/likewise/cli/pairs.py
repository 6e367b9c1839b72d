"""likewise pairs"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from likewise.choices import TAKES, CsvFormulas
from likewise.cli import output_file
from likewise.cli.dedup import at, dry_run_of, early_warnings
from likewise.cli.flags import FILE
from likewise.cli.plan import recall_of
from likewise.cli.screen import Screen, counted, figure, harmless, is_terminal
from likewise.cli.verbs import INPUTS, inputs, verb
from likewise.io.address import place
from likewise.options import KEEP_POLICIES, Options
from likewise.planning import spread

#: Columns of numbers.
NUMBERS = ("similarity", "distance", "position", "agreed")
#: Column of a place, from a character up to another one, on a terminal; and the end of its name.
PLACE = "place"
#: Maximum number of rows on a terminal.
MOST_ROWS = 50


@verb(
    "pairs",
    "INPUT... [--against INPUT]... [-o FILE]",
    examples=("pairs docs.parquet --threshold 0.9", "pairs train.jsonl --against test.jsonl -o overlap.parquet"),
    flags=f"{TAKES['pairs']} out overwrite csv_formulas dry_run config json exit_code quiet verbose color progress",
    arguments=[inputs()],
    notes=INPUTS,
    out={"help": "Output file (.parquet, .jsonl, .csv or .tsv); without it, pairs go to standard output.", "metavar": "FILE", "values": FILE},
    overwrite={"help": "Replace FILE when the new one is complete."},
    keep={"help": f"Representative of a cluster, with --star: {', '.join(KEEP_POLICIES)}, max:F or min:F of field F.", "brief": None},
    prefer={"help": "With --star, prefer items of files that match GLOB as representatives. Repeatable, in order."},
    star={"brief": ""},
    work={"shown": "a temporary folder"},
)
def command(
    screen: Screen,
    inputs: tuple[str, ...],
    against: tuple[str, ...] = (),
    out: str | None = None,
    overwrite: bool = False,
    csv_formulas: CsvFormulas = "escape",
    dry_run: bool = False,
    exit_code: bool = False,
    **choices: Any,
) -> int:
    from likewise.report.indexed import second_of
    from likewise.report.made import compared_with
    from likewise.runs.session import resolved

    first = [place(given) for given in inputs]
    second, choices = compared_with(second_of(against), choices)
    options = resolved([first, second], choices, one_way=True)
    target = None if out is None else place(out)
    if target is not None:
        check(target, overwrite, (*inputs, *(against if isinstance(second, list) else ())), options)
    if dry_run:
        dry_run_of(screen, first, second or [], options, target, "pairs", walk=options.star)
        return 0
    from likewise.cli.progress import progress_on
    from likewise.verbs.pairs import list_pairs

    progress = progress_on(screen)
    for message in early_warnings(options):
        progress.warn(message)
    found = list_pairs(first, second, options, progress)
    if target is not None:
        found.write(target, overwrite=overwrite, csv_formulas=csv_formulas)
    deliver(screen, found, target, "likewise/pairs/1", "pairs", without_places if against else as_it_is)
    if not screen.json:
        where = f" in {out}" if out else ""
        read = f"{counted(found.report['read'], 'item')} read in {progress.time_in_all}"
        limit, falling = found.report["threshold"], found.report["value"] == "distance"
        recall = recall_of(limit, found.report["recall"], at(falling))
        way = ", a contained in b" if options.method.containment else ""
        screen.say(f"{counted(len(found), 'pair')} {'within' if falling else 'at or above'} {limit:g}{way}{where}; {read}; recall: {recall}")
        if found.report["spread"]:
            screen.say(spread.described(found.report["spread"]))
    progress.steps()
    return int(exit_code and len(found) > 0)


def check(target: Path, overwrite: bool, inputs: Iterable[str], options: Options) -> None:
    """Check, before any work, that the target can and may be written. Raises UsageError."""
    from likewise.runs.inspection import want
    from likewise.runs.table_files import FORMATS

    groups = [(str(options.groups), options.groups)] if isinstance(options.groups, Path) else []
    output_file.check(target, inputs, want(options), groups, overwrite=overwrite, formats=FORMATS)


def deliver(screen: Screen, found: Any, target: Path | None, schema: str, rows: str, plain: Callable[[Any], Any]) -> None:
    """Print a result: one document, a table on a terminal, or JSON lines in a pipe.

    rows: the name of the rows in the document. plain: makes the table that a terminal shows.
    """
    if screen.json:
        place = {"out": str(target.absolute())} if target is not None else {rows: found.to_dicts()}
        screen.document({"schema": schema, **found.report, "count": len(found), **place})
    elif target is not None:
        return
    elif is_terminal(sys.stdout):
        if len(found):
            screen.data(table(plain(found.to_arrow()), colored=screen.colored(sys.stdout)))
    else:
        for lines in found.json_lines():
            screen.data(lines.encode())


def as_it_is(pairs: Any) -> Any:
    """The table unchanged: within one collection ids may be ambiguous."""
    return pairs


def without_places(pairs: Any) -> Any:
    """Pairs of two collections without columns of places, if each side is one file whose items have their positions as ids."""
    import pyarrow.compute as pc

    def plain(side: str) -> bool:
        return pc.count_distinct(pairs[f"source_{side}"]).as_py() == 1 and pc.all(pc.equal(pairs[f"id_{side}"], pairs[f"position_{side}"])).as_py()

    return pairs.select(pairs.column_names[:3]) if "source_a" in pairs.column_names and plain("a") and plain("b") else pairs


def in_brief(passages: Any, sides: dict[str, str]) -> Any:
    """Passages as a terminal shows them: without columns of sources and positions that say nothing, and with each place in one column.

    sides: the columns of ids, each with the prefix of its places.
    """
    import pyarrow as pa

    from likewise.runs.shown import behind

    left_out = behind(passages, sides)
    for prefix in sides.values():
        edges = [f"{prefix}{edge}" for edge in ("start", "end")]
        place = [f"{begin}-{end}" for begin, end in zip(*(passages[edge].to_pylist() for edge in edges), strict=True)]
        number = passages.column_names.index(edges[0])
        passages = passages.drop_columns(edges).add_column(number, f"{prefix}{PLACE}", pa.array(place, pa.string()))
    return passages.drop_columns(left_out)


def written(value: object, column: str) -> str:
    return "-" if value is None else figure(value, column) if isinstance(value, float) else harmless(str(value))


def table(pairs: Any, *, colored: bool) -> str:
    from rich.console import Console
    from rich.table import Table

    view = Table(box=None, pad_edge=False, header_style="bold")
    for name in pairs.column_names:
        view.add_column(name, justify="right" if name.startswith(NUMBERS) or name.endswith(PLACE) else "left", overflow="fold")
    for row in pairs.slice(0, MOST_ROWS).to_pylist():
        view.add_row(*(written(value, name) for name, value in row.items()))
    console = Console(force_terminal=colored, no_color=not colored, highlight=False, markup=False, emoji=False)
    with console.capture() as capture:
        console.print(view)
    more = f"\n... and {pairs.num_rows - MOST_ROWS:,} more; -o FILE writes all of them, a pipe gets JSON lines" if pairs.num_rows > MOST_ROWS else ""
    return capture.get().rstrip("\n") + more
