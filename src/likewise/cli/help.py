"""likewise help"""

from __future__ import annotations

import click

from likewise.cli.screen import Screen
from likewise.cli.verbs import VERBS, completed_verbs, print_help, unknown, verb


@verb(
    "help",
    "[VERB] [--all]",
    examples=("help dedup", "help dedup --all"),
    notes="--all shows all flags of the verb, as likewise VERB --help-all does.",
    arguments=[
        click.Argument(["name"], metavar="[VERB]", required=False, shell_complete=lambda _, __, incomplete: completed_verbs(incomplete)),
        click.Option(["--all", "every"], is_flag=True, help="Show all flags of the verb."),
    ],
)
def command(screen: Screen, name: str | None = None, every: bool = False) -> None:
    parent = click.get_current_context().parent
    assert parent is not None and isinstance(parent.command, click.Group)
    if name is None:
        print_help(parent, every=every)
        return
    if name not in VERBS:
        raise unknown("verb", name, [*VERBS], parent)
    shown = parent.command.get_command(parent, name)
    assert shown is not None
    print_help(click.Context(shown, info_name=name, parent=parent), every=every)
