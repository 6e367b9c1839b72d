"""Strings of characters, compared by edit distances, and by similarities of names."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from likewise.kinds.kind import NEVER, SIGNS, MeasureFacts
from likewise.kinds.stored import Stored
from likewise.messages import option

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from likewise.job import Job
    from likewise.joins.pairs import Among, Join
    from likewise.kinds.kind import Words
    from likewise.methods import Measure, Text
    from likewise.nearest.search import Found
    from likewise.stages.sketch import Payload, Sketched, Stage
    from likewise.stages.verify import Compared
    from likewise.stages.workers import Workers

#: Pads strings to whole words.
FILLING = 0xFF
EDITS = ("edit", "edits")
EDIT = MeasureFacts(
    "edit",
    "likewise.measures.edit:edit",
    "the minimum number of inserted and deleted characters that turn one into the other",
    units=EDITS,
    distance=True,
    whole=True,
    instead=f"for a similarity use {option('by', 'edit/ratio')} with {option('threshold', placeholder='S')}",
)
LEVENSHTEIN = MeasureFacts(
    "levenshtein",
    "likewise.measures.edit:levenshtein",
    "the minimum number of inserted, deleted and substituted characters that turn one into the other",
    units=EDITS,
    distance=True,
    whole=True,
    instead=f"for a similarity use {option('by', 'levenshtein/ratio')} with {option('threshold', placeholder='S')}",
)
EDIT_RATIO = MeasureFacts(
    "edit/ratio",
    "likewise.measures.edit:edit_ratio",
    "1 minus the number of inserted and deleted characters that turn one into the other, divided by the sum of their lengths",
    also=("ratio", "fuzz.ratio", "indel"),
)
LEVENSHTEIN_RATIO = MeasureFacts(
    "levenshtein/ratio",
    "likewise.measures.edit:levenshtein_ratio",
    "1 minus the number of inserted, deleted and substituted characters that turn one into the other, divided by the length of the longer one",
    also=("normalized_similarity", "levenshtein_ratio", "normalized_levenshtein"),
)
JARO_WINKLER = MeasureFacts(
    "jaro-winkler",
    "likewise.measures.jaro_winkler:jaro_winkler",
    "their Jaro-Winkler similarity: the share of matching characters, raised for a common beginning",
    also=("jaro_winkler", "jarowinkler", "jaro"),
)


class Strings(Stored):
    """Raw strings, compared code point by code point."""

    name, noun, item = "strings", "string", "a string"
    needed = "strings"
    field = holds = "text"
    payload = "string"  # as for texts
    look, marked = SIGNS, ("characters", "")
    same = "The two strings are the same, character by character."
    measures = (EDIT, LEVENSHTEIN, EDIT_RATIO, LEVENSHTEIN_RATIO, JARO_WINKLER)
    bands = NEVER
    normalized = True
    ruled = audited = False

    def check_libraries(self, job: Job) -> None:
        from likewise.measures.edit import EDITS, library

        if job.base.name in EDITS:
            library()

    banded = f"compare the strings as sets of characters, with {option('by', 'chars:3')}"

    def alone(self, given: Any) -> bool | None:
        from likewise.items import texts

        return texts.is_string(given)

    def converter(self, a: Any, b: Any, method: Text | Measure) -> Callable[[Any], Any]:
        from likewise.items import texts

        return partial(texts.strings, steps=method.normalize)

    def sketcher(self, job: Job) -> Stage:
        """Normalizes strings before they are stored, if steps were given."""
        plain = super().sketcher(job)
        if not job.method.normalize:
            return plain
        from likewise.items.normalized import normalizer
        from likewise.records import TEXT

        normalize = normalizer(job.method.normalize)
        return lambda records: plain(replace(records, text=normalize(records.text, records.kind == TEXT).column()))

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

    def batch(self, words: Words, job: Job) -> list[str]:
        raw, ends = words[0].tobytes(), (8 * words[1]).tolist()
        return [text_of(raw[begin:end]).decode("utf-8", "surrogatepass") for begin, end in pairwise(ends)]

    def similar(self, a: Words, b: Words, job: Job) -> Compared:
        import numpy as np

        from likewise.items.strings import strings_of
        from likewise.measures.strings import MEASURES
        from likewise.stages.verify import scored

        strings, n = strings_of([*self.batch(a, job), *self.batch(b, job)]), len(a[1]) - 1
        values, good = MEASURES[job.base.name].compare(strings, np.arange(n), np.arange(n, 2 * n), job.threshold)
        return scored(values, good, distances=job.distances)

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        from likewise.joins.string_join import StringJoin

        return StringJoin(self.batch(words, job), job.base.name, job.threshold, per=per, workers=workers)

    def nearest(self, base: Words, queries: Words, k: int, job: Job, *, same: bool, workers: Workers) -> Found:
        from likewise.nearest.by_strings import strings_near

        left = self.batch(base, job)
        right = [] if same else self.batch(queries, job)
        return strings_near(left, right, job.base.name, k, limit=job.options.bound, same=same, workers=workers)


def text_of(words: bytes) -> bytes:
    """The string, UTF-8, that these padded words hold."""
    return words.rstrip(bytes([FILLING]))


KIND = Strings()
