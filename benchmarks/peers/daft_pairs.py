"""Daft's own recipe: minhash of word 5-grams, 16 bands of 8 rows, buckets by group-by; pairs inside the buckets, not checked."""

import sys

import daft
import numpy as np
from daft import col

BANDS, ROWS = 16, 8
table = (
    daft.read_json(sys.argv[1])
    .select("id", col("text").normalize(white_space=True).minhash(num_hashes=BANDS * ROWS, ngram_size=5, seed=42).alias("signature"))
    .collect()
)
ids = np.array(table.select("id").to_pydict()["id"])
arrow = table.to_arrow()
signature = arrow["signature"].combine_chunks()
slots = signature.flatten().to_numpy(zero_copy_only=False).reshape(-1, BANDS, ROWS)
found = []
for band in range(BANDS):
    rows = np.ascontiguousarray(slots[:, band]).view([("", slots.dtype)] * ROWS).ravel()
    order = np.argsort(rows, kind="stable")
    edges = np.flatnonzero(rows[order][1:] != rows[order][:-1]) + 1
    for bucket in np.split(ids[order], edges):
        if len(bucket) > 1:
            left, right = np.triu_indices(len(bucket), 1)
            found.append(np.stack([bucket[left], bucket[right]], axis=1))
pairs = np.concatenate(found)
pairs.sort(axis=1)
np.save(sys.argv[2], np.unique(pairs, axis=0))
