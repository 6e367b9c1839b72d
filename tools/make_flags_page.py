"""Write docs/reference/flags.md from the command line's table of flags. tests/docs/test_docs.py checks that the page is up to date."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from likewise.cli.flags import FLAGS, GROUPS, FlagOption, shown_default
from likewise.cli.verbs import VERBS

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/flags.md"


def page() -> str:
    """The text of the page."""
    lines = [
        "# Flags",
        "",
        "A flag has the same name and the same meaning in every verb that has it. This page is made from the program's own table.",
        "The same holds for the options of the Python functions, with `_` for `-`. A function refuses an option that",
        "it has not, and names those that have it; pairs and neighbors are written by `write(path)` of what comes back, so these take no `out`.",
        "`neighbors` has no threshold unless one is given.",
        "",
    ]
    used = {
        verb: {option.name for option in import_module(f"likewise.cli.{verb}").command.params if isinstance(option, FlagOption)} for verb in VERBS
    }
    for group in GROUPS:
        lines += [f"## {group}", "", "| flag | meaning | default | verbs |", "|---|---|---|---|"]
        for name, flag in FLAGS.items():
            if flag.group == group:
                option = FlagOption(name)
                metavar = f" {option.metavar}" if option.metavar else ""
                default = flag.default or shown_default(name)
                verbs = ", ".join(verb for verb in VERBS if name in used[verb])
                cells = [f"`{', '.join(flag.names.split())}{metavar}`", flag.said, default, verbs]
                lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    lines += [
        "## Where values come from",
        "",
        "A flag on the command line comes first, then `LIKEWISE_NAME` in the environment, then `likewise.toml` or `[tool.likewise]` in",
        "`pyproject.toml` (here or in a folder above, or the file of `--config`), then the default. An empty variable counts as not set. A file",
        "found in a folder above may not set `out`, `work`, `overwrite` or `svg`: move it to the current folder, or name it with `--config`.",
        "In a file, a table named after a verb applies to that verb alone:",
        "",
        "```toml",
        'threshold = "0.85"',
        "[dedup]",
        'keep = "longest"',
        "```",
        "",
        'An argument that is an empty string, such as `"$UNSET"` in a shell, is refused; it never means the current folder.',
        "",
        "## Exit status",
        "",
        "0: done. 1: something was found, only with `--exit-code`. 2: a wrong flag, input that cannot be read, or something that the system refused.",
        "130: interrupted (Ctrl-C); 143 after SIGTERM, 129 after SIGHUP.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(page()) if "--print" in sys.argv else PAGE.write_text(page())
