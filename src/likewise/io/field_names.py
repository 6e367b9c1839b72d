"""The syntax of --field: ``A|B`` takes the first of two fields, ``A+B`` joins them, ``NAME@GLOB`` is for some sources, ``a.b``, ``a[].b`` go inside.

A column with exactly such a name takes precedence over the meaning of its signs.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence

from likewise.choices import AT
from likewise.records import Want


def mapped(entries: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(field, glob) of entries ``FIELD@GLOB``."""
    return tuple((name, pattern) for name, _, pattern in (entry.rpartition(AT) for entry in entries))


def of_source(want: Want, name: str) -> Want:
    """The Want for the source of this name: the first glob that matches names its field."""
    if not want.mapped:
        return want
    text = next((field for field, pattern in want.mapped if fnmatch.fnmatchcase(name, pattern)), want.text)
    return want._replace(text=text, mapped=())


def alternatives(text: str) -> list[str]:
    """The fields of which the first that a record has is taken.

    >>> alternatives("title+text|content")
    ['title+text', 'content']
    """
    return text.split("|")


def mentioned(text: str) -> list[str]:
    """All names in a field.

    >>> mentioned("title+text|content")
    ['title', 'text', 'content']
    """
    return re.split(r"[|+]", text)


def literals(text: str) -> list[str]:
    """The names with signs in them that a column may literally have, in order of precedence.

    >>> literals("a+b|c"), literals("a+b"), literals("a.b")
    (['a+b|c', 'a+b'], ['a+b'], [])
    """
    return [name for name in dict.fromkeys((text, *alternatives(text))) if "|" in name or "+" in name]


def steps(name: str) -> tuple[list[str], bool]:
    """The keys of a path from the outside inwards, and whether the strings of a list are meant at its end. Lists on the way need no sign.

    >>> steps("data[].text"), steps("data.text"), steps("tags[]")
    ((['data', 'text'], False), (['data', 'text'], False), (['tags'], True))
    """
    return [step.removesuffix("[]") for step in name.split(".")], name.endswith("[]")


def beginnings(text: str) -> set[str]:
    """The keys with which the paths of a field begin, and the names themselves."""
    return {name for whole in (text, *mentioned(text)) for name in (whole, steps(whole)[0][0])}


def top(name: str, there: Sequence[str]) -> str:
    """The column that a name begins with."""
    return name if name in there else steps(name)[0][0]
