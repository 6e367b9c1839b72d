"""An index in use for long: as many items come as go, so its memory, its files and what it holds of the system stay as they are."""

from __future__ import annotations

import pytest

from index_steps import SETS
from lasting import INTERVALS, growth, lasting

#: Files of a segment, those of an index of one segment that is open, and the segments at most of which a view still has some.
FILES, ALONE, SEGMENTS = 3, 7, 8
#: Objects of Python that come with a mapped file, and the statements that a connection of SQLite keeps at most.
OBJECTS, STATEMENTS = 14, 128


def allowed(rounds: int) -> int:
    """Bytes by which memory may grow in an interval: less than a leak of 1 KB a round, more than what pieces of other sizes waste."""
    return 8_000 + 700 * rounds // INTERVALS


@pytest.mark.parametrize("sets", SETS)
def test_as_many_items_come_as_go(disk, scaled, sets):
    rounds = scaled(4000, 1000)
    found = lasting("exchange", disk / "index", sets, rounds)
    early, late = found[2], found[-1]
    more = late["mappings"] - early["mappings"]  # of the store and of the reader; each has a descriptor
    assert late["mappings"] <= 2 * SEGMENTS * FILES, found
    assert late["descriptors"] <= early["descriptors"] + more + 2, found
    assert (late["threads"], late["files"]) == (early["threads"], early["files"]) == (1, ALONE), found
    assert late["objects"] <= early["objects"] + STATEMENTS + OBJECTS * max(0, more), found
    assert late["bytes"] <= 1.2 * early["bytes"] + 10_000, found
    assert late["bytes of the log"] <= 2 << 20, found
    assert growth(found) <= allowed(rounds), found


def test_opening_again_and_again(disk, scaled):
    rounds = scaled(2000, 400)
    found = lasting("reopen", disk / "index", "full", rounds)
    early, late = found[2], found[-1]
    for name in ("descriptors", "mappings", "threads", "files"):
        assert late[name] <= early[name], (name, found)
    assert late["objects"] <= early["objects"] + 10, found
    assert growth(found) <= allowed(rounds), found
