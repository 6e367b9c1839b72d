"""likewise schema"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import click

from likewise.cli.flag_options import completed
from likewise.cli.screen import Screen
from likewise.cli.verbs import unknown, verb

#: All documents, and the definitions that they share.
SCHEMAS: dict[str, Any] = json.loads(Path(__file__).with_name("schemas.json").read_text(encoding="utf-8"))
#: The documents: the name in the middle of likewise/NAME/1 -> its schema.
DOCUMENTS = {name: schema for name, schema in SCHEMAS["$defs"].items() if "schema" in schema.get("properties", ())}
#: Verbs that print a document of another name.
PRINTED = {"dedup": "report", "demo": "report"}


@verb(
    "schema",
    "[NAME]",
    examples=("schema dedup", "schema pairs > pairs.schema.json"),
    arguments=[
        click.Argument(["name"], metavar="[NAME]", required=False, shell_complete=lambda _, __, typed: completed([*DOCUMENTS, *PRINTED], typed)),
    ],
    notes="\n".join(
        [
            "NAME: a document, or a verb with --json. Without it, all are printed. Documents:",
            textwrap.indent(textwrap.fill(", ".join(DOCUMENTS), 76, break_on_hyphens=False), "  "),
        ]
    ),
)
def command(screen: Screen, name: str | None = None) -> None:
    screen.data(json.dumps(SCHEMAS if name is None else schema_of(name), indent=2))


def schema_of(name: str) -> dict[str, Any]:
    """The schema of a document, with the definitions that it refers to. Raises click.UsageError."""
    name = PRINTED.get(name, name.removeprefix("likewise/").removesuffix("/1"))
    if name not in DOCUMENTS:
        raise unknown("schema", name, [*DOCUMENTS, *PRINTED])
    needed: dict[str, Any] = {}
    found = [DOCUMENTS[name]]
    while found:
        for other in re.findall(r'"#/\$defs/([^"]+)"', json.dumps(found.pop())):
            if other not in needed:
                needed[other] = SCHEMAS["$defs"][other]
                found.append(needed[other])
    title = DOCUMENTS[name]["properties"]["schema"]["const"]
    return {"$schema": SCHEMAS["$schema"], "title": title, **DOCUMENTS[name], "$defs": dict(sorted(needed.items()))}
