"""The class `Index`: items that stay, and queries and writes that meet them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from likewise.choices import Durability, Existing, ExistingNew, Html, Kept, Missing, Number, OnError, Sketch, Tune, refuse_empty
from likewise.compiled.notice import NOTICE
from likewise.errors import UsageError
from likewise.index import ids as names
from likewise.index.answers import Answers, Comparison, answers, table
from likewise.index.arrivals import add_new
from likewise.index.ids import is_id, json_id, json_ids
from likewise.index.opened import created, opened, shown
from likewise.index.settings import Settings, settings_of
from likewise.index.sketching import Sketching, nothing
from likewise.index.store import Change, IdRule, Items, Store
from likewise.index.stored_settings import restored, stored
from likewise.io.ids import from_json
from likewise.items.wrapped import wrapped
from likewise.messages import either, option, quoted
from likewise.methods import Measure, Text
from likewise.options import integer
from likewise.planning.choose import limit_of
from likewise.progress import Progress
from likewise.runs.building import Creation, check_existing
from likewise.runs.table import Table

#: Advice in a message about ids, by the value of ``existing``.
INSTEAD = {
    "refuse": f"{option('existing', 'skip')} leaves such items out, {option('existing', 'replace')} replaces the old ones; nothing was written",
    "require": "add it before it is updated, and give each id once; nothing was written",
    "skip": "",
    "replace": "",
}
#: Items that `ids` reads at once.
AT_ONCE = 4096


class Added(NamedTuple):
    """The outcome of `add` and `update`."""

    added: int  #: items that are in the index now
    skipped: int  #: items that were left out, because their ids are in the index (``existing="skip"``)
    ids: list[Any]  #: the id of each given item
    new: list[bool]  #: for each given item, True unless it was left out

    def __repr__(self) -> str:
        """Short, also for a million items."""
        return f"<Added: {self.added:,} added, {self.skipped:,} skipped>"


class Index:
    """A persistent index of items: documents, sets, vectors or codes. It finds the items that are similar to a query.

    `create` makes one, `open` opens an existing one. Several threads may use an index, and several processes may read it; only one process at a time
    can write to an index in a folder. `close` or the end of a ``with`` block closes it; without that, nothing acknowledged is lost.

    >>> import likewise as lw
    >>> ix = lw.Index.create(by="words:2")
    >>> ix.add(["a b c d e", "p q r"], ids=["x", "y"]).added
    2
    >>> ix.query(["a b c d e f"], k=1).to_dicts()
    [{'query': 0, 'id': 'x', 'similarity': 0.8}]
    """

    def __init__(self, store: Store):
        """The index of an open store. Raises FormatError for settings of another version of likewise, UsageError for a path: `open` takes it."""
        if not hasattr(store, "settings"):
            raise UsageError(f"lw.Index({store!r:.60}): lw.Index.open opens an index, lw.Index.create makes one")
        self.store: Store = store
        self.settings: Settings = restored(store.settings)
        NOTICE.method = str(self.settings.options.method)
        self.sketching: Sketching = Sketching(self.settings)
        self._at: Any = lru_cache(64)(lambda limit: Comparison(self.settings, limit))
        self._usual = Comparison(self.settings, self.settings.plan.threshold)
        self._next, self._lock = 0, Lock()

    @classmethod
    def create(
        cls,
        where: str | Path | None = None,
        *,
        by: str | Text | Measure | None = None,
        threshold: Number | None = None,
        within: Number | None = None,
        recall: float | None = None,
        normalize: str | Sequence[str] | None = None,
        groups: str | Path | Mapping[Any, Any] | None = None,
        per: str | None = None,
        bands: int | None = None,
        rows: int | None = None,
        slots: int | None = None,
        sketch: Sketch | None = None,
        tune: Tune | None = None,
        preset: str | None = None,
        seed: int | str | None = None,
        dimension: int | None = None,
        wide: bool = False,
        sparse: bool = False,
        sets: Kept = "full",
        durability: Durability = "commit",
        overwrite: bool = False,
    ) -> Self:
        """Create an empty index: in memory, in a folder ``where``, or in a database at an address (``postgresql://``, ``valkey://``, ``redis://``).

        ``by``, ``threshold``, ``within``, ``recall``, ``normalize``, ``groups``, ``bands``, ``rows``, ``slots``, ``sketch``, ``tune``, ``preset`` and
        ``seed`` are those of `dedup`. Items are always found by bands, even vectors and codes, whose number of numbers or bits is ``dimension``.
        ``wide``: store vectors as float64 instead of float32; ``sparse``: vectors are sparse, and have no ``dimension``.
        ``per``: a name for groups; only items with an equal value are compared, and the value is passed with each item.

        ``sets`` is what is stored of each item to compare it: "full"; "compact", the upper 48 bits of each shingle or element; or "none", signatures
        of 8 bits per slot: answers are then estimates, which list about half of the items exactly at the threshold, and `add_new` is not available.
        ``durability``: with "commit" an acknowledged write survives power loss, with "relaxed" only the end of the process, even by a crash.
        ``overwrite`` replaces an existing index.

        Raises UsageError for measures without hash families (strings, features/chamfer and others), and for an existing index.
        """
        choices = {"by": by, "threshold": threshold, "within": within, "recall": recall, "normalize": normalize, "groups": groups, "per": per}
        choices |= {"bands": bands, "rows": rows, "slots": slots, "sketch": sketch, "tune": tune, "preset": preset, "seed": seed}
        refuse_empty(where=where, **choices)
        settings = settings_of(sets=sets, dimension=dimension, wide=wide, sparse=sparse, **choices)
        return cls(created(where, stored(settings), durability=durability, overwrite=overwrite))

    @classmethod
    def open(cls, where: str | Path, *, read_only: bool = False, durability: Durability = "commit") -> Self:
        """Open the index in a folder, or at an address. With ``read_only``, any number of processes can open it besides the one that writes.

        Raises UsageError if there is no index, and FormatError if it is damaged.
        """
        refuse_empty(where=where)
        return cls(opened(where, read_only=read_only, durability=durability))

    @classmethod
    def build(
        cls,
        where: str | Path | None,
        inputs: Any,
        *,
        by: str | Text | Measure | None = None,
        threshold: Number | None = None,
        within: Number | None = None,
        recall: float | None = None,
        normalize: str | Sequence[str] | None = None,
        groups: str | Path | Mapping[Any, Any] | None = None,
        per: str | None = None,
        bands: int | None = None,
        rows: int | None = None,
        slots: int | None = None,
        sketch: Sketch | None = None,
        tune: Tune | None = None,
        preset: str | None = None,
        seed: int | str | None = None,
        field: str | Sequence[str] | None = None,
        records: str | None = None,
        html: Html | None = None,
        id: str | None = None,
        on_error: OnError | None = None,
        max_record: int | str | None = None,
        limit: int | None = None,
        threads: int | None = None,
        memory: int | str | None = None,
        work: str | Path | None = None,
        sets: Kept = "full",
        existing: Existing = "refuse",
        durability: Durability = "commit",
        overwrite: bool = False,
        progress: Progress | bool | None = None,
    ) -> Self:
        """Create an index of all records of ``inputs``, much faster than by adding them. It appears complete or, after an error, not at all.

        inputs: files or data, as `dedup` takes them. ``where``, ``sets``, ``durability``, ``overwrite``: as in `create`; the others are options of
        `dedup`. ``per`` is a field of the records.

        An item has the id of its record. Without one, its id is SOURCE:POSITION, or the name of a file that is one item. Items of Python data and of
        standard input get their positions as ids, from 0. existing: the action if two records have the same id: "refuse" raises IdError, which names
        both places; "skip" takes the first of them, "replace" the last.

        Raises the errors of `create` and `dedup`.
        """
        choices = {"by": by, "threshold": threshold, "within": within, "recall": recall, "normalize": normalize, "groups": groups, "per": per}
        choices |= {"bands": bands, "rows": rows, "slots": slots, "sketch": sketch, "tune": tune, "preset": preset, "seed": seed}
        choices |= {"field": field, "records": records, "html": html, "id": id, "on_error": on_error, "max_record": max_record, "limit": limit}
        choices |= {"threads": threads, "memory": memory, "work": work}
        refuse_empty(where=where, **choices)
        how = Creation(where=where, sets=sets, existing=existing, durability=durability, overwrite=overwrite)
        return cls(how.build(inputs, {name: value for name, value in choices.items() if value is not None}, progress).store)

    @classmethod
    def from_output(
        cls,
        where: str | Path | None,
        out: str | Path,
        *,
        sets: Kept = "full",
        existing: Existing = "refuse",
        durability: Durability = "commit",
        overwrite: bool = False,
    ) -> Self:
        """Create an index of the kept records of an output folder that `dedup` wrote with ``sketches=True``, without reading their texts again.

        The index compares as the run did. ``where`` and the options are those of `build`. Raises UsageError for an output without sketches, and
        FormatError if it was changed.
        """
        refuse_empty(where=where, out=out)
        return cls(Creation(where=where, sets=sets, existing=existing, durability=durability, overwrite=overwrite).from_output(Path(out)).store)

    def add(self, items: Any, ids: Any = None, *, per: Any = None, existing: Existing = "refuse") -> Added:
        """Add a batch of items, all of them or, after an error, none.

        items: a list, an array or an Arrow column, as `similarity` takes them; or `Items` that are sketched, with their ids. ids: a string or a whole
        number for each; if left out, unused numbers. per: the value of each item, if the index has groups. existing: the action if an id is already
        in the index: "refuse" raises IdError, "skip" leaves the item out, "replace" replaces the old one.

        Returns `Added`. Raises UsageError for values that are not items of the index, with the row, and IdError for ids.
        """
        check_existing(existing)
        return self._written(self._sketched(items, ids, per), existing)

    def update(self, items: Any, ids: Any, *, per: Any = None) -> Added:
        """Replace the items with these ids, all of them or none. Raises IdError for an id that is not in the index; otherwise like `add`."""
        return self._written(self._sketched(items, [] if ids is None and not isinstance(items, Items) else ids, per), "require")

    def add_new(self, items: Any, ids: Any = None, *, per: Any = None, k: int = 1, existing: ExistingNew = "refuse") -> Table:
        """Add the items that have no similar one in the index yet. They are processed in order, and each is also compared with those before it.

        An item is added if, and only if, no item that shares a bucket with it is at or above the threshold of the index. Concurrent calls, even from
        other processes, behave as if they came one after the other. Items without content are always added.

        Returns a table: row (the place of an item in the batch), added, id, similarity or distance. The row of an added item has its own id; other
        items have the id of the most similar item, or up to ``k`` rows with such ids. existing: the action if the id of an item is already in the
        index: "refuse" raises IdError if the item is new, or if an id is twice in the batch; "skip" leaves the item out, and its row has its own id
        and no similarity. Raises UsageError for an index without sets.
        """
        if not self.settings.exact:
            why = "this index keeps no sets, so similarities are only estimated"
            raise UsageError(f"add_new: {why}; create one with {option('sets', 'compact')} or full")
        check_k(k)
        check_existing_new(existing)
        found = self._sketched(items, ids, per)
        skip = existing == "skip" and len(found.ids) > 0
        if not skip and (twice := names.repeated(found.ids)):
            raise names.refused(found.ids, twice, there=True, instead="give each item an id of its own; nothing was written")
        comparison = self._comparison()
        arrived = add_new(self.store, comparison, found, k, skip=skip, numbered=None if len(found.ids) else self._numbered)
        rows = arrived.matches.query
        return Table(table(comparison, ("row", wrapped(rows)), arrived.ids, arrived.matches.value, ("added", wrapped(arrived.added[rows]))))

    def query(
        self,
        items: Any,
        *,
        ids: Any = None,
        per: Any = None,
        k: int | None = None,
        threshold: Number | None = None,
        within: Number | None = None,
        force: bool = False,
    ) -> Answers:
        """Find the items of the index that are similar to each query: those that share a bucket with it, at or above the threshold.

        k: only the k most similar items of each query; None: all. threshold, within: the limit, by default that of the index. With a looser one,
        recall is lower (``report["recall"]``); below one half this is an error, unless ``force``. ids: names of the queries in the table. per: as in
        `add`. Returns `Answers`: query, id, similarity or distance, which are exact; or estimate and standard_error.

        Raises UsageError for values that are not items of the index, with the row.
        """
        check_k(k)
        usual = threshold is None and within is None
        comparison = self._comparison(None if usual else limit_of(self.settings.options.method, threshold, within))
        if not force:
            comparison.check()
        queries, view = self._sketched(items, ids, per), self.store.view()
        similar, _, _ = comparison.matches(view, queries)
        matches = comparison.items(view, similar, k)
        return answers(comparison, matches, view.ids(matches.number) if len(matches.number) else [], queries.ids)

    def remove(self, ids: Any, *, missing: Missing = "ignore") -> int:
        """Remove the items with these ids. Returns the number of removed items.

        missing: the action for an id that is not in the index: "ignore", or "refuse", which raises IdError and removes nothing.
        """
        if missing not in ("ignore", "refuse"):
            raise UsageError(f"{option('missing', missing)}: choose ignore or refuse")
        given = json_ids(ids)
        if missing == "refuse" and (gone := np.flatnonzero(self.store.view().find(given) < 0).tolist()):
            raise names.refused(given, gone, there=False, instead=f"nothing was removed; with {option('missing', 'ignore')} such ids are left out")
        return self.store.write(Change(nothing(self.settings), remove=given)).removed

    def merge(self, other: Index, *, existing: Existing = "refuse") -> Added:
        """Add all items of another index with the same settings, in their order.

        existing: the action if an id is in both: "refuse" raises IdError before anything is written, "skip" keeps the item of this index, "replace"
        takes that of the other. Items are written in blocks of 4,096, each completely or not at all. After an interruption or an error (such as an id
        that others added meanwhile), the first blocks may be there; to continue, merge again with "skip".

        Returns `Added`, with empty lists. Raises UsageError, which names the setting, if settings differ.
        """
        check_existing(existing)
        if not isinstance(other, Index):
            raise UsageError(f"{quoted(other)}: give an lw.Index; lw.Index.open opens one")
        if differs := self.settings.difference(other.settings):
            raise UsageError(f"these indexes cannot be merged: {differs}; build one of them again with the settings of the other")
        mine, theirs = self.store.view(), other.store.view()
        read = added = 0
        for _, items in theirs.scan(most=AT_ONCE) if existing == "refuse" else ():
            if (there := np.flatnonzero(mine.find(items.ids) >= 0)).size:
                raise names.refused(items.ids, there.tolist(), there=True, instead=INSTEAD["refuse"], first=read)
            read += len(items)
        read = 0
        for _, items in theirs.scan(most=AT_ONCE):
            found = self.store.write(Change(items, existing))
            if found.refused:
                instead = f"it was added meanwhile; {read:,} items before it were merged; to continue, merge again with {option('existing', 'skip')}"
                raise names.refused(items.ids, found.refused, there=True, instead=instead, first=read)
            read, added = read + len(items), added + int((found.numbers >= 0).sum())
        return Added(added, read - added, [], [])

    def __contains__(self, id: object) -> bool:
        return is_id(id) and bool(self.store.view().find([json_id(id, 0) or b""])[0] >= 0)

    def __len__(self) -> int:
        return len(self.store.view())

    def ids(self) -> Iterator[Any]:
        """The ids of all items, in order of arrival, as they were given. Later changes do not show."""
        for _, items in self.store.view().scan(most=AT_ONCE):
            yield from map(from_json, items.ids)

    def flush(self) -> None:
        """Move the newest items to their final place. This also happens automatically."""
        self.store.flush()

    def compact(self) -> None:
        """Free the space of removed items."""
        self.store.compact()

    def check(self) -> list[str]:
        """Read and verify everything that is stored. Returns one sentence for each fault."""
        return self.store.check()

    def backup(self, path: str | Path) -> None:
        """Write a consistent copy of the index, which is a new index, into a new folder. Others may write meanwhile."""
        refuse_empty(path=path)
        if "://" in str(path):
            raise UsageError(f"{shown(path)}: a backup is a folder; to copy an index to a server, create one there and merge this one into it")
        self.store.backup(Path(path))

    def info(self) -> dict[str, Any]:
        """Facts about the index, as plain values: items, removed, bytes, durability, and its settings.

        recall: the probability that a query is compared with an item exactly at the threshold. standard_error (of an index without sets): that of the
        estimate for such an item; about half of the compared ones are listed.
        """
        plan = self.settings.plan
        chosen = self.settings.described()
        limit = "within" if self.settings.options.method.facts.distance else "threshold"
        kept = ("by", "normalize", "seed", "per", "family", "sets", *["bits"] * (self.settings.sets == "compact"), "likewise")
        layout = {"bands": plan.bands, "rows": plan.rows, "recall": plan.recall}
        if not self.settings.exact:
            layout["standard_error"] = self._usual.errors(np.array([float(plan.threshold)])).item()
        kind, facts = self.settings.options.method.kind, chosen["facts"]
        items = {name: facts[name] for name in ("dimension", "wide", "sparse") if facts[name] or (name != "dimension" and kind.name == "vectors")}
        return {**self.store.info(), limit: float(plan.threshold), **layout, **{name: chosen[name] for name in kept}, **items}

    def close(self) -> None:
        """Release files, locks and connections. Nothing acknowledged is lost without it."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Index by {self.settings.options.method}: {self.settings.plan.layout}, {self.settings.plan.place}, sets {self.settings.sets}>"

    def _comparison(self, limit: Fraction | None = None) -> Comparison:
        """The comparison of items at a limit, by default that of the index."""
        found: Comparison = self._usual if limit is None else self._at(limit)
        return found

    def _sketched(self, items: Any, ids: Any, per: Any) -> Items:
        """A batch as items with these ids, or without any."""
        found = items if isinstance(items, Items) else self.sketching.items(items, per=per)
        if ids is None:
            return found
        given = json_ids(ids)
        if len(given) != len(found):
            raise UsageError(f"{len(given):,} ids for {len(found):,} items; give one for each ({option('ids')})")
        return replace(found, ids=given)

    def _numbered(self, n: int) -> list[bytes]:
        """Ids that this process gave to no other item: numbers above that of the last item."""
        with self._lock:
            begin = max(self._next, self.store.view().last + 1)
            self._next = begin + n
        return [b"%d" % number for number in range(begin, begin + n)]

    def _written(self, items: Items, existing: IdRule) -> Added:
        while True:
            named = items if len(items.ids) or not len(items) else replace(items, ids=self._numbered(len(items)))
            found = self.store.write(Change(named, existing))
            if not found.refused:
                break
            if named is items:
                raise names.refused(items.ids, found.refused, there=existing == "refuse", instead=INSTEAD[existing])
        new = found.numbers >= 0
        if existing == "replace":  # of items with the same id the last one stays
            new &= named.occurrences()[1]
        added = int(new.sum())
        return Added(added, len(items) - added, list(map(from_json, named.ids)), new.tolist())


def check_existing_new(existing: object) -> None:
    """Raises UsageError for another value than those of `ExistingNew`."""
    if existing not in ("refuse", "skip"):
        raise UsageError(f"{option('existing', existing)}: choose refuse or skip; {either('update', 'likewise index update')} replaces items")


def check_k(k: Any) -> None:
    """Raises UsageError unless k is None or a whole number from 1."""
    number = integer(k)
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
        raise UsageError(f"{option('k', k)}: give a whole number of 1 or more")
