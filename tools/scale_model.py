"""What `likewise dedup` takes, as a function of the collection: the tables and the figure of docs/explanation/scale.md.

The rates were read from run.json of runs of benchmarks/compare.py and benchmarks/growth.py on two cores; the page tells how well they foretell
those runs. `python tools/scale_model.py` prints the tables; tools/make_figures.py draws the figure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from likewise.drawing.markup import Html, tag
from likewise.drawing.svg import Plane, standalone, svg

START = 0.85  # seconds until the first document is read, nearly all of it Python, Numba and Arrow
FIXED = 300e6  # bytes of memory that do not grow: the interpreter, compiled code, chunks on their way
BYTE = 2.8e-9  # seconds for each byte of input: decoded, cut, hashed, its set stored
DOCUMENT = 0.9e-6  # seconds for each document besides
BAND = 35e-9  # seconds to group a document by one band key
MEETING = 6e-6  # seconds for each document that has a like one: its comparisons and what follows
COPY = 0.45e-9  # seconds for each byte that is written out again
CORES = 2  # of the machine that these were read on

ROW, KEY, WORD = 80, 8, 8  # bytes on disk for a document, a band key, a shingle
SHINGLE = 6.0  # bytes of text for each word, and so for each shingle
RESIDENT, RESIDENT_BAND = 90, 8  # bytes in memory for a document, and for each of its bands


@dataclass(frozen=True)
class Collection:
    documents: float
    size: float = 2284  # bytes each
    alike: float = 0.33  # share of documents that have a like one
    removed: float = 0.18
    bands: int = 16

    @property
    def seconds(self) -> float:
        each = self.size * BYTE + DOCUMENT + self.bands * BAND + self.alike * MEETING + (1 - self.removed) * self.size * COPY
        return START + self.documents * each

    @property
    def memory(self) -> float:
        return FIXED + self.documents * (RESIDENT + self.bands * RESIDENT_BAND)

    @property
    def disk(self) -> float:
        """Bytes of the work folder."""
        return self.documents * (ROW + self.bands * KEY + self.size / SHINGLE * WORD)

    def network(self, machines: int) -> float:
        """Bytes that each machine of a cluster sends: band keys with their documents' numbers to where each key is grouped; and the sets of
        documents that meet to where they are compared."""
        moved = self.documents * (self.bands * 2 * KEY + self.alike * self.size / SHINGLE * WORD)
        return moved / machines * (machines - 1) / machines


def main() -> None:
    for documents in (1e5, 1e6, 1e7, 1e9, 1e11):
        c = Collection(documents)
        print(f"| {documents:.0e} | {duration(c.seconds)} | {amount(c.memory)} | {amount(c.disk)} |")
    for documents, machines, cores in ((1e9, 1, 64), (1e9, 16, 16), (1e11, 1000, 32)):
        c = Collection(documents)
        busy = c.seconds * CORES / (machines * cores)
        each = [amount(size / machines) for size in (c.memory, c.disk)]
        print(f"| {documents:.0e} | {machines} x {cores} | {duration(busy)} | {each[0]} | {each[1]} | {amount(c.network(machines))} |")


def duration(seconds: float) -> str:
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def amount(size: float) -> str:
    step = min(4, max(0, int(math.log10(max(size, 1)) // 3) - 1))
    return f"{size / 1000 ** (step + 1):.3g} {('KB', 'MB', 'GB', 'TB', 'PB')[step]}"


#: Runs of the benchmarks: documents, bytes each, seconds.
RUNS: tuple[tuple[float, float, float], ...] = ()


def picture() -> str:
    """Seconds by documents, both as powers of ten; dots are runs."""
    plane = Plane()
    least, most = (4, -1), (11, 7)

    def place(documents: float, seconds: float) -> tuple[float, float]:
        return tuple((math.log10(value) - low) / (high - low) for value, low, high in zip((documents, seconds), least, most, strict=True))  # type: ignore[return-value]

    lines: list[Html] = []
    for size, class_ in ((2284, "curve"), (190, "curve second")):
        lines.append(
            tag(
                "polyline",
                points=plane.path([place(10**e, Collection(10**e, size).seconds) for e in (4 + step / 10 for step in range(71))]),
                class_=class_,
            )
        )
    dots = [tag("circle", cx=x, cy=y, r=3, class_="dot") for x, y in (plane.at(*place(n, seconds)) for n, _, seconds in RUNS)]
    return standalone(svg(plane.width, plane.height, "Seconds by documents", *lines, *dots), "Time by size")


if __name__ == "__main__":
    main()
