"""likewise show"""

from __future__ import annotations

from typing import Any

import click

from likewise.cli.beside import laid
from likewise.cli.screen import Screen, counted, figure, harmless
from likewise.cli.verbs import folders, verb
from likewise.errors import UsageError
from likewise.io.address import place
from likewise.kinds import of_payload
from likewise.kinds.kind import SIGNS, WORDS

SCHEMA = "likewise/show/1"
#: The columns of removed.parquet that name an item: a removed one, and the one kept in its place.
IDS = ("id", "kept_id")
#: Maximum number of removed items listed for a kept one.
MOST_MEMBERS = 10
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
    from likewise.cli.show_output import show_output
    from likewise.report.originals import Originals
    from likewise.report.own_files import as_written

    folder = place(out)
    with as_written(folder):
        originals = Originals(folder)
        if identity is None:
            show_output(screen, originals, SCHEMA)
        else:
            show(screen, originals, identity)


def show(screen: Screen, originals: Any, identity: str) -> None:
    """Print the outcome of the item with this id, or at this place."""
    from likewise.report.identity import spellings

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
    from likewise.cli.show_parts import show_parts

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


def changes(originals: Any, changed: list[str]) -> str:
    """Say that sources have changed since the run."""
    first, more = originals.paths[changed[0]], counted(len(changed) - 1, "more input")
    if len(changed) == 1:
        return f"{first} has changed since {originals.out} was made, or no longer exists"
    return f"{first} and {more} have changed since {originals.out} was made, or no longer exist"


def warn_of_changes(screen: Screen, originals: Any, places: list[tuple[str, int]]) -> None:
    """Warn if a source of items that are shown has changed: what stands at these places now may be other items."""
    if changed := originals.changed({source for source, _ in places}):
        screen.warn(f"{changes(originals, changed)}; places and contents are shown as they are now")


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


def show_removed(screen: Screen, originals: Any, row: dict[str, Any]) -> None:
    from likewise.report import differences
    from likewise.runs.shown import shortened

    here, there = (row["source"], row["position"]), (row["kept_source"], row["kept_position"])
    texts = originals.texts([here, there])
    removed, kept = texts[here], texts[there]
    kind, blank = originals.want.kind, there[0] in originals.indexes
    if not blank and not check(screen, originals, row, removed, kept):
        warn_of_changes(screen, originals, [here, there])
    runs = differences.runs(kind, removed.text, kept.text) if of_payload(kind).look in (WORDS, SIGNS) and not blank else None
    if screen.json:
        [identity], [kept_identity] = originals.typed([row]), originals.typed([row], "kept_")
        other = {} if blank else content(kept, kind)
        sides = {"removed": {**item(identity, here), **content(removed, kind)}, "kept": {**item(kept_identity, there), **other}}
        facts = {name: row[name] for name in ("reason", originals.value, "cluster")}
        found = {"differences": runs} if runs is not None else {}
        screen.document({"schema": SCHEMA, "status": "removed", **sides, **facts, "by": originals.method["by"], **found})
        return
    names = [("removed", named(originals, row["id"], here)), ("kept", named(originals, row["kept_id"], there))]
    why = reason(row, originals, normalized=not blank and removed.text != kept.text)
    screen.rows([*names, ("why", why)], data=True)
    screen.data("")
    if blank:
        screen.data(harmless(shortened(kind, removed.text)))
        screen.data("\nThe kept item is in an index, which does not keep its content.")
        return
    laid(screen, originals, removed.text, kept.text, runs)


def content(found: Any, kind: str) -> dict[str, Any]:
    """The content of an item, for JSON."""
    return {"text": found.text} if of_payload(kind).look in (WORDS, SIGNS) else {"value": of_payload(kind).plain(found.text)}


def item(identity: object, place: tuple[str, int]) -> dict[str, Any]:
    return {"id": identity, "source": place[0], "position": place[1]}


def named(originals: Any, identity: object, place: tuple[str, int]) -> str:
    """The id and the place of an item; the place alone if the id is the name of the file, or the position of an item without an id."""
    where = originals.name(place)
    if identity is None or originals.numbered:
        return harmless(where)
    return harmless(repr(identity) if identity == where else f"{identity!r}  at {where}")


def reason(row: dict[str, Any], originals: Any, *, normalized: bool) -> str:
    """The reason of a removal in words. normalized: the two items differ as they were read."""
    from likewise.report import wording

    method, value = originals.method, originals.value
    by, steps = method["by"], ", ".join(method["normalize"]) if normalized else ""
    after = f" after normalization ({steps})" if steps else ""
    if row["reason"] == "exact":
        return "exact copy" + (after or (" by groups" if method.get("groups") else ""))
    rest = f", ignored {wording.parts(by)} left out" if method.get("ignore") or method.get("ignore_common") else ""
    if row["reason"] == "equal":
        return f"same shingles by {by}{after}{rest}"
    if row[value] is None:
        return f"shares a bucket with the kept item by {by}; the {value} was not computed"
    about = "" if method["verify"] == "exact" else "about "
    grouped = " in groups" if method.get("groups") else ""
    amount = wording.amount(row[value], value, by)
    limit = f"{'maximum' if value == 'distance' else 'threshold'} {wording.limit(originals.report['threshold'], value, by)}"
    return f"near-duplicate: {value} {about}{amount} by {by}{grouped}{rest} ({limit})"


def check(screen: Screen, originals: Any, row: dict[str, Any], removed: Any, kept: Any) -> bool:
    """Warn if the recorded similarity is not that of the present items, because the inputs have changed since the output was made."""
    from likewise.report.wording import amount
    from likewise.verbs.recomputed import value_now

    method, then = originals.method, row[originals.value]
    unknown = method.get("groups") or method.get("ignore") or method.get("ignore_common")  # which were those?
    if method["verify"] != "exact" or unknown or then is None or method["by"].endswith("/bag"):
        return False
    now = value_now(originals, removed.item, kept.item)
    if changed := now is None or abs(now - then) > 1e-9 * max(1, abs(then)):  # False for two empty items, whose value is NaN
        had, have = (None if value is None else amount(value, originals.value, method["by"]) for value in (then, now))
        now_is = f"it is {have} now" if have is not None else "they cannot be compared now"
        screen.warn(f"the inputs have changed since {originals.out} was made: the {originals.value} of these items was {had}, and {now_is}")
    return bool(changed)


def show_kept(screen: Screen, originals: Any, members: list[dict[str, Any]]) -> None:
    """Print a kept item and the items removed as its duplicates."""
    value = originals.value
    identity, place = members[0]["kept_id"], (members[0]["kept_source"], members[0]["kept_position"])
    warn_of_changes(screen, originals, [place, *((row["source"], row["position"]) for row in members[:MOST_MEMBERS])])
    if screen.json:
        [identity], ids = originals.typed(members[:1], "kept_"), originals.typed(members)
        gone = [{"id": own} | {name: row[name] for name in ("source", "position", value, "reason")} for own, row in zip(ids, members, strict=True)]
        status = "against" if place[0] in originals.second else "kept"
        screen.document({"schema": SCHEMA, "status": status, **item(identity, place), "removed_for_it": gone})
        return
    how = "is in the second collection" if place[0] in originals.second else "was kept"
    were = "was" if len(members) == 1 else "were"
    screen.data(f"{named(originals, identity, place)} {how}; {counted(len(members), 'duplicate')} of it {were} removed:")
    for row in members[:MOST_MEMBERS]:
        similar = "" if row[value] is None else f"  {figure(row[value], value)}"
        screen.data(f"  {named(originals, row['id'], (row['source'], row['position']))}  {row['reason']}{similar}")
    if len(members) > MOST_MEMBERS:
        screen.data(f"  ... and {len(members) - MOST_MEMBERS:,} more in removed.parquet")


def show_alone(screen: Screen, originals: Any, place: tuple[str, int], found: Any) -> None:
    """Print the outcome of an item without duplicates."""
    from likewise.records import REJECTED

    status = "against" if place[0] in originals.second else "rejected" if found.kind == REJECTED else "kept"
    identity = originals.called(place, found)
    warn_of_changes(screen, originals, [place])
    if screen.json:
        screen.document({"schema": SCHEMA, "status": status, **item(identity, place), "removed_for_it": []})
        return
    if status == "against":
        screen.data(f"{named(originals, identity, place)} is in the second collection; nothing was removed for it")
        return
    screen.data(f"{named(originals, identity, place)} was {status}: {why_not_removed(originals, found)}")


def why_not_removed(originals: Any, found: Any) -> str:
    """The reason why an item without duplicates was kept or rejected."""
    from likewise.records import NO_TEXT, REJECTED
    from likewise.report import wording
    from likewise.verbs.recomputed import value_now

    method = originals.method
    if found.kind == REJECTED:
        return f"it could not be read; see {originals.out / 'rejected.jsonl'}"
    if found.kind == NO_TEXT:
        return f"it has no {of_payload(originals.want.kind).holds}"
    itself = value_now(originals, found.item, found.item)
    if itself is None or itself != itself:  # NaN: not even similar to itself
        directed = of_payload(originals.want.kind).zeros[0]
        return "its values are all 0, so it has no direction" if directed else "it is empty, and empty items are not compared"
    by, threshold = method["by"], originals.report["threshold"]
    place = f"{'within' if originals.value == 'distance' else 'at or above'} {wording.limit(threshold, originals.value, by)}"
    short = f", or it has fewer than {method['min_tokens']} tokens (--min-tokens)" if method["min_tokens"] else ""
    bare = f", or all its {wording.parts(by)} are ignored" if method.get("ignore") or method.get("ignore_common") else ""
    return f"no similar kept item was found {place}{short}{bare}"
