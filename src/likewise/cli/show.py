"""likewise show"""

from __future__ import annotations

import re
from typing import Any

import click

from likewise.cli.screen import Screen, counted
from likewise.cli.show_item import show_alone, show_kept, show_removed
from likewise.cli.show_names import changes, warn_of_changes
from likewise.cli.show_output import show_output
from likewise.cli.show_parts import show_parts
from likewise.cli.verbs import folders, verb
from likewise.errors import UsageError
from likewise.io.address import place

#: The columns of removed.parquet that name an item: a removed one, and the one kept in its place.
IDS = ("id", "kept_id")
#: Maximum number of digits of a line.
MOST_DIGITS = 18


@verb(
    "show",
    "OUT [ID]",
    examples=("show clean", "show clean pages/a.jsonl:41"),
    flags="json quiet verbose color",
    arguments=[click.Argument(["out"], metavar="OUT", shell_complete=folders), click.Argument(["identity"], metavar="[ID]", required=False)],
    verbose={"help": "Show both items in full."},
)
def command(screen: Screen, out: str, identity: str | None = None) -> None:
    from likewise.report.originals import Originals
    from likewise.report.own_files import as_written

    folder = place(out)
    with as_written(folder):
        originals = Originals(folder)
        if identity is None:
            show_output(screen, originals)
        else:
            show(screen, originals, identity)


def show(screen: Screen, originals: Any, identity: str) -> None:
    """Print the outcome of the item with this id, or at this place."""
    from likewise.report.identity import spellings, typed

    identity = typed(identity)
    spelled = spellings(originals.removed.schema, identity)
    if originals.method.get("level"):
        show_document(screen, originals, identity, spelled)
        return
    if any(show_rows(screen, originals, *(rows_of(originals, column, each) for column in IDS)) for each in spelled):
        return
    found = originals.find(identity) or place_of(originals, identity)
    if found is None:
        raise no_item(originals, identity)
    place, item = found  # which may be listed by another id: files are called by their folder, too
    if not show_rows(screen, originals, *(originals.removed.filter(is_at(originals, column, place)).to_pylist() for column in IDS)):
        show_alone(screen, originals, place, item)


def show_document(screen: Screen, originals: Any, identity: str, spelled: list[str]) -> None:
    """Print what became of a document of which parts may have been removed."""
    each = [(column, rows_of(originals, column, one)) for one in spelled for column in IDS]
    places = [(rows[0][f"{prefix}source"], rows[0][f"{prefix}position"]) for column, rows in each if rows for prefix in [column.removesuffix("id")]]
    if not places:
        found = originals.find(identity) or place_of(originals, identity)
        if found is None:
            raise no_item(originals, identity)
        places = [found[0]]
    warn_of_changes(screen, originals, places[:1])
    show_parts(screen, originals, places[0], *(originals.removed.filter(is_at(originals, column, places[0])).to_pylist() for column in IDS))


def show_rows(screen: Screen, originals: Any, removed: list[dict[str, Any]], members: list[dict[str, Any]]) -> bool:
    """Print why an item was removed, or which items it represents. Return False if removed.parquet does not mention it."""
    if len(removed) > 1:
        screen.warn(f"{counted(len(removed), 'removed item')} have this id; this is the first one. Give SOURCE:LINE for another")
    if removed:
        show_removed(screen, originals, removed[0])
    elif members:
        show_kept(screen, originals, members)
    return bool(removed or members)


def rows_of(originals: Any, column: str, identity: str) -> list[dict[str, Any]]:
    """The rows of removed.parquet with the given id, or at the given place (`place_at`). Ids are compared as values of their type."""
    import pyarrow.compute as pc

    from likewise.report.identity import is_id

    table = originals.removed
    same = is_id(table[column], identity)
    if not pc.any(same).as_py() and (place := place_at(originals, identity)):
        same = is_at(originals, column, place)
    return table.filter(same).to_pylist()


def is_at(originals: Any, column: str, place: tuple[str, int]) -> Any:
    """bool[n]: the rows whose item of this column is at a place."""
    import pyarrow.compute as pc

    table, prefix = originals.removed, column.removesuffix("id")
    return pc.and_(pc.equal(table[f"{prefix}source"], place[0]), pc.equal(table[f"{prefix}position"], place[1]))


def place_at(originals: Any, identity: str) -> tuple[str, int] | None:
    """The source and position of SOURCE:LINE, or of SOURCE:ROW for a file without lines; None for other texts."""
    source, _, number = identity.rpartition(":")
    if not number.isdecimal() or len(number) > MOST_DIGITS:
        return None
    if source not in originals.inputs:
        source = re.sub(r"\\udc([89a-f][0-9a-f])", r"\\x\1", source)  # bytes that are not UTF-8, as names of sources have them
    position = originals.position(source, int(number))
    return None if position is None else (source, position)


def place_of(originals: Any, identity: str) -> tuple[tuple[str, int], Any] | None:
    """The item at SOURCE:LINE or SOURCE:ROW, if there is one."""
    from likewise.errors import DataError

    place = place_at(originals, identity)
    if place is None:
        return None
    try:
        return place, originals.texts([place])[place]
    except DataError:
        return None


def no_item(originals: Any, identity: str) -> UsageError:
    """The error of an id that no item has."""
    said = f"no item of {originals.out} has the id {identity!r}; {hint(originals, identity)}"
    return UsageError(f"{said}; {changes(originals, changed)}" if (changed := originals.changed()) else said)


def hint(originals: Any, identity: str) -> str:
    """Ids and a place that can be given: those of removed items whose ids contain the text that was, or else of the first ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = originals.removed
    near = table.filter(pc.fill_null(pc.match_substring(table["id"].cast(pa.string()), identity, ignore_case=True), False))
    first = (near if len(near) else table).slice(0, 3).to_pylist()
    if not first:
        return "nothing was removed"
    place = originals.name((first[0]["source"], first[0]["position"]))
    ids = [] if originals.numbered else [repr(row["id"]) for row in first if row["id"] is not None]
    return f"ids of removed items are, for example, {', '.join(ids)}; or use a location such as {place}" if ids else f"use a location such as {place}"
