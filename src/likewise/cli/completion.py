"""likewise completion"""

from __future__ import annotations

import click

from likewise.cli.screen import Screen
from likewise.cli.verbs import verb

SHELLS = ("bash", "zsh", "fish")
INSTALL = """To install it:
  bash   echo 'eval "$(likewise completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(likewise completion zsh)"' >> ~/.zshrc
  fish   likewise completion fish > ~/.config/fish/completions/likewise.fish"""


@verb(
    "completion",
    "bash|zsh|fish",
    examples=("completion bash", "completion fish > ~/.config/fish/completions/likewise.fish"),
    arguments=[click.Argument(["shell"], metavar="SHELL", type=click.Choice(SHELLS))],
    notes=INSTALL,
)
def command(screen: Screen, shell: str) -> None:
    from click.shell_completion import get_completion_class

    from likewise.cli.main import COMPLETE, main

    script = get_completion_class(shell)
    assert script is not None
    screen.data(script(main, {}, "likewise", COMPLETE).source())
