"""The commands of the page about indexes, run on its files, print what the page says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from command_line import SOURCE

PAGE = Path(__file__).parents[2] / "docs/how-to/index.md"


def test_the_commands_of_the_page_print_what_it_says(tmp_path: Path) -> None:
    text = PAGE.read_text()
    for name in ("monday.jsonl", "tuesday.jsonl"):
        block = text.partition(f"`{name}`:\n\n")[2].partition("\n\n")[0]
        (tmp_path / name).write_text(re.sub(r"(?m)^    ", "", block) + "\n")
    command = tmp_path / "bin/likewise"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m likewise "$@"\n')
    command.chmod(0o755)
    env = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": SOURCE}
    subprocess.run(["likewise", "index", "create", "new.lw"], cwd=tmp_path, env=env, check=True, capture_output=True)
    blocks = [re.sub(r"(?m)^    ", "", block) for block in re.findall(r"(?m)((?:^    .+\n)+)", text.partition("## Make")[2].partition("```")[0])]
    run = 0
    for block, following in zip(blocks, [*blocks[1:], ""], strict=True):
        if block.startswith("{"):
            continue
        done = subprocess.run(["bash", "-ec", block.partition(" | jq")[0]], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert not following.startswith("{") or done.stdout == following, block
        run += block.count("likewise")
    assert run == 6
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
