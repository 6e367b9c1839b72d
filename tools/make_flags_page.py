"""Write docs/reference/flags.md from the definitions of the flags. tests/docs/test_docs.py checks that the page is up to date."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from likewise.cli.flag_options import FlagOption, shown_default
from likewise.cli.flags import FLAGS, GROUPS
from likewise.cli.verbs import VERBS, Actions

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/flags.md"


def names_of(command: Any) -> set[str]:
    """The names of the flags of a verb, of all its actions if it has some."""
    verbs = command.actions.values() if isinstance(command, Actions) else [command]
    return {str(option.name) for verb in verbs for option in verb.params if isinstance(option, FlagOption)}


def page() -> str:
    """The text of the page."""
    lines = [
        "# Flags",
        "",
        "A flag has the same name and the same meaning in every verb. `tools/make_flags_page.py` generates this page from the definitions in the",
        "code. `likewise VERB --help` shows the basic flags of a verb, `likewise VERB --help-all` all of them.",
        "",
        "The Python functions have the same options, with `_` instead of `-`. `pairs` and `neighbors` have no `out`: call `write(path)` on their",
        "result. An unknown option is an error that names the functions that have it. `neighbors` has no default threshold.",
        "",
    ]
    used = {verb: names_of(import_module(f"likewise.cli.{verb}").command) for verb in VERBS}
    for group in GROUPS:
        lines += [f"## {group}", "", "| flag | meaning | default | verbs |", "|---|---|---|---|"]
        for name, flag in FLAGS.items():
            if flag.group == group:
                option = FlagOption(name)
                metavar = f" {option.metavar}" if option.metavar else ""
                default = flag.default or shown_default(name)
                verbs = ", ".join(verb for verb in VERBS if name in used[verb])
                cells = [f"`{', '.join(flag.names.split())}{metavar}`", flag.text, default, verbs]
                lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    lines += [
        "## Order of precedence",
        "",
        "A flag on the command line comes first, then the environment variable `LIKEWISE_NAME` (unless it is empty), the settings file, and the",
        "default. The settings file is the one given by `--config`, or else the nearest `likewise.toml`, or `pyproject.toml` with a table",
        "`[tool.likewise]`, in the current folder or a parent. In a parent, it may not set `out`, `work`, `overwrite`, `svg` or `page`: move it",
        "to the current folder, or name it with `--config`. A table with the name of a verb applies only to that verb:",
        "",
        "```toml",
        'threshold = "0.85"',
        "[dedup]",
        'keep = "longest"',
        "```",
        "",
        'An empty string, such as `"$UNSET"` in a shell, is an error; it never means the current folder.',
        "",
        "## Shell completion",
        "",
        "`likewise completion bash`, `zsh` or `fish` prints a script that completes verbs, flags, values of flags such as `--by`, and file names.",
        "`likewise completion --help` shows how to install it. The program must be called `likewise`, not `./run`.",
        "",
        "## Exit status",
        "",
        "0: success. 1: something was found (only with `--exit-code`). 2: an invalid flag, unreadable input, or an error of the operating system.",
        "130: interrupted by Ctrl-C; 143: by SIGTERM; 129: by SIGHUP.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(page()) if "--print" in sys.argv else PAGE.write_text(page())
