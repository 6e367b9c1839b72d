"""The pages of the reference that are generated from docstrings, one for each group of public names of likewise."""

from __future__ import annotations

import inspect
from types import ModuleType

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


#: The page of classes without a public name, from which public ones inherit methods.
BASES = "Base classes"


def titles() -> dict[str, str]:
    """Place on the site -> title of the page."""
    named = {page: title for page, (title, _) in GROUPS.items()} | MODULES | {"base-classes": BASES}
    return {f"reference/api/{page}.md": title for page, title in named.items()}


def pages() -> dict[str, str]:
    """Place on the site -> text of the page."""
    grouped = [name for _, names in GROUPS.values() for name in names.split()]
    if sorted([*grouped, *MODULES]) != sorted(lw.__all__):
        raise ValueError(f"tools/site/api.py has to list each public name once: {sorted({*grouped, *MODULES} ^ {*lw.__all__})}")
    texts = ["\n\n".join(documented(lw, name) for name in names.split()) for _, names in GROUPS.values()]
    modules = [getattr(lw, name) for name in MODULES]
    for module in modules:
        texts.append("\n\n".join([f".. automodule:: {module.__name__}", *(documented(module, name) for name in module.__all__)]))
    texts.append("\n\n".join(documented(inspect.getmodule(base), base.__name__) for base in bases([lw, *modules])))
    return {at: f"# {title}\n\n```{{eval-rst}}\n{text}\n```\n" for (at, title), text in zip(titles().items(), texts, strict=True)}


def links() -> str:
    """The links to these pages, for the page of the section."""
    rows = [f"| [{title}](api/{page}.md) | {', '.join(f'`lw.{name}`' for name in names.split())} |" for page, (title, names) in GROUPS.items()]
    rows += [f"| [{title}](api/{name}.md) | `lw.{name}` |" for name, title in MODULES.items()]
    rows += [f"| [{BASES}](api/base-classes.md) | methods that several public classes have |"]
    return "\n".join([f"\n## {CAPTION}\n", "| page | names |", "|---|---|", *rows, ""])


def documented(module: ModuleType, name: str) -> str:
    """The directive that documents a name of a module. Data have their place in the docstring of the module."""
    one = getattr(module, name)
    if inspect.isclass(one):
        bases = "" if one.__bases__ == (object,) else "\n   :show-inheritance:"
        return f".. autoclass:: {module.__name__}.{name}\n   :members:{bases}"
    return f".. autofunction:: {module.__name__}.{name}" if callable(one) else ""


def bases(modules: list[ModuleType]) -> list[type]:
    """The classes of likewise without a public name from which public classes inherit."""
    public = [one for module in modules for one in (getattr(module, name) for name in module.__all__) if inspect.isclass(one)]
    found = dict.fromkeys(base for one in public for base in one.__mro__ if base.__module__.startswith("likewise."))
    return [base for base in found if base not in public]
