"""The pages of the reference that are generated from docstrings, one for each group of public names of likewise."""

from __future__ import annotations

import importlib
import inspect

import likewise as lw

#: The section of the navigation that has them, and their caption there.
SECTION, CAPTION = "reference/index.md", "From the docstrings"
#: The title of each page, and the public names on it.
GROUPS = {
    "functions": ("Functions", "dedup pairs neighbors quotes repeats audit plan frequent similarity sketch"),
    "index-and-client": ("Index and client", "Index Client Added Answers"),
    "results": ("Results", "Table Removal Pairs Quotes Repeats FrequentPairs Audit Planted Plan"),
    "methods": ("Methods and progress", "Text Words Chars Measure Progress"),
    "exceptions": ("Exceptions", "LikewiseError UsageError IdError DataError FormatError MissingPartError"),
}
#: Public modules, with the titles of their pages.
MODULES = {"families": "Classes of hash families", "lecture": "Functions of the course"}


def titles() -> dict[str, str]:
    """Place on the site -> title of the page."""
    return {f"reference/api/{page}.md": title for page, (title, _) in GROUPS.items()} | {
        f"reference/api/{page}.md": MODULES[page] for page in MODULES
    }


def pages() -> dict[str, str]:
    """Place on the site -> text of the page."""
    grouped = [name for _, names in GROUPS.values() for name in names.split()]
    if sorted([*grouped, *MODULES]) != sorted(lw.__all__):
        raise ValueError(f"tools/site/api.py has to list each public name once: {sorted({*grouped, *MODULES} ^ {*lw.__all__})}")
    made = {f"reference/api/{page}.md": written(title, "likewise", names.split()) for page, (title, names) in GROUPS.items()}
    for name, title in MODULES.items():
        module = getattr(lw, name)
        made[f"reference/api/{name}.md"] = written(title, module.__name__, module.__all__, head=f".. automodule:: {module.__name__}")
    return made


def links() -> str:
    """The links to these pages, for the page of the section."""
    rows = [f"| [{title}](api/{page}.md) | {', '.join(f'`lw.{name}`' for name in names.split())} |" for page, (title, names) in GROUPS.items()]
    rows += [f"| [{title}](api/{name}.md) | `lw.{name}` |" for name, title in MODULES.items()]
    return "\n".join([f"\n## {CAPTION}\n", "| page | names |", "|---|---|", *rows, ""])


def written(title: str, module: str, names: list[str], head: str = "") -> str:
    """A page that documents names of a module."""
    blocks = [head] if head else []
    for name in names:
        one = getattr(importlib.import_module(module), name)
        if inspect.isclass(one):
            blocks.append(f".. autoclass:: {module}.{name}\n   :members:\n   :show-inheritance:")
        elif callable(one):
            blocks.append(f".. autofunction:: {module}.{name}")
    return "\n".join([f"# {title}", "", "```{eval-rst}", "\n\n".join(blocks), "```", ""])
