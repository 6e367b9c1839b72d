"""datasketch 2: MinHash of runs of five words, MinHashLSH of 16 bands of 6 rows, in memory or in Redis. The last line has the figures as JSON.

python datasketch_index.py DOCUMENTS.jsonl MOST QUERIES.jsonl QUERIES ANSWERS.json [PORT]

ANSWERS gets the candidates of each query, and those that are similar: each is compared exactly, by sorted arrays of hashes.
"""

import json
import sys
import time

import numpy as np
from datasketch import MinHash, MinHashLSH


def texts(path, most):
    with open(path) as lines:
        for _, line in zip(range(most), lines, strict=False):
            yield json.loads(line)["text"]


def shingles(text):
    words = text.split()
    return {" ".join(words[i : i + 5]).encode() for i in range(max(1, len(words) - 4))}


def sketch(some):
    found = MinHash(num_perm=96)
    found.update_batch(list(some))
    return found


def hashes(some):
    return np.sort(np.fromiter(map(hash, some), np.int64, len(some)))


def similar(a, b):
    common = len(np.intersect1d(a, b, assume_unique=True))
    return common / (len(a) + len(b) - common) >= 0.8


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def timed(began):
    return {"wall": time.perf_counter() - began[0], "cpu": time.process_time() - began[1]}


def now():
    return time.perf_counter(), time.process_time()


def main(documents, most, asked, count, answers, port=None):
    place = {"storage_config": {"type": "redis", "redis": {"host": "127.0.0.1", "port": int(port)}, "basename": b"peer"}} if port else {}
    index = MinHashLSH(num_perm=96, params=(16, 6), **place)
    before, began, sets = memory(), now(), []
    for row, text in enumerate(texts(documents, int(most))):
        index.insert(row, sketch(shingles(text)), check_duplication=False)
    build, grown = timed(began), memory() - before
    for text in texts(documents, int(most)):  # what verifies the answers is kept apart, and not counted
        sets.append(hashes(shingles(text)))
    queries, began = list(texts(asked, int(count))), now()
    candidates, verified = [], []
    for text in queries:
        own = shingles(text)
        candidates.append(index.query(sketch(own)))
        mine = hashes(own)
        verified.append([row for row in candidates[-1] if similar(mine, sets[row])])
    query = timed(began)
    with open(answers, "w") as file:
        json.dump({"candidates": candidates, "verified": verified}, file)
    print(json.dumps({"documents": len(sets), "build": build, "query": query, "queries": len(queries), "bytes": grown / len(sets)}))


main(*sys.argv[1:])
