"""The text of documentation pages."""

from __future__ import annotations

import re


def anchor_of(heading: str) -> str:
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def python_of(page: str) -> list[str]:
    """The blocks of Python code on a page."""
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


def without_blocks(page: str) -> str:
    """The page without its blocks of code."""
    return re.sub(r"(?ms)^```.*?^```", "", page)
