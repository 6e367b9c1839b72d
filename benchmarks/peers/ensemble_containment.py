"""datasketch: an LSH Ensemble of the documents' word 5-grams, asked for the documents that contain each query to 0.8; candidates, not verified."""

import json
import sys

import numpy as np
from datasketch import MinHash, MinHashLSHEnsemble


def sketches(source):
    """Yield (number of the row, its MinHash, its number of shingles)."""
    with open(source) as lines:
        for number, line in enumerate(lines):
            words = json.loads(line)["text"].split()
            shingles = {" ".join(words[i : i + 5]).encode() for i in range(max(1, len(words) - 4))}
            sketch = MinHash(num_perm=128)
            sketch.update_batch(list(shingles))
            yield number, sketch, len(shingles)


corpus, queries, target = sys.argv[1:]
index = MinHashLSHEnsemble(threshold=0.8, num_perm=128, num_part=16)
index.index(sketches(corpus))
found = [(number, other) for number, sketch, size in sketches(queries) for other in index.query(sketch, size)]
np.save(target, np.array(found, np.int64).reshape(-1, 2))
