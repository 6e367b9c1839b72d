#!/usr/bin/env python3
"""Exact repeats beside a suffix array with longest common prefixes (pydivsufsort), on one thread; both must find the same bytes.

    python benchmarks/repeats.py CORPUS.jsonl [--peer PYTHON] [--bytes 250] [--words 50] [--rounds 3]

CORPUS.jsonl: documents in ASCII, so that characters are bytes; texts.py makes some. PYTHON: a Python that has pydivsufsort and numpy. Prints for
each contender the median CPU seconds, bytes of memory for each byte of text, and the bytes in repeats and in repeats but the first. The suffix
array has two rows: sorting with the prefixes alone, and with the step that finds the same answer. Kernels are compiled before.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

PEER = Path(__file__).parent / "peers" / "suffix_array_repeats.py"


def ours(path: Path, by: str, n: int) -> dict[str, float]:
    """The figures of one run of likewise in this process."""
    import likewise

    how = {"by": by, "threads": 1} | ({"normalize": "none"} if by == "chars" else {})
    likewise.repeats(["a b c d a b c d " * 100] * 2, min_run=n, **how)
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    report = likewise.repeats(path, min_run=n, **how).report
    taken, peak = time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    amounts = {name: report[name]["characters"] for name in ("repeated", "later")}
    return {"seconds": taken, "bytes": (peak - before) * 1024 / report["characters"], **amounts}


def run(*command: object) -> dict[str, float]:
    """The output of a process."""
    return json.loads(subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--peer", default=sys.executable)
    parser.add_argument("--bytes", type=int, default=250)
    parser.add_argument("--words", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ours", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ours:
        print(json.dumps(ours(given.corpus, given.ours, given.words if given.ours == "words" else given.bytes)))
        return
    here = (sys.executable, "-P", __file__, given.corpus, "--bytes", given.bytes, "--words", given.words, "--ours")
    contenders = {
        f"likewise, {given.words} words": (*here, "words"),
        f"likewise, {given.bytes} characters": (*here, "chars"),
        f"suffix array, {given.bytes} bytes": (given.peer, PEER, given.corpus, given.bytes),
    }
    found: dict[str, list[dict[str, float]]] = {name: [] for name in contenders}
    for _ in range(given.rounds):  # in turn, so that changes of the machine's speed affect all
        for name, command in contenders.items():
            found[name].append(run(*command))
    _, chars, peer = found.values()
    if any(one[name] != other[name] for one, other in zip(chars, peer, strict=True) for name in ("repeated", "later")):
        raise SystemExit("the results differ")
    for name, runs in found.items():
        for columns in (("sorted", "sorted_bytes"), ("seconds", "bytes")) if "sorted" in runs[0] else (("seconds", "bytes"),):
            seconds, size = (statistics.median(one[key] for one in runs) for key in columns)
            label = f"{name}, sorting only" if columns[0] == "sorted" else name
            print(f"{label:40}{seconds:8.2f} s {size:8.1f} bytes a byte {runs[0]['repeated']:14,} {runs[0]['later']:14,}")


if __name__ == "__main__":
    main()
