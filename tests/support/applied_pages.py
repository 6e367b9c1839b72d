"""A copy of the project with the code of pages in docs/contribute/ applied to it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("src", "tests", "docs", "tools", "benchmarks", "README.md", "CHANGELOG.md", "LICENSE", "CONTRIBUTING.md", "pyproject.toml")
BLOCK = re.compile(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, str, str]]:
    """The blocks of code with a title: (language, title, content)."""
    return BLOCK.findall(page)


def copied(folder: Path) -> Path:
    """A copy of the project in a folder."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*", "*.svg.gz"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def apply(page: str, project: Path) -> list[Path]:
    """Write the files of a page and edit those that it edits; returns them.

    A block of Python is a whole new file. In a diff, the lines before the change must stand in the file once.
    """
    changed = []
    for language, title, content in blocks(page):
        path = project / title
        if language == "python":
            assert not path.exists(), title
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        elif language == "diff":
            lines = content.splitlines()
            assert all(line[:1] in "+- " for line in lines), content
            before, after = ("\n".join(line[1:] for line in lines if line[:1] != sign) for sign in "+-")
            text = path.read_text()
            assert text.count(before) == 1, f"{title} has {text.count(before)} times:\n{before}"
            path.write_text(text.replace(before, after))
        else:
            continue
        changed.append(path)
    return changed
