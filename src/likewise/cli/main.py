"""The command ``likewise``: finds the verb, and turns what went wrong into one message and an exit status.

0 done; 1 something was found (only with --exit-code); 2 usage or data error; 130 interrupted.
"""

from __future__ import annotations

import difflib
import errno
import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from likewise import __version__, progress
from likewise.cli.screen import Screen
from likewise.cli.verbs import CONTEXT, VERBS, origin
from likewise.errors import LikewiseError

EXAMPLES = """  likewise demo
  likewise dedup crawl/*.jsonl.zst -o clean
  likewise pairs docs.parquet --threshold 0.9
"""

#: What to do about the system's refusals, where there is something better to say than its own words.
ADVICE = {
    errno.ENOSPC: "make room, or put intermediate files on another disk with --work DIR",
    errno.EDQUOT: "make room, or put intermediate files on another disk with --work DIR",
    errno.EACCES: "check the permissions, or name another place",
    errno.EROFS: "name a place that can be written to",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
}


class Likewise(click.Group):
    """Verbs are imported when they are called, so that help is quick and loads no kernel."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return import_module(f"likewise.cli.{name}").command if name in VERBS else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] not in VERBS:
            near = difflib.get_close_matches(args[0], VERBS, 1)
            raise click.UsageError(f"no verb {args[0]!r}; {f'did you mean {near[0]}?' if near else 'there are ' + ', '.join(VERBS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write("Find what is alike in large collections: near-duplicate texts, verified and accounted for.\n\n")
        formatter.write(EXAMPLES + "\n")
        formatter.write_usage("likewise", "VERB [FLAGS]")
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))
        formatter.write("\nlikewise VERB --help tells more.\n")

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:  # type: ignore[override]
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by who called
                setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - open as long as the process
            getattr(sys, name).reconfigure(errors="backslashreplace")
        interruptible()
        sys.exit(status_of(self, list(sys.argv[1:] if args is None else args)))


@click.command(cls=Likewise, context_settings=CONTEXT)
@click.version_option(__version__, message="likewise %(version)s")
def main() -> None:
    """likewise"""


def interruptible() -> None:
    """Ctrl-C and SIGTERM end a run in the same way: cleanly, and with word of how to go on.

    An exception that is raised while the compiler calls back is lost, and so would the signal be: a second look is taken at each step.
    """

    def stop(number: int, frame: object) -> NoReturn:
        progress.INTERRUPTED.set()
        raise KeyboardInterrupt

    def unraisable(lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(lost)

    sys.unraisablehook = unraisable
    for name in ("SIGINT", "SIGTERM"):
        if threading.current_thread() is threading.main_thread():
            signal.signal(getattr(signal, name), stop)


def status_of(group: Likewise, args: list[str]) -> int:
    """Run a command line; returns the exit status."""
    try:
        try:
            with group.make_context("likewise", args, resilient_parsing=not args) as ctx:
                if not args:
                    click.echo(ctx.get_help(), err=True)
                    return 2
                status = group.invoke(ctx)
        except click.exceptions.Exit as stop:
            status = stop.exit_code
        sys.stdout.flush()
        return int(status or 0)
    except click.ClickException as error:
        where = getattr(error, "ctx", None)
        more = [f"likewise {where.info_name} --help tells more"] if where is not None and where.parent else []
        return fail(error.format_message().rstrip("."), *more, ctx=where)
    except LikewiseError as error:
        return fail(str(error), *getattr(error, "__notes__", ()), ctx=getattr(error, "ctx", None))
    except KeyboardInterrupt as stop:
        return told("\n  ".join(["interrupted", *getattr(stop, "__notes__", ())]), 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the last flush finds a reader too
        return 0
    except OSError as error:
        return fail(refused(error), *getattr(error, "__notes__", ()))
    except MemoryError as error:
        return fail("out of memory; give less with --memory, or make more available", *getattr(error, "__notes__", ()))
    except Exception:
        import traceback

        traceback.print_exc()
        return fail("this is a fault of likewise; please report it with the lines above")


def fail(message: str, *notes: str, ctx: click.Context | None = None) -> int:
    color = ctx.params.get("color") if ctx is not None else None
    said = click.style("error: ", fg="red", bold=True) + message + origin(ctx, message)
    return told("\n  ".join([said, *notes]), 2, color or "auto")


def told(message: str, status: int, color: str = "auto") -> int:
    Screen(color=color).say(f"likewise: {message}")
    return status


def refused(error: OSError) -> str:
    """What the system refused, where, and what to do."""
    reason = (error.strerror or str(error)).rstrip(".")
    places = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    advice = ADVICE.get(error.errno or 0)
    return (f"{' -> '.join(places)}: " if places else "") + reason + (f"; {advice}" if advice else "")
