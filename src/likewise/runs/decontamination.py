"""The removal of test data from training data: passages, or whole documents, that share n-grams with a second collection (planning.recipes)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise import schema
from likewise.engines.engine import Engine
from likewise.engines.local import Local
from likewise.io.collection import Collection
from likewise.io.inputs import Source
from likewise.io.part import Part
from likewise.io.units import Pieces
from likewise.items.ignored import NOTHING
from likewise.items.wrapped import wrapped
from likewise.job import Job
from likewise.kernels.collisions import stretches
from likewise.methods import Text
from likewise.passages.collisions import HIT_COLUMNS, TOKEN_COLUMNS, Cuts, Hits, Seen, collided, cuts, documents_of, named, seen
from likewise.passages.search import Search
from likewise.planning.recipes import DOCUMENTS, ITEMS, OWN, RECIPES, Recipe
from likewise.records import TEXT
from likewise.runs import pipeline
from likewise.runs.fate import LEAST_LEFT, Fate
from likewise.runs.items import Run, note_need
from likewise.runs.results import Decision
from likewise.runs.tables import Made, Rows
from likewise.stages.buckets import spread
from likewise.stages.known import KEY_BYTES, known


@dataclass(frozen=True)
class Cleaned(Fate):
    """The outcome of training documents, and of test items."""

    leaks: Leaks = field(kw_only=True)

    def tables(self) -> dict[str, Callable[[], Rows]]:
        return super().tables() | {"seen": partial(seen_rows, self.leaks)}


class Leaks(NamedTuple):
    """How much of each test item stands in training documents."""

    items: Collection  # of both collections
    documents: Hits  # n-grams of documents that count
    tokens: np.ndarray  # int64[n], of each item
    seen: Seen
    contaminated: np.ndarray  # bool[n]
    short: np.ndarray  # bool[n]: fewer tokens than an n-gram
    common: int  # distinct n-grams that were left out, because they are in too many documents
    split: int  # documents that were removed because they fall into too many pieces
    places: np.ndarray  # int64[n, 2]: the first stretch of ``seen.at`` in its document, in characters


def recipe_of(job: Job) -> Recipe:
    """The recipe of a run."""
    name = job.options.preset
    return OWN if name is None else RECIPES[name]


def search_of(job: Job) -> Search:
    """The n-grams of a run."""
    method = job.method
    assert isinstance(method, Text)
    return Search(method, job.seed, method.k, 0, Fraction(1), job.ignored or NOTHING)


def decontaminated(sources: Sequence[Source], run: Run, engine: Engine) -> Cleaned:
    """Read both collections and decide what is removed from the first. Raises the errors of `pipeline.collect`."""
    recipe, run_of = recipe_of(run.job), search_of(run.job).run
    documents, many = read(sources, run, engine, recipe.around)
    found = hits_of(documents, run_of)
    border = documents.rows_of_sides[0].stop
    split = int(np.searchsorted(found.row, border))
    mine, others = found.where(slice(0, split)), found.where(slice(split, None))
    others = others._replace(row=others.row - border)
    times = documents_of(mine, many)
    live = (times > 0) & (times <= recipe.common) if recipe.common else times > 0
    mine = mine.where(live[mine.key])

    chars = documents.column("chars")[:border].astype(np.int64)
    if recipe.decides == ITEMS:
        found_cuts, pieces = cuts(mine.where(slice(0, 0)), chars, 0, 0)
    else:
        found_cuts, pieces = cuts(mine, chars, recipe.around, recipe.piece)
    there = np.full(many, -1)
    there[others.key[::-1]] = np.arange(len(others.key))[::-1]
    length = stretches(found_cuts.hit, found_cuts.ends, mine.row, mine.token, mine.key, there[mine.key[found_cuts.hit]], *others[:3])
    tokens = tokens_of(documents)
    units, kept_row, reasons = units_of(documents, found_cuts, tokens, others, there[mine.key[found_cuts.hit]], length + run_of - 1)

    n = len(units)
    number = int(np.count_nonzero(kept_row >= 0))
    facts = {"items": n, "matched": number, "buckets": spread(np.zeros(0, np.int64)), "budget": NOTHING_SKIPPED}
    nothing = np.zeros((0, 2), np.int64), np.zeros(0)
    decision = Decision(kept_row, np.full(n, np.nan), np.zeros(n, bool), np.arange(n), *nothing, facts, kept_side=1, given=reasons)
    left = np.bincount(units.document, np.where(kept_row < 0, units.column("tokens"), 0), minlength=len(documents)).astype(np.int64)
    removed = np.zeros(len(documents), bool)
    too_many = pieces > recipe.pieces if recipe.pieces is not None else np.zeros(border, bool)
    removed[:border] = gone(recipe, too_many, left[:border], found_cuts, run.job.options.min_left)
    item_tokens = documents.column("tokens")[border:].astype(np.int64)
    left_out = int(np.count_nonzero(times)) - int(np.count_nonzero(live)), int(np.count_nonzero(too_many))
    leaks = leaks_of(documents, mine, others, item_tokens, live, run_of, recipe, left_out)
    return Cleaned(documents, removed, units, decision, left, leaks=leaks)


#: Facts about buckets of a search that has none.
NOTHING_SKIPPED = {"cut": 0, "sampled": 0, "similar": 0, "missed_at_most": 0.0, "recall": 1.0, "buckets": []}


def read(sources: Sequence[Source], run: Run, engine: Engine, around: int) -> tuple[Collection, int]:
    """Read the test items, and then both collections: (these, the number of distinct n-grams of the items)."""
    pipeline.prepare(sources, run, engine)
    job, search, local, part = run.job, search_of(run.job), Local(run), Part(run.work, "test")
    tests = sources[run.first_side :]
    run.begin("reading the second collection", pipeline.bytes_to_read(tests), "bytes")
    local.read(tests, replace(job, options=replace(job.options, limit=None)), part, named(job, search))
    grams = part.column("gram", "u8")
    note_need(f"{len(grams):,} n-grams of the second collection", KEY_BYTES * len(grams), run)
    table = known(np.unique(grams))
    run.begin("reading and comparing", pipeline.bytes_to_read(sources), "bytes")
    run.progress.resumed(sum(entry.get("bytes", 0) for entry in run.work.done("chunk")))
    local.read(sources, job, run.work, collided(job, search, table, around))
    documents = Collection(sources, run.work, run.first_side)
    pipeline.check_rows(documents, run)
    return documents, len(table.keys)


class Stored(NamedTuple):
    """The tokens of rows that have common n-grams: row i has those from offsets[i] to offsets[i + 1]."""

    offsets: np.ndarray  # int64[rows + 1]
    first: np.ndarray  # uint32[m]: characters
    last: np.ndarray  # uint32[m]


def tokens_of(documents: Collection) -> Stored:
    """The tokens that were stored."""
    work = documents.work
    return Stored(offsets_of(documents, "stored"), *(work.column(name, dtype) for name, dtype in TOKEN_COLUMNS.items()))


def offsets_of(documents: Collection, name: str) -> np.ndarray:
    """Where the values of each row begin, from the column of their numbers: int64[rows + 1]."""
    return np.concatenate(([0], np.cumsum(documents.work.column(name, "u4"), dtype=np.int64)))


def hits_of(documents: Collection, run: int) -> Hits:
    """The common n-grams of all rows."""
    tokens, work = tokens_of(documents), documents.work
    row = np.repeat(np.arange(len(documents)), work.column("hits", "u4"))
    key, token, low, high = (work.column(name, dtype) for name, dtype in HIT_COLUMNS.items())
    begin = tokens.offsets[row] + token
    places = (values.astype(np.int64) for values in (tokens.first[begin], tokens.last[begin + run - 1], low, high))
    return Hits(row, token.astype(np.int64), np.asarray(key), *places)


def gone(recipe: Recipe, many: np.ndarray, left: np.ndarray, found: Cuts, least: int | None) -> np.ndarray:
    """bool[n]: documents that are removed whole. many: bool[n], those in too many pieces."""
    touched = np.zeros(len(many), bool)
    touched[found.row] = True
    if recipe.decides == DOCUMENTS:
        return touched
    return touched & (many | (left < (LEAST_LEFT if least is None else least)))


def units_of(
    documents: Collection, found: Cuts, tokens: Stored, others: Hits, there: np.ndarray, length: np.ndarray
) -> tuple[Pieces, np.ndarray, np.ndarray]:
    """The documents in pieces; for each piece that is cut out the passage of a test item that it stands for, else -1: int64[units]; and the reason.

    there, length: int64[cuts], the n-gram of an item at which that passage begins, and its tokens.
    """
    border = documents.rows_of_sides[0].stop
    chars = documents.column("chars").astype(np.int64)
    bytes_ = documents.work.column("bytes", "i8")
    high = np.where(found.high < 0, bytes_[found.row], found.high)
    cut = np.stack([found.row, found.begin, found.end, found.low, high], axis=1)
    opens = np.ones(len(cut), bool)
    opens[1:] = found.row[1:] != found.row[:-1]
    before = np.where(opens[:, None], 0, np.concatenate((np.zeros((1, 2), np.int64), cut[:, [2, 4]]))[: len(cut)])
    closes = np.append(opens[1:], True)[: len(cut)]
    rest = np.setdiff1d(np.arange(border), found.row)
    gaps = [
        np.column_stack([found.row, before[:, 0], found.begin, before[:, 1], found.low]),
        np.column_stack([found.row[closes], found.end[closes], chars[found.row[closes]], high[closes], bytes_[found.row[closes]]]),
        np.column_stack([rest, np.zeros_like(rest), chars[rest], np.zeros_like(rest), bytes_[rest]]),
    ]
    kept = np.concatenate(gaps)
    kept = kept[kept[:, 1] < kept[:, 2]]
    passage, which = np.unique(np.column_stack([there, length]), axis=0, return_inverse=True)
    passage, which = passage.reshape(-1, 2), which.reshape(-1)
    item = others.row[passage[:, 0]] + border
    first = tokens.offsets[item] + others.token[passage[:, 0]]
    begin, end = tokens.first[first].astype(np.int64), tokens.last[first + passage[:, 1] - 1].astype(np.int64)
    of_items = np.column_stack([item, begin, end, np.zeros_like(item), np.zeros_like(item)])
    unseen = np.setdiff1d(np.arange(border, len(documents)), item)
    unseen = np.column_stack([unseen, np.zeros_like(unseen), chars[unseen], np.zeros_like(unseen), bytes_[unseen]])
    every = np.concatenate([kept, cut, of_items, unseen]).astype(np.int64)
    order = np.lexsort((every[:, 2], every[:, 1], every[:, 0]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    kept_row = np.full(len(order), -1)
    kept_row[rank[len(kept) : len(kept) + len(cut)]] = rank[len(kept) + len(cut) + which]
    reasons = np.zeros(len(order), np.int8)
    reasons[rank[len(kept) : len(kept) + len(cut)]] = np.where(found.short, schema.REASONS.index("rest"), schema.REASONS.index("passage"))
    every = every[order]
    number = np.bincount(every[:, 0], minlength=len(documents))
    return Pieces(documents, number, every[:, 1:3], every[:, 3:5], begun(every, documents, tokens)), kept_row, reasons


def begun(units: np.ndarray, documents: Collection, tokens: Stored) -> np.ndarray:
    """The tokens that begin in each unit, uint32[u]; of documents whose tokens were not stored, all. units: int64[u, 5], row, begin and end first."""
    row, begin, end = units[:, :3].T
    found = documents.column("tokens")[row].astype(np.uint32)
    stored = np.diff(tokens.offsets)[row] > 0
    step = int(documents.column("chars").max(initial=0)) + 1
    places = np.repeat(np.arange(len(documents)), np.diff(tokens.offsets)) * step + tokens.first
    inside = np.searchsorted(places, row * step + end) - np.searchsorted(places, row * step + begin)
    found[stored] = inside[stored]
    return found


def leaks_of(
    documents: Collection, mine: Hits, others: Hits, tokens: np.ndarray, live: np.ndarray, run: int, recipe: Recipe, left_out: tuple[int, int]
) -> Leaks:
    """How much of each test item was seen, and which of them are contaminated by the recipe."""
    found = seen(others, tokens, run, live, mine)
    part, whole = (found.ngrams_seen, found.ngrams) if recipe.of_ngrams else (found.tokens_seen, tokens)
    contaminated = (found.ngrams_seen > 0) & (part * recipe.share.denominator >= whole * recipe.share.numerator)
    readable = documents.column("kind")[documents.rows_of_sides[1]] == TEXT
    some = np.flatnonzero(found.at >= 0)
    at = found.at[some]
    follow = np.searchsorted(mine.row, mine.row[at], side="right")
    length = stretches(at, follow, mine.row, mine.token, mine.key, found.there[some], *others[:3])
    places = np.full((len(tokens), 2), -1)
    places[some, 0], places[some, 1] = mine.first[at], mine.last[at + length - 1]
    return Leaks(documents, mine, tokens, found, contaminated, readable & (tokens < run), *left_out, places)


def seen_rows(leaks: Leaks) -> Rows:
    """The table of test items: how much of each was seen, and where first."""
    collection, seen = leaks.items, leaks.seen
    border = collection.rows_of_sides[1].start

    def block(part: slice) -> Made:
        rows, at = np.arange(part.start, part.stop) + border, seen.at[part]
        there = at >= 0
        row = leaks.documents.row[at[there]] if there.any() else np.zeros(0, np.int64)
        first = np.zeros(len(at), np.int64)
        first[there] = row
        source, position = collection.places(first)
        tokens = leaks.tokens[part]
        columns = [
            collection.ids(rows, 1),
            *collection.places(rows),
            tokens,
            *(values[part] for values in seen[:4]),
            np.divide(seen.tokens_seen[part], tokens, out=np.zeros(len(tokens)), where=tokens > 0),
            wrapped(leaks.contaminated[part], leaks.short[part] | (tokens == 0)),
            seen.documents[part],
            collection.ids(wrapped(first, ~there)),
            pc.if_else(wrapped(there), source, pa.nulls(1, pa.string())[0]),
            wrapped(position, ~there),
            *(wrapped(leaks.places[part, edge], ~there) for edge in (0, 1)),
        ]
        return columns, {"id": collection.json_ids(rows, 1)}

    made = schema.seen(collection.id_type(1), collection.id_type())
    return Rows(made, len(leaks.tokens), block)
