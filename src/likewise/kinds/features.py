"""Sets of feature vectors, compared directly or by histograms derived from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.drawing.numbers import counted
from likewise.kinds import sparse, weighted
from likewise.kinds.kind import NEVER, NOT_GUARANTEED, Made, MeasureFacts, loaded
from likewise.kinds.stored import Stored
from likewise.kinds.vectors import COSINE
from likewise.messages import option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    import numpy as np

    from likewise.io.inputs import Source
    from likewise.items.features import Features
    from likewise.job import Job
    from likewise.joins.pairs import Among, Join
    from likewise.kinds.kind import Words
    from likewise.methods import Measure, Text
    from likewise.nearest.search import Found
    from likewise.planning import Facts
    from likewise.records import Want
    from likewise.stages.sketch import Payload, Sketched
    from likewise.stages.verify import Compared
    from likewise.stages.workers import Workers

#: How many numbers of the first feature are displayed.
BEGINNING = 8
NO_DIRECTION = "without a feature that has a direction"
ONE_TO_ONE = MeasureFacts(
    "features",
    "likewise.measures.feature_sets:one_to_one",
    "the share of their features that can be paired one to one, by histograms of directions: the sum of the smaller counts of each bin divided "
    "by the sum of the larger; 1 means equal",
    empty=NO_DIRECTION,
    real=True,
    directed=True,
    parts="bins",
    converted_to=Made(weighted.KIND.name, weighted.WEIGHTED.name, "likewise.measures.feature_sets:histograms"),
)
ONE_TO_MANY = MeasureFacts(
    "features/one-to-many",
    "likewise.measures.feature_sets:one_to_many",
    "the cosine of their histograms of directions, which counts pairs of features that share a bin; 1 means equal",
    empty=NO_DIRECTION,
    real=True,
    directed=True,
    converted_to=Made(sparse.KIND.name, COSINE.name, "likewise.measures.feature_sets:sparse_histograms"),
)
CHAMFER = MeasureFacts(
    "features/chamfer",
    "likewise.measures.feature_sets:chamfer",
    "the mean cosine between a feature and the nearest one of the other set, averaged over both directions; 1 means equal",
    empty=NO_DIRECTION,
    real=True,
    directed=True,
    pairs="likewise.measures.feature_sets:chamfer_of_pairs",
)
ASSIGNMENT = MeasureFacts(
    "features/assignment",
    "likewise.measures.feature_sets:assignment",
    "the sum of the cosines in the best one-to-one pairing of features, divided by the size of the larger set; 1 means equal",
    empty=NO_DIRECTION,
    real=True,
    directed=True,
    pairs="likewise.measures.feature_sets:assignment_of_pairs",
    paired=True,
)


class FeatureSets(Stored):
    """Sets of feature vectors of one dimension; only their directions count."""

    name, noun, item = "feature sets", "feature set", "a set of feature vectors"
    reader = "likewise.items.features:READER"
    values = "f4"
    needed = "sets of features: lists of lists of numbers"
    widths = "the first item", "all features must have the same length"
    field = payload = "features"
    holds = "set of features"
    same = "The two sets have the same number of features, and the first features begin the same:"
    measures = (ONE_TO_ONE, ONE_TO_MANY, CHAMFER, ASSIGNMENT)
    all_compared = True
    bands, recall = NEVER, NOT_GUARANTEED
    needs_data = True
    ruled = False
    zeros = (
        "has no feature with a direction (none at all, or only zero vectors)",
        "have no feature with a direction (none at all, or only zero vectors)",
    )

    def width_of(self, width: int) -> str:
        return f"features of {counted(width, 'number')}"

    def facts_of(
        self, sources: Sequence[Source], asked: Want, spared: tuple[type[Exception], ...], method: Text | Measure, bound: Fraction | None
    ) -> tuple[str, Facts]:
        from likewise.io.beginnings import first_width
        from likewise.planning import Facts

        width, place = first_width(sources, asked, spared)
        return asked.text, Facts(features=width, first=place, sparse=method.compared.sparse)

    def readable(self, raw: bytes, want: Want) -> str:
        return f"{len(numbers_of(raw, want)):,} numbers of features"

    def written(self, raw: bytes, want: Want, width: int) -> str:
        numbers, wide = numbers_of(raw, want), max(1, width)
        beginning = " ".join(f"{number:.4g}" for number in numbers[:BEGINNING])
        return f"{len(numbers) // wide:,} features of {wide:,} numbers, the first from {beginning}" if len(numbers) else "no features"

    def item_of(self, raw: bytes, want: Want, width: int) -> Any:
        return numbers_of(raw, want).reshape(-1, max(1, width))

    in_parts = True
    banded = f"{option('by', 'features')} and features/one-to-many have bands"

    def known(self, width: int) -> Any:
        import numpy as np

        return [np.cos(np.arange(3 * width, dtype=np.float64)).reshape(3, width)]

    def alone(self, given: Any) -> bool | None:
        from likewise.items import features

        return features.alone(given)

    def converter(self, a: Any, b: Any, method: Text | Measure) -> Callable[[Any], Any]:
        from likewise.items import features

        return features.features

    def sketch(self, given: Payload, job: Job) -> Sketched:
        """The features, each set padded to whole words, or the histograms derived from them. Only features with a direction count."""
        import numpy as np

        from likewise.measures.feature_sets import directed
        from likewise.stages.sketch import keys_of, sketched

        words, size, sets = padded(given, job)
        sets = directed(sets)
        count = np.diff(sets[1])
        converted_to = job.measure.facts.converted_to
        if converted_to is None:
            return sketched(count, words, size, keys_of(job, size))
        found = job.compared.made(loaded(converted_to.function)(sets), job)
        return found._replace(tokens=count.astype(np.uint32), given=(words, size))

    def become(self, batch: Any, facts: MeasureFacts) -> Any:
        from likewise.measures.feature_sets import nonempty

        assert facts.converted_to is not None
        return loaded(facts.converted_to.function)(nonempty(batch))

    def batch(self, words: Words, job: Job) -> Features:
        """Features of length 1, without zero vectors."""
        import numpy as np

        from likewise.items.sets import read_only
        from likewise.measures.feature_sets import directed

        values, offsets = words
        dimension = max(1, job.facts.features or 0)
        numbers, sizes = values.view(np.float32), 2 * np.diff(offsets) // dimension
        begins, lengths = 2 * offsets[:-1], sizes * dimension
        ends = np.concatenate(([0], np.cumsum(lengths)))
        if ends[-1] != len(numbers):  # a word holds two float32, so a set of an odd number of them ends with an unused half
            numbers = numbers[np.arange(int(ends[-1])) + np.repeat(begins - ends[:-1], lengths)]
        return directed((read_only(numbers.reshape(-1, dimension)), read_only(ends // dimension)))

    def nearest(self, base: Words, queries: Words, k: int, job: Job, *, same: bool, workers: Workers) -> Found:
        from likewise.joins.feature_join import feature_neighbors

        left = self.batch(base, job)
        right = left if same else self.batch(queries, job)
        limit = None if job.options.bound is None else float(job.threshold)
        how: dict[str, Any] = {"recall": job.target, "exact": job.exact, "limit": limit, "seed": job.seed}
        return feature_neighbors(left, right, job.base.name, k, same=same, workers=workers, **how)

    def similar(self, a: Words, b: Words, job: Job) -> Compared:
        from likewise.stages.verify import within

        return within(loaded(job.base.pairs)(self.batch(a, job), self.batch(b, job)), float(job.threshold), distances=False)

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        """All pairs if the job asks for exact results, else the pairs with similar encodings."""
        import numpy as np

        from likewise.joins.feature_join import Encoded, encoded_join, exact_join
        from likewise.joins.hamming_join import code_join

        n = len(words[1]) - 1
        if n < 2:
            return code_join(np.zeros((n, 1), np.uint64), 64, 0)
        sets, limit = self.batch(words, job), float(job.threshold)
        if job.exact:
            return exact_join(sets, job.base.name, limit, per=per, workers=workers)
        encoded = Encoded.of(sets, job.seed, workers)
        return encoded_join(encoded, job.base.name, limit, job.target, walk=walk, per=per, workers=workers)


def numbers_of(raw: bytes, want: Want) -> np.ndarray:
    """The numbers of a payload, one feature after another: float32[m]."""
    import numpy as np

    from likewise.items import payloads

    return np.frombuffer(raw, payloads.item(want))


def padded(given: Payload, job: Job) -> tuple[np.ndarray, np.ndarray, Features]:
    """(words, size, sets): sets padded to whole words, uint64[m]; the words of each, int64[n]; the features, float32[k, d], and offsets."""
    import numpy as np

    from likewise.items.sets import read_only

    lengths = np.diff(given.offsets) // 4
    size = -(-lengths // 2)
    ends = np.concatenate(([0], np.cumsum(size)))
    numbers = given.data[int(given.offsets[0]) : int(given.offsets[-1])].view(np.float32)
    out = np.zeros(2 * int(ends[-1]), np.float32)
    out[np.arange(len(numbers)) + np.repeat(2 * ends[:-1] - np.cumsum(lengths) + lengths, lengths)] = numbers
    wide = max(1, job.facts.features or 0)
    offsets = np.concatenate(([0], np.cumsum(lengths // wide)))
    return out.view(np.uint64), size, (read_only(numbers.reshape(-1, wide)), read_only(offsets))


KIND = FeatureSets()
