"""The text of documentation pages."""

from __future__ import annotations

import re


def anchor_of(heading: str) -> str:
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def python_of(page: str) -> list[str]:
    """The blocks of Python code on a page."""
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


def blocks_of(page: str) -> list[tuple[str, str, str]]:
    """The fenced blocks of a page: (language, title, content). Those with another tool have the title ``With TOOL``; those of likewise have none."""
    return re.findall(r'^```(\w+)(?: title="([^"\n]+)")?\n(.*?)^```$', page, re.DOTALL | re.MULTILINE)


def said_by(code: str) -> list[str]:
    """The output that code on a page states: behind ``print(...)  #``, or in lines that begin with ``# ``."""
    return [line.rstrip() for line in re.findall(r"(?m)(?:print\(.*?#|^#) (.+)$", code)]


def without_blocks(page: str) -> str:
    """The page without its blocks of code."""
    return re.sub(r"(?ms)^```.*?^```", "", page)
