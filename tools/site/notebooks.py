"""Notebooks as pages of Markdown."""

from __future__ import annotations

import json


def markdown(text: str) -> str:
    """The page of a notebook, whose outputs are part of it."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts += [f"```python\n{source}\n```", *map(output, cell["outputs"])]
    return "\n\n".join(parts) + "\n"


def output(one: dict) -> str:
    """An output of a cell: HTML where it has that, a picture, or text."""
    if one["output_type"] == "stream":
        return block("".join(one["text"]))
    data = {kind: "".join(value) if isinstance(value, list) else value for kind, value in one["data"].items()}
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            return '```{raw} html\n<div class="cell-output">\n' + data[kind].strip() + "\n</div>\n```"
    return block(data["text/plain"])


def block(text: str) -> str:
    """Text that a cell printed."""
    return "```{code-block} none\n:class: cell-output\n\n" + text.rstrip("\n") + "\n```"
