"""The commands of pages that have their data print the lines that the page shows, in this order, when they are typed one after the other."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import run

DOCS = Path(__file__).resolve().parents[2] / "docs"
NEW = {"master.csv": "name\nAcme Inc\nGlobex Ltd\nInitech\n", "new.csv": "name\nACME Inc.\nGlobex\nUmbrella\nInittech\n", "names.txt": "Ann\nAnne\n"}
#: page -> the files that its blocks of data are, in order (of a file that a command wrote, the block is its content), and files that it only names.
PAGES: dict[str, tuple[list[str], dict[str, str]]] = {
    "README.md": ([], {}),
    "faq.md": ([], {}),
    "how-to/repeated-lines.md": (["pages.jsonl", "clean/kept/pages.jsonl"], {}),
    "how-to/seen-before.md": (["monday.jsonl", "tuesday.jsonl"], {}),
    "how-to/sets.md": (["baskets.jsonl"], {}),
    "how-to/strings.md": (["names.csv"], NEW),
    "how-to/tickets.md": (["open.jsonl", "new.jsonl"], {}),
}
#: The names that begin a line of a command; only commands of likewise and ``head`` are typed here, without pipes.
COMMAND = re.compile(r"(likewise|head|python3|sed|cat|pip|curl|with) ")
#: A file that a command reads; a command whose file only the reader has is not typed.
INPUT = re.compile(r"(?<!-o )(?<![\w/.-])[\w/.-]+\.(?:jsonl|csv|parquet)(?:\.xz)?")


def blocks(page: str) -> Iterator[list[str]]:
    """The lines of each console block, without prompts, and of each indented block; a block with a command ends where its output ends."""
    text = re.sub(r"(?ms)^```python\n.*?^```", "", page)
    for console, indented in re.findall(r"(?ms)^```console\n(.*?)^```|((?:^ {4}[^\n]*\n|^\n(?= {4}))+)", text):
        lines = re.sub(r"(?m)^\$ ", "", console) if console else re.sub(r"(?m)^ {4}", "", indented)
        yield [line for line in lines.splitlines() if line]


def printed(command: str) -> list[str]:
    if command.startswith("head "):
        _, number, file = command.split()
        return Path(file).read_text().splitlines()[: -int(number)]
    words, _, file = command.partition(" < ")
    done = run(*shlex.split(words)[1:], input=Path(file).read_bytes() if file else None)
    assert done.exit_code == 0, (command, done.output)
    return done.output.splitlines()


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_print_what_it_shows(page: str, folder: Path) -> None:
    (folder / "docs").symlink_to(DOCS)
    names, files = PAGES[page]
    for name, text in files.items():
        Path(name).write_text(text)
    data, typed, shown, output = iter(names), 0, 0, iter([""])
    for lines in blocks((DOCS / page).read_text()):
        if re.match(r"\{|\w+,\w+$", lines[0]) and (name := next(data, None)):
            text = "".join(f"{line}\n" for line in lines)
            assert not Path(name).exists() or Path(name).read_text() == text, name
            Path(name).write_text(text)
            continue
        for line in lines:
            line = re.sub(r"^cat (\S+) \| (likewise [^|]+) \| jq .*", r"\2 < \1", line)
            if re.match(r"(likewise (?!serve)|head )[^|]*$", line) and all(Path(name).exists() for name in INPUT.findall(line)):
                output = iter(printed(line))
                typed += 1
            elif not COMMAND.match(line) and typed and line != "...":
                assert any(found.startswith(line) for found in output), (page, line)
                shown += 1
    assert typed and shown and next(data, None) is None
