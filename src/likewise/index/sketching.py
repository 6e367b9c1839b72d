"""Items of an index from batches in Python, and from the columns that runs make of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.errors import UsageError
from likewise.families.bbit import BBit
from likewise.index.ids import json_groups
from likewise.index.settings import SLOT_BITS, Settings
from likewise.index.store import Items
from likewise.items import binary, payloads
from likewise.items.reader import Reader, column_of, read_column
from likewise.kinds.kind import loaded
from likewise.messages import option
from likewise.records import TEXT, Records
from likewise.stages.kept import copies_kept, keys_kept, words_kept
from likewise.stages.sketch import group_words


class Sketching:
    """Makes the items of one index. Several threads may use it."""

    def __init__(self, settings: Settings):
        self.settings, self.job = settings, settings.job()
        self._stage = self.job.kind.sketcher(self.job)
        self._read = reader_of(self.job)
        self._compared = compared_as(settings)
        self._alone, self._sparse = self.job.method.kind.alone, self.job.kind.sparse

    def items(self, batch: Any, ids: Sequence[bytes] = (), per: Any = None) -> Items:
        """The items of a batch: a list, an array or a column. per: the value of ``per`` of each item, if the index has groups.

        ids: one for each item, as JSON text, or none for queries. Raises UsageError with the row for values that are not items.
        """
        text, width = self._read([batch] if self._alone(batch) is True else batch)
        n = len(text)
        nothing = np.zeros(n, np.int64)
        records = Records(np.full(n, TEXT, np.uint8), nothing, nothing, text, width=width)
        columns = self._stage(records)
        found = self._compared(columns, self._groups(per, n), ids)
        if self._sparse:
            refuse_origins(found, columns["tokens"])
        return found

    def _groups(self, per: Any, n: int) -> np.ndarray | None:
        """The words of the groups of n items. Raises UsageError unless they are given where the index has groups, and only there."""
        name = self.settings.options.per
        if name is None:
            if per is not None:
                raise UsageError(f"{option('per')}: the index has no groups; create it with {option('per', placeholder='NAME')}, or leave it out")
            return None
        if per is None:
            raise UsageError(f"the index compares items of one {name!r} only; give that of each item with {option('per')}")
        values = json_groups(per)
        if len(values) != n:
            raise UsageError(f"{option('per')}: {len(values):,} values for {n:,} items; give one for each")
        return group_words(binary.from_list(values), n, self.job.seed)


def refuse_origins(found: Items, tokens: np.ndarray) -> None:
    """A sparse vector without coordinates is an item where distances are compared, but has no words by which a store could know it."""
    if (origin := (tokens > 0) & (found.size == 0)).any():
        row = int(origin.argmax())
        raise UsageError(f"row {row} is a vector of zeros, which an index of sparse vectors cannot hold; leave it out")


def items_of(columns: Mapping[str, np.ndarray], ids: Sequence[bytes], settings: Settings) -> Items:
    """The items of an index from the columns of a stage (`stages.sketch.sketcher`), made with the job of the same settings.

    ids: one for each row, as JSON text. Rows without a value are empty items: leave them out with `Items.at`.
    """
    return compared_as(settings)(columns, columns["per"] if settings.options.per is not None else None, ids)


def compared_as(settings: Settings) -> Callable[[Mapping[str, np.ndarray], np.ndarray | None, Sequence[bytes]], Items]:
    """The function that makes items of columns, groups uint64[n] and ids: groups change keys and copies; of each set stays what the index keeps."""
    plan = settings.plan
    family = BBit(plan.slots, SLOT_BITS, plan.sketch, settings.options.seed) if settings.sets == "none" else None

    def made(columns: Mapping[str, np.ndarray], per: np.ndarray | None, ids: Sequence[bytes]) -> Items:
        keys, copy = keys_kept(columns["band_keys"], per).T, copies_kept(columns["copy"], per)
        size, words = columns["size"], columns["sets"]
        slots = np.zeros((len(size), 0), np.uint8)
        if family is not None:
            ends = np.concatenate(([0], np.cumsum(size, dtype=np.int64)))
            slots, words = family.signature((words, ends)), words[:0]
        else:
            words = words_kept(words, settings.bits)
        if not size.all():
            keys = np.where(size[:, np.newaxis] > 0, keys, np.uint64(0))
        return Items(ids, *map(np.ascontiguousarray, (keys, copy, size, words, slots), (np.uint64, np.uint64, np.uint32, np.uint64, np.uint8)))

    return made


def reader_of(job: Any) -> Callable[[Any], tuple[pa.LargeBinaryArray, np.ndarray | None]]:
    """The function from a batch to its payloads and widths. It raises UsageError with the row for missing and invalid values."""
    kind = job.kind
    if hasattr(kind, "column"):  # texts, and lists of token ids

        def texts(batch: Any) -> tuple[pa.LargeBinaryArray, None]:
            column = kind.column(batch)
            if column.null_count:
                row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
                raise UsageError(f"row {row} is None; expected a {kind.noun}; leave the row out")
            return column, None

        return texts
    reader: Reader = loaded(kind.reader)
    want = job.want

    def others(batch: Any) -> tuple[pa.LargeBinaryArray, np.ndarray | None]:
        rows = read_column(column_of(batch, reader), reader, want)
        if want.width and rows.width is not None and (wrong := (rows.width > 0) & (rows.width != want.width)).any():
            row = int(wrong.argmax())
            has, needs = kind.width_of(int(rows.width[row])), kind.width_of(want.width)
            raise UsageError(f"row {row} has {has}, but the index was created for {needs}; all items must have the same length")
        kind.check_rows(rows, want)
        for row, fault in sorted(rows.faults.items()):
            raise UsageError(f"row {row}: {fault.what}")
        _, text, width = payloads.laid(rows, want)
        return text, width

    return others


def nothing(settings: Settings) -> Items:
    """No items."""
    widths = {"keys": (np.uint64, settings.bands), "copy": (np.uint64, 2), "slots": (np.uint8, settings.slots)}
    arrays = {name: np.zeros((0, width), dtype) for name, (dtype, width) in widths.items()}
    return Items([], size=np.zeros(0, np.uint32), words=np.zeros(0, np.uint64), **arrays)
