"""The commands of the page of questions print the lines that it shows, in this order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from command_line import run

ROOT = Path(__file__).resolve().parents[2]


def test_the_commands_print_what_the_answers_show(folder: Path) -> None:
    (folder / "docs").symlink_to(ROOT / "docs")
    blocks = re.findall(r"```console\n\$ likewise (.*)\n((?:.*\n)*?)```", (ROOT / "docs/faq.md").read_text())
    assert len(blocks) > 3
    for command, shown in blocks:
        done = run(*shlex.split(command))
        assert done.exit_code == 0, done.output
        printed = iter(done.output.splitlines())
        assert all(any(line.startswith(wanted) for line in printed) for wanted in shown.splitlines()), (command, done.output)
