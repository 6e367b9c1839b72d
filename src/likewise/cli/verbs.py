"""What a verb of the command line is: a purpose, two examples, flags by name, and a function that is called with what was given."""

from __future__ import annotations

import difflib
import os
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from likewise import config
from likewise.choices import empty
from likewise.cli.flags import FLAGS, GROUPS, KINDS, FlagOption, variable
from likewise.cli.screen import Screen
from likewise.errors import LikewiseError, UsageError

#: Every verb and its purpose; the module of the same name holds it as ``command``.
VERBS = {
    "dedup": "Remove near-duplicates; keep, account for, and explain everything.",
    "pairs": "List all pairs of similar items, inside one collection or between two.",
    "neighbors": "Find the most similar items for each query.",
    "features": "Describe images, videos or texts by sets of feature vectors.",
    "plan": "Show what a threshold's bands and rows find, miss and cost.",
    "audit": "Measure the recall on a sample, by an exact search.",
    "show": "Show a removed item beside what it was removed for.",
    "report": "Write report.html of an output folder again.",
    "doctor": "Check this installation, and say what is missing.",
    "demo": "Find the near-duplicates in text that every Python carries.",
}

#: Flags that say how to talk; the others say what to do.
TALK = ("json", "quiet", "verbose", "color", "progress")


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
#: Where the help of a flag begins.
COLUMN = 30


class Verb(click.Command):
    def __init__(self, name: str, usage: str, examples: Sequence[str], run: Callable, **rest: Any):
        super().__init__(name, context_settings=CONTEXT, help=VERBS[name], **rest)
        self.usage, self.examples, self.run = usage, examples, run

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_text(VERBS[str(self.name)])
        formatter.write("\n")
        for example in self.examples:
            formatter.write(f"  likewise {example}\n")
        formatter.write("\n")
        formatter.write_usage(f"likewise {self.name}", f"{self.usage} [FLAGS]".strip())
        for group in GROUPS:
            rows = [option.get_help_record(ctx) for option in self.params if getattr(option, "group", None) == group]
            if rows:
                formatter.write(f"\n{group}:\n")
                for name, text in filter(None, rows):
                    formatter.write(aligned(name, text, formatter.width))
        settings = ", or by some-name in a settings file" if any(option.name == "config" for option in self.params) else ""
        formatter.write(f"\nA flag --some-name may also be set by LIKEWISE_SOME_NAME{settings}.\n")

    def invoke(self, ctx: click.Context) -> Any:
        try:
            refuse_empty(ctx)
            return self.called(ctx)
        except LikewiseError as error:
            error.ctx = ctx  # type: ignore[attr-defined]  # main says where the flag in question was set
            raise

    def called(self, ctx: click.Context) -> Any:
        given = {name: value for name, value in ctx.params.items() if name != "config" and value is not None and value != ()}
        settle(ctx, given)
        kept = set(given)
        screen = Screen(**{name: given.pop(name) for name in TALK if name in given})
        for message in misspelled_variables():
            screen.warn(message)
        if ctx.obj is not None and (used := [name for name in ctx.obj.settings if name in kept and place_of(ctx, name) == OF_A_FILE]):
            screen.say(f"settings of {ctx.obj.path}: {', '.join(used)}")
        keep_settings(ctx, given)
        return ctx.invoke(self.run, screen, **given)


#: Flags that name a file to write.
FILES_TO_WRITE = ("out", "svg")


def keep_settings(ctx: click.Context, given: dict[str, Any]) -> None:
    """Refuse to write over the settings file. Raises UsageError."""
    named = [param for param in ctx.command.params if param.name in FILES_TO_WRITE and param.name in given]
    if not named or ctx.obj is None or ctx.obj.path is None:
        return
    from likewise.io.placing import apart

    for param in named:
        apart(Path(given[str(param.name)]), [("--config", ctx.obj.path)], param.opts[0])


def refuse_empty(ctx: click.Context) -> None:
    """Refuse empty strings: as a path, one would mean the current folder. Raises UsageError."""
    for param in ctx.command.params:
        value = ctx.params.get(str(param.name))
        if "" in (value if isinstance(value, tuple) else (value,)):
            raise UsageError(empty(called(param)))


def called(param: click.Parameter) -> str:
    """A flag by its long name, or an argument as the usage line has it."""
    if isinstance(param, click.Argument):
        return str(param.metavar).strip("[].")
    return next((name for name in param.opts if name.startswith("--")), param.opts[0])


#: Flags that say the same thing in two ways.
RIVALS = (("threshold", "within"), ("layouts", "bands"), ("layouts", "rows"))
#: What a preset says. Beside it the same flags count; from a place that it wins over they do not.
OF_A_PRESET = ("by", "threshold", "within", "bands", "rows")
#: Where a flag was set, the place that wins last.
PLACES = (click.core.ParameterSource.DEFAULT_MAP, click.core.ParameterSource.ENVIRONMENT, click.core.ParameterSource.COMMANDLINE)
OF_A_FILE = 0


def place_of(ctx: click.Context, name: str) -> int:
    """Where a flag was set, by its number in PLACES; -1 where it was not."""
    source = ctx.get_parameter_source(name)
    return PLACES.index(source) if source in PLACES else -1


def settle(ctx: click.Context, given: dict[str, Any]) -> None:
    """Of two flags that say the same thing leave the one that the command line has, or else the environment. Two of one place the verb refuses."""
    pairs = [*RIVALS, *((other, one) for one, other in RIVALS), *((name, "preset") for name in OF_A_PRESET)]
    for name in [weak for weak, strong in pairs if weak in given and strong in given and place_of(ctx, weak) < place_of(ctx, strong)]:
        given.pop(name, None)


def aligned(name: str, text: str, width: int) -> str:
    """A flag and its help, which begins in the same column for all flags."""
    lines = textwrap.wrap(text, width - COLUMN) or [""]
    first = f"  {name}".ljust(COLUMN)
    begin = [first + lines[0]] if len(name) <= COLUMN - 4 else [first, " " * COLUMN + lines[0]]
    return "\n".join([*begin, *(" " * COLUMN + line for line in lines[1:])]) + "\n"


def verb(name: str, usage: str, *, examples: Sequence[str], flags: str, arguments: Sequence[click.Argument] = (), **changes: Any) -> Callable:
    """Make a verb of a function ``(screen, **given) -> exit status or None``.

    flags: names in FLAGS, in whose order help tells them. ``changes`` are by flag what differs in this verb: {"help": ..., "metavar": ...,
    "shown": ...}.
    """

    def wrap(function: Callable) -> Verb:
        options = [FlagOption(each, **changes.get(each, {})) for each in sorted(flags.split(), key=list(FLAGS).index)]
        for option in options:
            if option.name == "config":
                option.is_eager, option.expose_value, option.callback = True, False, read_config
        return Verb(name, usage, examples, function, params=[*arguments, *options])

    return wrap


def read_config(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    """Put the settings of a file below those of the command line and the environment."""
    if path == "":
        raise UsageError(empty("--config"))
    ctx.obj = config.load(path, KINDS, str(ctx.command.name), VERBS, {param.name for param in ctx.command.params})
    ctx.default_map = ctx.obj.settings


def misspelled_variables() -> list[str]:
    """Messages about LIKEWISE_ variables that set nothing."""
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
