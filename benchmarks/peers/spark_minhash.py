"""Near-duplicates removed in the manner of the Spark script of text-dedup: signatures row by row, groups by band, stars, components, first kept.

    python spark_minhash.py CORPUS.jsonl OUT MASTER [BANDS ROWS]

Runs of five words are hashed by SHA-1 and permuted by NumPy. The members of a bucket are linked to its first one; alternating large and small stars
(Kiveris et al. 2014, "Connected components in MapReduce and beyond") link every document to the first one of its component. Nothing is compared.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator

import numpy as np
from pyspark.sql import SparkSession

corpus, out, master, *layout = sys.argv[1:]
BANDS, ROWS = map(int, layout or (16, 8))
PRIME, LARGEST = (1 << 61) - 1, (1 << 32) - 1
draw = np.random.default_rng(42)
FACTOR, SUMMAND = (draw.integers(low, PRIME, BANDS * ROWS).astype(np.uint64) for low in (1, 0))


def banded(row: tuple[int, str]) -> Iterator[tuple[tuple[int, bytes], int]]:
    """A document in each of its bands."""
    number, text = row
    words = re.split(r"\s+", text.strip())
    runs = {" ".join(words[begin : begin + 5]) for begin in range(max(1, len(words) - 4))}
    hashes = np.array([int.from_bytes(hashlib.sha1(run.encode()).digest()[:4], "little") for run in runs], np.uint64)
    signature = ((hashes[:, None] * FACTOR + SUMMAND) % np.uint64(PRIME) & np.uint64(LARGEST)).min(axis=0).byteswap()
    for band in range(BANDS):
        yield (band, signature[band * ROWS : (band + 1) * ROWS].tobytes()), number


def linked(members: Iterable[int]) -> list[tuple[int, int]]:
    """The members of a bucket, linked to the first one."""
    found = sorted(set(members))
    return [(member, found[0]) for member in found[1:]]


def large(group: tuple[int, Iterable[int]]) -> list[tuple[int, int]]:
    """The larger neighbors of a node, linked to the least one of all."""
    node, neighbors = group[0], set(group[1])
    least = min(neighbors | {node})
    return [(neighbor, least) for neighbor in neighbors if neighbor > node]


def small(group: tuple[int, Iterable[int]]) -> list[tuple[int, int]]:
    """A node and its smaller neighbors, linked to the least one."""
    node, neighbors = group[0], set(group[1])
    least = min(neighbors | {node})
    return [(each, least) for each in neighbors | {node} if each != least]


spark = SparkSession.builder.appName("minhash").master(master).getOrCreate()
documents = spark.read.schema("id long, text string").json(corpus)
edges = documents.rdd.flatMap(banded).groupByKey().flatMap(lambda group: linked(group[1])).distinct().cache()
while not edges.isEmpty():
    by_large = edges.flatMap(lambda edge: [edge, edge[::-1]]).groupByKey().flatMap(large).distinct().cache()
    stars = by_large.map(lambda edge: (max(edge), min(edge))).groupByKey().flatMap(small).distinct().cache()
    changed = stars.subtract(edges).union(edges.subtract(stars)).count()
    edges = stars
    if not changed:
        break
removed = spark.createDataFrame(edges.map(lambda edge: (edge[0],)), "id long").distinct()
documents.join(removed, "id", "left_anti").write.json(out)
spark.stop()
