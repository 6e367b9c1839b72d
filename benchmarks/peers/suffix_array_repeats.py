"""Repeated runs of n bytes by a suffix array and its longest common prefixes, as builders of corpora find them: pydivsufsort and numpy.

    python suffix_array_repeats.py CORPUS.jsonl N

Prints JSON: CPU seconds and bytes of memory for each byte of text, of the suffix array with its prefixes, and of all; the number of bytes in runs
that occur again, and of those in runs that occur before.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pydivsufsort

END = 0xFF  # no byte of UTF-8


def covered(windows: np.ndarray, begin: np.ndarray, n: int, size: int) -> int:
    """The number of bytes in windows of n bytes, each only from ``begin`` on."""
    change = np.zeros(size + 1, np.int32)
    np.add.at(change, np.maximum(windows, begin), 1)
    np.add.at(change, windows + n, -1)
    return int((np.cumsum(change) > 0).sum())


def main() -> None:
    path, n = Path(sys.argv[1]), int(sys.argv[2])
    documents = [json.loads(line)["text"].encode() for line in path.open()]
    text = np.frombuffer(bytearray(bytes([END]).join([*documents, b""])), np.uint8)
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    suffixes = pydivsufsort.divsufsort(text)
    common = pydivsufsort.kasai(text, suffixes)  # of each suffix with the next one
    sorted_after, sorted_peak = time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ends = np.append(np.flatnonzero(text == END), len(text))
    whole = suffixes + n <= ends[np.searchsorted(ends, suffixes)]  # windows within a document
    number = np.concatenate(([0], np.cumsum(common[:-1] < n)))[whole]
    windows = suffixes[whole].astype(np.int64)
    edges = np.flatnonzero(np.diff(number, prepend=-1))
    sizes = np.diff(np.append(edges, len(windows)))
    first = np.repeat(np.minimum.reduceat(windows, edges), sizes)
    again = np.repeat(sizes > 1, sizes)
    windows, first = windows[again], first[again]
    later = windows != first
    repeated = covered(windows, windows, n, len(text))
    cut = covered(windows[later], first[later] + n, n, len(text))  # where a run overlaps its first occurrence, only what is beyond
    taken, peak = time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size, wide = (1024 * (most - before) / len(text) for most in (sorted_peak, peak))
    print(json.dumps({"sorted": sorted_after, "sorted_bytes": size, "seconds": taken, "bytes": wide, "repeated": repeated, "later": cut}))


if __name__ == "__main__":
    main()
