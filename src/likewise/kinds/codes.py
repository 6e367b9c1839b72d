"""Binary codes of a fixed number of bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.drawing.numbers import counted
from likewise.errors import UsageError
from likewise.kinds.kind import ASKED, DIGITS, MeasureFacts
from likewise.kinds.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    import numpy as np

    from likewise.io.inputs import Source
    from likewise.job import Job
    from likewise.joins.keys import Keys
    from likewise.joins.pairs import Among, Join
    from likewise.kinds.kind import Words
    from likewise.methods import Measure, Text
    from likewise.planning import Facts
    from likewise.records import Want
    from likewise.stages.sketch import Payload, Sketched
    from likewise.stages.workers import Workers

#: Explains the order of bits next to displayed codes.
BITS_OF_NUMBERS = "The lowest byte of an integer comes first; bit 0 is the lowest bit of the first byte."
HAMMING = MeasureFacts(
    "hamming",
    "likewise.measures.hamming:hamming",
    "the number of bits in which they differ",
    units=("bit", "bits"),
    distance=True,
    whole=True,
    search="likewise.nearest.neighbors:CODES",
)


class Codes(Stored):
    """Binary codes, all of one length."""

    name, noun, item = "codes", "code", "a code of bits"
    reader = "likewise.items.codes:READER"
    values = "u1"
    needed = "codes: whole numbers, bytes, hexadecimal strings, or lists of 0 and 1"
    advice = {  # noqa: RUF012
        "floats": "convert the column to whole numbers; in pandas astype('Int64') keeps missing ones",
    }
    widths = "the first code", "all codes must have the same length"
    field = payload = holds = "code"
    look, marked = DIGITS, ("hexadecimal digits", f"{BITS_OF_NUMBERS} ")
    same = "The two codes are the same, bit by bit:"
    remark = BITS_OF_NUMBERS
    measures = (HAMMING,)
    bands = ASKED
    needs_data = keyed = True

    def width_of(self, width: int) -> str:
        return counted(width, "bit")

    def described(self, dimension: int | None) -> str:
        return self.item if dimension is None else f"a code of {dimension:,} bits"

    def facts_of(
        self, sources: Sequence[Source], asked: Want, spared: tuple[type[Exception], ...], method: Text | Measure, bound: Fraction | None
    ) -> tuple[str, Facts]:
        from likewise.io.beginnings import decimal_codes, first_width
        from likewise.planning import Facts

        decimal = decimal_codes(sources, asked, spared)
        width, place = first_width(sources, asked._replace(decimal=decimal), spared)
        if width is None:  # no code has a bit, so any plan will do
            width = max(64, int(bound or 0) + 1)
        return asked.text, Facts(width, decimal=decimal, first=place)

    def readable(self, raw: bytes, want: Want) -> str:
        return raw.hex()

    def written(self, raw: bytes, want: Want, width: int) -> str:
        return raw[: -(-width // 8)].hex()

    def item_of(self, raw: bytes, want: Want, width: int) -> Any:
        return raw

    sized_by = "the number of bits of the codes"

    def known(self, width: int) -> Any:
        import numpy as np

        return np.cos(np.arange(width, dtype=np.float64))[np.newaxis] > 0

    def alone(self, given: Any) -> bool | None:
        from likewise.items import codes

        return codes.alone(given)

    def converter(self, a: Any, b: Any, method: Text | Measure) -> Callable[[Any], Any]:
        """Raises UsageError where both batches are lists of 0 and 1 only: such a list could be many codes or the bits of one."""
        from likewise.items import codes

        if codes.ambiguous(a) and codes.ambiguous(b):
            raise UsageError(
                f"a list of {len(a)} whole numbers, all 0 or 1, could be the bits of one code or {len(a)} codes of 64 bits; "
                "give bits as bool, [bit == 1 for bit in bits], and codes as np.array(codes, np.uint64)"
            )
        return codes.codes

    def sketch(self, given: Payload, job: Job) -> Sketched:
        import numpy as np

        from likewise.stages.sketch import keys_of, sketched

        words, offsets = given.words()
        keys = np.zeros((job.plan.bands if job.plan else 0, len(given.width)), np.uint64)
        full = np.flatnonzero((given.width == job.dimension) & bool(job.plan))
        if len(full):
            each = -(-job.dimension // 64)
            keys[:, full] = keys_of(job, (words[offsets[full][:, None] + np.arange(each)], job.dimension))
        return sketched(given.width, words, np.diff(offsets), keys)

    def batch(self, words: Words, job: Job) -> tuple[np.ndarray, int]:
        """The codes, uint64[n, words], and their number of bits."""
        return self.searched(words, job), job.dimension

    def searched(self, words: Words, job: Job) -> np.ndarray:
        values, offsets = words
        return values.reshape(len(offsets) - 1, -1)

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        import numpy as np

        from likewise.joins.hamming_join import code_join

        n = len(words[1]) - 1
        codes = self.searched(words, job) if n else np.zeros((0, 1), np.uint64)
        return code_join(codes, job.dimension, int(job.threshold), walk=walk, per=per, workers=workers)

    def keys(self, items: int, words: int, sample: Callable[[np.ndarray], Words], job: Job, *, walk: bool) -> Keys:
        from likewise.joins.hamming_join import sample_of
        from likewise.joins.keys import TableKeys

        codes = sample(sample_of(items))[0].reshape(-1, -(-job.dimension // 64))
        return TableKeys.of_sample(codes, items, job.dimension, int(job.threshold), walk=walk)

    def rule(self, job: Job, mode: int) -> Any:
        from likewise.kernels.compare import CodeRule

        return CodeRule(int(job.threshold), mode)


KIND = Codes()
