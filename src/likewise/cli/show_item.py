"""likewise show, for an item: a removed one beside the one kept in its place, a kept one with its duplicates, or one without any"""

from __future__ import annotations

from typing import Any

from likewise.cli.beside import laid
from likewise.cli.screen import Screen, counted, figure, harmless
from likewise.cli.show_names import SCHEMA, item, named, warn_of_changes
from likewise.kinds import of_payload
from likewise.kinds.kind import SIGNS, WORDS

#: Maximum number of removed items listed for a kept one.
MOST_MEMBERS = 10


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
        screen.data(f"{named(originals, identity, place)} is in the second collection; no duplicate of it was removed")
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
