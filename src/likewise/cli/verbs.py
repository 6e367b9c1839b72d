"""A verb of the command line: a purpose, two examples, its flags, and the function that runs it."""

from __future__ import annotations

import difflib
import os
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from likewise import config
from likewise.choices import empty
from likewise.cli.flag_options import FlagOption, brief_text, completed, variable
from likewise.cli.flags import FILE, FLAGS, FOLDER, GROUPS, KINDS
from likewise.cli.screen import Screen
from likewise.errors import LikewiseError, UsageError
from likewise.messages import either

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

#: Every verb and its purpose, in order of use; the module of the same name defines it as ``command``.
VERBS = {
    "demo": "Deduplicate the text files of this Python installation.",
    "dedup": "Remove near-duplicates and account for every record.",
    "show": "Show a removed item next to the one kept in its place.",
    "report": "Write the report.html of an output folder again.",
    "audit": "Measure recall on a sample by exact search.",
    "plan": "Plan bands and rows for a threshold: recall, memory, time.",
    "pairs": "List all similar pairs within one collection or between two.",
    "neighbors": "Find the most similar items for each query.",
    "index": "Store items, add more, and find those that are similar to a query.",
    "quotes": "Find passages of a corpus in other texts, exact or edited.",
    "repeats": "Find passages that are repeated exactly, such as boilerplate.",
    "serve": "Explore a result in a browser, or serve an index over HTTP.",
    "features": "Extract feature vectors from images, videos or documents.",
    "doctor": "Check this installation and report missing parts.",
    "schema": "Print the JSON Schema of a --json document.",
    "completion": "Print a completion script for bash, zsh or fish.",
    "help": "Show the help of a verb.",
}

#: Flags of messages; the others are passed to the function of the verb.
MESSAGE_FLAGS = ("json", "quiet", "verbose", "color", "progress")

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
#: Maximum column in which the help of a flag begins.
COLUMN = 30
#: A verb with at most this many flags has one page of help.
ONE_PAGE = 12
#: Inputs of a verb, in its help.
INPUTS = "INPUT: files, folders, globs, addresses (s3://...), or - for standard input."


class Verb(click.Command):
    def __init__(self, name: str, purpose: str, usage: str, examples: Sequence[str], run: Callable, notes: str, **rest: Any):
        """name: as it is typed: "dedup", or "index add"."""
        super().__init__(name, context_settings=CONTEXT, help=purpose, **rest)
        self.purpose, self.usage, self.examples, self.run, self.notes = purpose, usage, examples, run, notes

    @property
    def flags(self) -> list[FlagOption]:
        return [param for param in self.params if isinstance(param, FlagOption)]

    @property
    def usage_line(self) -> str:
        return " ".join(filter(None, ["Usage: likewise", self.name, self.usage, "[FLAGS]" * bool(self.flags)]))

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        show = click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, help="Show all flags.", callback=show_all_flags)
        return [*super().get_params(ctx), show]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One screen: the basic flags, or all if there are few."""
        basic = [option for option in self.flags if option.flag.brief is not None or len(self.flags) <= ONE_PAGE]
        self.write_flags(formatter, {"Flags": [option.help_row(ctx, brief=True) for option in basic]})
        if len(basic) < len(self.flags):
            formatter.write(f"\nlikewise {self.name} --help-all lists all {len(self.flags)} flags.\n")

    def format_all(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """All flags, by group."""
        groups = {group: [option.help_row(ctx, brief=False) for option in self.flags if option.flag.group == group] for group in GROUPS}
        self.write_flags(formatter, groups)
        settings = ", or by some-name in a settings file" if any(option.name == "config" for option in self.flags) else ""
        formatter.write("\n")
        formatter.write_text(f"The flag --some-name can also be set by the environment variable LIKEWISE_SOME_NAME{settings}.")

    def write_flags(self, formatter: click.HelpFormatter, groups: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """Write the purpose, the examples, the usage, and the flags of each group with their help."""
        write_head(formatter, self)
        column = min(COLUMN, max((len(name) for rows in groups.values() for name, _ in rows), default=0) + 4)
        for group, rows in groups.items():
            formatter.write(f"\n{group}:\n" if rows else "")
            for name, text in rows:
                formatter.write(aligned(name, text, formatter.width, column))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        for option in self.flags:
            option.help = brief_text(option.flag)
        return super().shell_complete(ctx, incomplete)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = [*args]  # the parser takes them away
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:  # while the shell completes a command
            refuse_expanded(ctx, given)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        try:
            refuse_empty(ctx)
            return self.run_with(ctx)
        except LikewiseError as error:
            error.ctx = ctx  # type: ignore[attr-defined]  # main says where the flag in question was set
            raise

    def run_with(self, ctx: click.Context) -> Any:
        """Run the verb with the flags that are set, wherever they are."""
        given = {name: value for name, value in ctx.params.items() if name != "config" and value is not None and value != ()}
        drop_overridden(ctx, given)
        kept = set(given)
        screen = Screen(**{name: given.pop(name) for name in MESSAGE_FLAGS if name in given})
        for message in misspelled_variables():
            screen.warn(message)
        if ctx.obj is not None and (used := [name for name in ctx.obj.settings if name in kept and rank_of(ctx, name) == OF_A_FILE]):
            screen.say(f"settings of {ctx.obj.path}: {', '.join(used)}")
        protect_settings(ctx, given)
        return ctx.invoke(self.run, screen, **given)


class Actions(click.Group):
    """A verb that consists of several ones, such as ``likewise index add``. They are loaded with it."""

    def __init__(self, name: str, usage: str, examples: Sequence[str], actions: Sequence[Verb], notes: str = ""):
        super().__init__(name, context_settings=CONTEXT, help=VERBS[name], no_args_is_help=False)
        self.purpose, self.usage, self.examples, self.notes = VERBS[name], usage, examples, notes
        self.actions = {str(one.name).partition(" ")[2]: one for one in actions}

    #: Each of its verbs has its own.
    flags: Sequence[FlagOption] = ()

    @property
    def usage_line(self) -> str:
        return f"Usage: likewise {self.name} {self.usage}"

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.actions]

    def get_command(self, ctx: click.Context, name: str) -> Verb | None:
        return self.actions.get(name)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        show = click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, help="Show this page.", callback=show_all_flags)
        return [*super().get_params(ctx), show]

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] not in self.actions and not ctx.resilient_parsing:
            raise unknown("action", args[0], [*self.actions], ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            raise click.UsageError(f"an action is missing; valid actions: {', '.join(self.actions)}", ctx)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_head(formatter, self)
        formatter.write("\nActions:\n")
        for name, action in self.actions.items():
            formatter.write(f"  {name:10}{action.purpose}\n")
        formatter.write(f"\nlikewise {self.name} ACTION --help shows the flags of an action.\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=action.purpose) for name, action in self.actions.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


def write_head(formatter: click.HelpFormatter, command: Verb | Actions) -> None:
    """Write the purpose, the examples, the usage and the notes of a verb."""
    formatter.write_text(command.purpose)
    formatter.write("\n")
    for example in command.examples:
        formatter.write(f"  likewise {example}\n")
    formatter.write(f"\n{command.usage_line}\n")
    if command.notes:
        formatter.write(f"\n{command.notes}\n")


def show_all_flags(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """--help-all"""
    if wanted and not ctx.resilient_parsing:
        print_help(ctx, every=True)
        ctx.exit()


def print_help(ctx: click.Context, *, every: bool) -> None:
    """Print the help of a verb: the basic flags, or every flag."""
    formatter = ctx.make_formatter()
    command = ctx.command
    command.format_all(ctx, formatter) if every and isinstance(command, Verb) else command.format_help(ctx, formatter)
    click.echo(formatter.getvalue().rstrip("\n"))


def unknown(what: str, name: str, known: Sequence[str], ctx: click.Context | None = None) -> click.UsageError:
    """The error for an unknown name, with the closest known one, or all of them."""
    near = difflib.get_close_matches(name, known, 1)
    return click.UsageError(f"unknown {what} {name!r}; {f'did you mean {near[0]}?' if near else f'valid {what}s: ' + ', '.join(known)}", ctx)


def completed_verbs(incomplete: str) -> list[CompletionItem]:
    """The completions of a verb's name."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name, help=purpose) for name, purpose in VERBS.items() if name.startswith(incomplete)]


#: Flags that name a second collection.
COLLECTIONS = ("against", "suspects")
#: Flags that name a file to write.
FILES_TO_WRITE = ("out", "svg", "page")


def protect_settings(ctx: click.Context, given: dict[str, Any]) -> None:
    """Refuse to write over the settings file. Raises UsageError."""
    named = [param for param in ctx.command.params if param.name in FILES_TO_WRITE and param.name in given]
    if not named or ctx.obj is None or ctx.obj.path is None:
        return
    from likewise.io.address import place
    from likewise.io.placing import apart

    for param in named:
        apart(place(given[str(param.name)]), [("--config", ctx.obj.path)], param.opts[0])


def refuse_empty(ctx: click.Context) -> None:
    """Refuse empty strings: as a path, one would mean the current folder. Raises UsageError."""
    for param in ctx.command.params:
        value = ctx.params.get(str(param.name))
        if "" in (value if isinstance(value, tuple) else (value,)):
            raise UsageError(empty(either("", f"{name_of(param)} ''", name=str(param.name))))


def refuse_expanded(ctx: click.Context, args: Sequence[str]) -> None:
    """Refuse several names after a flag that takes one, such as a pattern that the shell expanded: the others would count as inputs.

    Raises UsageError.
    """
    inputs: tuple[str, ...] = ctx.params.get("inputs") or ()
    flags = {name for param in ctx.command.params if param.name in COLLECTIONS for name in param.opts}
    for place in range(len(args) - 2):
        flag, name, other = args[place : place + 3]
        if flag in flags and other in inputs[1:] and other != inputs[0]:
            what = next(name_of(param) for param in ctx.command.params if param.name == "inputs")
            said = f"{flag} takes one name, so {other} is read as {what}"
            raise UsageError(f"{flag} {name} {other}: {said}; write {flag} before each, or quote a pattern")


def name_of(param: click.Parameter) -> str:
    """The long name of a flag, or the name of an argument in the usage line."""
    if isinstance(param, click.Argument):
        return str(param.metavar).strip("[].")
    return next((name for name in param.opts if name.startswith("--")), param.opts[0])


#: Pairs of flags that exclude each other.
RIVALS = (("threshold", "within"), ("layouts", "bands"), ("layouts", "rows"))
#: Flags that a preset sets. From the same place as the preset or a stronger one, they override it.
OF_A_PRESET = ("by", "threshold", "within", "bands", "rows")
#: Places where a flag can be set, the strongest last.
PLACES = (click.core.ParameterSource.DEFAULT_MAP, click.core.ParameterSource.ENVIRONMENT, click.core.ParameterSource.COMMANDLINE)
OF_A_FILE = 0


def rank_of(ctx: click.Context, name: str) -> int:
    """The place where a flag is set, as an index of PLACES; -1 if it is not set."""
    source = ctx.get_parameter_source(name)
    return PLACES.index(source) if source in PLACES else -1


def drop_overridden(ctx: click.Context, given: dict[str, Any]) -> None:
    """If two flags exclude each other, drop the one from the weaker place. If both are from one place, the verb reports it."""
    pairs = [*RIVALS, *((other, one) for one, other in RIVALS), *((name, "preset") for name in OF_A_PRESET)]
    for name in [weak for weak, strong in pairs if weak in given and strong in given and rank_of(ctx, weak) < rank_of(ctx, strong)]:
        given.pop(name, None)


def aligned(name: str, text: str, width: int, column: int) -> str:
    """A flag and its help, which begins in the given column."""
    lines = textwrap.wrap(text, width - column, break_on_hyphens=False) or [""]
    first = f"  {name}".ljust(column)
    begin = [first + lines[0]] if len(name) <= column - 4 else [first, " " * column + lines[0]]
    return "\n".join([*begin, *(" " * column + line for line in lines[1:])]) + "\n"


def inputs(usage: str = "INPUT...", *, required: bool = True) -> click.Argument:
    """The argument for the inputs of a verb."""
    return click.Argument(["inputs"], nargs=-1, required=required, metavar=usage, shell_complete=files)


def files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete names of files."""
    return completed(FILE, incomplete)


def folders(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete names of folders."""
    return completed(FOLDER, incomplete)


def verb(
    name: str,
    usage: str,
    *,
    examples: Sequence[str],
    purpose: str = "",
    flags: str = "",
    arguments: Sequence[click.Parameter] = (),
    notes: str = "",
    **changes: Any,
) -> Callable:
    """Make a verb from a function ``(screen, **given) -> exit status or None``.

    purpose: that in VERBS if empty. flags: names in FLAGS; help lists them in the order of FLAGS. notes: text below the usage line.
    changes: for each flag the differences in this verb, as in ``out={"help": ..., "brief": ..., "shown": ...}``.
    """

    def wrap(function: Callable) -> Verb:
        options = [FlagOption(each, **changes.get(each, {})) for each in sorted(flags.split(), key=list(FLAGS).index)]
        for option in options:
            if option.name == "config":
                option.is_eager, option.expose_value, option.callback = True, False, read_config
        return Verb(name, purpose or VERBS[name], usage, examples, function, notes, params=[*arguments, *options])

    return wrap


def read_config(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    """Make the settings of a file the defaults of the command line and the environment."""
    if ctx.resilient_parsing:  # while the shell completes a command
        return
    if path == "":
        raise UsageError(empty("--config ''"))
    group = ctx.parent.command if ctx.parent is not None and isinstance(ctx.parent.command, Actions) else None
    commands: Iterable[click.Command] = group.actions.values() if group is not None else [ctx.command]
    taken = {param.name for command in commands for param in command.params}
    ctx.obj = config.load(path, KINDS, str(ctx.command.name).partition(" ")[0], VERBS, taken)
    ctx.default_map = ctx.obj.settings


def misspelled_variables() -> list[str]:
    """Messages about LIKEWISE_ variables that set no flag."""
    known = [variable(name) for name in FLAGS]
    unknown = [name for name in os.environ if name.startswith("LIKEWISE_") and name not in known]
    messages = []
    for name in sorted(unknown):
        near = difflib.get_close_matches(name, known, 1)
        messages.append(f"{name} is set in the environment but is not the name of a flag" + (f"; did you mean {near[0]}?" if near else ""))
    return messages


def origin(ctx: click.Context | None, names: Iterable[str]) -> str:
    """The place of the first of these options that is set elsewhere than on the command line; empty if all are set there."""
    if ctx is None or not isinstance(ctx.command, Verb):
        return ""
    for name in names:
        source = ctx.get_parameter_source(name)
        if source is click.core.ParameterSource.ENVIRONMENT:
            return f" (set by {variable(name)})"
        if source is click.core.ParameterSource.DEFAULT_MAP and ctx.obj is not None:
            return f" (set in {ctx.obj.path})"
    return ""
