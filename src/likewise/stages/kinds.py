"""What each kind of item becomes: words that are compared, keys by which alike items meet, and the rule by which two of them are alike.

One entry of KINDS a measure; texts have theirs in stages/sketch.py, for they are cut first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from likewise import families
from likewise.items.features import Features
from likewise.items.sets import read_only
from likewise.items.sparse import Sparse, words_of
from likewise.items.weighted import merged
from likewise.kernels.compare import CodeRule, DirectionRule, NormRule, SetRule, SparseRule, WeightedRule
from likewise.kernels.digest import KEYS
from likewise.kernels.hashing import derive
from likewise.kernels.rows import ascending, digests
from likewise.kernels.sparse import MEASURES
from likewise.records import TEXT, Records
from likewise.runs.job import Job as Options

#: Stream of constants drawn from the seed (kernels.hashing.derive).
COPY_KEYS = np.uint64(0x4B1D_0001)
#: Fills strings up to whole words.
FILLING = 0xFF


class Sketched(NamedTuple):
    """Rows as arrays."""

    tokens: np.ndarray  # uint32[n]: elements of a set, numbers of a vector (but 0 of a sparse one), bits, code points of a string; 0: an empty item
    words: np.ndarray  # uint64[m]: what is compared, row after row
    size: np.ndarray  # uint32[n]: words of each row
    keys: np.ndarray  # uint64[bands, n]; [0, n] where no bands are wanted
    given: tuple[np.ndarray, np.ndarray] | None = None  # words and sizes of what it was made of; copies are equal in it


class Payload(NamedTuple):
    """The bytes of rows: row i is data[offsets[i] : offsets[i + 1]], nothing where the row has no value."""

    data: np.ndarray  # uint8[m]
    offsets: np.ndarray  # int64[n + 1]
    width: np.ndarray  # int64[n]: numbers of a vector, bits of a code; 0 for other kinds
    there: np.ndarray  # bool[n]: the row has a value

    def words(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows as whole words: values uint64[m / 8] and offsets int64[n + 1]."""
        begin = int(self.offsets[0])
        data = np.ascontiguousarray(self.data[begin : int(self.offsets[-1])]).view(np.uint64)
        return data, (self.offsets - begin) // 8


def payload(records: Records) -> Payload:
    """The payload of records; rows that are not to be read are empty."""
    text = records.text
    _, ends, data = text.buffers()
    offsets = np.frombuffer(ends, np.int64, len(text) + 1, text.offset * 8) if len(text) else np.zeros(1, np.int64)
    width = np.zeros(len(text), np.int64) if records.width is None else records.width
    return Payload(np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8), offsets, width, records.kind == TEXT)


def sets(given: Payload, options: Options, bands: bool) -> Sketched:
    words, offsets = given.words()
    values, offsets = ascending(words if options.grouped is None else options.grouped(words), offsets)
    return sketched(np.diff(offsets), values, np.diff(offsets), keys_of(options, (values, offsets), bands))


def weighted_sets(given: Payload, options: Options, bands: bool) -> Sketched:
    words, offsets = given.words()
    pairs = words.reshape(-1, 2)
    values, weights, ends = merged(pairs[:, 0], pairs[:, 1].view(np.float64), offsets // 2)
    return laid(values, weights, ends, keys_of(options, (values, weights, ends), bands))


def laid(values: np.ndarray, weights: np.ndarray, ends: np.ndarray, keys: np.ndarray) -> Sketched:
    """Weighted sets as words."""
    size = np.diff(ends)
    out = np.empty(2 * len(values), np.uint64)
    place = np.arange(len(values)) + np.repeat(ends[:-1], size)  # the elements of a row, then its weights
    out[place] = values
    out[place + np.repeat(size, size)] = weights.view(np.uint64)
    return sketched(size, out, 2 * size, keys)


def vectors(given: Payload, options: Options, bands: bool) -> Sketched:
    """Vectors, all of one length (payloads.fit), as words of the memory that was read, or of a copy where rows must be filled up to whole words."""
    rows = np.flatnonzero(np.diff(given.offsets))
    data = given.data[int(given.offsets[0]) : int(given.offsets[-1])]  # rows without a vector take no bytes
    numbers = read_only(data.view(np.float64 if options.facts.wide else np.float32).reshape(len(rows), -1 if len(rows) else 0))
    if options.measure.base.directed and (zero := zeros(numbers)).any():
        rows, numbers = rows[~zero], read_only(numbers[~zero])
    words = whole_words(numbers)
    tokens, size = np.zeros((2, len(given.width)), np.int64)
    tokens[rows], size[rows] = given.width[rows], words.shape[1]
    keys = np.zeros((options.plan.bands if bands and options.plan else 0, len(tokens)), np.uint64)
    if bands and len(rows):
        keys[:, rows] = keys_of(options, numbers, bands)
    return sketched(tokens, words.reshape(-1), size, keys)


def zeros(numbers: np.ndarray) -> np.ndarray:
    """bool[n]: the rows of zeros alone. Few rows begin with one, and only these are looked at further."""
    found = np.zeros(len(numbers), bool)
    maybe = np.flatnonzero(numbers[:, 0] == 0) if numbers.size else np.arange(len(numbers))
    found[maybe] = ~numbers[maybe].any(axis=1)
    return found


def whole_words(numbers: np.ndarray) -> np.ndarray:
    """Rows of numbers as uint64[n, m]: the same memory, or a copy with zeros behind each row where a row does not end with a word."""
    filled = -numbers.shape[1] % (8 // numbers.itemsize)
    padded = np.pad(numbers, ((0, 0), (0, filled))) if filled else numbers
    return np.require(read_only(padded).view(np.uint64), requirements="A")  # buffers of Arrow files begin at multiples of 4 bytes, some of them


def sparse(given: Payload, options: Options, bands: bool) -> Sketched:
    """A vector without coordinates is empty where it has to have a direction; to a distance it is the origin, an item like any other.

    Band keys cost more than all else here, and most sparse vectors are joined without: they are made when they are wanted (search.bucket).
    """
    words, offsets = given.words()
    entries = words.reshape(-1, 2)
    items = Sparse(entries[:, 0].copy(), entries[:, 1].copy().view(np.float64), offsets // 2)
    found = coordinates(items, options)
    return found._replace(tokens=np.maximum(found.tokens, given.there & options.distances & (options.measure.name != "angle")).astype(np.uint32))


def coordinates(items: Sparse, options: Options) -> Sketched:
    """Sparse vectors as words."""
    return sketched(items.sizes, words_of(items), 2 * items.sizes, keys_of(options, items, False))


def feature_sets(given: Payload, options: Options, bands: bool) -> Sketched:
    """Features as they are, each set padded to whole words. Those that have a direction count."""
    from likewise.measures.feature_sets import directed  # which brings its kernels along

    words, size, sets = padded(given, options)
    count = np.diff(directed(sets)[1])
    return sketched(count, words, size, keys_of(options, size, False))


def embedded(given: Payload, options: Options, bands: bool) -> Sketched:
    """Histograms of sets of features, as weighted sets or as sparse vectors."""
    from likewise.measures.feature_sets import MADE, directed

    words, size, sets = padded(given, options)
    sets = directed(sets)
    made: Any = MADE[options.measure.name](sets)
    if options.items == "weighted sets":
        values, weights, ends = made
        found = laid(values, weights, ends, keys_of(options, made, bands))
    else:
        found = coordinates(made, options)
    return found._replace(tokens=np.diff(sets[1]).astype(np.uint32), given=(words, size))


def padded(given: Payload, options: Options) -> tuple[np.ndarray, np.ndarray, Features]:
    """(words, size, sets): sets of features as whole words, and as features end to end."""
    lengths = np.diff(given.offsets) // 4
    size = -(-lengths // 2)
    ends = np.concatenate(([0], np.cumsum(size)))
    numbers = given.data[int(given.offsets[0]) : int(given.offsets[-1])].view(np.float32)
    out = np.zeros(2 * int(ends[-1]), np.float32)
    out[np.arange(len(numbers)) + np.repeat(2 * ends[:-1] - np.cumsum(lengths) + lengths, lengths)] = numbers
    wide = max(1, options.facts.features or 0)
    offsets = np.concatenate(([0], np.cumsum(lengths // wide)))
    return out.view(np.uint64), size, (read_only(numbers.reshape(-1, wide)), read_only(offsets))


def codes(given: Payload, options: Options, bands: bool) -> Sketched:
    words, offsets = given.words()
    keys = np.zeros((options.plan.bands if bands and options.plan else 0, len(given.width)), np.uint64)
    full = np.flatnonzero(bands & (given.width == options.dimension))
    if len(full):
        each = -(-options.dimension // 64)
        keys[:, full] = keys_of(options, (words[offsets[full][:, None] + np.arange(each)], options.dimension), bands)
    return sketched(given.width, words, np.diff(offsets), keys)


def strings(given: Payload, options: Options, bands: bool) -> Sketched:
    """Strings as whole words, filled up with a byte that UTF-8 has not: zeros would be taken for NULs. `text_of` takes it off."""
    lengths = np.diff(given.offsets)
    size = -(-lengths // 8)
    ends = np.concatenate(([0], np.cumsum(size)))
    out = np.full(8 * int(ends[-1]), FILLING, np.uint8)
    used = given.data[int(given.offsets[0]) : int(given.offsets[-1])]
    out[np.arange(len(used)) + np.repeat(8 * ends[:-1] - np.cumsum(lengths) + lengths, lengths)] = used
    begun = np.concatenate(([0], np.cumsum((used & 0xC0) != 0x80)))  # code points, for all bytes but these go on with one
    return sketched(np.diff(begun[given.offsets - given.offsets[0]]), out.view(np.uint64), size, keys_of(options, size, False))


def text_of(words: bytes) -> bytes:
    """The string that these words hold."""
    return words.rstrip(bytes([FILLING]))


def sketched(tokens: np.ndarray, words: np.ndarray, size: np.ndarray, keys: np.ndarray) -> Sketched:
    return Sketched(tokens.astype(np.uint32), words, size.astype(np.uint32), keys)


def keys_of(options: Options, batch: Any, bands: bool) -> np.ndarray:
    """The band keys of a batch, uint64[bands, n]; none where no bands are wanted."""
    if not bands:
        return np.zeros((0, len(batch[-1]) - 1 if isinstance(batch, tuple) else len(batch)), np.uint64)
    assert options.plan is not None
    plan = options.plan
    family = families.from_plan(plan, options.seed)
    if hasattr(family, "band_keys"):
        return family.band_keys(batch, plan.bands, plan.rows)
    return family.band_keys_of(family.signature(batch), plan.bands, plan.rows)


@dataclass(frozen=True)
class Kind:
    """How items of a measure are read, sketched and compared."""

    want: str  # the payload that readers give (records.Want.kind)
    sketch: Callable[[Payload, Options, bool], Sketched]
    rule: Callable[[Options, int], Any]


def set_rule(options: Options, mode: int) -> SetRule:
    return SetRule(options.threshold.numerator, options.threshold.denominator, mode)


def weighted_rule(options: Options, mode: int) -> WeightedRule:
    return WeightedRule(float(options.threshold), mode)


def direction_rule(options: Options, mode: int) -> DirectionRule:
    return DirectionRule(float(options.threshold), options.measure.name == "angle", options.dimension, options.facts.wide, mode)


def norm_rule(options: Options, mode: int) -> NormRule:
    order = {"l1": 1.0, "l2": 2.0}[options.measure.name]
    return NormRule(float(options.threshold), order, options.dimension, options.facts.wide, mode)


def sparse_rule(options: Options, mode: int) -> SparseRule:
    return SparseRule(float(options.threshold), *MEASURES[options.told_by], mode)


def code_rule(options: Options, mode: int) -> CodeRule:
    return CodeRule(int(options.threshold), mode)


KINDS = {
    "elements": Kind("elements", sets, set_rule),
    "weighted": Kind("weighted", weighted_sets, weighted_rule),
    "cosine": Kind("vector", vectors, direction_rule),
    "angle": Kind("vector", vectors, direction_rule),
    "l1": Kind("vector", vectors, norm_rule),
    "l2": Kind("vector", vectors, norm_rule),
    "hamming": Kind("code", codes, code_rule),
    "edit": Kind("string", strings, set_rule),
    "levenshtein": Kind("string", strings, set_rule),
    "features": Kind("features", embedded, weighted_rule),
    "features/one-to-many": Kind("features", embedded, sparse_rule),
    "features/chamfer": Kind("features", feature_sets, weighted_rule),
    "features/assignment": Kind("features", feature_sets, weighted_rule),
}
#: Vectors by any of their measures, where they turn out to be sparse.
SPARSE = Kind("sparse", sparse, sparse_rule)


def kind_of(job: Options) -> Kind:
    """How the items of a run are read, sketched and compared; of texts, which are cut first, see stages/sketch.py."""
    return SPARSE if job.kind.sparse else KINDS[job.measure.name]


def copies_of(words: np.ndarray, size: np.ndarray, seed: int) -> np.ndarray:
    """128 bits that stand for the words of each row, uint64[n, 2]: equal rows are copies of each other."""
    return digests(words, np.concatenate(([0], np.cumsum(size, dtype=np.int64))), derive(np.uint64(seed), COPY_KEYS, KEYS))
