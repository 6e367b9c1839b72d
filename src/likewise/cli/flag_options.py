"""The flags of a verb for click: their help, defaults, values and completions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from likewise.choices import CHOICES
from likewise.cli.flags import FILE, FLAGS, FOLDER, SHORT, Flag
from likewise.errors import UsageError
from likewise.messages import option
from likewise.options import Options, checked

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class FlagOption(click.Option):
    """The click option of a flag. ``changes``: what differs in this verb, ``help``, ``shown``, ``brief`` and settings of click."""

    def __init__(self, name: str, **changes: Any):
        flag = FLAGS[name]
        if "help" in changes and flag.brief:
            changes.setdefault("brief", "")
        self.flag = replace(flag, **{each: changes.pop(each) for each in ("help", "shown", "brief", "values") if each in changes})
        metavar = flag.metavar or "|".join(CHOICES.get(name, ()))
        settings = {"metavar": metavar or None, "envvar": variable(name), **flag.settings, **changes}
        super().__init__([*flag.names.split(), name], **settings)

    @property
    def default_in_words(self) -> str:
        return self.flag.default if self.flag.shown is not None else shown_default(str(self.name))

    def help_row(self, ctx: click.Context, *, brief: bool) -> tuple[str, str]:
        """The flag and its help, made on request: it may name measures, whose data types are loaded then."""
        default = self.default_in_words
        self.help = brief_text(self.flag) if brief else self.flag.text
        self.help += f"  [{default}]" if default and (len(default) <= SHORT or not brief) else ""
        return super().get_help_record(ctx) or ("", "")

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The value as its type. Raises UsageError."""
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter:
            wanted = {"integer": "a whole number", "float": "a number"}.get(
                self.type.name
            ) or f"one of {', '.join(getattr(self.type, 'choices', ()))}"
            error = UsageError(f"{option(str(self.name), value)}: give {wanted}")
            error.ctx = ctx  # type: ignore[attr-defined]  # main says where the flag was set
            raise error from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        values = self.flag.values or CHOICES.get(str(self.name))
        return completed(values, incomplete) if values else super().shell_complete(ctx, incomplete)


def brief_text(flag: Flag) -> str:
    """The help on the page of basic flags."""
    return flag.brief or flag.text


def completed(values: Callable[[], Iterable[str]] | Iterable[str], incomplete: str) -> list[CompletionItem]:
    """The completions of a value, or of the last one in a comma-separated list."""
    from click.shell_completion import CompletionItem

    if values in (FILE, FOLDER):
        return [CompletionItem(incomplete, type=str(values))]
    before, comma, last = incomplete.rpartition(",")
    names = values() if callable(values) else values
    return [CompletionItem(f"{before}{comma}{name}") for name in names if name.startswith(last) and name not in before.split(",")]


def variable(name: str) -> str:
    """The environment variable that sets a flag."""
    return f"LIKEWISE_{name.upper()}"


@cache
def defaults() -> dict[str, Any]:
    """The defaults of options.py, by name."""
    kept = {each.name: each.default for each in fields(Options) if each.default is not MISSING}
    read = {each.name: each.default for each in inspect.signature(checked).parameters.values() if each.default is not inspect.Parameter.empty}
    return kept | read


def shown_default(name: str) -> str:
    """The default of options.py in words; empty if the flag is off or has no value by default."""
    value = defaults().get(name)
    if value is None or value is False or value == ():
        return ""
    return f"{value:,}" if isinstance(value, int) else str(value)
