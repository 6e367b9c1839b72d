"""The exceptions of likewise.

    LikewiseError
    ├── UsageError        an invalid value, option or combination
    │   └── IdError       an id is already in the index, or is not in it
    ├── DataError         the input cannot be read in its format
    ├── FormatError       a file that likewise wrote (manifest, sketch, work folder) is damaged
    └── MissingPartError  an optional part is not installed

A message names the option or place, the value found, the valid values, and the fix.

`messages.option` names an option in it. ``str(error)`` is the message in Python's words; ``error.marked`` also contains those of the command line, so
a message that quotes another error uses ``error.marked``.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from likewise.messages import in_python, marked, option

#: Temporary failures of a disk or a network: nothing is wrong with the data.
DEVICE_ERRORS = frozenset(
    getattr(errno, name)
    for name in ("EIO", "ENXIO", "ENODEV", "ESTALE", "EREMOTEIO", "ETIMEDOUT", "ENOTCONN", "ECONNRESET", "EHOSTDOWN", "EHOSTUNREACH", "ENETDOWN")
    if hasattr(errno, name)
)


class LikewiseError(Exception):
    """Root of the exceptions that a caller may want to catch. ``str`` is the message in Python's words; ``marked`` also has the flags."""

    def __init__(self, message: object = "") -> None:
        self.marked: str = marked(message)
        super().__init__(in_python(message))


class UsageError(LikewiseError, ValueError):
    """An invalid value, option or combination."""


class IdError(UsageError):
    """Ids of a write to an index that are there already, given twice, or not there. ``ids``, and ``rows``, their places in the batch."""

    def __init__(self, message: object, ids: list[Any], rows: list[int]) -> None:
        super().__init__(message)
        self.ids: list[Any] = ids
        self.rows: list[int] = rows

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.marked, self.ids, self.rows)


class DataError(LikewiseError, ValueError):
    """The input cannot be read in its format; the message names the place."""


class FormatError(LikewiseError):
    """A file that likewise wrote is damaged, of another version, or made differently."""


class MissingPartError(LikewiseError, ImportError):
    """An optional part is not installed; the message has the command that installs it."""


def install(distribution: str) -> str:
    """The command that installs a distribution into this Python, which may have no pip."""
    import shlex
    import sys

    return f"pip --python {shlex.quote(sys.executable)} install {contents(distribution)}"


def contents(distribution: str) -> str:
    """A distribution for pip. A clone is none, so there an extra of likewise is what pyproject.toml says that it consists of."""
    import re
    import shlex
    import tomllib
    from importlib import metadata
    from pathlib import Path

    extra = re.fullmatch(r"'likewise\[(\w+)\]'", distribution)
    project = Path(__file__).parents[2] / "pyproject.toml"
    if not extra or not project.is_file() or any(metadata.distributions(name="likewise")):
        return distribution
    return " ".join(map(shlex.quote, tomllib.loads(project.read_text())["project"]["optional-dependencies"][extra[1]]))


def missing_part(purpose: str, name: str, distribution: str) -> MissingPartError:
    """The error for an optional part that is not installed."""
    return MissingPartError(f"{purpose} {name}, which is not installed: {install(distribution)}")


def no_room(record: str, size: str, need: str, most: int) -> UsageError:
    """The error for a record that takes more than the memory allowed; the run can be resumed with more.

    record: its place, as the beginning of a sentence. size, need: the size of the record and the memory that it takes, in words. most: the size of
    a record that fits, in bytes.
    """
    shorter = f"{option('max_record', f'{max(1, most >> 20)}M')} and {option('on_error', 'skip')}"
    takes = f"{record} has {size} and takes {need} of memory, more than {option('memory')} allows"
    error = UsageError(f"{takes}; allow more, or reject such records with {shorter}")
    error.__cause__ = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
    return error


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Inside, errors of the system name ``path`` if they name no file: a write does not know its file."""
    try:
        yield
    except OSError as error:
        if error.errno and error.filename is None:
            error.filename, error.strerror = str(path), os.strerror(error.errno)  # Arrow puts the name into the text
        raise


def of_device(error: OSError, place: object) -> OSError:
    """The error of a device or a store with the name of the place, and the words of the system, or of the store if it named the place itself."""
    said = error.strerror if error.filename else os.strerror(error.errno or 0)
    return OSError(error.errno, said, str(place))


def can_go_on(error: BaseException) -> bool:
    """True if the cause of an error is outside the run, so that it can be resumed: it was interrupted, or the system refused something."""
    return not isinstance(error, LikewiseError) or (isinstance(error.__cause__, OSError) and bool(error.__cause__.errno))


def has_gone(error: BaseException) -> bool:
    """True if an input has disappeared since the run began: then the run can be resumed when the input is back, and the input is not rejected."""
    return isinstance(error.__cause__, FileNotFoundError | NotADirectoryError)
