"""Daft: its MinHash of word 5-grams, 16 bands of 8 rows, and a group-by of the bands, as in its tutorial; the pairs of each bucket, not verified.

With the argument ``numpy`` the banding uses numpy, which is faster than Daft's and not part of Daft.
"""

import sys

import daft
import numpy as np
from daft import col

BANDS, ROWS = 16, 8
source, target, *numpys_own = sys.argv[1:]
signature = col("text").normalize(white_space=True).minhash(num_hashes=BANDS * ROWS, ngram_size=5, seed=1, hash_function="xxhash")
table = daft.read_json(source).select("id", signature.alias("signature"))


def by_numpy():
    arrow = table.to_arrow().combine_chunks()
    ids = arrow["id"].to_numpy()
    slots = arrow["signature"].combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(-1, BANDS, ROWS).astype(np.uint64)
    factors = np.random.default_rng(0).integers(1, 2**63, ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    for band in range(BANDS):
        keys = (slots[:, band] * factors).sum(axis=1, dtype=np.uint64)
        order = np.argsort(keys)
        yield from neighbors(ids[order], keys[order])


def by_daft():
    @daft.func()
    def numbers(row: int) -> list[int]:
        return list(range(BANDS))

    bands = table.collect().with_column("bands", col("signature").chunk(ROWS)).with_column("band", numbers(col("id")))
    buckets = bands.select("id", "bands", "band").explode("bands", "band").groupby("band", "bands").agg(col("id").list_agg().alias("items"))
    items = buckets.where(col("items").length() > 1).select("items").to_arrow()["items"].combine_chunks()
    yield from neighbors(items.flatten().to_numpy(), np.repeat(np.arange(len(items)), items.value_lengths()))


def neighbors(ids, keys):
    """Pairs of ids with equal keys, which are adjacent: each with the next, the second next, ..."""
    distance = 1
    while len(left := np.flatnonzero(keys[distance:] == keys[:-distance])):
        yield np.stack([ids[left], ids[left + distance]], axis=1)
        distance += 1


pairs = np.concatenate(list(by_numpy() if numpys_own else by_daft()))
pairs.sort(axis=1)
np.save(target, np.unique(pairs, axis=0))
