"""The command ``likewise``: it finds the verb, and turns an error into one message and an exit status.

0 success; 1 something was found (only with --exit-code); 2 an error of usage, data or the operating system; 130 interrupted (Ctrl-C), 143 SIGTERM,
129 SIGHUP.
"""

from __future__ import annotations

import difflib
import errno
import mmap
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click

from likewise import __version__, progress
from likewise.cli.screen import Screen, in_line
from likewise.cli.verbs import CONTEXT, VERBS, Actions, Verb, completed_verbs, name_of, origin, unknown
from likewise.errors import LikewiseError
from likewise.messages import on_command_line, options_in

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PURPOSE = """Find near-duplicates in large collections: documents first, but also sets,
vectors, binary codes, strings and images. Removals are verified, and every
record is accounted for.
"""
EXAMPLES = """  likewise demo
  likewise dedup crawl/*.jsonl.zst -o clean
  likewise pairs train.jsonl --against test.jsonl --threshold 0.9
"""

#: The variable by which the script of `likewise completion` asks for completions.
COMPLETE = "_LIKEWISE_COMPLETE"

#: Flags of other tools, or of another format, and the flag that the user probably needs.
MEANT = {
    "--png": "--svg",
    "--ratio": "--threshold",
    "--similarity": "--threshold",
    "--column": "--field",
    "--workers": "--threads",
    "--queries": "--query",
    "--metric": "--by",
    "--top": "-k",
    "--top-k": "-k",
}
#: Advice for errors of the operating system.
ADVICE = {
    errno.ENOSPC: "free some space, or put intermediate files on another disk with --work DIR",
    errno.EDQUOT: "free some space, or put intermediate files on another disk with --work DIR",
    errno.EFBIG: "raise the file size limit (ulimit -f), or choose a path on another file system",
    errno.EACCES: "check the permissions, or choose another path",
    errno.EPERM: "check the permissions, or choose another path",
    errno.EROFS: "choose a path on a writable file system",
    errno.EIO: "check the disk or the network, and copy the data while it can still be read",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
}
MEMORY = "out of memory; set a lower --memory or --threads, or make more memory available"
#: Messages of libraries that cannot be loaded, and of threads that cannot be started, because memory is short.
SHORT_OF_MEMORY = ("failed to map segment", "cannot allocate memory", "can't start new thread", "libllvmlite")
#: Address space reserved for the message about memory, and the size of the mapping that tests whether memory is available. Neither is used.
RESERVE_BYTES = 2**25
PROBE_BYTES = 2**26
#: Signals that end a run cleanly, with the command that continues it.
ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
#: The signals received. A second one ends the process at once, unless it comes with the first: a parent may pass on the signal of the terminal.
received: list[tuple[int, float]] = []
TOGETHER_SECONDS = 0.5
#: The code that takes and releases the lock of a condition. The threads of a run use no conditions (`engines.threads.Task`). An index does, as it
#: starts threads by `Thread.start`, and libraries do, for example in pools of connections.
LOCKING = (threading.Condition.__enter__.__code__, threading.Condition.__exit__.__code__)


class Likewise(click.Group):
    """The group of verbs. A verb is imported when it is called, so help is quick and loads no kernel."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return import_module(f"likewise.cli.{name}").command if name in VERBS else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] not in VERBS and not ctx.resilient_parsing:
            raise unknown("verb", args[0], [*VERBS], ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of verbs without loading them, and of flags."""
        return [*completed_verbs(incomplete), *click.Command.shell_complete(self, ctx, incomplete)]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"{PURPOSE}\n{EXAMPLES}\n")
        formatter.write_usage("likewise", "VERB [FLAGS]")
        formatter.write("\nVerbs, in order of use:\n")
        for name, purpose in VERBS.items():
            formatter.write(f"  {name:12}{purpose}\n")
        formatter.write("\nlikewise help VERB shows the flags of a verb.\n")

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:  # type: ignore[override]
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by the caller
                setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - open as long as the process
            getattr(sys, name).reconfigure(errors="backslashreplace")
        if COMPLETE in os.environ:
            from click.shell_completion import shell_complete

            sys.exit(shell_complete(self, {}, "likewise", COMPLETE, os.environ[COMPLETE]))
        interruptible()
        status = status_of(self, list(sys.argv[1:] if args is None else args))
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:  # a failing flush at exit would change the status
                silence(stream)
        sys.exit(status)


@click.command(cls=Likewise, context_settings=CONTEXT)
@click.version_option(__version__, message="likewise %(version)s")
def main() -> None:
    """likewise"""


def interruptible() -> None:
    """Make Ctrl-C, SIGTERM and SIGHUP end a run in the same way: cleanly, with the command that continues it. Signals that the caller ignores stay
    ignored.

    An exception raised inside the compiler may be lost, or leave the compiler's lock taken forever, and one raised while a condition is entered or
    left leaves the condition's lock taken. A signal that comes there is raised by `raise_if_interrupted` at the next step, or at the end. Errors of
    memory and signals in destructors are not printed: one message reports them.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        received.append((number, time.monotonic()))
        if len(received) == 1:
            progress.INTERRUPTED.set()
            if not uninterruptible(frame):
                raise KeyboardInterrupt
        if received[-1][1] - received[0][1] > TOGETHER_SECONDS:
            os._exit(128 + number)

    def unraisable(lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt | MemoryError):
            sys.__unraisablehook__(lost)

    sys.unraisablehook = unraisable
    received.clear()
    progress.INTERRUPTED.clear()
    for name in ENDING:
        number = getattr(signal, name, None)
        if number is not None and threading.current_thread() is threading.main_thread() and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def uninterruptible(frame: FrameType | None) -> bool:
    """True if a frame belongs to the compiler or takes or releases the lock of a condition, or was called by one that does."""
    while frame is not None:
        if frame.f_code in LOCKING or frame.f_globals.get("__name__", "").partition(".")[0] in ("numba", "llvmlite"):
            return True
        frame = frame.f_back
    return False


def status_of(group: Likewise, args: list[str]) -> int:
    """Run a command line and return the exit status. An error is reported however little memory is left."""
    try:
        reserve = mmap.mmap(-1, RESERVE_BYTES)
    except OSError:
        return fail(MEMORY)
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
        progress.raise_if_interrupted()  # for a signal that came inside the compiler
        return int(status or 0)
    except BrokenPipeError:
        silence(sys.stdout)
        return 0
    except (Exception, KeyboardInterrupt) as error:
        short = short_of_memory(error)
        reserve.close()
        try:
            return reported(error, short)
        except Exception:
            os.write(2, f"likewise: error: {MEMORY}\n".encode())
            return 2


def reported(error: BaseException, short: bool) -> int:
    """Print the error that ended a run, and return the exit status."""
    notes = error.__dict__.pop("__notes__", ())
    if isinstance(error, KeyboardInterrupt) or (isinstance(error, SystemError) and comes_of(error, KeyboardInterrupt)):
        number = received[0][0] if received else signal.SIGINT
        what = "interrupted" if number == signal.SIGINT else f"stopped by {signal.Signals(number).name}"
        return print_error([what, *notes], 128 + number)
    if isinstance(error, click.ClickException):
        where = getattr(error, "ctx", None)
        command = None if where is None else where.command
        more = [command.usage_line, f"see likewise {command.name} --help"] if isinstance(command, Verb | Actions) else []
        return fail(syntax_message(error), *more, ctx=where)
    if isinstance(error, LikewiseError):
        return fail(on_command_line(error), *notes, ctx=getattr(error, "ctx", None), named=options_in(error))
    if short:
        return fail(MEMORY, *notes)
    if isinstance(error, OSError):
        return fail(system_message(error), *notes)
    import traceback

    Screen().say("".join(traceback.format_exception(error)).rstrip())
    return fail("this is a bug in likewise; please report it with the lines above", *notes)


def syntax_message(error: click.ClickException) -> str:
    """The message for a command line that cannot be parsed."""
    if isinstance(error, click.NoSuchOption):
        known = {option for param in error.ctx.command.params for option in param.opts} if error.ctx else set()
        name = error.option_name.lstrip("-")
        possible = [flag.lstrip("-") for flag in error.possibilities or ()]  # without the dashes that all have
        near = difflib.get_close_matches(name, possible, 1)
        meant = next((flag for flag in (MEANT.get(error.option_name), *(f"--{one}" for one in near)) if flag in known), "")
        return f"unknown flag {error.option_name}" + (f"; did you mean {meant}?" if meant else "")
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{name_of(error.param)} is missing"
    if isinstance(error, click.BadOptionUsage):
        return f"{error.option_name} {'needs a value' if 'requires' in error.message else 'takes no value'}"
    message = error.format_message().rstrip(".")
    return message[:1].lower() + message[1:]


def silence(stream: TextIO) -> None:
    """Discard all further output of a broken stream, so that the last flush succeeds."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def short_of_memory(error: BaseException) -> bool:
    """True if an error means that memory is short, or if memory is short now: some libraries replace the original error."""
    if comes_of(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    if isinstance(error, ImportError | OSError | RuntimeError) and any(words in str(error) for words in SHORT_OF_MEMORY):
        return True
    try:
        mmap.mmap(-1, PROBE_BYTES).close()
    except (OSError, MemoryError):
        return True
    return False


def comes_of(error: BaseException | None, kind: type[BaseException]) -> bool:
    """True if this error or one of its causes has a type: an exception raised inside C code becomes a SystemError."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error is not None


def fail(message: str, *notes: str, ctx: click.Context | None = None, named: Sequence[str] = ()) -> int:
    """Print an error and return its exit status. named: the options in the message; adds where they were set."""
    color = ctx.params.get("color") if ctx is not None else None
    return print_error([message + origin(ctx, named), *notes], 2, color or "auto", click.style("error: ", fg="red", bold=True))


def print_error(lines: Sequence[str], status: int, color: str = "auto", lead: str = "") -> int:
    """Print the last message of a command, and return the exit status."""
    Screen(color=color).say("\n  ".join(map(in_line, lines)), f"likewise: {lead}")
    return status


def system_message(error: OSError) -> str:
    """The message for an error of the operating system: the path, the reason and advice."""
    reason = (error.strerror or str(error)).rstrip(".")
    places = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    advice = ADVICE.get(error.errno or 0)
    return (f"{' -> '.join(places)}: " if places else "") + reason + (f"; {advice}" if advice else "")
