"""Texts, cut into shingles and compared as sets of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.kinds.kind import WORDS
from likewise.kinds.sets import ELEMENTS
from likewise.kinds.stored import Stored
from likewise.messages import option

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pyarrow as pa

    from likewise.items.documents import Shingled
    from likewise.items.ignored import Ignored
    from likewise.job import Job
    from likewise.joins.keys import Keys
    from likewise.joins.pairs import Among, Join
    from likewise.kinds.kind import Words
    from likewise.methods import Measure, Text
    from likewise.records import Records
    from likewise.stages.sketch import Columns, Stage
    from likewise.stages.workers import Workers


#: A text that shows how texts are normalized and cut: letters, marks, numbers, scripts without spaces, stop words, code, lines.
KNOWN = "The quick, brown fox of 1984 jumps over it's \u212b e\u0301 na\u00efve \u6771\u4eac\u90fd if (x_1 != 0x2A) { return; }\n\n\tA second LINE.\n"


class Texts(Stored):
    """Texts as sets of shingles."""

    name, noun, item = "texts", "text", "a text"
    needed = "texts"
    advice = {  # noqa: RUF012
        "lists of whole numbers": f"compare token ids with {option('by', 'tokens:K')}",
        "records": f"name the field inside: {option('field', '{field}.KEY')}",
        "lists of records": f"name the field inside: {option('field', '{field}.KEY')} joins the texts of a list",
        "lists of strings": f"join the parts of a text, or compare sets with {option('by', 'elements')}",
        "lists of floats": "vectors are compared by cosine",
    }
    field = payload = holds = "text"  # a payload is UTF-8, a lone surrogate as three bytes
    look, marked = WORDS, ("words", "Differences in case and punctuation are marked even if the comparison ignores them. ")
    same = "The two texts are the same, character by character."
    cut = ELEMENTS
    sets = keyed = True

    def known(self, width: int) -> Any:
        return [KNOWN]

    def alone(self, given: Any) -> bool | None:
        return isinstance(given, str | bytes | None)

    def converter(self, a: Any, b: Any, method: Text | Measure) -> Callable[[Any], Any]:
        def convert(batch: Any) -> Any:
            shingled = self.shingled(batch, method, 0)
            return shingled.values, shingled.offsets

        return convert

    def shingled(self, batch: Any, method: Any, seed: int, ignored: Ignored | None = None) -> Shingled:
        """A batch as sets of shingles, without ignored ones. Raises UsageError with the row, counted from 0, for an item of another type."""
        from likewise.items.documents import shingler
        from likewise.items.ignored import NOTHING

        items = self.column(batch)
        return shingler(method, seed, ignored or NOTHING)(items.fill_null(b""), items.is_valid().to_numpy(zero_copy_only=False))

    def column(self, batch: Any) -> pa.LargeBinaryArray:
        """A batch, or a single item, as payloads."""
        from likewise.items.texts import encoded

        return encoded([batch] if isinstance(batch, str | bytes) else batch)

    def deciding(self, text: str, band: int, job: Job) -> list[str]:
        from likewise.stages.shared import passages

        raw = self.column([self.read_back(text)])[0].as_py()
        return [self.readable(passage, job.want) for passage in passages(raw, band, job)]

    def read_back(self, text: str) -> Any:
        """An item of a batch from the text of `written`."""
        return text

    def sketcher(self, job: Job) -> Stage:
        """The set of shingles of each text, or its MinHash signature if similarities are only estimated."""
        import numpy as np

        from likewise.families.minhash import MinHash, banded
        from likewise.items.documents import shingler
        from likewise.items.ignored import NOTHING
        from likewise.records import TEXT
        from likewise.stages.sketch import tagged_slots

        shingle = shingler(job.method, job.seed, job.ignored or NOTHING)  # type: ignore[arg-type]
        estimates, plan = job.verify == "estimate", job.plan
        if plan:
            family = MinHash(plan.slots, plan.sketch, job.seed)
            band_keys = banded(family, plan.bands, plan.rows)

        def sketch(records: Records) -> Columns:
            shingled = shingle(records.text, records.kind == TEXT)
            compared = {"sets": shingled.values, "size": (shingled.offsets[1:] - shingled.offsets[:-1]).astype("u4")}
            if plan:
                if estimates:
                    signature = family.signature((shingled.values, shingled.offsets))
                    compared = tagged_slots(signature, np.diff(shingled.offsets)) | {
                        "band_keys": family.band_keys_of(signature, plan.bands, plan.rows)
                    }
                else:
                    compared["band_keys"] = band_keys(shingled.values, shingled.offsets)
            else:
                compared["band_keys"] = np.zeros((0, len(records)), np.uint64)
            if job.ignored:
                compared["ignored"] = shingled.numbers
            return {"tokens": shingled.tokens, "chars": shingled.chars, "copy": shingled.copy, **compared}

        return sketch

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        from likewise.kinds.sets import KIND as SETS

        return SETS.join(words, job, among=among, per=per, walk=walk, workers=workers)

    def keys(self, items: int, words: int, sample: Callable[[np.ndarray], Words], job: Job, *, walk: bool) -> Keys:
        from likewise.kinds.sets import KIND as SETS

        return SETS.keys(items, words, sample, job, walk=walk)

    def rule(self, job: Job, mode: int) -> Any:
        from likewise.kinds.sets import KIND as SETS

        return SETS.rule(job, mode)


KIND = Texts()
