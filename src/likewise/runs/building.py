"""Bulk build: an index of all records of inputs, or of the kept records of an output folder from the sketches in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.choices import CHOICES, Durability, Existing, Kept
from likewise.engines.local import Local
from likewise.errors import DataError, FormatError, IdError, UsageError
from likewise.index.ids import unfit
from likewise.index.opened import built, check_new
from likewise.index.settings import Settings, check_bands, settings_of_job
from likewise.index.sketching import items_of
from likewise.index.store import Items, Store
from likewise.index.stored_settings import restored, stored
from likewise.io.collection import STDIN
from likewise.io.ids import as_json, from_json
from likewise.io.sketches import Block, Stored, Written
from likewise.items import binary
from likewise.items.words import Hasher, without_fractions
from likewise.items.wrapped import wrapped
from likewise.messages import option, quoted
from likewise.progress import Progress
from likewise.records import REJECTED
from likewise.report.own_files import as_written, sealed, whole
from likewise.runs import pipeline
from likewise.runs.session import Inputs, resolved, started
from likewise.runs.writing import HASH_SCHEME

#: Sources whose records are named by numbers: data in Python, and standard input.
UNNAMED = ("memory.arrow", STDIN)


class Built(NamedTuple):
    """An index, and the outcome of the records."""

    store: Store
    read: int
    added: int
    rejected: int


@dataclass(frozen=True, kw_only=True)
class Creation:
    """Where and how an index is made of records."""

    where: Any
    sets: Kept = "full"
    existing: Existing = "refuse"  # a record whose id an earlier one has is an error; or it is left out; or the earlier one is
    durability: Durability = "commit"
    overwrite: bool = False

    def check(self) -> None:
        """Raises UsageError, before anything is read, for a place or options with which no index can be made."""
        check_existing(self.existing)
        check_new(self.where, durability=self.durability, overwrite=self.overwrite)

    def build(self, inputs: Inputs, choices: dict[str, Any], progress: Progress | bool | None) -> Built:
        """An index of all readable records of the inputs. Raises the errors of `likewise.dedup`, and IdError for an id that two records have."""
        self.check()
        check_bands(choices.get("by"))
        options = resolved([inputs], {**choices, "exact": False})
        with started(inputs, options, "index", None, progress) as (sources, run):
            settings = settings_of_job(run.job).keeping(self.sets)
            run.job = replace(run.job, plan=settings.plan, exact=False)
            collection = pipeline.collected(sources, run, Local(run))
            rows = np.flatnonzero(collection.column("kind") != REJECTED)
            run.begin("writing the index", len(rows), "items")

            def written(items: int) -> None:
                run.advance(items)
                run.spare()

            store, added = self.made(settings, Stored(collection, rows, settings.bands), written)
            return Built(store, len(collection), added, len(collection) - len(rows))

    def from_output(self, out: Path) -> Built:
        """An index of the kept records of an output folder. Raises UsageError if it has no sketches, and FormatError if they were changed."""
        self.check()
        with as_written(out):
            manifest = sealed(out / "manifest.json")
            if "index" not in manifest:
                other = f"make it again with {option('sketches')}, or build the index from {out / 'kept'}"
                raise UsageError(f"{out}: this output has no sketches; {other}")
            if (scheme := manifest["versions"]["hash_scheme"]) != HASH_SCHEME:
                raise FormatError(
                    f"{out}: the sketches are of the scheme {scheme}, and this version of likewise makes {HASH_SCHEME}; run dedup again"
                )
            settings = restored(manifest["index"]).keeping(self.sets)
            files = [whole(out, manifest, entry["path"]) for entry in manifest["outputs"] if entry["path"].startswith("sketches/")]
        written = Written(files, settings.bands, settings.options.per is not None)
        store, added = self.made(settings, written, lambda items: None)
        return Built(store, sum(map(len, written.placed())), added, 0)

    def made(self, settings: Settings, sketches: Stored | Written, advance: Callable[[int], None]) -> tuple[Store, int]:
        """The store with these items, and their number."""
        taken = distinct(list(sketches.placed()), self.existing)

        def blocks() -> Iterator[Items]:
            begin = 0
            for block in sketches.blocks():
                items = items_of(block.columns, record_ids(block).to_pylist(), settings)
                yield items.at(taken[begin : begin + len(block)])
                begin += len(block)
                advance(len(block))

        return built(self.where, stored(settings), blocks(), durability=self.durability, overwrite=self.overwrite)


def check_existing(existing: object) -> None:
    """Raises UsageError for another value than those of `Existing`."""
    if existing not in CHOICES["existing"]:
        raise UsageError(f"{option('existing', existing)}: choose one of {', '.join(CHOICES['existing'])}")


def record_ids(block: Block) -> pa.LargeBinaryArray:
    """The ids of records, as JSON text: their own; without one SOURCE:POSITION, or the position of those whose source has no name."""
    ids = without_fractions(block.ids)
    if not ids.null_count:
        return ids
    coded = block.source.dictionary_encode()
    sources = coded.dictionary.to_pylist()
    before, after = (
        binary.from_list(b"" if source in UNNAMED else part(source) for source in sources).take(coded.indices)
        for part in (lambda source: as_json(f"{source}:")[:-1], lambda source: b'"')
    )
    position = wrapped(block.position).cast(pa.large_string()).cast(binary.TYPE)
    return pc.coalesce(ids, pc.binary_join_element_wise(before, position, after, binary.EMPTY))


def item_ids(block: Block) -> pa.LargeBinaryArray:
    """The ids of records that become items, as `record_ids`. Raises DataError for an id that is neither a string nor a whole number."""
    ids = record_ids(block)
    if (row := unfit(ids)) is not None:
        shown, remedy = f"{from_json(ids[row].as_py())!r:.60}", f"name another field with {option('id', placeholder='F')}"
        raise DataError(f"{placed([block], row)}: its id is {shown}; ids of an index are strings and whole numbers; {remedy}")
    return ids


def distinct(blocks: list[Block], existing: Existing) -> np.ndarray:
    """bool[n]: the rows whose ids are taken, each once. Raises IdError with the places of two rows that have the same id."""
    if not blocks:
        return np.ones(0, bool)
    ids = pa.concat_arrays([item_ids(block) for block in blocks])
    words = Hasher(int.from_bytes(os.urandom(8))).strings(ids)  # keyed, so that nobody can make ids that take long to sort
    order = np.argsort(words, kind="stable")
    again = words[order[1:]] == words[order[:-1]]
    taken = np.ones(len(ids), bool)
    if not again.any():
        return taken
    if existing == "refuse":
        row, first = min(zip(order[1:][again].tolist(), order[:-1][again].tolist(), strict=True))
        remedy = f"name another field with {option('id', placeholder='F')}"
        keep = f"{option('existing', 'skip')} takes the first of such records, {option('existing', 'replace')} the last"
        name = from_json(ids[row].as_py())
        raise IdError(f"{placed(blocks, first)} and {placed(blocks, row)} have the same id {quoted(name)}; {remedy}; {keep}", [name], [first, row])
    taken[order[1:][again] if existing == "skip" else order[:-1][again]] = False
    return taken


def placed(blocks: list[Block], row: int) -> str:
    """The place of a row for a message."""
    for block in blocks:
        if row < len(block):
            return f"{block.source[row]}, item {block.position[row].item() + 1}"
        row -= len(block)
    raise IndexError(row)
