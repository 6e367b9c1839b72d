"""The commands of the pages about indexes, run on their files, print what the pages say."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from command_line import SOURCE

PAGES = Path(__file__).parents[2] / "docs/how-to"


def prepared(folder: Path, text: str, *names: str) -> dict[str, str]:
    """Write the files of a page, and a command `likewise`: the environment that has it."""
    for name in names:
        block = text.partition(f"`{name}`:\n\n")[2].partition("\n\n")[0]
        (folder / name).write_text(re.sub(r"(?m)^    ", "", block) + "\n")
    command = folder / "bin/likewise"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m likewise "$@"\n')
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": SOURCE}


def commands_run(folder: Path, text: str, env: dict[str, str]) -> int:
    """Run the blocks of commands, and compare what they print with the block of JSON that follows: the number of commands."""
    blocks = [re.sub(r"(?m)^    ", "", block) for block in re.findall(r"(?m)((?:^    .+\n)+)", text)]
    run = 0
    for block, following in zip(blocks, [*blocks[1:], ""], strict=True):
        if block.startswith("{"):
            continue
        done = subprocess.run(["bash", "-ec", block.partition(" | jq")[0]], cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert not following.startswith("{") or done.stdout == following, block
        run += block.count("likewise")
    return run


def test_the_commands_about_tickets_print_what_the_page_says(tmp_path: Path) -> None:
    text = (PAGES / "tickets.md").read_text()
    env = prepared(tmp_path, text, "open.jsonl", "new.jsonl")
    assert commands_run(tmp_path, text.partition("These commands build")[2], env) == 4


def test_the_commands_of_the_page_print_what_it_says(tmp_path: Path) -> None:
    text = (PAGES / "seen-before.md").read_text()
    env = prepared(tmp_path, text, "monday.jsonl", "tuesday.jsonl")
    assert commands_run(tmp_path, text.partition("## Make")[2].partition("```")[0], env) == 8
    table = [shlex.split(line) for line in re.findall(r"(?m)^\| .* \| `likewise (index .*)` \|$", text)]
    (tmp_path / "more.jsonl").write_text('{"url": "m", "text": "some more text"}\n')
    (tmp_path / "changed.jsonl").write_text('{"url": "m", "text": "some changed text"}\n')
    (tmp_path / "gone.jsonl").write_text('{"url": "m"}\n')
    subprocess.run(["likewise", "index", "create", "other.lw", "--by", "words:3"], cwd=tmp_path, env=env, check=True, capture_output=True)
    assert len(table) == 9
    for words in table:
        done = subprocess.run(
            ["likewise", *(word.replace("/backup/", "copy-") for word in words)], cwd=tmp_path, env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, (words, done.stderr)
