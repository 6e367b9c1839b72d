#!/usr/bin/env python3
"""The first minute: the first run from a wheel, the demo in a clone, a warm start, and ten thousand documents with the peers.

    python benchmarks/start.py [--rounds 5] [--only wheel warm peers clone] [--json FILE]

Builds a wheel of this checkout and installs it into an environment of its own, which takes all other packages from the environment of this Python.
wheel: ``dedup`` of 10,000 made-up documents in an empty home, each round in a new one, beside the same run in a home that has seen one. warm:
``pairs`` on three documents. peers: ``pairs`` and ``dedup`` of the 10,000 documents beside peers (see compare.py; one that is not installed is
named). clone: ``./run demo`` in a clone of the committed state, after ``./run --version`` has set it up, for which pip must reach an index.
Whole processes from start to exit, in turn, medians; processor time is that of the process and its children.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import contest
from compare import HERE, SETTING, VENVS, run
from growth import WORDS, vocabulary

ROOT = HERE.parent
DOCUMENTS, LENGTH = 10_000, 350
#: One document in five is an earlier one with this share of its words replaced.
REPLACED = 0.02
Runs = list[dict[str, float]]


def documents(number: int) -> Iterator[str]:
    draw, known = np.random.default_rng(0), vocabulary()
    words = draw.zipf(1.3, (number, LENGTH)) % WORDS
    for row in range(number):
        if row and draw.random() < 0.2:
            words[row] = words[draw.integers(row)]
            words[row, draw.random(LENGTH) < REPLACED] = draw.integers(WORDS)
        yield json.dumps({"id": row, "text": " ".join(known[words[row]])}) + "\n"


def home(folder: Path) -> dict[str, str]:
    """Environment variables with a new, empty home and without settings of likewise and Python."""
    mine = ("LIKEWISE_", "NUMBA_", "PYTHON", "XDG_", "OPENBLAS_", "OMP_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    places = [place for place in kept["PATH"].split(os.pathsep) if place != str(Path(sys.executable).parent)]  # an environment may have no pip
    return kept | {"HOME": tempfile.mkdtemp(prefix="home.", dir=folder), "PATH": os.pathsep.join(places)}


def installed(folder: Path) -> str:
    """The command ``likewise`` of a wheel of this checkout. pip is that of the Python below this environment."""
    base = [getattr(sys, "_base_executable", sys.executable), "-P", "-m"]
    for command in (
        [sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        [*base, "venv", "--without-pip", str(folder / "venv")],
    ):
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    (site,) = (folder / "venv").glob("lib/python3*/site-packages")
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (wheel,) = folder.glob("*.whl")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    pip = [*base, "pip", "--python", str(folder / "venv" / "bin" / "python"), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(pip, check=True, stdout=subprocess.DEVNULL)
    return str(folder / "venv" / "bin" / "likewise")


def measured(commands: dict[str, Callable[[], dict[str, float]]], rounds: int) -> dict[str, Runs]:
    """All in turn, after a round that is not counted."""
    table: dict[str, Runs] = {name: [] for name in commands}
    for turn in range(-1, rounds):
        for name, command in commands.items():
            found = command()
            if turn >= 0:
                table[name].append(found)
    return table


def said(table: dict[str, Runs]) -> dict[str, dict[str, float]]:
    """Print the medians and return them."""
    medians = {name: contest.middle(runs) for name, runs in table.items()}
    for name, found in medians.items():
        spread = contest.spread([one["wall"] for one in table[name]])
        print(f"{name:32} wall {found['wall']:6.2f} s {spread:13} cpu {found['cpu']:6.2f} s  peak {found['peak_mb']:5.0f} MB", flush=True)
    return medians


def verdict(what: str, value: float, wanted: float, unit: str) -> None:
    print(f"  {what}: {value:.2f} {unit} ({'within' if value <= wanted else 'NOT within'} {wanted:g} {unit})", flush=True)


def wheel(folder: Path, likewise: str, corpus: Path, rounds: int) -> dict[str, dict[str, float]]:
    dedup = [likewise, "dedup", str(corpus), "-o", str(folder / "out"), "--overwrite", *SETTING]
    known = home(folder)
    found = said(measured({"first dedup": lambda: run(dedup, home(folder)), "warm dedup": lambda: run(dedup, known)}, rounds))
    verdict("first to warm", found["first dedup"]["wall"] / found["warm dedup"]["wall"], 2, "times")
    return found


def warm(folder: Path, likewise: str, rounds: int) -> dict[str, dict[str, float]]:
    three = folder / "three.jsonl"
    three.write_text("".join(documents(3)))
    known = home(folder)
    found = said(measured({"warm pairs, three documents": lambda: run([likewise, "pairs", str(three), *SETTING], known)}, rounds))
    verdict("wall", found["warm pairs, three documents"]["wall"], 0.5, "s")
    return found


def peers(folder: Path, likewise: str, corpus: Path, rounds: int) -> dict[str, dict[str, float]]:
    known, pairs = home(folder), str(folder / "pairs.npy")
    commands = {
        "likewise pairs": [likewise, "pairs", str(corpus), "-o", str(folder / "pairs.parquet"), "--overwrite", *SETTING],
        "likewise dedup": [likewise, "dedup", str(corpus), "-o", str(folder / "out"), "--overwrite", *SETTING],
    }
    for peer in ("daft", "rensa"):
        command = [str(VENVS / peer / "bin" / "python"), str(HERE / "peers" / f"{peer}_pairs.py"), str(corpus), pairs]
        commands |= {peer: command} if contest.installed(peer, command[0]) else {}
    found = said(measured({name: lambda command=command: run(command, known) for name, command in commands.items()}, rounds))
    for peer in set(found) & {"daft", "rensa"}:
        verdict(f"pairs to {peer}", found["likewise pairs"]["wall"] / found[peer]["wall"], 0.5, "times")
    return found


def clone(folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    project, known = folder / "clone", home(folder)
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(project)], check=True)
    found = said({"./run --version, set-up": [run([str(project / "run"), "--version"], known)]})
    demos: Runs = []
    for _ in range(rounds):  # the first is counted: it is the one that people see
        demos.append(run([str(project / "run"), "demo"], known, folder))
        shutil.rmtree(folder / "likewise-demo")
        (folder / "likewise-demo-input.jsonl").unlink()
    found |= said({"./run demo, the first": demos[:1], **({"./run demo, later": demos[1:]} if demos[1:] else {})})
    verdict("processor time", demos[0]["cpu"], 15, "s")
    return found


def main() -> None:
    parser = contest.arguments(__doc__, rounds=5)
    parser.add_argument("--only", nargs="*", default=["wheel", "warm", "peers", "clone"])
    options = parser.parse_args()
    table: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="start.") as name:
        folder = Path(name)
        corpus = folder / "corpus.jsonl"
        corpus.write_text("".join(documents(DOCUMENTS)))
        print(f"{DOCUMENTS:,} documents, {corpus.stat().st_size / 1e6:.1f} MB", flush=True)
        likewise = installed(folder) if {"wheel", "warm", "peers"} & set(options.only) else ""
        steps = {
            "wheel": lambda: wheel(folder, likewise, corpus, options.rounds),
            "warm": lambda: warm(folder, likewise, options.rounds),
            "peers": lambda: peers(folder, likewise, corpus, options.rounds),
            "clone": lambda: clone(folder, options.rounds),
        }
        for step in options.only:
            table |= steps[step]()
    contest.keep(table, options.json)


if __name__ == "__main__":
    sys.exit(main())
