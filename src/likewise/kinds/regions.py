"""Images that are compared by the parts that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.kinds.images import Images
from likewise.kinds.kind import MeasureFacts

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from likewise.job import Job
    from likewise.joins.pairs import Among, Join
    from likewise.kinds.kind import Words
    from likewise.methods import Measure, Text
    from likewise.nearest.search import Found
    from likewise.stages.verify import Compared
    from likewise.stages.workers import Workers

REGION = MeasureFacts(
    "image/region",
    "likewise.measures.regions:similarity",
    "the share of the blocks with texture of one image that are found in the other, at the places where matching local features lie",
    real=True,
    threshold="0.5",
    also=("sift", "orb", "ransac", "crop"),
)


class Regions(Images):
    """Images with local features."""

    name = "images by region"
    payload = "region"
    reader = "likewise.items.regions:READER"
    made_of = "likewise.items.regions:payload"
    measures = (REGION,)
    proposed_by = "near local features"

    def check_libraries(self, job: Job) -> None:
        from likewise.items import opencv

        super().check_libraries(job)
        opencv.library()

    def converter(self, a: Any, b: Any, method: Text | Measure) -> Callable[[Any], Any]:
        from likewise.items import regions

        return regions.regions

    def batch(self, words: Words, job: Job) -> Any:
        return words

    def similar(self, a: Words, b: Words, job: Job) -> Compared:
        from likewise.measures.regions import similarity
        from likewise.stages.verify import within

        return within(similarity(a, b), float(job.threshold), distances=False)

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        from likewise.joins.region_join import region_join

        return region_join(words, job.threshold, exact=job.exact, per=per, workers=workers)

    def nearest(self, base: Words, queries: Words, k: int, job: Job, *, same: bool, workers: Workers) -> Found:
        from likewise.joins.region_join import region_neighbors

        limit = None if job.options.bound is None else float(job.threshold)
        return region_neighbors(base, base if same else queries, k, exact=job.exact, limit=limit, same=same, workers=workers)


KIND = Regions()
