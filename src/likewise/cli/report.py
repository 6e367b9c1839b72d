"""likewise report"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from likewise.cli.screen import Screen
from likewise.cli.verbs import verb
from likewise.errors import DataError

#: Removed items that the page shows beside their witnesses: near ones, from the least similar to the most, and exact copies.
NEAR, EXACT = 5, 1


@verb("report", "OUT", examples=("report clean", "report clean --json"), flags="json quiet color", arguments=[click.Argument(["out"], metavar="OUT")])
def command(screen: Screen, out: str) -> None:
    from likewise.report import html
    from likewise.report.originals import Originals, document

    folder = Path(out)
    originals = Originals(folder)
    try:
        shown = list(examples(originals))
    except DataError as error:
        screen.warn(f"the page shows no examples, since their texts cannot be read: {error}")
        shown = []
    page = html.render(document(folder / "report.json"), document(folder / "run.json"), shown)
    target, part = folder / "report.html", folder / f".report.{os.getpid()}.html"
    try:
        part.write_text(page, encoding="utf-8")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    if screen.json:
        screen.document({"schema": "likewise/report-page/1", "path": str(target.absolute()), "examples": len(shown)})
    else:
        screen.say(f"wrote {target}")


def examples(originals: Any) -> Iterator[Any]:
    """A few removed items and their witnesses with their texts, always the same ones."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from likewise.report.examples import Example

    table = pq.read_table(originals.out / "removed.parquet")
    near = table.filter(pc.equal(table["reason"], "near")).sort_by([("similarity", "ascending"), ("source", "ascending"), ("position", "ascending")])
    exact = table.filter(pc.equal(table["reason"], "exact"))
    rows = [row for of, most in ((near, NEAR), (exact, EXACT)) for row in of.take(spread(of.num_rows, most)).to_pylist()]
    texts = originals.texts({(row[f"{side}source"], row[f"{side}position"]) for row in rows for side in ("", "kept_")})
    for row in rows:
        here, there = (row["source"], row["position"]), (row["kept_source"], row["kept_position"])
        yield Example(
            row["kept_id"], there[0], row["id"], here[0], row["similarity"], row["reason"], texts[there].text, texts[here].text, there[1], here[1]
        )


def spread(number: int, most: int) -> list[int]:
    """At most so many of the places 0 to number - 1, evenly, first and last among them.

    >>> spread(100, 5), spread(2, 5), spread(9, 1), spread(0, 1)
    ([0, 24, 49, 74, 99], [0, 1], [0], [])
    """
    if number <= most:
        return list(range(number))
    return [at * (number - 1) // max(most - 1, 1) for at in range(most)]
