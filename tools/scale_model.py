"""A cost model of `likewise dedup`: time, memory and disk by size of the collection, for docs/explanation/scale.md.

The rates come from run.json of runs of benchmarks/compare.py and benchmarks/growth.py on two cores; the page says how well the model predicts those
runs. `python tools/scale_model.py` prints the tables; tools/make_figures.py draws the figure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from likewise.drawing.markup import Html, tag
from likewise.drawing.svg import Plane, standalone, svg

START = 0.31  # seconds until the first document is read, nearly all of it for Python, NumPy and Arrow (benchmarks/start.py)
FIXED = 265e6  # bytes of memory that do not grow: the interpreter, compiled code, chunks in flight
BYTE = 2.2e-9  # seconds for each byte of input: decoded, cut, hashed, its set stored
DOCUMENT = 0.5e-6  # further seconds for each document
BAND = 20e-9  # seconds to group a document by one band key
COMPARISON, ELEMENT = 1.1e-6, 11e-9  # seconds for each document that has a similar one, and for each element of its set
COPY = 0.45e-9  # seconds for each byte of kept records
CORES = 2  # cores of the machine on which these were measured

ROW, KEY, WORD = 144, 8, 8  # bytes on disk for a document with its odd sketch, for a band key, and for a shingle
SHINGLE = 8.0  # bytes of JSON for each shingle
RESIDENT, RESIDENT_BAND = 105, 8  # bytes in memory for a document, and for each of its bands


@dataclass(frozen=True)
class Collection:
    """A collection of documents, and the cost of its deduplication."""

    documents: float
    size: float = 2284  # bytes each
    similar: float = 0.33  # fraction of documents that have a similar one
    removed: float = 0.18
    bands: int = 16

    @property
    def seconds(self) -> float:
        """Seconds on the machine of the benchmarks."""
        compared = self.similar * (COMPARISON + ELEMENT * self.size / SHINGLE)
        each = self.size * BYTE + DOCUMENT + self.bands * BAND + compared + (1 - self.removed) * self.size * COPY
        return START + self.documents * each

    @property
    def memory(self) -> float:
        """Bytes of memory."""
        return FIXED + self.documents * (RESIDENT + self.bands * RESIDENT_BAND)

    @property
    def disk(self) -> float:
        """Bytes of the work folder."""
        return self.documents * (ROW + self.bands * KEY + self.size / SHINGLE * WORD)


def main() -> None:
    """Print the tables."""
    for documents in (1e5, 1e6, 1e7, 1e9, 1e11):
        c = Collection(documents)
        print(f"| {documents:.0e} | {duration(c.seconds)} | {amount(c.memory)} | {amount(c.disk)} |")
    print(f"1e9 on 64 cores: {duration(Collection(1e9).seconds * CORES / 64)}")


def duration(seconds: float) -> str:
    """A time in a convenient unit."""
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def amount(size: float) -> str:
    """A number of bytes in a convenient unit."""
    step = min(4, max(0, int(math.log10(max(size, 1)) // 3) - 1))
    return f"{size / 1000 ** (step + 1):.3g} {('KB', 'MB', 'GB', 'TB', 'PB')[step]}"


#: Runs of the benchmarks: documents, bytes each, seconds. They were measured when Numba was imported, too, and the start took longer.
START_THEN = 0.70
RUNS = ((1e5, 2700, 1.74), (1e6, 2284, 9.34), (1e5, 216, 0.86), (1e6, 217, 2.70), (1e7, 218, 21.57))
#: The figure's axes, in powers of ten of documents and of seconds.
ACROSS, UP = (5, 11), (0, 7)


def chart() -> str:
    """Seconds on the machine of the benchmarks by number of documents; dots are measured runs."""
    plane = Plane()

    def place(documents: float, seconds: float) -> tuple[float, float]:
        across, up = ((math.log10(value) - low) / (high - low) for value, (low, high) in ((documents, ACROSS), (seconds, UP)))
        return across, up

    children: list[Html] = []
    for power in range(ACROSS[0], ACROSS[1] + 1):
        x = place(10**power, 1)[0]
        children += [plane.line((x, 0), (x, 1), "grid"), plane.words(f"10^{power}", (x, 0), "end" if power == ACROSS[1] else "middle", dy=18)]
    for power, name in ((0, "1 s"), (1, "10 s"), (2, "100 s"), (3.5563, "1 h"), (4.9365, "1 d"), (6.413, "30 d")):
        y = place(1e5, 10**power)[1]
        children += [plane.line((0, y), (1, y), "grid"), plane.words(name, (0, y), "end", dx=-6, dy=4)]
    for size, removed, class_, anchor, dx, dy in ((2284, 0.18, "curve", "end", -6, -8), (217, 0.2, "curve second", "start", 8, 16)):
        points = [place(10**power, Collection(10**power, size, removed=removed).seconds) for power in (5 + step / 10 for step in range(61))]
        children.append(tag("polyline", points=plane.path(points), class_=class_))
        children.append(plane.words(f"{size:,} bytes each", points[40], anchor, dx, dy, class_="strong"))
    children += [
        tag("circle", cx=x, cy=y, r=3, class_="dot") for x, y in (plane.at(*place(n, seconds - START_THEN + START)) for n, _, seconds in RUNS)
    ]
    words = "Seconds of dedup on two cores, by the number of documents, both in powers of ten: two lines that become straight, for documents of "
    words += "2,284 and of 217 bytes, and five measured runs close to them"
    return standalone(svg(plane.width, plane.height, words, *children, plane.words("documents", (0.5, 0), dy=36)), "Time by the number of documents")


if __name__ == "__main__":
    main()
