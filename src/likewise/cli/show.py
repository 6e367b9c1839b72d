"""likewise show"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from likewise.cli.screen import Screen, counted, harmless
from likewise.cli.verbs import verb
from likewise.errors import UsageError

SCHEMA = "likewise/show/1"
#: Words that stay at each end of a long stretch that is the same in both; -v shows all.
CONTEXT = 15
#: How what differs is marked: (kind of run) -> (begin, end) without colours, and the style with them.
MARKS = {"delete": ("[-", "-]"), "insert": ("{+", "+}")}
STYLES: dict[str, dict[str, Any]] = {"delete": {"fg": "red", "strikethrough": True}, "insert": {"fg": "green", "underline": True}}
#: Removed items that are named for a kept one.
MOST_MEMBERS = 10


@verb(
    "show",
    "OUT ID",
    examples=("show clean doc-17", "show clean pages/a.jsonl:41"),
    flags="json quiet verbose color",
    arguments=[click.Argument(["out"], metavar="OUT"), click.Argument(["identity"], metavar="ID")],
    verbose={"help": "Whole texts, also where long stretches are the same."},
)
def command(screen: Screen, out: str, identity: str) -> None:
    from likewise.report.originals import Originals

    folder = Path(out)
    originals = Originals(folder)
    removed = rows_of(folder / "removed.parquet", "id", identity)
    if removed:
        if len(removed) > 1:
            screen.warn(f"{counted(len(removed), 'removed item')} have this id; this is the first, and SOURCE:POSITION tells them apart")
        show_removed(screen, originals, removed[0])
        return
    members = rows_of(folder / "removed.parquet", "kept_id", identity)
    if members:
        show_kept(screen, members)
        return
    found = originals.find(identity) or place_of(originals, identity)
    if found is None:
        raise UsageError(f"no item of {out} has the id {identity!r}; {hint(folder)}")
    show_alone(screen, originals, identity, *found)


def rows_of(path: Path, column: str, identity: str) -> list[dict[str, Any]]:
    """The rows of removed.parquet whose id is the given one, or whose place is, as SOURCE:POSITION; typed numbers match numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    same = pc.is_in(table[column].cast(pa.string()), pa.array([identity, json.dumps(identity, ensure_ascii=False)]))
    source, position = split_place(identity)
    if position is not None and not pc.any(same).as_py():
        prefix = column.removesuffix("id")
        same = pc.and_(pc.equal(table[f"{prefix}source"], source), pc.equal(table[f"{prefix}position"], position))
    return table.filter(same).to_pylist()


def split_place(identity: str) -> tuple[str, int | None]:
    source, _, position = identity.rpartition(":")
    return source, int(position) if position.isdecimal() else None


def place_of(originals: Any, identity: str) -> tuple[tuple[str, int], int] | None:
    """The item at SOURCE:POSITION, where there is one."""
    from likewise.errors import DataError

    source, position = split_place(identity)
    if position is None or source not in originals.paths:
        return None
    try:
        found = originals.texts([(source, position)])
    except DataError:
        return None
    return (source, position), found[source, position].kind


def hint(folder: Path) -> str:
    import pyarrow.parquet as pq

    first = pq.read_table(folder / "removed.parquet").slice(0, 3).to_pylist()
    if not first:
        return "nothing was removed"
    return f"removed ids look like {', '.join(repr(row['id']) for row in first)}; a place is given as {first[0]['source']}:{first[0]['position']}"


def show_removed(screen: Screen, originals: Any, row: dict[str, Any]) -> None:
    from likewise.report import diff

    here, there = (row["source"], row["position"]), (row["kept_source"], row["kept_position"])
    texts = originals.texts([here, there])
    removed, kept = texts[here].text, texts[there].text
    check(screen, originals, row, texts[here], texts[there])
    runs = diff.words(removed, kept)
    if screen.json:
        sides = {"removed": {**item(row["id"], here), "text": removed}, "kept": {**item(row["kept_id"], there), "text": kept}}
        why = {name: row[name] for name in ("reason", "similarity", "cluster")}
        screen.document({"schema": SCHEMA, "status": "removed", **sides, **why, "by": originals.method["by"], "differences": runs})
        return
    screen.rows([("removed", named(row["id"], here)), ("kept", named(row["kept_id"], there)), ("why", reason(row, originals.method))], data=True)
    screen.data("")
    colored = screen.colored(sys.stdout)
    if all(kind == "equal" for kind, _ in runs):
        screen.data("The two texts are the same, character by character.\n")
    else:
        legend = " ".join(marked(kind, f"only in the {name} item", colored) for kind, name in (("delete", "removed"), ("insert", "kept")))
        screen.data(legend + "\n")
    screen.data("".join(view(runs, colored, whole=screen.verbose)))


def item(identity: object, place: tuple[str, int]) -> dict[str, Any]:
    return {"id": identity, "source": place[0], "position": place[1]}


def named(identity: object, place: tuple[str, int]) -> str:
    return harmless(f"{identity!r}  at {place[0]}:{place[1]}")


def reason(row: dict[str, Any], method: dict[str, Any]) -> str:
    by, steps = method["by"], ", ".join(method["normalize"])
    if row["reason"] == "exact":
        return "exact copy" + (f" (after {steps})" if steps else "")
    if row["similarity"] is None:
        return f"shares a bucket by {by}; similarity was not checked"
    about = "" if method["verify"] == "exact" else "about "
    return f"near-duplicate: similarity {about}{row['similarity']:.4f} by {by}, at a threshold of {method['plan']['threshold']:g}"


def check(screen: Screen, originals: Any, row: dict[str, Any], removed: Any, kept: Any) -> None:
    """Warn when the inputs are no longer those that the output was made from: the similarity of what is there now must be the recorded one."""
    from likewise import api

    method = originals.method
    if method["verify"] != "exact" or originals.tokens or method["by"].endswith("/bag"):
        return
    now = api.similarity(removed.text, kept.text, by=method["by"], normalize=",".join(method["normalize"]) or "none")
    if abs(now - row["similarity"]) > 1e-9:  # not so of two empty items, which have none
        then = f"these two texts had a similarity of {row['similarity']:.4f}, and have one of {now:.4f}"
        screen.warn(f"the inputs have changed since {originals.out} was made: {then}")


def view(runs: list[tuple[str, str]], colored: bool, *, whole: bool) -> Iterator[str]:
    """The runs of a word diff as one text."""
    for number, (kind, text) in enumerate(runs):
        if kind == "equal":
            yield harmless(text if whole else shortened(text, first=number == 0, last=number == len(runs) - 1))
        else:
            yield marked(kind, text, colored)


def shortened(text: str, *, first: bool, last: bool) -> str:
    """What is the same in both, down to the words next to a difference."""
    from likewise.report import diff

    words = diff.split(text)
    head, tail = 0 if first and not last else CONTEXT, 0 if last and not first else CONTEXT
    between = len(words) - head - tail
    if between <= CONTEXT:
        return text
    begin, end = ("".join(map("".join, part)) for part in (words[:head], words[len(words) - tail :]))
    return f"{begin}... {between:,} words that are the same ... {end}"


def marked(kind: str, text: str, colored: bool) -> str:
    """A run that is in one of the two only; its line breaks are shown, since they may be all that differs."""
    text = harmless(text)
    if colored:
        return click.style(text.replace("\n", "↵\n"), **STYLES[kind])
    begin, end = MARKS[kind]
    body = text.rstrip()
    return f"{begin}{body or text}{end}{text[len(body) :] if body else ''}"


def show_kept(screen: Screen, members: list[dict[str, Any]]) -> None:
    """A kept item that others were removed for."""
    identity, place = members[0]["kept_id"], (members[0]["kept_source"], members[0]["kept_position"])
    if screen.json:
        went = [{name: row[name] for name in ("id", "source", "position", "similarity", "reason")} for row in members]
        screen.document({"schema": SCHEMA, "status": "kept", **item(identity, place), "removed_for_it": went})
        return
    screen.data(f"{named(identity, place)} was kept; {counted(len(members), 'item')} went for it:")
    for row in members[:MOST_MEMBERS]:
        similarity = "" if row["similarity"] is None else f"  {row['similarity']:.4f}"
        screen.data(f"  {named(row['id'], (row['source'], row['position']))}  {row['reason']}{similarity}")
    if len(members) > MOST_MEMBERS:
        screen.data(f"  ... and {len(members) - MOST_MEMBERS:,} more; they are in removed.parquet")


def show_alone(screen: Screen, originals: Any, identity: str, place: tuple[str, int], kind: int) -> None:
    """An item that was not removed, and that none was removed for."""
    from likewise.records import NO_TEXT, REJECTED

    status = "rejected" if kind == REJECTED else "kept"
    if screen.json:
        screen.document({"schema": SCHEMA, "status": status, **item(identity, place), "removed_for_it": []})
        return
    alone = f"no kept item was found at or above {originals.method['plan']['threshold']:g}"
    why = {NO_TEXT: "it has no text", REJECTED: f"it could not be read; see {originals.out / 'rejected.jsonl'}"}.get(kind, alone)
    screen.data(f"{named(identity, place)} was {status}: {why}")
