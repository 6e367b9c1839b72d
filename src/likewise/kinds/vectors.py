"""Dense vectors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from likewise.drawing.numbers import counted
from likewise.kinds import sparse
from likewise.kinds.kind import ASKED, NUMBERS, TARGET, Kind, MeasureFacts
from likewise.kinds.stored import Stored
from likewise.messages import option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    import numpy as np

    from likewise.io.inputs import Source
    from likewise.job import Job
    from likewise.joins.pairs import Among, Join
    from likewise.kinds.kind import Words
    from likewise.methods import Measure, Text
    from likewise.planning import Facts
    from likewise.records import Want
    from likewise.stages.sketch import Payload, Sketched
    from likewise.stages.workers import Workers

COSINE = MeasureFacts(
    "cosine",
    "likewise.measures.cosine:cosine",
    "the cosine of the angle between them, independent of their lengths: 1 means the same direction, 0 a right angle, -1 opposite directions",
    empty="of zeros only",
    real=True,
    directed=True,
    instead=(
        f"cosine is a similarity; use {option('threshold', placeholder='S')}, "
        f"or {option('by', 'angle')} with {option('within', placeholder='DEGREES')}"
    ),
    search="likewise.nearest.neighbors:COSINES",
    in_sparse=True,
)
ANGLE = MeasureFacts(
    "angle",
    "likewise.measures.cosine:angle",
    "the angle between them in degrees, independent of their lengths: 0 means the same direction, 90 a right angle, 180 opposite directions",
    units=("degree", "degrees"),
    empty="of zeros only",
    distance=True,
    directed=True,
    search="likewise.nearest.neighbors:ANGLES",
)
L1 = MeasureFacts(
    "l1",
    "likewise.measures.norms:l1",
    "the sum of the absolute differences of their coordinates (L1)",
    distance=True,
    power=1.0,
    also=("manhattan", "cityblock"),
    search="likewise.nearest.neighbors:DISTANCES_BY_SCAN",
    scanned=True,
    in_sparse=True,
)
L2 = MeasureFacts(
    "l2",
    "likewise.measures.norms:l2",
    "the square root of the sum of the squared differences of their coordinates (L2, Euclidean)",
    distance=True,
    power=2.0,
    also=("euclidean",),
    search="likewise.nearest.neighbors:L2_DISTANCES",
    in_sparse=True,
)
LINF = MeasureFacts(
    "linf",
    "likewise.measures.norms:linf",
    "the largest absolute difference of their coordinates (L∞)",
    distance=True,
    power=math.inf,
    also=("chebyshev",),
    search="likewise.nearest.neighbors:DISTANCES_BY_SCAN",
    scanned=True,
    in_sparse=True,
    bandless=True,
)
#: L_r of any other order >= 1: l3, l2.5.
LR = replace(
    LINF,
    name="lr",
    function="likewise.measures.norms:lr",
    value="the r-th root of the sum of the r-th powers of the absolute differences of their coordinates (L_r)",
    power=0.0,
    order=r"l(\d+(?:\.\d+)?)",
    also=("minkowski",),
)


class Vectors(Stored):
    """Vectors, all of one dimension."""

    name, noun, item = "vectors", "vector", "a vector"
    reader = "likewise.items.vectors:READER"
    needed = "vectors: lists of finite numbers"
    advice = {  # noqa: RUF012
        "strings": f"CSV holds one number per column ({option('field', 'x0..x3')}); JSON and Parquet hold lists",
    }
    widths = "the first vector", "all vectors must have the same length"
    field = payload = holds = "vector"
    look = NUMBERS
    same = "The two vectors are the same, number by number:"
    measures = (COSINE, ANGLE, L1, L2, LINF, LR)
    all_compared = numbered = True
    bands, recall = ASKED, TARGET
    needs_data = True
    zeros = "is a zero vector, which has no direction", "are zero vectors, which have no direction"

    def item_type(self, want: Want) -> np.dtype:
        import numpy as np

        return np.dtype(np.float64 if want.wide else np.float32)

    def width_of(self, width: int) -> str:
        return counted(width, "number")

    def seen(self, facts: Any) -> Kind:
        return sparse.KIND if facts.sparse else self

    def facts_of(
        self, sources: Sequence[Source], asked: Want, spared: tuple[type[Exception], ...], method: Text | Measure, bound: Fraction | None
    ) -> tuple[str, Facts]:
        from likewise.io import fields
        from likewise.io.beginnings import first_width
        from likewise.planning import Facts

        if field := fields.sparse(sources, asked, spared):
            return field, Facts(sparse=True)
        wide = fields.wide(sources, asked, spared)
        width, place = first_width(sources, asked._replace(wide=wide), spared)
        return asked.text, Facts(width, wide=wide, first=place)

    def readable(self, raw: bytes, want: Want) -> str:
        return " ".join(map(str, self.item_of(raw, want, 0).tolist()))

    def written(self, raw: bytes, want: Want, width: int) -> str:
        """The numbers, with the few digits of float32 where float32 holds them exactly."""
        import numpy as np

        numbers = self.item_of(raw, want, width)
        with np.errstate(over="ignore"):
            narrow = numbers.astype(np.float32)
        return " ".join(map(str, narrow if (narrow == numbers).all() else numbers))

    def item_of(self, raw: bytes, want: Want, width: int) -> Any:
        import numpy as np

        from likewise.items import payloads

        return np.frombuffer(raw, payloads.item(want))

    def plain(self, text: str) -> Any:
        return [float(number) for number in text.split()]

    banded = f"{option('by', 'l1')}, l2, cosine and angle have bands"

    def known(self, width: int) -> Any:
        import numpy as np

        return np.cos(np.arange(width, dtype=np.float64))[np.newaxis]

    def alone(self, given: Any) -> bool | None:
        from likewise.items import sparse, vectors

        return sparse.alone(given) or vectors.alone(given)

    def converter(self, a: Any, b: Any, method: Text | Measure) -> Callable[[Any], Any]:
        from likewise.items import sparse, vectors

        return lambda batch: sparse.sparse(batch) if sparse.is_sparse(batch) else vectors.vectors(batch)

    def sketch(self, given: Payload, job: Job) -> Sketched:
        """Vectors of one length (payloads.fit) as words: a view of the memory that was read, or a copy where rows are padded to whole words."""
        import numpy as np

        from likewise.items.sets import read_only
        from likewise.stages.sketch import keys_of, sketched

        rows = np.flatnonzero(np.diff(given.offsets))
        data = given.data[int(given.offsets[0]) : int(given.offsets[-1])]  # rows without a vector have no bytes
        numbers = read_only(data.view(np.float64 if job.facts.wide else np.float32).reshape(len(rows), -1 if len(rows) else 0))
        if job.base.directed and (zero := zeros(numbers)).any():
            rows, numbers = rows[~zero], read_only(numbers[~zero])
        words = whole_words(numbers)
        tokens, size = np.zeros((2, len(given.width)), np.int64)
        tokens[rows], size[rows] = given.width[rows], words.shape[1]
        keys = np.zeros((job.plan.bands if job.plan else 0, len(tokens)), np.uint64)
        if job.plan and len(rows):
            keys[:, rows] = keys_of(job, numbers)
        return sketched(tokens, words.reshape(-1), size, keys)

    def batch(self, words: Words, job: Job) -> np.ndarray:
        """The vectors, float32[n, dimension] or float64[n, dimension]."""
        import numpy as np

        dtype = np.dtype(np.float64 if job.facts.wide else np.float32)
        each = -(-job.dimension * dtype.itemsize // 8) * 8 // dtype.itemsize
        return np.ascontiguousarray(words[0].view(dtype).reshape(-1, each)[:, : job.dimension])

    def scans(self, job: Job) -> bool:
        return job.base.scanned or job.exact

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        """Compares all pairs if the job asks for exact results, else the pairs with similar codes."""
        import numpy as np

        from likewise.joins.hamming_join import code_join
        from likewise.joins.norm_scan import NormScan
        from likewise.joins.scan import Scan
        from likewise.joins.vector_join import choose_layout, prepare, vector_join

        n = len(words[1]) - 1
        if n < 2:  # without a vector the dimension is unknown
            return code_join(np.zeros((n, 1), np.uint64), 64, 0)
        if job.exact and not job.base.directed and job.power != 2:
            return NormScan.of(self.batch(words, job), job.power, float(job.threshold), per, workers)
        prepared = prepare(self.batch(words, job), job.base.name, float(job.threshold), job.seed, workers)
        if job.exact:
            return Scan(prepared, per=per, workers=workers)
        return vector_join(prepared, choose_layout(prepared, job.target, job.seed, walk=walk), per=per, workers=workers)

    def rule(self, job: Job, mode: int) -> Any:
        from likewise.kernels.compare import DirectionRule, NormRule

        limit, shape = float(job.threshold), (job.dimension, job.facts.wide, mode)
        return DirectionRule(limit, job.base.distance, *shape) if job.base.directed else NormRule(limit, job.power, *shape)


def zeros(numbers: np.ndarray) -> np.ndarray:
    """The zero rows: bool[n]. Few rows begin with 0, and only those are checked further."""
    import numpy as np

    found = np.zeros(len(numbers), bool)
    maybe = np.flatnonzero(numbers[:, 0] == 0) if numbers.size else np.arange(len(numbers))
    found[maybe] = ~numbers[maybe].any(axis=1)
    return found


def whole_words(numbers: np.ndarray) -> np.ndarray:
    """The rows as uint64[n, m]: a view, or a copy padded with zeros where a row does not end on a word boundary."""
    import numpy as np

    from likewise.items.sets import read_only

    filled = -numbers.shape[1] % (8 // numbers.itemsize)
    padded = np.pad(numbers, ((0, 0), (0, filled))) if filled else numbers
    return np.require(read_only(padded).view(np.uint64), requirements="A")  # buffers of Arrow files may be aligned to 4 bytes only


KIND = Vectors()
