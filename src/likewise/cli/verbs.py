"""What a verb of the command line is: a purpose, two examples, flags by name, and a function that is called with what was given."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import click

from likewise import config
from likewise.cli.flags import FLAGS, GROUPS, KINDS, FlagOption, variable
from likewise.cli.screen import Screen
from likewise.errors import LikewiseError

#: Every verb and its purpose; the module of the same name holds it as ``command``.
VERBS = {
    "dedup": "Remove near-duplicates; keep, account for, and explain everything.",
    "pairs": "List all pairs at or above the threshold, inside one collection or of one against another.",
    "plan": "Show what bands and rows find and miss at a threshold, and what they cost. Touches no data.",
    "show": "Show one removed item beside the one that it was removed for, with the differences marked.",
    "report": "Write report.html of an output folder again.",
    "doctor": "Check this installation: versions, kernels, threads, memory, cache folder, optional parts.",
    "demo": "Find the near-duplicates in the text that every Python carries. Downloads nothing.",
}

#: Flags that say how to talk; the others say what to do.
TALK = ("json", "quiet", "verbose", "color", "progress")


class Verb(click.Command):
    def __init__(self, name: str, usage: str, examples: Sequence[str], **rest: Any):
        super().__init__(name, context_settings={"help_option_names": ["-h", "--help"]}, options_metavar="[FLAGS]", **rest)
        self.usage, self.examples = usage, examples

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_text(VERBS[str(self.name)])
        formatter.write("\n")
        for example in self.examples:
            formatter.write(f"  likewise {example}\n")
        formatter.write("\n")
        formatter.write_usage(f"likewise {self.name}", f"{self.usage} [FLAGS]")
        for group in GROUPS:
            rows = [option.get_help_record(ctx) for option in self.params if getattr(option, "group", None) == group]
            if rows:
                with formatter.section(group):
                    formatter.write_dl([row for row in rows if row], col_max=32)
        formatter.write("\nA flag --some-name may also be set by LIKEWISE_SOME_NAME" + (", or by some-name in a settings file.\n" if self.has("config") else ".\n"))

    def has(self, name: str) -> bool:
        return any(option.name == name for option in self.params)

    def invoke(self, ctx: click.Context) -> Any:
        given = {name: value for name, value in ctx.params.items() if name != "config" and value is not None and value != ()}
        screen = Screen(**{name: given.pop(name) for name in TALK if name in given})
        for message in misspelt_variables():
            screen.warn(message)
        if ctx.obj is not None and ctx.obj.settings:
            screen.say(f"settings of {ctx.obj.path}: {', '.join(ctx.obj.settings)}")
        try:
            return ctx.invoke(self.callback, screen, **given)
        except LikewiseError as error:
            error.ctx = ctx  # type: ignore[attr-defined]  # main says where the flag in question was set
            raise


def verb(name: str, usage: str, *, examples: Sequence[str], flags: str, arguments: Sequence[click.Argument] = (), **changes: dict[str, Any]) -> Callable:
    """Make a verb of a function ``(screen, **given) -> exit status or None``; ``changes`` are words of a flag that differ for this verb."""

    def wrap(function: Callable) -> Verb:
        options = [FlagOption(each, **changes.get(each, {})) for each in flags.split()]
        for option in options:
            if option.name == "config":
                option.is_eager, option.expose_value, option.callback = True, False, read_config
        return Verb(name, usage, examples, params=[*arguments, *options], callback=function, help=VERBS[name])

    return wrap


def read_config(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    """Put the settings of a file below those of the command line and the environment."""
    ctx.obj = config.load(path, KINDS, str(ctx.command.name), VERBS)
    ctx.default_map = ctx.obj.settings


def misspelt_variables() -> list[str]:
    """Messages about LIKEWISE_ variables that set nothing."""
    import difflib

    known = [variable(name) for name in FLAGS]
    unknown = [name for name in os.environ if name.startswith("LIKEWISE_") and name not in known]
    said = []
    for name in sorted(unknown):
        near = difflib.get_close_matches(name, known, 1)
        said.append(f"{name} is set in the environment but names no flag" + (f"; did you mean {near[0]}?" if near else ""))
    return said


def origin(ctx: click.Context | None, message: str) -> str:
    """Where the flag that a message speaks of was set, when that was not the command line; empty otherwise."""
    if ctx is None or not isinstance(ctx.command, Verb):
        return ""
    for option in ctx.command.params:
        source = ctx.get_parameter_source(str(option.name))
        if not any(f"{name} " in message or f"{name}'" in message for name in option.opts if name.startswith("--")):
            continue
        if source is click.core.ParameterSource.ENVIRONMENT:
            return f" (set by {variable(str(option.name))})"
        if source is click.core.ParameterSource.DEFAULT_MAP and ctx.obj is not None:
            return f" (set in {ctx.obj.path})"
    return ""

