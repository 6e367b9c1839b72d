"""Strings of characters, compared by edit distance."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from likewise.kinds.kind import NEVER, SIGNS, MeasureFacts, loaded
from likewise.kinds.stored import Stored
from likewise.messages import option

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from likewise.job import Job
    from likewise.joins.pairs import Among, Join
    from likewise.kinds.kind import Words
    from likewise.methods import Measure, Text
    from likewise.stages.sketch import Payload, Sketched
    from likewise.stages.verify import Compared
    from likewise.stages.workers import Workers

#: Pads strings to whole words.
FILLING = 0xFF
EDITS = ("edit", "edits")
RELATIVE = f"for relative similarity of strings compare shingles: {option('by', 'chars:2')}"
EDIT = MeasureFacts(
    "edit",
    "likewise.measures.edit:edit",
    "the minimum number of inserted and deleted characters that turn one into the other",
    units=EDITS,
    distance=True,
    whole=True,
    instead=RELATIVE,
)
LEVENSHTEIN = MeasureFacts(
    "levenshtein",
    "likewise.measures.edit:levenshtein",
    "the minimum number of inserted, deleted and replaced characters that turn one into the other",
    units=EDITS,
    distance=True,
    whole=True,
    instead=RELATIVE,
)


class Strings(Stored):
    """Raw strings, compared code point by code point."""

    name, noun, item = "strings", "string", "a string"
    needed = "strings"
    field = holds = "text"
    payload = "string"  # as for texts; nothing of it is normalized
    look, marked = SIGNS, ("characters", "")
    same = "The two strings are the same, character by character."
    measures = (EDIT, LEVENSHTEIN)
    bands = NEVER
    looked_for = ruled = audited = False

    def check_libraries(self) -> None:
        from likewise.measures import edit

        edit.library()

    def alone(self, given: Any) -> bool | None:
        from likewise.items import texts

        return texts.is_string(given)

    def converter(self, a: Any, b: Any, method: Text | Measure) -> Callable[[Any], Any]:
        from likewise.items import texts

        return texts.strings

    def sketch(self, given: Payload, job: Job) -> Sketched:
        """Strings padded to whole words with a byte that never occurs in UTF-8; zeros would be mistaken for NULs. `text_of` removes the padding."""
        import numpy as np

        from likewise.stages.sketch import keys_of, sketched

        lengths = np.diff(given.offsets)
        size = -(-lengths // 8)
        ends = np.concatenate(([0], np.cumsum(size)))
        out = np.full(8 * int(ends[-1]), FILLING, np.uint8)
        used = given.data[int(given.offsets[0]) : int(given.offsets[-1])]
        out[np.arange(len(used)) + np.repeat(8 * ends[:-1] - np.cumsum(lengths) + lengths, lengths)] = used
        begun = np.concatenate(([0], np.cumsum((used & 0xC0) != 0x80)))  # every byte but a continuation byte begins a code point
        return sketched(np.diff(begun[given.offsets - given.offsets[0]]), out.view(np.uint64), size, keys_of(job, size))

    def batch(self, words: Words, job: Job) -> list[bytes]:
        """UTF-8, with lone surrogates as three bytes each."""
        raw, ends = words[0].tobytes(), (8 * words[1]).tolist()
        return [text_of(raw[begin:end]) for begin, end in pairwise(ends)]

    def similar(self, a: Words, b: Words, job: Job) -> Compared:
        from likewise.stages.verify import within

        texts = ([text.decode("utf-8", "surrogatepass") for text in self.batch(words, job)] for words in (a, b))
        return within(loaded(job.base.function)(*texts), float(job.threshold), distances=True)

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        import pyarrow as pa

        from likewise.joins.edit_join import EditJoin, edits

        texts = pa.array(self.batch(words, job), pa.large_binary())
        return EditJoin(texts, edits(job.threshold), levenshtein=job.base is LEVENSHTEIN, per=per, workers=workers)

    def rule(self, job: Job, mode: int) -> Any:
        """The rule of sets, as a placeholder: edit distances are computed with the measure, not by a rule."""
        from likewise.kinds.sets import KIND as SETS

        return SETS.rule(job, mode)


def text_of(words: bytes) -> bytes:
    """The string, UTF-8, that these padded words hold."""
    return words.rstrip(bytes([FILLING]))


KIND = Strings()
