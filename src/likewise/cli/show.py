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
from likewise.errors import LikewiseError, UsageError

SCHEMA = "likewise/show/1"
#: Words that stay at each end of a long stretch that is the same in both; -v shows all.
CONTEXT = 15
#: How what differs is marked: (kind of run) -> (begin, end) without colours, and the style with them.
MARKS = {"delete": ("[-", "-]"), "insert": ("{+", "+}")}
STYLES: dict[str, dict[str, Any]] = {"delete": {"fg": "red", "strikethrough": True}, "insert": {"fg": "green", "underline": True}}
#: Kind of payload (records.PAYLOADS) -> what an item is.
NOUNS = {"text": "text", "tokens": "token ids", "elements": "elements", "weighted": "elements", "vector": "vector", "code": "code", "string": "text"}
#: Removed items that are named for a kept one.
MOST_MEMBERS = 10


@verb(
    "show",
    "OUT ID",
    examples=("show clean doc-17", "show clean pages/a.jsonl:41"),
    flags="json quiet verbose color",
    arguments=[click.Argument(["out"], metavar="OUT"), click.Argument(["identity"], metavar="ID")],
    verbose={"help": "Everything, also where it is long or the same in both."},
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
        show_kept(screen, members, originals.value)
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
    from likewise.report import values

    here, there = (row["source"], row["position"]), (row["kept_source"], row["kept_position"])
    texts = originals.texts([here, there])
    removed, kept = texts[here], texts[there]
    check(screen, originals, row, removed, kept)
    kind = originals.want.kind
    runs = values.runs(kind, removed.text, kept.text) if kind in (*values.WORDS, *values.SIGNS) else None
    if screen.json:
        sides = {"removed": {**item(row["id"], here), **held(removed, kind)}, "kept": {**item(row["kept_id"], there), **held(kept, kind)}}
        why = {name: row[name] for name in ("reason", originals.value, "cluster")}
        found = {"differences": runs} if runs is not None else {}
        screen.document({"schema": SCHEMA, "status": "removed", **sides, **why, "by": originals.method["by"], **found})
        return
    screen.rows([("removed", named(row["id"], here)), ("kept", named(row["kept_id"], there)), ("why", reason(row, originals))], data=True)
    screen.data("")
    if runs is not None:
        show_runs(screen, runs)
    else:
        screen.rows(beside(kind, removed.text, kept.text, whole=screen.verbose), data=True)


def held(found: Any, kind: str) -> dict[str, Any]:
    """What an item holds, for JSON."""
    from likewise.report import values

    return {"text": found.text} if kind in (*values.WORDS, *values.SIGNS) else {"value": values.plain(kind, found.text)}


def show_runs(screen: Screen, runs: list[tuple[str, str]]) -> None:
    """Two texts in one, with what differs marked."""
    colored = screen.colored(sys.stdout)
    if all(kind == "equal" for kind, _ in runs):
        screen.data("The two texts are the same, character by character.\n")
    else:
        legend = " ".join(marked(kind, f"only in the {name} item", colored) for kind, name in (("delete", "removed"), ("insert", "kept")))
        screen.data(legend + "\n")
    screen.data("".join(view(runs, colored, whole=screen.verbose)))


def beside(kind: str, removed: str, kept: str, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Two items one under the other: of sets what both hold, and what one of them does."""
    from likewise.report import values

    if (found := values.parts(kind, removed, kept)) is None:
        for name, text in (("removed", removed), ("kept", kept)):
            yield name, harmless(text if whole else values.shortened(kind, text))
        return
    for name, elements in (("in both", found.both), ("removed", found.removed), ("kept", found.kept)):
        said = ", ".join(elements) if whole else values.listed(elements, "element")
        more = " more" * (name != "in both")
        yield name, f"{counted(len(elements), f'element{more}', f'elements{more}')}{': ' * bool(elements)}{harmless(said)}"


def item(identity: object, place: tuple[str, int]) -> dict[str, Any]:
    return {"id": identity, "source": place[0], "position": place[1]}


def named(identity: object, place: tuple[str, int]) -> str:
    return harmless(f"{identity!r}  at {place[0]}:{place[1]}")


def reason(row: dict[str, Any], originals: Any) -> str:
    method, value = originals.method, originals.value
    by, steps = method["by"], ", ".join(method["normalize"])
    if row["reason"] == "exact":
        return "exact copy" + (f" (after {steps})" if steps else "")
    if row[value] is None:
        return f"shares a bucket by {by}; {value} was not checked"
    about = "" if method["verify"] == "exact" else "about "
    grouped = " in groups" if method.get("groups") else ""
    limit = f"{'within' if value == 'distance' else 'at a threshold of'} {originals.report['threshold']:g}"
    return f"near-duplicate: {value} {about}{digits(row[value], value)} by {by}{grouped}, {limit}"


def digits(value: float, name: str) -> str:
    """A similarity to four places; a distance, which may be large or small, in five digits."""
    return f"{value:.5g}" if name == "distance" else f"{value:.4f}"


def check(screen: Screen, originals: Any, row: dict[str, Any], removed: Any, kept: Any) -> None:
    """Warn when the inputs are no longer those that the output was made from: what is there now must be as alike as was recorded."""
    from likewise import api

    method, then = originals.method, row[originals.value]
    if method["verify"] != "exact" or method.get("groups") or then is None or method["by"].endswith("/bag"):
        return
    steps = ",".join(method["normalize"]) or "none" if originals.want.kind in ("text", "tokens") else None
    try:
        now = api.similarity(removed.item, kept.item, by=method["by"], normalize=steps)
    except LikewiseError:  # such as for vectors that are not of one length any more
        now = None
    if now is None or abs(now - then) > 1e-9 * max(1, abs(then)):  # not so of two empty items, which have none
        name = originals.value
        now_have = f"and have one of {digits(now, name)}" if now is not None else "and have none now"
        screen.warn(f"the inputs have changed since {originals.out} was made: these two items had a {name} of {digits(then, name)}, {now_have}")


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


def show_kept(screen: Screen, members: list[dict[str, Any]], value: str) -> None:
    """A kept item that others were removed for."""
    identity, place = members[0]["kept_id"], (members[0]["kept_source"], members[0]["kept_position"])
    if screen.json:
        went = [{name: row[name] for name in ("id", "source", "position", value, "reason")} for row in members]
        screen.document({"schema": SCHEMA, "status": "kept", **item(identity, place), "removed_for_it": went})
        return
    screen.data(f"{named(identity, place)} was kept; {counted(len(members), 'item')} went for it:")
    for row in members[:MOST_MEMBERS]:
        alike = "" if row[value] is None else f"  {digits(row[value], value)}"
        screen.data(f"  {named(row['id'], (row['source'], row['position']))}  {row['reason']}{alike}")
    if len(members) > MOST_MEMBERS:
        screen.data(f"  ... and {len(members) - MOST_MEMBERS:,} more; they are in removed.parquet")


def show_alone(screen: Screen, originals: Any, identity: str, place: tuple[str, int], kind: int) -> None:
    """An item that was not removed, and that none was removed for."""
    from likewise.records import NO_TEXT, REJECTED

    status = "rejected" if kind == REJECTED else "kept"
    if screen.json:
        screen.document({"schema": SCHEMA, "status": status, **item(identity, place), "removed_for_it": []})
        return
    limit = f"{'within' if originals.value == 'distance' else 'at or above'} {originals.report['threshold']:g}"
    nothing = f"it has no {NOUNS[originals.want.kind]}"
    why = {NO_TEXT: nothing, REJECTED: f"it could not be read; see {originals.out / 'rejected.jsonl'}"}.get(kind, f"no kept item was found {limit}")
    screen.data(f"{named(identity, place)} was {status}: {why}")
