"""Daft: its MinHash of word 5-grams, 16 bands of 8 rows; the pairs of each bucket, not checked. Banding is numpy's: Daft's own takes longer."""

import sys

import daft
import numpy as np
from daft import col

BANDS, ROWS = 16, 8
text = col("text").normalize(white_space=True)
table = daft.read_json(sys.argv[1]).select("id", text.minhash(num_hashes=BANDS * ROWS, ngram_size=5, seed=1, hash_function="xxhash").alias("signature"))
table = table.to_arrow().combine_chunks()
ids = table["id"].to_numpy()
slots = table["signature"].combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(-1, BANDS, ROWS).astype(np.uint64)
factors = np.random.default_rng(0).integers(1, 2**63, ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
found = []
for band in range(BANDS):
    keys = (slots[:, band] * factors).sum(axis=1, dtype=np.uint64)
    order = np.argsort(keys)
    keys = keys[order]
    distance = 1
    while len(left := np.flatnonzero(keys[distance:] == keys[:-distance])):  # members of a bucket lie together: each with the next, the one after, ...
        found.append(np.stack([ids[order[left]], ids[order[left + distance]]], axis=1))
        distance += 1
pairs = np.concatenate(found)
pairs.sort(axis=1)
np.save(sys.argv[2], np.unique(pairs, axis=0))
