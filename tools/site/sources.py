"""The sources of the site, which Sphinx reads: the pages of docs/, those outside to which they link, and pages that are generated.

The pages stay as a code host shows them. docs/README.md lists all of them: its sections become the navigation. Links that lead out of docs/ become
links to the copies on the site.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import api
import notebooks

ROOT = Path(__file__).resolve().parents[2]
#: The page that lists all pages. It is the first page of the site.
INDEX = "docs/README.md"
#: Pages outside docs/, and their places on the site.
OUTSIDE = {"README.md": "readme.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "benchmarks/README.md": "benchmarks.md"}
#: A link of Markdown: its text in brackets, then its target.
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")
#: The first line of a block of code with a title, and what shows the title on the site.
TITLED, CAPTION = re.compile(r'(?m)^```(\w+) title="([^"]*)"$'), r"```{code-block} \1\n:caption: \2\n"
#: Code, in which nothing is a link.
CODE = re.compile(r"(?ms)^```.*?^```|^ {4}[^\n]*$")


def linked(text: str, page: str) -> dict[str, str]:
    """The pages in the first column of the tables of a page, relative to the project, and their titles there."""
    found = re.findall(r"(?m)^\| \[([^\]]*)\]\(([^)#\s]+)\) \|", text)
    return {os.path.normpath(os.path.join(os.path.dirname(page), link)): title for title, link in found}


def place(path: str) -> str:
    """The place on the site of a file of the project. A README is the page of its folder, and a notebook becomes Markdown."""
    name = OUTSIDE.get(path) or path.removeprefix("docs/")
    return re.sub(r"\.ipynb$", ".md", re.sub(r"(^|/)README\.md$", r"\1index.md", name))


@dataclass
class Section:
    """A section of docs/README.md. ``groups`` has its pages and their titles by the headings below it, at first without a heading (None)."""

    title: str
    text: str
    groups: dict[str | None, dict[str, str]]

    @property
    def pages(self) -> dict[str, str]:
        return {page: title for pages in self.groups.values() for page, title in pages.items()}

    @property
    def own(self) -> str | None:
        """The page of the project that is the page of this section: a README that is listed first."""
        first = next(iter(self.pages))
        return first if first.endswith("/README.md") else None

    @property
    def at(self) -> str:
        """The place of the page of this section."""
        folder = os.path.dirname(place(next(iter(self.pages))))
        return f"{folder}/index.md" if folder else f"{self.title.lower().replace(' ', '-')}.md"


def sections() -> list[Section]:
    """The sections of docs/README.md that list pages."""
    found = []
    for part in re.split(r"(?m)^## ", (ROOT / INDEX).read_text())[1:]:
        title, _, text = part.partition("\n")
        first, *others = re.split(r"(?m)^### ", text)
        groups = {None: linked(first, INDEX), **{other.partition("\n")[0]: linked(other, INDEX) for other in others}}
        if groups := {name: pages for name, pages in groups.items() if pages}:
            found.append(Section(title, text, groups))
    return found


def children(page: str) -> dict[str, str]:
    """The pages in the same folder that a README lists. The navigation calls them by their own titles."""
    if not page.endswith("/README.md"):
        return {}
    return {other: "" for other in linked((ROOT / page).read_text(), page) if os.path.dirname(other) == os.path.dirname(page)}


@dataclass
class Sources:
    """``pages``: place on the site -> text. ``files``: place on the site -> file of the project, for pictures and other targets of links."""

    pages: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def relinked(self, text: str, page: str, at: str) -> str:
        """The text of a page, with links for its place on the site. A link to a folder becomes its text, because the site has no page for it."""

        def target(match: re.Match[str]) -> str:
            label, link = match.groups()
            path, hash_, anchor = link.partition("#")
            if "://" in link or not path:
                return match[0]
            path = os.path.normpath(os.path.join(os.path.dirname(page), path))
            if (ROOT / path).is_dir():
                return label[1:-1]
            if not path.endswith((".md", ".ipynb")):
                self.files[place(path)] = path
            return f"{label}({os.path.relpath(place(path), os.path.dirname(at) or '.')}{hash_}{anchor})"

        parts, last = [], 0
        for code in CODE.finditer(text):
            parts += [LINK.sub(target, text[last : code.start()]), code[0]]
            last = code.end()
        return TITLED.sub(CAPTION, "".join([*parts, LINK.sub(target, text[last:])]))

    def add(self, page: str) -> None:
        """Add a page of the project, and those that it lists if it is the page of a folder."""
        text = (ROOT / page).read_text()
        at = place(page)
        self.pages[at] = self.relinked(notebooks.markdown(text) if page.endswith(".ipynb") else text, page, at)
        for child in (below := children(page)):
            self.add(child)
        if below:
            self.pages[at] += toctree(placed(below), at)

    def write(self, folder: Path) -> None:
        """Write the sources. Files that have not changed stay, and those that are no longer needed go, so that Sphinx reads what is new."""
        for at, text in self.pages.items():
            target = folder / at
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_text() != text:
                target.write_text(text)
        for at, path in self.files.items():
            (folder / at).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, folder / at)
        for old in folder.rglob("*"):
            if old.is_file() and str(old.relative_to(folder)) not in {*self.pages, *self.files}:
                old.unlink()


def placed(pages: dict[str, str]) -> dict[str, str]:
    """Place on the site -> title."""
    return {place(page): title for page, title in pages.items()}


def toctree(titles: dict[str, str], at: str, caption: str | None = None) -> str:
    """A hidden list of pages, which the navigation shows. titles: place on the site -> title, or "" for that of the page."""
    names = [(os.path.splitext(os.path.relpath(place, os.path.dirname(at) or "."))[0], title) for place, title in titles.items()]
    lines = [f"{title} <{name}>" if title else name for name, title in names]
    return "\n".join(["", "", "```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), "", *lines, "```", ""])


def sources() -> Sources:
    """All sources of the site."""
    made, listed = Sources(), sections()
    for section in listed:
        for page in section.pages:
            made.add(page)
        if not section.own:
            text = re.sub(r"(?m)^### ", "## ", section.text)
            made.pages[section.at] = f"# {section.title}\n{made.relinked(text, INDEX, section.at)}"
        below = {section.own, *children(section.own)} if section.own else set()
        for group, pages in section.groups.items():
            if others := {page: title for page, title in pages.items() if page not in below}:
                made.pages[section.at] += toctree(placed(others), section.at, group)
    made.pages |= api.pages()
    made.pages[api.SECTION] += api.links() + toctree(api.titles(), api.SECTION, api.CAPTION)
    text = made.relinked((ROOT / INDEX).read_text(), INDEX, "index.md")
    made.pages["index.md"] = text + toctree({section.at: section.title for section in listed}, "index.md")
    return made
