"""Containment by a dictionary of the queries' word 5-grams, in plain Python; exact. QUERIES CORPUS THRESHOLD OUT.npy"""

import json
import sys
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np


def sets(path):
    with open(path, "rb") as lines:
        for line in lines:
            record = json.loads(line)
            words = record["text"].split()
            yield record["id"], {tuple(words[i : i + 5]) for i in range(max(1, len(words) - 4))}


queries, corpus, threshold, out = sys.argv[1:]
share, size, holders = Fraction(threshold), {}, defaultdict(list)
for query, mine in sets(queries):
    size[query] = len(mine)
    for shingle in mine:
        holders[shingle].append(query)
found = []
for key, mine in sets(corpus):
    common = Counter(query for shingle in mine if shingle in holders for query in holders[shingle])
    found += [(query, key) for query, count in common.items() if count >= share * size[query]]
np.save(out, np.array(found, np.int64).reshape(-1, 2))
