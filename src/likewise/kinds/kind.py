"""What is declared of a kind of item, and of each measure of it. Loads neither numpy nor Arrow: `lw.plan()` and ``--help`` read it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    import numpy as np

    from likewise.io.inputs import Source
    from likewise.items.documents import Shingled
    from likewise.joins.pairs import Among, Join
    from likewise.methods import Measure, Text
    from likewise.nearest.search import Found
    from likewise.planning import Facts
    from likewise.stages.verify import Compared
    from likewise.stages.workers import Workers

    #: Words of items, uint64[m], and where each item begins, int64[n + 1].
    Words = tuple[np.ndarray, np.ndarray]
    from likewise.records import Want
    from likewise.runs.job import Job
    from likewise.stages.sketch import Sketched, Stage

#: Where items meet in bands: where a plan makes them, where the user asks for bands, or never, because items are always joined.
PLANNED, ASKED, NEVER = "planned", "asked", "never"
#: With what chance a join that is not asked to miss none finds a pair at the limit: surely, with that of --recall, or with none that is known.
EXACT, TARGET, NOT_PROMISED = "exact", "target", "not promised"
#: How two items are laid beside each other: word by word, character by character, by their members, by their numbers, digit by digit, or as they are.
WORDS, SIGNS, MEMBERS, NUMBERS, DIGITS, WHOLE = "words", "signs", "members", "numbers", "digits", "whole"


def loaded(path: str) -> Any:
    """What "module:name" names."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


class Made(NamedTuple):
    """What is made of items beforehand, to be compared in their place."""

    kind: str
    measure: str
    function: str  # "module:function" of a batch


@dataclass(frozen=True, slots=True)
class MeasureFacts:
    """One measure of a kind of item."""

    name: str  # as in ``by=``
    function: str  # "module:function": the exact values of two batches, item by item
    value: str = ""  # the value of two items, in words, for reports
    units: tuple[str, str] = ("", "")  # of one, and of several
    search: str = ""  # "module:name" of a `nearest.search.Way`; empty: neighbours are found another way, or not
    scanned: bool = False  # a query is compared with all items
    whole: bool = False  # values are whole numbers
    in_sparse: bool = False  # neighbours of sparse vectors are looked for by it
    empty: str = "empty"  # items that hold nothing that could be compared, in words
    pairs: str = ""  # "module:function": the values of pairs of items of two batches, by number
    paired: bool = False  # parts of items are paired one with one, at a cost that grows with the third power of their number
    parts: str = ""  # what an item is made of, where a plan counts them
    distance: bool = False  # small values are similar
    real: bool = False  # similarities are no ratios of counts
    directed: bool = False  # of vectors only the direction counts, which a zero vector has not
    power: float = 0.0  # the r of L_r
    order: str = ""  # pattern of further names, whose group is the order of the measure; no item is then found by it under its own name
    containment: str = ""  # "module:function" of NAME/containment
    becomes: Made | None = None
    also: tuple[str, ...] = ()  # its names elsewhere, for a hint
    instead: str = ""  # for a similarity that no --within goes with: what to give


class Kind:
    """A kind of item: how it is named, read, sketched, compared, joined, searched and shown. One object in one file."""

    name: str  # of many: "codes"
    noun: str  # of one: "code"
    item: str  # of one, for reports: "a code of bits"
    field: str  # the column that holds it, where none is named
    payload: str  # what readers give of a row (records.PAYLOADS)
    zeros: tuple[str, str] = ("", "")  # what is said of one item without a direction, and of several; empty: all have one, or need none
    reader: str = ""  # "module:name" of a `items.reader.Reader`; empty: values are read as they are
    values: str = "u1"  # the type of one value of a payload: numpy's name of it, or "module:name"
    needed: str  # in messages about values of another kind: "vectors: lists of finite numbers"
    advice: dict[str, str] = {}  # noqa: RUF012 - a kind of values that are no items -> what to do about them
    widths: tuple[str, str] = ("", "")  # the item that sets the width of all, and the rule, in words
    holds: str  # what a row holds, where a message says that it does not
    look: str = WHOLE  # how two are laid beside each other; of WORDS to WHOLE
    same: str = ""  # what is said of two that are the same; empty: their members are listed, for their order may differ
    marked: tuple[str, str] = ("", "")  # what is marked where two differ, and what is to be said of it
    remark: str = ""  # what is said below two that differ
    part: str = ""  # one member of an item: "element"
    longest: str = "the longest"  # what --keep longest keeps,
    shortest: str = "the shortest"
    hashed: bool = False  # payloads hold words that stand for members, which say nothing to people
    measures: tuple[MeasureFacts, ...] = ()
    cut: MeasureFacts | None = None  # the measure of the sets that items are cut into; None: they are compared as they are
    unit: str = ""  # the one unit that they are cut by; empty: any other
    bands: str = PLANNED  # or ASKED, or NEVER
    recall: str = EXACT  # of its join; or TARGET, or NOT_PROMISED
    weighed: bool = False  # costs decide between a join and bands, where neither was asked for
    looked_for: bool = True  # neighbours are
    grouped: bool = False  # elements may stand in groups
    needs_data: bool = False  # a plan depends on how many numbers, or bits, an item has
    ruled: bool = True  # items are compared by a rule of kernels.compare, word by word
    sets: bool = False  # items are compared as sets of words, by their Jaccard similarity
    all_compared: bool = False  # its exact join looks at all pairs
    audited: bool = True  # an exact search is there to audit by
    sparse: bool = False  # vectors of which only what is not 0 is kept

    def described(self, dimension: int | None) -> str:
        """One item, for reports; dimension: how many numbers or bits it has, where that is known."""
        return self.item

    def check_libraries(self) -> None:
        """Raises UsageError where a library that compares items of this kind is missing."""

    def check(self, job: Job) -> None:
        """Raises UsageError for what was asked and cannot be had, once the inputs were looked at."""

    def facts_of(
        self, sources: Sequence[Source], asked: Want, spared: tuple[type[Exception], ...], method: Text | Measure, bound: Fraction | None
    ) -> tuple[str, Facts]:
        """The field of the items, and the facts about them that the beginnings of the sources show, for kinds that need some. Errors of ``spared``
        end only their source."""
        raise NotImplementedError

    def readable(self, raw: bytes, want: Want) -> str:
        """A payload as people read it, in a line."""
        return raw.decode("utf-8", "surrogatepass")

    def written(self, raw: bytes, want: Want, width: int) -> str:
        """A payload as people read it, in full. width: the numbers of a feature, or the bits of a code."""
        return self.readable(raw, want)

    def item_of(self, raw: bytes, want: Want, width: int) -> Any:
        """A payload as measures take an item. The words of elements are as good as the elements."""
        return raw.decode("utf-8", "surrogatepass")

    def plain(self, text: str) -> Any:
        """What `written` made, as JSON has it."""
        return text

    def alone(self, given: Any) -> bool | None:
        """True if this is one item and not a batch; None where it may be either."""
        raise NotImplementedError

    def converter(self, a: Any, b: Any, method: Text | Measure) -> Callable[[Any], Any]:
        """The function from a batch, as a caller gives it, to one that measures take. a, b: the batches; b is None where there is one alone."""
        raise NotImplementedError

    def shingled(self, batch: Any, method: Text, seed: int) -> Shingled:
        """A batch as sets of shingles, for kinds that are cut."""
        raise NotImplementedError

    def item_type(self, want: Want) -> np.dtype:
        """The type of one value of a payload."""
        import numpy as np

        return loaded(self.values) if ":" in self.values else np.dtype(self.values)

    def width_of(self, width: int) -> str:
        """A width of items (Records.width), in words."""
        raise NotImplementedError

    def sketcher(self, job: Job) -> Stage:
        """A function from the rows of a chunk to their columns, for kinds that are read: with band keys where the job has bands."""
        raise NotImplementedError

    def become(self, batch: Any, facts: MeasureFacts) -> Any:
        """What is made of a batch, as measures take it."""
        raise NotImplementedError

    def made(self, items: Any, job: Job) -> Sketched:
        """The columns of items of this kind that are made of others, for kinds that a measure names in ``becomes``."""
        raise NotImplementedError

    def batch(self, words: Words, job: Job) -> Any:
        """Stored items as measures take them."""
        raise NotImplementedError

    def scans(self, job: Job) -> bool:
        """True if a query for neighbours is compared with all items. Raises UsageError where neighbours cannot be looked for."""
        return job.base.scanned

    def nearest(self, base: Words, queries: Words, k: int, job: Job, *, same: bool, workers: Workers) -> Found:
        """The k items of ``base`` most similar to each query. same: the queries are the items themselves."""
        raise NotImplementedError

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        """The join that finds similar pairs of these items, without bands.

        among: the pairs that will be wanted. per: uint64[n], pairs are wanted of equal values only; None: of all items. walk: the pairs are for a
        walk, in which most items that are similar to an earlier one are left out.
        """
        raise NotImplementedError

    def rule(self, job: Job, mode: int) -> Any:
        """The rule (kernels.compare) by which two items are similar, for kinds that are compared. mode: EXACT, ESTIMATE or UNCHECKED."""
        raise NotImplementedError

    def alike(self, a: Words, b: Words, job: Job) -> Compared:
        """The exact comparison of the i-th item of one batch with the i-th of the other, for kinds that are compared."""
        raise NotImplementedError

    def seen(self, facts: Facts) -> Kind:
        """The kind that items turn out to be, once `planning.Facts` are known."""
        return self
