"""The documentation says what the program does."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import grimp
import pytest

import likewise as lw
from command_line import run
from likewise import families, kinds
from likewise.cli.flags import FLAGS
from likewise.drawing.numbers import by_reason
from likewise.items.normalize import normalize
from likewise.methods import STEPS, SUFFIXES, UNITS, Measure, Text, parse, steps
from pages import anchor_of, python_of, said_by, without_blocks

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "benchmarks").glob("*.md"))]


def loaded(tool: Path) -> ModuleType:
    """A script of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(tool.stem, tool)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_flags_is_the_table_of_flags():
    assert (ROOT / "docs/reference/flags.md").read_text() == loaded(ROOT / "tools/make_flags_page.py").page()


def first_table(page: str) -> list[list[str]]:
    """The cells of a page's first table, without its head."""
    return table((ROOT / page).read_text())


def table(text: str) -> list[list[str]]:
    """The cells of the first table of a text, without its head."""
    lines = re.search(r"(?m)^\|-.*\n((?:\|.*\n)+)", text)[1].splitlines()
    return [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_the_table_of_families_is_the_registry():
    """Each with its constructor's fields. One with several curves is listed once for each, with the field that chooses it."""
    calls = [row[0].strip("`") for row in first_table("docs/reference/families.md")]
    assert {call.partition("(")[0] for call in calls} == set(families.FAMILIES)
    for call in calls:
        name, _, given = call.removesuffix(")").partition("(")
        fields = [
            field.name
            + ("" if field.default is field.empty else "=" + (f'"{field.default}"' if isinstance(field.default, str) else str(field.default)))
            for field in inspect.signature(getattr(families, name)).parameters.values()
        ]
        assert given.replace('norm="l1"', 'norm="l2"') == ", ".join(fields)


def test_the_page_of_families_names_what_they_can_do():
    page = (ROOT / "docs/reference/families.md").read_text()
    made = [getattr(families, name) for name in families.FAMILIES]
    helpers = {"chart", "checked", "with_slots", "probability_of"}
    public = {name for family in made for name, _ in inspect.getmembers(family, inspect.isfunction) if not name.startswith("_")} - helpers
    assert {name for name in public | {"agree", "from_plan"} if f"`{name}(" not in page and f" `{name}`" not in page} == set()


def test_the_page_of_python_names_all_that_is_public():
    pages = (ROOT / "docs/reference/python.md").read_text() + (ROOT / "docs/reference/outputs.md").read_text()
    assert [name for name in lw.__all__ if not re.search(rf"\blw\.{name}\b", pages)] == []


def test_the_table_of_measures_is_the_registry():
    rows = first_table("docs/reference/measures.md")
    names = {name for row in rows for name in re.findall(r"`([^`]+)`", row[0])} - {"groups="}
    assert {name.removeprefix(".../") for name in names if name.startswith("...")} == set(SUFFIXES)
    methods = [parse(name) for name in names if not name.startswith("...")]
    assert {method.unit for method in methods if isinstance(method, Text)} <= set(UNITS)
    named = {"lr" if method.name == "lr" else str(method) for method in methods if isinstance(method, Measure)}
    assert named == {*kinds.measures(), "lr", "elements/containment"}
    for cell, items, _, _, kind, _ in rows:
        for name in set(re.findall(r"`([^`]+)`", cell)) & set(kinds.measures()):
            assert kinds.kind_of(name).name in items
            assert kind == ("distance" if kinds.measure(name).distance else "similarity")


def test_the_table_of_steps_shows_what_they_do():
    page = (ROOT / "docs/reference/measures.md").read_text().partition("## Normalization")[2]
    named = []
    for row in table(page):
        names, (before, *chosen), [after] = (re.findall("`([^`]+)`", cell) for cell in (row[0], *row[2:]))
        named += names
        before = before.replace("\\u00ad", "\u00ad").replace("\\t", "\t").replace("\\n", "\n")
        assert normalize(before, steps(*chosen or names)) == after
    assert named == [STEPS[0], "re:REGEX", *STEPS[1:]]


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page."""
    return set(map(anchor_of, re.findall(r"(?m)^#+ (.+)$", without_blocks(page.read_text()))))


def test_links_lead_somewhere():
    for page in PAGES:
        for link, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", page.read_text()):
            if not link.startswith("https://"):
                target = page.parent / link if link else page
                assert target.exists(), f"{page.name} links to {link}"
                assert not anchor or anchor in anchors(target), f"{page.name} links to {link}#{anchor}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: f"{page.parent.name}/{page.name}")
def test_no_line_of_a_paragraph_begins_like_an_item_of_a_list(page):
    """Such as a minus sign at a line break, which would be shown as a bullet."""
    paragraphs = [
        block
        for block in re.split(r"\n\s*\n", without_blocks(page.read_text()))
        if re.match(r"\w|[*`(\[]\S", block) and not re.match(r"\d+\. ", block)
    ]
    assert [line for block in paragraphs for line in block.splitlines() if re.match(r"([-+*]|\d+[.)]) ", line)] == []


#: The glossary has similar, expected recall, overfull bucket, representative, rejected, normalize and reference implementation in their place.
AVOIDED = re.compile(r"\b(alike|promise[sd]?|crowds?|crowded|witness(es)?|set aside|evens? out|evened|twins?)\b", re.IGNORECASE)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: f"{page.parent.name}/{page.name}")
def test_pages_use_the_words_of_the_glossary(page):
    """Code is exempt: it quotes names of columns and messages."""
    prose = re.sub(r"(?ms)^```.*?^```|`[^`]*`|^    .*?$", "", page.read_text())
    assert [found[0] for found in AVOIDED.finditer(prose)] == []


FOR_USERS = [ROOT / "README.md", ROOT / "docs/tutorial.md", ROOT / "docs/reference/glossary.md"]


@pytest.mark.parametrize("page", FOR_USERS, ids=lambda page: page.stem)
def test_flags_on_pages_for_users_exist(page):
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page.read_text()))
    flags = {name for flag in FLAGS.values() for name in flag.names.split()} | {"--help", "--help-all", "--version", "--compile"}
    assert named <= flags


def test_the_figure_of_the_readme_is_what_the_tool_draws():
    tool = loaded(ROOT / "tools/make_readme_figure.py")
    assert tool.FILE.read_text() == tool.chart(), "run tools/make_readme_figure.py"
    assert str(tool.FILE.relative_to(ROOT)) in (ROOT / "README.md").read_text()


WITH_PYTHON = [page for page in PAGES if "```python\n" in page.read_text()]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.stem)
def test_python_on_a_page_prints_what_it_says(page, capsys, tmp_path, monkeypatch):
    """The blocks of a page run one after the other. Those with other tools run in test_other_tools.py.

    A chart that a block writes is the figure of this name in ``figures``.
    """
    code = "\n".join(python_of(page.read_text()))
    (tmp_path / "docs").symlink_to(ROOT / "docs")  # pages read the data in docs/
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == said_by(code)
    for figure in tmp_path.glob("*.svg"):
        assert figure.read_text() == (page.parent / "figures" / figure.name).read_text(), f"{figure.name}: run tools/make_figures.py"


def test_the_figures_are_what_the_tool_draws():
    tool = loaded(ROOT / "tools/make_figures.py")
    for name, draw in tool.FIGURES.items():
        assert (tool.FOLDER / name).read_text() == draw(), f"{name}: run tools/make_figures.py"


def test_a_figure_is_shown_and_is_made_by_a_tool_or_by_code_on_its_page():
    made = {path.resolve() for path in (ROOT / "docs").rglob("figures/*.svg")}
    shown, written = set(), set()
    for page in (ROOT / "docs").rglob("*.md"):
        text = page.read_text()
        shown |= {(page.parent / link).resolve() for link in re.findall(r"\]\(([^)]*figures/[\w-]+\.svg)\)", text)}
        written |= {(page.parent / "figures" / name).resolve() for name in re.findall(r'Path\("([\w-]+\.svg)"\)\.write_text', text)}
    tool = loaded(ROOT / "tools/make_figures.py")
    assert made == shown == written | {tool.FOLDER / name for name in tool.FIGURES}


def test_the_summary_in_the_readme_is_what_the_program_prints(tmp_path):
    """The lines of a run with removals of every kind, and numbers that add up."""
    block = re.search(r"\$ likewise dedup \S+ -o clean\n((?:\w+ +.*\n)+)", (ROOT / "README.md").read_text())[1]
    shown = {label: rest.strip() for label, rest in re.findall(r"(\w+) +(.+)", block)}
    words = [f"w{i}" for i in range(100)]
    texts = [" ".join(words), " ".join(words), " ".join([*words, *words[:5], words[5], *words[6:]]), " ".join([*words[:99], "other"]), "else"]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts)))
    done = run("dedup", str(tmp_path / "pages.jsonl"), "-o", str(tmp_path / "clean"), "--by", "words:1")
    printed = {line.split()[0]: line.split(maxsplit=1)[1].strip() for line in done.stderr.splitlines() if line[:1].isalpha()}
    assert [*shown] == [label for label in printed if label in shown]
    removed = [int(number.replace(",", "")) for number in re.findall(r"[0-9][0-9,]*", shown["removed"])]
    total, exact, equal, near = removed
    counts = {"removed_exact": exact, "removed_equal": equal, "removed_near": near}
    assert shown["removed"] == f"{total:,}  ({', '.join(by_reason(counts))})"
    assert printed["removed"] == f"3  ({', '.join(by_reason(dict.fromkeys(counts, 1)))})"
    read, kept = (int(shown[label].split()[0].replace(",", "")) for label in ("read", "kept"))
    assert total == exact + equal + near == read - kept
    assert sum(int(number.replace(",", "")) for number in re.findall(r": ([0-9,]*[0-9])", shown["similar"])) == near


def test_the_architecture_page_names_every_part():
    text = (ROOT / "docs/ARCHITECTURE.md").read_text()
    parts = {path.stem for path in (ROOT / "src/likewise").iterdir() if not path.name.startswith("_") and path.suffix in ("", ".py")}
    assert {part for part in parts if part not in text} == {"py"} & parts


def test_the_architecture_page_names_files_that_exist_and_all_layers():
    """The layers are those that imports are checked against; data types are named as a group."""
    text = (ROOT / "docs/ARCHITECTURE.md").read_text()
    names = [name for name in re.findall(r"`([\w./-]+/[\w./-]+\.\w+)`", text) if "NAME" not in name]
    folders = (ROOT, ROOT / "src/likewise", ROOT / "src/likewise/engines/spark")
    assert len(names) > 100
    assert [name for name in names if not any((folder / name).exists() for folder in folders)] == []
    [contract, *_] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [name.strip().removeprefix("likewise.") for line in contract["layers"][1:] for name in re.split("[|:]", line)]
    shown = text.partition("## Layers")[2].partition("## Steps")[0]
    assert [name for name in layers if not re.search(rf"\b{name.removeprefix('runs.')}\b", shown) and not name.startswith("kinds.")] == []


def test_no_files_import_each_other_in_a_circle():
    """Not even for types, or inside functions. Excepted are the face of the package, and what the architecture page names."""
    graph = grimp.build_graph("likewise", cache_dir=None)
    imported = {name: graph.find_modules_directly_imported_by(name) - {name} for name in graph.modules}
    imported["likewise"] = imported["likewise.kinds.kind"] = set()
    imported["likewise.planning.plan"] -= {"likewise.planning.notebook"}
    TopologicalSorter(imported).prepare()  # raises CycleError, which names the files


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_patterns_after_a_flag_of_one_name_are_quoted(page: Path) -> None:
    """A shell would expand them to several names, of which the flag takes the first, and the command is refused."""
    assert not re.findall(r"--(?:against|in|suspects|ignore|query) [^'\"\s`]*\*", page.read_text(encoding="utf-8"))
