"""A Sphinx extension for the docstrings of likewise.

``name: text`` describes a parameter, so its paragraph becomes a list of parameters. Names of pages, such as docs/reference/outputs.md, become links.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

#: The parameter that takes unknown options, to name the valid ones in an error.
HIDDEN = "unknown"


def names_of(one: Any) -> set[str]:
    """The names of the parameters of a function, or of the fields of a class."""
    try:
        return set(inspect.signature(one).parameters)
    except (TypeError, ValueError):
        return set()


def listed(app: Any, what: str, name: str, one: Any, options: Any, lines: list[str]) -> None:
    """Make fields of the lines that begin with parameters and of those that continue them."""
    names, made, inside = names_of(one), [], False
    for line in lines:
        line = re.sub(r"(?<!\S)docs/([\w/-]+)\.md", r":doc:`/\1`", line)
        begin = re.match(r"((?:\w+, )*\w+): (.+)", line)
        if begin and names.issuperset(begin[1].split(", ")):
            made += [*([] if inside or not made or not made[-1] else [""]), f":param {begin[1]}: {begin[2]}"]
            inside = True
        else:
            inside = inside and bool(line.strip())
            made.append(f"    {line}" if inside else line)
    lines[:] = made


def shown(app: Any, what: str, name: str, one: Any, options: Any, signature: str | None, returned: str | None) -> tuple[str | None, str | None]:
    """The signature without the parameter that nobody passes."""
    return (re.sub(rf",? \*\*{HIDDEN}(: \w+)?", "", signature) if signature else signature), returned


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", listed)
    app.connect("autodoc-process-signature", shown)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
