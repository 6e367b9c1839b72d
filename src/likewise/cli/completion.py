"""likewise completion"""

from __future__ import annotations

import click

from likewise.cli.flag_options import completed
from likewise.cli.screen import Screen
from likewise.cli.verbs import unknown, verb

SHELLS = ("bash", "zsh", "fish")
INSTALL = """To install it:
  bash   echo 'eval "$(likewise completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(likewise completion zsh)"' >> ~/.zshrc
  fish   likewise completion fish > ~/.config/fish/completions/likewise.fish"""


@verb(
    "completion",
    "bash|zsh|fish",
    examples=("completion bash", "completion fish > ~/.config/fish/completions/likewise.fish"),
    arguments=[click.Argument(["shell"], metavar="SHELL", shell_complete=lambda _, __, typed: completed(SHELLS, typed))],
    notes=INSTALL,
)
def command(screen: Screen, shell: str) -> None:
    if shell not in SHELLS:
        raise unknown("shell", shell, SHELLS)
    from click.shell_completion import get_completion_class

    from likewise.cli.main import COMPLETE, main

    script = get_completion_class(shell)
    assert script is not None
    screen.data(script(main, {}, "likewise", COMPLETE).source())
