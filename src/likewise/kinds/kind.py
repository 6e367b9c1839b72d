"""The declaration of a kind of item and of its measures. Loads neither numpy nor Arrow, because `lw.plan()` and help texts import it."""

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
    from likewise.items.ignored import Ignored
    from likewise.items.payloads import Rows
    from likewise.joins.keys import Keys
    from likewise.joins.pairs import Among, Join
    from likewise.methods import Measure, Text
    from likewise.nearest.search import Found
    from likewise.planning import Facts
    from likewise.stages.verify import Compared
    from likewise.stages.workers import Workers

    #: The words of items, uint64[m], and where each item begins, int64[n + 1].
    Words = tuple[np.ndarray, np.ndarray]
    from likewise.job import Job
    from likewise.records import Want
    from likewise.stages.sketch import Sketched, Stage

#: When bands generate the candidates: where a plan makes them, where the user asks for bands, or never, because items are always joined.
PLANNED, ASKED, NEVER = "planned", "asked", "never"
#: The recall of a join at the threshold, without ``exact``: 1, the requested one, or unknown.
EXACT, TARGET, NOT_GUARANTEED = "exact", "target", "not guaranteed"
#: How two items are displayed side by side: by words, characters, members, numbers or digits, or whole.
WORDS, SIGNS, MEMBERS, NUMBERS, DIGITS, WHOLE = "words", "signs", "members", "numbers", "digits", "whole"


def loaded(path: str) -> Any:
    """The object that "module:name" refers to."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


class Made(NamedTuple):
    """Derived items that are compared in place of the given ones: their kind, the measure, and the function that derives them."""

    kind: str
    measure: str
    function: str  # "module:function", called with a batch


@dataclass(frozen=True, slots=True)
class MeasureFacts:
    """The facts about one measure."""

    name: str  # the value of ``by=``
    function: str  # "module:function": the exact values for the i-th items of two batches
    value: str = ""  # what the value means, for reports
    units: tuple[str, str] = ("", "")  # singular and plural
    search: str = ""  # "module:name" of a `nearest.search.Way`; empty: neighbors are found in another way, or not at all
    scanned: bool = False  # a nearest-neighbor query is compared with all items
    whole: bool = False  # values are integers
    in_sparse: bool = False  # also finds neighbors of sparse vectors
    empty: str = "empty"  # describes items without comparable content
    pairs: str = ""  # "module:function": the values of pairs, given as row numbers into two batches
    paired: bool = False  # parts of two items are matched one to one, which takes cubic time in their number
    parts: str = ""  # the parts of an item that a plan counts
    distance: bool = False  # small values are similar
    threshold: str = "0.8"  # the default of ``threshold``
    real: bool = False  # similarities are real numbers, not ratios of counts
    directed: bool = False  # only the direction of a vector counts, so zero vectors cannot be compared
    power: float = 0.0  # the r of L_r, if it has one
    bandless: bool = False  # it has no hash family: all pairs are compared
    measured: bool = False  # and no faster method than its function
    order: str = ""  # a pattern for further names; its group is the order. The measure's own name is then not valid
    containment: str = ""  # "module:function" that computes NAME/containment
    converted_to: Made | None = None
    also: tuple[str, ...] = ()  # names used by other libraries, for hints in messages
    instead: str = ""  # the hint shown to a user who gives ``within`` for a similarity, or no ``within`` for a distance


class Kind:
    """A kind of item: how it is named, read, sketched, compared, joined, searched and shown. One instance in one file."""

    # Every kind declares these.
    name: str  # plural: "codes"
    noun: str  # singular: "code"
    item: str  # one item in reports: "a code of bits"
    field: str  # the default field
    payload: str  # the payload that readers return for a row
    needed: str  # the expected values, for messages: "vectors: lists of finite numbers"
    holds: str  # the content that a message calls missing

    # A kind declares these where it differs.
    measures: tuple[MeasureFacts, ...] = ()
    zeros: tuple[str, str] = ("", "")  # messages for one item without a direction, and for several; empty: every item has one or needs none
    reader: str = ""  # "module:name" of an `items.reader.Reader`; empty: values are read raw
    values: str = "u1"  # the dtype of one value of a payload: a numpy name, or "module:name"
    advice: dict[str, str] = {}  # noqa: RUF012 - unsuitable type of values -> advice
    widths: tuple[str, str] = ("", "")  # the item that sets the common width, and the rule; for messages. Empty: items have no width
    stated: bool = False  # an item may state its width; the first one that does is found while the items are read
    sized_by: str = "the dimension of the vectors"  # for kinds with a width
    in_parts: bool = False  # an item has several vectors
    banded: str = ""  # measures with bands, for the message that an index gives for others
    numbered: bool = False  # an item is a list of numbers, which may be in columns of their own: x0, x1, x2
    look: str = WHOLE  # how two items are displayed side by side: WORDS to WHOLE
    same: str = ""  # the text above two equal items; empty: list their members, because their order may differ
    marked: tuple[str, str] = ("", "")  # the unit in which differences are marked, and a note about it
    remark: str = ""  # a note below two different items
    part: str = ""  # one member of an item: "element"
    longest: str = "the longest"  # the item that the policy ``longest`` keeps
    shortest: str = "the shortest"
    hashed: bool = False  # payloads hold hashes of members, which are not displayed
    cut: MeasureFacts | None = None  # the measure of the sets of shingles that items are cut into; None: items are not cut
    files: str = ""  # the format (io.formats.FORMATS) whose files are its items; the first measure of the first such kind is their default
    made_of: str = ""  # for kinds of images: "module:function" that makes a payload of a decoded picture
    tables: tuple[str, ...] = ()  # for kinds of ``files``: the formats of tables that can hold its items
    on_error: str = "fail"  # the default of ``on_error``
    normalized: bool = False  # without being cut, items are normalized if the user gives steps
    unit: str = ""  # the only unit that they are cut by; empty: any other unit
    bands: str = PLANNED  # or ASKED, or NEVER
    recall: str = EXACT  # the recall of its join; or TARGET, or NOT_GUARANTEED
    proposed_by: str = "encodings of the sets"  # what proposes the candidates of a join that is not exact
    weighed: bool = False  # by default the cheaper of a join and bands is taken
    looked_for: bool = True  # nearest neighbors can be searched for
    grouped: bool = False  # elements may be put into groups
    needs_data: bool = False  # a plan depends on the number of dimensions or bits
    ruled: bool = True  # items are compared by a rule of kernels.compare
    sets: bool = False  # items are compared as sets of words, by Jaccard similarity
    all_compared: bool = False  # its exact join compares all pairs
    keyed: bool = False  # its join can be done by keys of items, in parts
    audited: bool = True  # an exact search exists, so results can be audited
    sparse: bool = False  # vectors stored by their nonzero coordinates

    # Every kind defines these; of a `stored.Stored`, `sketch` in place of `sketcher`.

    def alone(self, given: Any) -> bool | None:
        """True if ``given`` is a single item, False if it is a batch, None if it could be either."""
        raise NotImplementedError

    def converter(self, a: Any, b: Any, method: Text | Measure) -> Callable[[Any], Any]:
        """The function that converts a caller's batch to one that measures accept. a, b: the batches; b is None if there is only one."""
        raise NotImplementedError

    def sketcher(self, job: Job) -> Stage:
        """The function from the rows of a chunk to their columns, with band keys if the job has bands. For kinds that are read from inputs."""
        raise NotImplementedError

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        """The join that finds similar pairs of these items without bands.

        among: the pairs that will be requested. per: uint64[n], only pairs of items with equal values are requested; None: pairs of all items. walk:
        the pairs serve a greedy walk, which skips most items that are similar to an earlier one.
        """
        raise NotImplementedError

    # A kind defines these where it is of the sort that they name, or differs.

    def keys(self, items: int, words: int, sample: Callable[[np.ndarray], Words], job: Job, *, walk: bool) -> Keys:
        """The keys by which its join is done in parts, for kinds that are ``keyed``.

        items, words: their numbers. sample: returns the words of items, given by number, ascending. walk: as for `join`.
        """
        raise NotImplementedError

    def known(self, width: int) -> Any:
        """A batch of one item that never changes. Two versions that sketch it differently must not share an index.

        width: the numbers of a vector or of a feature, or the bits of a code.
        """
        raise NotImplementedError

    @property
    def raw(self) -> bool:
        """True if values are strings that are read as they are. A path through lists then means all strings there, joined by line ends."""
        return not self.reader

    @property
    def wide(self) -> bool:
        """True if items have a width (Records.width), which must be the same for all."""
        return bool(self.widths[0])

    def described(self, dimension: int | None) -> str:
        """One item, for reports. dimension: its number of dimensions or bits, if known."""
        return self.item

    def check_libraries(self, job: Job) -> None:
        """Raises UsageError if a library that compares items by the measure of the job is missing."""

    def check(self, job: Job) -> None:
        """Raises UsageError for options that the inputs rule out. Called once the inputs have been inspected."""

    def facts_of(
        self, sources: Sequence[Source], asked: Want, spared: tuple[type[Exception], ...], method: Text | Measure, bound: Fraction | None
    ) -> tuple[str, Facts]:
        """The field of the items, and the facts that a plan needs, read from the first rows of the sources.

        Errors of the types ``spared`` only skip their source.
        """
        raise NotImplementedError

    def readable(self, raw: bytes, want: Want) -> str:
        """A payload for display, in one line."""
        return raw.decode("utf-8", "surrogatepass")

    def part_of(self, text: str, start: int, end: int) -> str:
        """A part of `written`, from one character to another; of token ids, from one id to another."""
        [(low, high)] = self.spans(text, [(start, end)])
        return text[low:high]

    def spans(self, text: str, parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """The characters of `written` from which and up to which such parts go."""
        return [*parts]

    def written(self, raw: bytes, want: Want, width: int) -> str:
        """A payload for display, in full. width: the dimension of a feature, or the bits of a code."""
        return self.readable(raw, want)

    def deciding(self, text: str, band: int, job: Job) -> list[str]:
        """The parts of an item that give it its key in a band, for display; none if its slots depend on the whole item. text: of `written`."""
        return []

    def item_of(self, raw: bytes, want: Want, width: int) -> Any:
        """A payload as an item that measures accept. Elements may be returned as their hashes."""
        return raw.decode("utf-8", "surrogatepass")

    def plain(self, text: str) -> Any:
        """The text of `written` as a JSON value."""
        return text

    def shingled(self, batch: Any, method: Text, seed: int, ignored: Ignored | None = None) -> Shingled:
        """A batch as sets of shingles, without ignored ones, for kinds that are cut."""
        raise NotImplementedError

    def item_type(self, want: Want) -> np.dtype:
        """The dtype of one value of a payload."""
        import numpy as np

        return loaded(self.values) if ":" in self.values else np.dtype(self.values)

    def check_rows(self, rows: Rows, want: Want) -> None:
        """Adds faults to rows that can be read, but not signed."""

    def width_of(self, width: int) -> str:
        """A width of items (Records.width), for messages."""
        raise NotImplementedError

    def become(self, batch: Any, facts: MeasureFacts) -> Any:
        """The items derived from a batch, as measures accept them."""
        raise NotImplementedError

    def made(self, items: Any, job: Job) -> Sketched:
        """The columns of derived items of this kind, for kinds that a measure names in ``converted_to``."""
        raise NotImplementedError

    def batch(self, words: Words, job: Job) -> Any:
        """Stored items as measures accept them."""
        raise NotImplementedError

    def compares_all(self, measure: MeasureFacts) -> bool:
        """True if an exact search by this measure compares all pairs."""
        return self.all_compared or measure.measured

    def scans(self, job: Job) -> bool:
        """True if a nearest-neighbor query is compared with all items. Raises UsageError if neighbors by this measure are not supported."""
        return job.base.scanned

    def nearest(self, base: Words, queries: Words, k: int, job: Job, *, same: bool, workers: Workers) -> Found:
        """The k items of ``base`` most similar to each query. same: the queries are the items themselves."""
        raise NotImplementedError

    def rule(self, job: Job, mode: int) -> Any:
        """The rule (kernels.compare) that decides if two items are similar, for kinds that are ``ruled``. mode: EXACT, ESTIMATE or UNCHECKED."""
        raise NotImplementedError

    def similar(self, a: Words, b: Words, job: Job) -> Compared:
        """Compare the i-th item of one batch exactly with the i-th of the other, for kinds that are compared."""
        raise NotImplementedError

    def all_pairs(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        """As `join`, by the function of the measure: compares all pairs."""
        raise NotImplementedError

    def within(self, a: Words, b: Words, job: Job) -> Compared:
        """As `similar`, by the function of the measure."""
        raise NotImplementedError

    def seen(self, facts: Facts) -> Kind:
        """The actual kind of the items, once `planning.Facts` are known."""
        return self
