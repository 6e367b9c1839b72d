"""likewise index"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from likewise.choices import LAYOUT, LIMIT
from likewise.cli.flags import FILE
from likewise.cli.index_facts import also_rejected, changed, named, told
from likewise.cli.screen import Screen, counted, percent
from likewise.cli.verbs import INPUTS, Actions, folders, inputs, verb
from likewise.errors import IdError, UsageError
from likewise.io.address import place
from likewise.messages import option

if TYPE_CHECKING:
    from likewise.cli.progress import ScreenProgress
    from likewise.index.store import Items
    from likewise.runs.incoming import Batch
    from likewise.verbs.index import Index

#: Flags of what is similar, of reading records, and of messages.
SIMILAR = f"by {LIMIT} normalize groups per {LAYOUT} preset seed sets"
RECORDS = "field records html id on_error max_record limit threads"
MESSAGES = "json quiet verbose color progress"
TABLE = f"out overwrite csv_formulas {MESSAGES} exit_code"
#: Flags that mean the same in all actions.
OUT = {"help": "Output file (.parquet, .jsonl, .csv or .tsv); without it, rows go to standard output.", "metavar": "FILE", "values": FILE}
REPLACE_FILE = {"help": "Replace FILE when the new one is complete."}
REPLACE = {"help": "Replace the index at PATH when the new one is complete."}
#: The fault of an id, and the remedy, by action.
REFUSED = {
    "add": (
        "is already in the index",
        f"{option('existing', 'skip')} leaves such records out, {option('existing', 'replace')} replaces the old ones",
    ),
    "add-new": ("is already in the index", f"{option('existing', 'skip')} leaves such records out, likewise index update replaces the old ones"),
    "update": ("is not in the index", "likewise index add adds it"),
}
#: A typed id that can be a number.
NUMBER = re.compile("0|-?[1-9][0-9]{0,999}")
#: Rejected records that are named.
NAMED = 3
STREAMED = "JSON lines on standard input are answered as they arrive."


def index_at(screen: Screen, path: str, **choices: Any) -> Index:
    """The index at a path, opened so that the screen says if kernels are compiled."""
    from likewise.cli.progress import progress_on
    from likewise.verbs.index import Index

    progress_on(screen)
    return Index.open(path, **choices)


def path(name: str = "PATH") -> click.Argument:
    """The argument for the folder or address of an index."""
    return click.Argument([name.lower()], metavar=name, shell_complete=folders)


@verb(
    "index create",
    "PATH",
    purpose="Create an empty index.",
    examples=("index create seen.lw", "index create faces.lw --by cosine --threshold 0.95 --dimension 512"),
    flags=f"{SIMILAR} dimension wide sparse overwrite config {MESSAGES}",
    arguments=[path()],
    notes="PATH: a new folder, or an address (postgresql://..., valkey://...).",
    per={"help": "Compare only items with an equal value of this field of their records."},
    dimension={"help": "Dimension of the vectors, or number of bits of the codes; they must be known.", "brief": ""},
    overwrite=REPLACE,
)
def create(screen: Screen, path: str, **choices: Any) -> None:
    from likewise.cli.progress import progress_on
    from likewise.verbs.index import Index

    progress_on(screen)
    with Index.create(path, **choices) as ix:
        told(screen, ix, path)


@verb(
    "index build",
    "PATH INPUT...",
    purpose="Create an index of many records at once.",
    examples=("index build seen.lw crawl/*.jsonl.zst --id url", "index build seen.lw clean"),
    flags=f"{SIMILAR} {RECORDS} memory work existing overwrite config {MESSAGES}",
    arguments=[path(), inputs()],
    notes=f"{INPUTS}\nOr an output folder that dedup --sketches wrote: its kept records, without reading them.",
    existing={"help": "If two records have the same id: stop with an error, take the first of them (skip), or the last (replace)."},
    overwrite=REPLACE,
    work={"shown": "a temporary folder"},
)
def build(
    screen: Screen, path: str, inputs: tuple[str, ...], sets: Any = "full", existing: Any = "refuse", overwrite: bool = False, **choices: Any
) -> None:
    from likewise.cli.progress import progress_on
    from likewise.io.manifest import is_output
    from likewise.runs.building import Creation
    from likewise.verbs.index import Index

    progress = progress_on(screen)
    creation = Creation(where=path, sets=sets, existing=existing, overwrite=overwrite)
    given = [place(each) for each in inputs]
    if len(given) == 1 and str(inputs[0]) != "-" and is_output(given[0]):
        if choices.keys() - {"threads", "memory", "work"}:
            names = ", ".join(f"--{name.replace('_', '-')}" for name in choices)
            raise UsageError(f"{names}: {inputs[0]} is an output of likewise, and an index of it compares as it was made; leave these flags out")
        made = creation.from_output(Path(inputs[0]))
    else:
        made = creation.build(given, choices, progress)
    with Index(made.store) as ix:
        changed(screen, ix, "build", path, progress, read=made.read, added=made.added, rejected=made.rejected)


@verb(
    "index add",
    "PATH INPUT...",
    purpose="Add records to an index.",
    examples=("index add seen.lw monday.jsonl", "index add seen.lw - --id url < new.jsonl"),
    flags=f"{RECORDS} existing durability {MESSAGES}",
    arguments=[path(), inputs()],
    notes=INPUTS,
)
def add(screen: Screen, path: str, inputs: tuple[str, ...], existing: Any = "refuse", durability: Any = "commit", **choices: Any) -> None:
    write(screen, "add", path, inputs, choices, durability, lambda ix, items: ix.add(items, existing=existing))


@verb(
    "index update",
    "PATH INPUT...",
    purpose="Replace records of an index that have the same ids.",
    examples=("index update seen.lw corrected.jsonl", "index update seen.lw - --id url < changed.jsonl"),
    flags=f"{RECORDS} durability {MESSAGES}",
    arguments=[path(), inputs()],
    notes=INPUTS,
)
def update(screen: Screen, path: str, inputs: tuple[str, ...], durability: Any = "commit", **choices: Any) -> None:
    write(screen, "update", path, inputs, choices, durability, lambda ix, items: ix.update(items, None))


def write(
    screen: Screen, action: str, path: str, inputs: tuple[str, ...], choices: dict[str, Any], durability: Any, each: Callable[[Index, Items], Any]
) -> None:
    """Write records into an index, batch by batch."""
    from likewise.cli.progress import progress_on
    from likewise.verbs.index import Index

    progress = progress_on(screen)
    counts = {"read": 0, "added": 0, "skipped": 0, "rejected": 0}
    with Index.open(path, durability=durability) as ix:
        for batch in batches(screen, ix, inputs, choices, progress):
            try:
                found = each(ix, batch.items(ix.settings))
            except IdError as error:
                raise batch.refused(error, *REFUSED[action], counts["added"]) from error
            for name, number in (("read", batch.read), ("added", found.added), ("skipped", found.skipped), ("rejected", len(batch.rejected))):
                counts[name] += number
        progress.finish()
        changed(screen, ix, action, path, progress, **counts)


@verb(
    "index add-new",
    "PATH INPUT... [-o FILE]",
    purpose="Add records that have no similar item; name it for the others.",
    examples=("index add-new seen.lw - < new.jsonl", "index add-new tickets.lw today.parquet -k 3 -o repeated.parquet"),
    flags=f"{RECORDS} existing k durability {TABLE}",
    arguments=[path(), inputs()],
    notes=f"{INPUTS}\nRows: query (the record), added, id (its own, or that of a similar one), similarity or distance.\n{STREAMED}",
    existing={"help": "If the id of a new record is taken: stop with an error (refuse), or leave the record out (skip)."},
    k={"help": "Number of similar items listed for a record that is not new.", "shown": "1"},
    exit_code={"help": "Exit with status 1 if a record was not new."},
    out=OUT,
    overwrite=REPLACE_FILE,
)
def add_new(screen: Screen, path: str, inputs: tuple[str, ...], k: int = 1, existing: Any = "refuse", durability: Any = "commit", **more: Any) -> int:
    from likewise.cli.index_rows import Rows, added_new
    from likewise.cli.progress import progress_on
    from likewise.verbs.index import Index, check_existing_new

    check_existing_new(existing)
    rows, progress = Rows(screen, more), progress_on(screen)
    counts = {"read": 0, "added": 0, "not_new": 0, "rejected": 0}
    with Index.open(path, durability=durability) as ix:
        for batch in batches(screen, ix, inputs, more, progress):
            before = counts["added"]
            try:
                for data in added_new(ix, batch, k, existing):
                    rows.add(data)
                    counts["added"] += sum(data.table["added"].to_pylist())
            except IdError as error:
                raise batch.refused(error, *REFUSED["add-new"], counts["added"]) from error
            counts["read"] += batch.read
            counts["rejected"] += len(batch.rejected)
            counts["not_new"] += len(batch.block) - (counts["added"] - before)
        progress.finish()
        rows.finish("likewise/index-add-new/1", {"index": named(path), **counts})
    if not screen.json:
        read = f"{counted(counts['read'], 'record')} read in {progress.time_in_all}"
        screen.say(f"{counts['added']:,} added, {counts['not_new']:,} not new{also_rejected(counts)}; {read}")
    progress.steps()
    return int(rows.exit_code and counts["not_new"] > 0)


@verb(
    "index query",
    "PATH INPUT... [-k K] [-o FILE]",
    purpose="Find the items of an index that are similar to given records.",
    examples=("index query seen.lw new.jsonl -k 5", "index query seen.lw - < new.jsonl"),
    flags=f"{RECORDS} k {LIMIT.replace(' recall', '')} force {TABLE}",
    arguments=[path(), inputs()],
    notes=f"{INPUTS}\nRows: query (the record), id, similarity or distance.\n{STREAMED}",
    k={"help": "Number of items listed for each record, the most similar first.", "shown": "all"},
    threshold={"help": "Minimum similarity of an item.", "shown": "that of the index", "brief": ""},
    within={"help": "Maximum distance of an item.", "shown": "that of the index", "brief": ""},
    exit_code={"help": "Exit with status 1 if a record has a similar item."},
    out=OUT,
    overwrite=REPLACE_FILE,
)
def query(
    screen: Screen,
    path: str,
    inputs: tuple[str, ...],
    k: int | None = None,
    threshold: Any = None,
    within: Any = None,
    force: bool = False,
    **more: Any,
) -> int:
    import pyarrow.compute as pc

    from likewise.cli.index_rows import Rows
    from likewise.cli.progress import progress_on
    from likewise.verbs.index import Index

    rows, progress = Rows(screen, more), progress_on(screen)
    counts = {"read": 0, "found": 0, "rejected": 0}
    report: dict[str, Any] = {}
    with Index.open(path, read_only=True) as ix:
        for batch in batches(screen, ix, inputs, more, progress):
            answers = ix.query(batch.queries(ix.settings), k=k, threshold=threshold, within=within, force=force)
            if not report:
                report = answers.report
                for said in report.pop("warnings"):
                    screen.warn(said)
            rows.add(data := answers._data())
            counts["read"] += batch.read
            counts["found"] += pc.count_distinct(data.json.get("query", data.table["query"])).as_py()
            counts["rejected"] += len(batch.rejected)
        progress.finish()
        rows.finish("likewise/index-query/1", {"index": named(path), **report, **counts})
    if not screen.json:
        of = f"{counts['found']:,} of {counted(counts['read'], 'record')}{also_rejected(counts)}"
        recall = f"; recall: {percent(report['recall'], down=True)}" if report else ""
        screen.say(f"{counted(rows.count, 'similar item')} found for {of}; read in {progress.time_in_all}{recall}")
    progress.steps()
    return int(rows.exit_code and counts["found"] > 0)


@verb(
    "index remove",
    "PATH [ID]... [--ids-from INPUT]...",
    purpose="Remove items by their ids.",
    examples=("index remove seen.lw page-17 page-18", "index remove seen.lw --ids-from gone.jsonl --id url"),
    flags=f"ids_from id records on_error missing durability {MESSAGES}",
    arguments=[path(), click.Argument(["ids"], nargs=-1, metavar="[ID]...")],
    notes="ID: 17 is the number or the text 17, whichever the index has.\nINPUT: files, folders, globs or -; records need nothing but an id.",
)
def remove(
    screen: Screen,
    path: str,
    ids: tuple[str, ...] = (),
    ids_from: tuple[str, ...] = (),
    missing: Any = "ignore",
    durability: Any = "commit",
    **choices: Any,
) -> None:
    from likewise.cli.progress import progress_on
    from likewise.verbs.index import Index

    if not ids and not ids_from:
        raise UsageError("name the items to remove: by their ids, or with --ids-from INPUT")
    progress = progress_on(screen)
    removed = read = rejected = 0
    with Index.open(path, durability=durability) as ix:
        if ids:
            removed += ix.remove([typed_id(ix, one) for one in ids], missing=missing)
        for batch in batches(screen, ix, ids_from, choices, progress, sketch=False) if ids_from else ():
            removed += ix.remove(batch.ids(), missing=missing)
            read, rejected = read + batch.read, rejected + len(batch.rejected)
        progress.finish()
        changed(screen, ix, "remove", path, progress, read=read, removed=removed, rejected=rejected)


@verb(
    "index merge",
    "PATH OTHER",
    purpose="Add all items of another index with the same settings.",
    examples=("index merge seen.lw monday.lw", "index merge seen.lw monday.lw --existing skip"),
    flags=f"existing durability {MESSAGES}",
    arguments=[path(), path("OTHER")],
    notes="It writes blocks of items; after an interruption, continue with --existing skip.",
    existing={"help": "If an id is in both: stop and write nothing (refuse), keep the item of PATH (skip), or take that of OTHER (replace)."},
)
def merge(screen: Screen, path: str, other: str, existing: Any = "refuse", durability: Any = "commit") -> None:
    from likewise.cli.progress import progress_on
    from likewise.verbs.index import Index

    progress = progress_on(screen)
    with Index.open(path, durability=durability) as ix, Index.open(other, read_only=True) as more:
        found = ix.merge(more, existing=existing)
        changed(screen, ix, "merge", path, progress, read=len(more), added=found.added, skipped=found.skipped)


@verb(
    "index compact",
    "PATH",
    purpose="Free the space of removed items.",
    examples=("index compact seen.lw", "index compact seen.lw --json"),
    flags=MESSAGES,
    arguments=[path()],
)
def compact(screen: Screen, path: str) -> None:
    with index_at(screen, path) as ix:
        ix.compact()
        told(screen, ix, path)


@verb(
    "index check",
    "PATH",
    purpose="Verify an index, and list damage.",
    examples=("index check seen.lw", "index check seen.lw --json"),
    flags=MESSAGES,
    arguments=[path()],
    notes="Exit status: 0 if nothing is damaged, else 2.",
)
def check(screen: Screen, path: str) -> int:
    with index_at(screen, path, read_only=True) as ix:
        faults, items = ix.check(), len(ix)
    if screen.json:
        screen.document({"schema": "likewise/index-check/1", "index": named(path), "items": items, "faults": faults})
    else:
        for fault in faults:
            screen.data(fault)
        screen.say(
            f"{counted(len(faults), 'fault')} found in {named(path)} with {counted(items, 'item')}"
            if faults
            else f"{named(path)}: {counted(items, 'item')}, no fault found"
        )
    return 2 if faults else 0


@verb(
    "index backup",
    "PATH FOLDER",
    purpose="Copy an index into a new folder, even while it is written to.",
    examples=("index backup seen.lw /backup/seen.lw", "index backup seen.lw seen-$(date +%F).lw"),
    flags=MESSAGES,
    arguments=[path(), path("FOLDER")],
)
def backup(screen: Screen, path: str, folder: str) -> None:
    from likewise.verbs.index import Index

    with index_at(screen, path, read_only=True) as ix:
        ix.backup(folder)
    with Index.open(folder, read_only=True) as ix:
        told(screen, ix, folder)


@verb(
    "index info",
    "PATH",
    purpose="Show the settings and the size of an index.",
    examples=("index info seen.lw", "index info seen.lw --json"),
    flags=MESSAGES,
    arguments=[path()],
)
def info(screen: Screen, path: str) -> None:
    with index_at(screen, path, read_only=True) as ix:
        told(screen, ix, path, data=True)


command = Actions(
    "index",
    "ACTION PATH ...",
    examples=("index build seen.lw crawl/*.jsonl --id url", "index add-new seen.lw - < new.jsonl"),
    actions=(create, build, add, add_new, query, update, remove, merge, compact, check, backup, info),
    notes="PATH: a folder, or an address of PostgreSQL or Valkey.",
)


def batches(
    screen: Screen, ix: Index, given: tuple[str, ...], choices: dict[str, Any], progress: ScreenProgress, *, sketch: bool = True
) -> Iterator[Batch]:
    """The records of the inputs. Those that cannot be read are named as they come."""
    from likewise.runs.incoming import Incoming

    reading = Incoming.of(ix.settings, choices, progress, sketch=sketch)
    left = NAMED
    for batch in reading.batches([place(each) for each in given]):
        for reason in batch.rejected[:left]:
            screen.warn(f"rejected {reason}")
        left = max(0, left - len(batch.rejected))
        yield batch


def typed_id(ix: Index, text: str) -> str | int:
    """An id that was typed: the text, or the number that it is, if the index has that. Raises UsageError if it has both."""
    if not NUMBER.fullmatch(text) or (number := int(text)) not in ix:
        return text
    if text in ix:
        raise UsageError(f"{text}: the number is the id of one item, and the text that of another; name them in a file, with --ids-from FILE")
    return number
