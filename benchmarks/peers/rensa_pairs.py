"""rensa: MinHash of word 5-grams, an LSH index of 16 bands of 8 rows, and a query for each document; the candidate pairs, not verified."""

import json
import sys
from itertools import islice

import numpy as np
from rensa import RMinHash, RMinHashLSH

BATCH = 1000


def shingles(text):
    words = text.split()
    return [" ".join(words[i : i + 5]) for i in range(max(1, len(words) - 4))]


ids, sketches = [], []
with open(sys.argv[1], "rb") as lines:
    while records := [json.loads(line) for line in islice(lines, BATCH)]:
        ids += [record["id"] for record in records]
        sketches += RMinHash.from_token_sets([shingles(record["text"]) for record in records], num_perm=128, seed=42)
index = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16)
index.insert_many(sketches)
found = [(ids[i], ids[j]) for i, others in enumerate(index.query_all(sketches)) for j in others if j > i]
np.save(sys.argv[2], np.array(found, np.int64).reshape(-1, 2))
