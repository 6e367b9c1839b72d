"""Made data with known truth for sets.py, vectors.py, neighbors.py, and features.py, without the code of likewise.

    python benchmarks/made.py KIND FOLDER NUMBER

documents  those of spark_data.py, as compare.py reads them
sets       of 10 to 100 elements, drawn by Zipf's law from 100,000; a third have one to five near-copies. Truth by a product of sparse matrices
vectors    of 256 numbers in 400 clusters; a third have a near-copy. Truth by the product of all with all; and queries with their nearest ten
codes      of 64 bits at random; a third have a copy with 0 to 6 bits flipped. Unrelated codes are 3 bits apart with probability 2e-15
features   sets of 32 vectors of 64 numbers, and noisy copies of the first ones
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

BLOCK = 1000
COSINE, NEAREST, QUERIES = 0.9, 10, 1000


def documents(folder: Path, n: int) -> None:
    import spark_data

    spark_data.prepared(folder, n)


def sets(folder: Path, n: int) -> None:
    import scipy.sparse

    draw, different, made = np.random.default_rng(1), 100_000, []
    chance = np.cumsum(1 / (np.arange(different) + 2.7))
    while len(made) < n:
        base = np.unique(np.searchsorted(chance / chance[-1], draw.random(draw.integers(10, 101))))
        made.append(base)
        for _ in range(draw.integers(1, 6) if draw.random() < 1 / 3 else 0):
            stays = base[draw.random(len(base)) < draw.uniform(0.6, 1)]
            made.append(np.union1d(stays, draw.integers(0, different, draw.integers(0, 5))) if len(stays) else base)
    made = [made[place] for place in draw.permutation(len(made))[:n]]
    ends, elements = np.cumsum([0, *map(len, made)]), np.concatenate(made)
    np.savez(folder / "lic.sets.npz", ptr=ends, tok=elements, voc=different)
    matrix, size, found = scipy.sparse.csr_matrix((np.ones(len(elements), np.int32), elements, ends), (n, different)), np.diff(ends), []
    for begin in range(0, n, BLOCK):
        common = (matrix[begin : begin + BLOCK] @ matrix.T).tocoo()
        i, j = common.row + begin, common.col
        similar = (j > i) & (2 * common.data >= size[i] + size[j] - common.data)
        found.append(np.stack([i, j, common.data / (size[i] + size[j] - common.data)])[:, similar])
    i, j, value = np.concatenate(found, axis=1)
    np.savez(folder / "lic.pairs.npz", i=i.astype(np.int64), j=j.astype(np.int64), v=value)


def vectors(folder: Path, n: int) -> None:
    draw = np.random.default_rng(2)
    centers = draw.standard_normal((400, 256))
    table = centers[draw.integers(0, 400, n)] + draw.standard_normal((n, 256)) * 1.2
    copies = np.arange(n - n // 4, n)
    table[copies] = table[copies - n // 4] + draw.standard_normal((len(copies), 256)) * draw.uniform(0.1, 1.2, (len(copies), 1))
    asked = table[draw.integers(0, n, QUERIES)] + draw.standard_normal((QUERIES, 256)) * 0.6
    table, asked = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (table.astype(np.float32), asked.astype(np.float32)))
    pairs, nearest = [], []
    for begin in range(0, n, BLOCK):
        i, j = np.nonzero(table[begin : begin + BLOCK] @ table[begin:].T >= COSINE)
        pairs.append(np.stack([i, j])[:, j > i] + begin)
    for begin in range(0, QUERIES, BLOCK):
        nearest.append(-np.sort(-(asked[begin : begin + BLOCK] @ table.T), axis=1)[:, :NEAREST])
    i, j = np.concatenate(pairs, axis=1)
    np.save(folder / "made.X.npy", table)
    np.save(folder / "made.Q.npy", asked)
    np.savez(folder / "made.pairs.npz", i=i, j=j, t=COSINE)
    np.savez(folder / "made.cos.npz", S=np.concatenate(nearest))


def codes(folder: Path, n: int) -> None:
    draw = np.random.default_rng(3)
    made = draw.integers(0, 2**64, n, dtype=np.uint64)
    copies = np.arange(n - n // 4, n)
    flipped = draw.integers(0, 7, len(copies))
    for number, row in enumerate(copies.tolist()):
        mask = sum(1 << int(bit) for bit in draw.choice(64, int(flipped[number]), replace=False))
        made[row] = made[row - n // 4] ^ np.uint64(mask)
    np.save(folder / "fp.npy", made)
    near = flipped <= 3
    np.savez(folder / "fp.pairs.npz", K=(copies[near] - n // 4) * n + copies[near])


def features(folder: Path, n: int) -> None:
    draw = np.random.default_rng(4)
    made = draw.standard_normal((n, 32, 64)).astype(np.float32)
    np.save(folder / "ms.S.npy", made)
    np.save(folder / "ms.Q.npy", made[:200] + draw.standard_normal((200, 32, 64)).astype(np.float32) * 0.9)


KINDS: dict[str, Callable[[Path, int], None]] = {
    "documents": documents,
    "sets": sets,
    "vectors": vectors,
    "codes": codes,
    "features": features,
}

if __name__ == "__main__":
    KINDS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
