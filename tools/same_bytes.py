"""Compare the results of two checkouts byte by byte: python tools/same_bytes.py OTHER [FILE ...]

Runs dedup and pairs on synthetic collections of every kind, and on the given text files, with the code of this checkout and with that of OTHER.
Compares the files of kept records, removals and clusters, and the rows of pairs, whose files also say where their inputs are. Prints a line for each
job, and ends with status 1 if any differs.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent.parent
#: Files of an output that describe the run, not the result.
ABOUT = ("manifest.json", "run.json", "report.json", "report.html")
#: The child process runs jobs of a verb, inputs, an output and options.
CHILD = """
import json, sys
import likewise
for verb, inputs, out, options in json.load(sys.stdin):
    result = getattr(likewise, verb)(inputs, **options, **({"out": out} if verb == "dedup" else {}))
    if verb == "pairs":
        result.write(out)
"""


def words(rng: np.random.Generator, n: int) -> list[str]:
    """Documents of 40 words, a third of them copies of an earlier one with some words changed."""
    made: list[list[int]] = []
    for i in range(n):
        if i and rng.random() < 0.33:
            text = list(made[int(rng.integers(0, i))])
            for _ in range(int(rng.integers(0, 5))):
                text[int(rng.integers(0, len(text)))] = int(rng.integers(0, 5000))
        else:
            text = rng.integers(0, 5000, 40).tolist()
        made.append(text)
    return [" ".join(f"w{word}" for word in text) for text in made]


def near(rng: np.random.Generator, n: int, width: int, noise: float) -> np.ndarray:
    """Vectors, float64[n, width], a third of them near an earlier one."""
    made = rng.normal(size=(n, width))
    for i in range(1, n):
        if rng.random() < 0.33:
            made[i] = made[int(rng.integers(0, i))] + noise * rng.normal(size=width)
    return made


def collections(folder: Path) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """(name, file, options) of each job."""
    rng = np.random.default_rng(7)
    texts = words(rng, 3000)

    def table(name: str, **columns: Any) -> Path:
        pq.write_table(pa.table({"id": np.arange(len(next(iter(columns.values())))), **columns}), folder / f"{name}.parquet")
        return folder / f"{name}.parquet"

    (folder / "texts.jsonl").write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts)))
    for by in ("words:3", "chars:9", "words:1", "lines:1"):
        yield f"texts {by}", folder / "texts.jsonl", {"by": by, "threshold": 0.7}
    yield "texts estimate", folder / "texts.jsonl", {"by": "words:3", "threshold": 0.7, "verify": "estimate"}
    yield "texts containment", folder / "texts.jsonl", {"by": "words:1/containment", "threshold": 0.7}
    elements = [sorted({int(word[1:]) for word in text.split()}) for text in texts]
    sets = table("sets", elements=elements)
    yield "sets", sets, {"by": "elements", "threshold": 0.6}
    yield "sets exact", sets, {"by": "elements", "threshold": 0.6, "exact": True}
    yield "sets in bands", sets, {"by": "elements", "threshold": 0.6, "bands": 16, "rows": 4}
    weights = [dict(zip(map(str, each), (1.0 + each[0] % 7 + np.arange(len(each))).tolist(), strict=True)) for each in elements[:800]]
    (folder / "weighted.jsonl").write_text("".join(json.dumps({"id": i, "elements": each}) + "\n" for i, each in enumerate(weights)))
    yield "weighted sets", folder / "weighted.jsonl", {"by": "weighted", "threshold": 0.5}
    vectors = table("vectors", vector=pa.array(list(near(rng, 2000, 32, 0.1).astype(np.float32))))
    for by, limit in (("cosine", {"threshold": 0.9}), ("angle", {"within": 20}), ("l1", {"within": 4}), ("l2", {"within": 1})):
        yield f"vectors {by}", vectors, {"by": by, **limit}
    yield "vectors exact", vectors, {"by": "cosine", "threshold": 0.9, "exact": True}
    chosen = [np.sort(rng.choice(400, 12, replace=False)) for _ in range(700)]
    chosen += [each.copy() for each in chosen[:300]]
    sparse = [{"indices": each.tolist(), "values": (1 + each % 5 + rng.random(12) / 9).tolist()} for each in chosen]
    (folder / "sparse.jsonl").write_text("".join(json.dumps({"id": i, "vector": each}) + "\n" for i, each in enumerate(sparse)))
    yield "sparse vectors", folder / "sparse.jsonl", {"by": "cosine", "threshold": 0.8}
    codes = rng.integers(0, 2**62, 3000)
    codes[1500:] = codes[:1500] ^ (1 << rng.integers(0, 60, 1500))
    yield "codes", table("codes", code=[f"{code:016x}" for code in codes.tolist()]), {"by": "hamming", "within": 3}
    names = [text[:24] for text in texts[:1000]]
    yield "strings", table("strings", text=names), {"by": "levenshtein", "within": 2}
    yield "strings by edit", table("edit", text=names), {"by": "edit", "within": 3}
    features = [near(rng, int(rng.integers(2, 9)), 16, 0.1).tolist() for _ in range(150)]
    features += [(np.array(each) + 0.01 * rng.normal(size=(len(each), 16))).tolist() for each in features[:50]]
    (folder / "features.jsonl").write_text("".join(json.dumps({"id": i, "features": each}) + "\n" for i, each in enumerate(features)))
    yield "sets of vectors", folder / "features.jsonl", {"by": "features", "threshold": 0.3}
    yield "sets of vectors by chamfer", folder / "features.jsonl", {"by": "features/chamfer", "threshold": 0.8}


def bytes_of(out: Path) -> dict[str, str]:
    """The digest of each file of an output, or of the rows of a file of pairs."""
    if out.is_file():
        rows = pa.BufferOutputStream()
        table = pq.read_table(out).replace_schema_metadata().combine_chunks()
        with pa.ipc.new_stream(rows, table.schema) as stream:
            stream.write_table(table)
        return {"rows": hashlib.sha256(rows.getvalue()).hexdigest()}
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.name not in ABOUT)
    return {path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def run(checkout: Path, jobs: list[tuple[str, str, Path, dict[str, Any]]], folder: Path) -> dict[str, dict[str, str]]:
    """Run jobs of (name, verb, file, options) with a checkout's code; the files of each."""
    outs = {f"{verb} {name}": folder / (f"{at}" if verb == "dedup" else f"{at}.parquet") for at, (name, verb, _, _) in enumerate(jobs)}
    orders = [(verb, str(file), str(out), options) for (_, verb, file, options), out in zip(jobs, outs.values(), strict=True)]
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    subprocess.run([sys.executable, "-P", "-c", CHILD], input=json.dumps(orders), text=True, env=environment, check=True, stdout=subprocess.DEVNULL)
    return {name: bytes_of(out) for name, out in outs.items()}


def main(other: str, *files: str) -> int:
    """Compare this checkout with another; 1 if a file differs, else 0."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "data").mkdir()
        jobs = []
        for name, file, options in collections(folder / "data"):
            verbs = ("pairs",) if "containment" in name else ("dedup", "pairs")
            jobs += [(name, verb, file, options) for verb in verbs]
        jobs += [(Path(file).name, verb, Path(file).resolve(), {}) for file in files for verb in ("dedup", "pairs")]
        results = []
        for at, checkout in enumerate((HERE, Path(other).resolve())):
            (folder / str(at)).mkdir()
            results.append(run(checkout, jobs, folder / str(at)))
    differing = 0
    for name, mine in results[0].items():
        theirs = results[1][name]
        wrong = sorted(file for file in mine.keys() | theirs.keys() if mine.get(file) != theirs.get(file))
        differing += bool(wrong)
        print(f"{'differs: ' + ', '.join(wrong) if wrong else 'same':40} {name}")
    print(f"{len(results[0]) - differing} of {len(results[0])} jobs gave the same bytes")
    return differing > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
