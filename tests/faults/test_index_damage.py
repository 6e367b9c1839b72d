"""Each file of an index is changed, cut, lost or exchanged: the index is refused by name or repaired, and never gives a wrong answer."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from index_faults import forked, opened
from index_steps import SETS, Step, WrongError, check, drawn
from likewise.index import embedded

STEPS = [
    *drawn(random.Random(1), 0, 12),
    Step("flush"),
    *drawn(random.Random(1), 1000, 8, tidy=False),
    Step("flush"),
    *drawn(random.Random(2), 2000, 8, tidy=False),
]
#: Files in which a change may hurt nobody: SQLite keeps unused bytes, and who holds the lock is for people.
LOOSE = ("index.db", "index.db-wal", "index.db-shm", "writer.lock", "manifest.json")
Damage = Callable[[Path], object]


@pytest.fixture(scope="module", params=SETS)
def index(request, tmp_path_factory) -> tuple[str, Path, Path]:
    """The kind of sets, an index that was closed, and the same index as it is after a kill, with SQLite's log."""
    sets = request.param
    folder = tmp_path_factory.mktemp("index")
    with opened(embedded.create(folder / "closed", SETS[sets])) as store:
        for step in STEPS:
            step.take(store, sets)
        shutil.copytree(folder / "closed", folder / "killed")
    (folder / "killed/index.db-shm").unlink()
    return sets, folder / "closed", folder / "killed"


def changed(at: int, size: int) -> Damage:
    def damage(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[at] ^= 1 << (at % 8)
        path.write_bytes(data)

    return damage


def damages(path: Path, many: int) -> Iterator[tuple[str, Damage]]:
    data = path.read_bytes()
    size, draw = len(data), random.Random(path.name)
    places = {*range(min(8, size)), *range(max(0, size - 64), size, 7), *(draw.randrange(size) for _ in range(many))} if size else set()
    for at in sorted(places):
        yield f"bit {at % 8} of byte {at}", changed(at, size)
    for length in sorted({0, 1, size // 2, max(0, size - 1)} - {size}):
        yield f"cut to {length} bytes", lambda path, length=length: path.write_bytes(data[:length])
    yield "longer", lambda path: path.write_bytes(data + b"\1" * 64)
    if size:
        yield "zeros", lambda path: path.write_bytes(bytes(size))
        yield "a sector of zeros", lambda path: path.write_bytes(data[: size // 2] + bytes(min(512, size - size // 2)) + data[size // 2 + 512 :])
    yield "lost", lambda path: path.unlink()
    for other in sorted(path.parent.glob(f"*{path.suffix}")):
        if other != path and path.name not in LOOSE:
            yield f"{other.name} in its place", lambda path, other=other: shutil.copy(other, path)


def outcomes(source: Path, sets: str, name: str, many: int, place: Path, say: Callable[[str], object]) -> None:
    """Damage a file of copies of an index in all ways, and say what becomes of each."""
    for what, damage in damages(source / name, many):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(source, place)
        damage(place / name)
        for read_only in (True, False):
            try:
                with opened(embedded.open(place, read_only=read_only)) as store:
                    faults = store.check()
                    try:
                        check(store.view(), sets, [STEPS], [len(STEPS)])
                        said = f"right; check: {faults}"
                    except WrongError as error:
                        said = f"wrong: {str(error)[:500]}; check: {faults}"
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
            say(json.dumps([what, read_only, said]))


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
def test_damaged_files(index, scaled, disk, closed):
    sets, *both = index
    source = both[0] if closed else both[1]
    wrong = []
    for path in sorted(source.iterdir()):
        if not closed and path.name not in LOOSE:
            continue
        done = forked(lambda say, path=path: outcomes(source, sets, path.name, scaled(400, 12), disk / "copy", say))
        assert (done.status, done.error) == (0, ""), (path.name, done.said[-1], done.error)
        said = [json.loads(line) for line in done.said]
        assert len(said) >= 10 or path.name == "writer.lock"
        for what, read_only, told in said:
            refused = told.startswith(("FormatError", "UsageError"))
            named = path.stem in told or (path.name.startswith("index.db") and "index.db" in told)
            right = told.startswith("right")
            reported = not told.endswith("check: []")
            harmless = path.name in LOOSE
            if not ((refused and named) or (right and ((reported and named) or harmless))):
                wrong.append(f"{path.name}, {what}, {'reading' if read_only else 'writing'}: {told}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:20])
