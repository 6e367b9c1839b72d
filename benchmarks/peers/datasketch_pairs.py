"""datasketch: MinHash of word 5-grams, MinHashLSH of 16 bands of 8 rows; candidate pairs, not verified."""

import json
import sys

import numpy as np
from datasketch import MinHash, MinHashLSH

index = MinHashLSH(num_perm=128, params=(16, 8))
found = []
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        record = json.loads(line)
        words = record["text"].split()
        shingles = {" ".join(words[i : i + 5]).encode() for i in range(max(1, len(words) - 4))}
        sketch = MinHash(num_perm=128)
        sketch.update_batch(list(shingles))
        found += [(other, record["id"]) for other in index.query(sketch)]
        index.insert(record["id"], sketch, check_duplication=False)
pairs = np.array(found, np.int64).reshape(-1, 2)
pairs.sort(axis=1)
np.save(sys.argv[2], np.unique(pairs, axis=0))
