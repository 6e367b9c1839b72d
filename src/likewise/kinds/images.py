"""Images, decoded from files and compared as small pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.kinds.kind import NEVER, NOT_GUARANTEED, MeasureFacts
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
    from likewise.records import Want
    from likewise.stages.sketch import Payload, Sketched
    from likewise.stages.verify import Compared
    from likewise.stages.workers import Workers

IMAGE = MeasureFacts(
    "image",
    "likewise.measures.images:similarity",
    "the squared correlation of small gray pictures, block by block after one was aligned to the other",
    real=True,
    also=("phash", "dhash", "ahash", "imagehash"),
)


class Images(Stored):
    """Images of any size."""

    name, noun, item = "images", "image", "an image"
    reader = "likewise.items.images:READER"
    made_of = "likewise.items.images:payload"
    needed = "images: files, or their bytes"
    field = payload = holds = "image"
    same = "The two images have the same size:"
    measures = (IMAGE,)
    longest, shortest = "the one with the most pixels", "the one with the fewest pixels"
    files, tables = "images", ("parquet", "arrow")
    on_error = "skip"
    bands, recall = NEVER, NOT_GUARANTEED
    proposed_by = "perceptual hashes"
    all_compared = True
    ruled = False

    def check_libraries(self, job: Job) -> None:
        from likewise.items import pictures

        pictures.library()

    def readable(self, raw: bytes, want: Want) -> str:
        import numpy as np

        from likewise.items.images import HEAD

        [one] = np.frombuffer(raw, HEAD, count=1)
        return f"{one['width']:,} x {one['height']:,} pixels"

    def item_of(self, raw: bytes, want: Want, width: int) -> Any:
        from likewise.items.images import Prepared

        return Prepared(raw)

    banded = f"likewise features turns images into codes, which {option('by', 'hamming')} compares"

    def alone(self, given: Any) -> bool | None:
        from likewise.items import images

        return images.alone(given)

    def converter(self, a: Any, b: Any, method: Text | Measure) -> Callable[[Any], Any]:
        from likewise.items import images

        return images.images

    def sketch(self, given: Payload, job: Job) -> Sketched:
        """The compared part of each image. The number of pixels stands for the tokens, and bits of the files identify copies."""
        import numpy as np

        from likewise.items.images import parted
        from likewise.stages.sketch import keys_of, sketched

        sizes = np.diff(given.offsets)
        head, words, size = parted(np.ascontiguousarray(given.data[int(given.offsets[0]) : int(given.offsets[-1])]), sizes)
        pixels = np.zeros(len(sizes), np.uint64)
        pixels[sizes > 0] = head["width"].astype(np.uint64) * head["height"]
        digests = np.ascontiguousarray(head["digest"]).reshape(-1).view(np.uint64)
        found = sketched(np.minimum(pixels, 2**32 - 1), words, size, keys_of(job, size))
        return found._replace(given=(digests, 2 * (sizes > 0)))

    def batch(self, words: Words, job: Job) -> Any:
        """Prepared pictures, uint8[n, WIDTH]."""
        import numpy as np

        from likewise.items.images import WIDTH
        from likewise.items.sets import read_only

        return read_only(words[0].view(np.uint8).reshape(-1, WIDTH))

    def similar(self, a: Words, b: Words, job: Job) -> Compared:
        from likewise.measures.images import similarity
        from likewise.stages.verify import within

        return within(similarity(self.batch(a, job), self.batch(b, job)), float(job.threshold), distances=False)

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        from likewise.joins.image_join import image_join

        return image_join(self.batch(words, job), job.threshold, exact=job.exact, walk=walk, per=per, workers=workers)

    def nearest(self, base: Words, queries: Words, k: int, job: Job, *, same: bool, workers: Workers) -> Found:
        from likewise.joins.image_join import image_neighbors

        left = self.batch(base, job)
        right = left if same else self.batch(queries, job)
        limit = None if job.options.bound is None else float(job.threshold)
        return image_neighbors(left, right, k, exact=job.exact, limit=limit, same=same, workers=workers)


KIND = Images()
