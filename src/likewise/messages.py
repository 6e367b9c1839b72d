"""Options and values as messages show them.

A message is read in Python, on the command line or in a report, where options have different names: ``threshold=0.8``, ``--threshold 0.8`` and
``threshold 0.8``. So code writes ``option("threshold", 0.8)`` into the message, which holds all three between marks. `errors.LikewiseError` and
`runs.items.Run.warn` show the form of Python, the command line takes `on_command_line`, and text for a file passes through `in_document`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

#: Maximum length of a quoted value.
QUOTED = 60
#: A marked piece: BEGIN, the name of the option, and its forms in Python, on the command line and in documents, each after NEXT; END. Unicode has no
#: characters here, so text has none of them.
BEGIN, NEXT, END = "\ufdd0", "\ufdd1", "\ufdd2"
UNMARKED = str.maketrans(dict.fromkeys((BEGIN, NEXT, END), "?"))
#: Options and arguments whose flag is not ``--name``.
FLAGS = {"inputs": "INPUT", "out": "-o", "k": "-k"}
#: Options that take no value on the command line.
SWITCHES = ("exact", "also_inside", "pairs", "removed_records", "sketches", "star", "overwrite", "resume")
NOTHING: Any = object()


class Message(str):
    """A message as a caller in Python reads it. ``marked`` has it for other readers too."""

    marked: str

    def __new__(cls, message: object) -> Message:
        found = super().__new__(cls, in_python(message))
        found.marked = marked(message)
        return found


def either(python: str, command_line: str, document: str | None = None, *, name: str = "") -> str:
    """A piece of a message that depends on the reader. In documents it is as on the command line if not given. name: the option, if it names one.

    >>> in_python(f"call {either('lw.audit(...)', 'likewise audit')}")
    'call lw.audit(...)'
    """
    forms = (name, python, command_line, command_line if document is None else document)
    return BEGIN + NEXT.join(form.translate(UNMARKED) for form in forms) + END


def option(name: str, value: Any = NOTHING, *, placeholder: str = "") -> str:
    """A piece of a message that names an option, with its value, with a placeholder for one, or alone.

    >>> for piece in (option("threshold", 1.5), option("within", placeholder="D"), option("recall"), option("exact"), option("out")):
    ...     print(in_python(piece), on_command_line(piece), in_document(piece), sep=" | ")
    threshold=1.5 | --threshold 1.5 | threshold 1.5
    within=D | --within D | within D
    recall= | --recall | recall
    exact=True | --exact | exact
    out= | -o | out
    >>> print(on_command_line(option("field", ["title@*.csv", "body"])))
    --field 'title@*.csv' --field body
    """
    flag = FLAGS.get(name) or "--" + name.replace("_", "-")
    if value is NOTHING:
        own = placeholder or ("True" if name in SWITCHES else "")
        return either(f"{name}={own}", f"{flag} {placeholder}".rstrip(), f"{name} {placeholder}".rstrip(), name=name)
    value = os.fspath(value) if isinstance(value, os.PathLike) else value
    several = value if isinstance(value, list | tuple) and value else [value]
    typed = flag if value is True else " ".join(f"{flag} {as_typed(one)}" for one in several)
    plain = name if value is True else f"{name} {', '.join(map(as_text, several))}"
    return either(f"{name}={quoted(value)}", typed, plain, name=name)


def as_text(value: Any) -> str:
    """A value without the quotes of Python, shortened if it is long."""
    try:
        text = str(value)
    except ValueError:
        return quoted(value)
    return text if len(text) <= QUOTED else f"{text[: QUOTED - 3]}..."


def as_typed(value: Any) -> str:
    """A value as it is typed into a shell."""
    import shlex

    return shlex.quote(value) if isinstance(value, str) and len(value) <= QUOTED else as_text(value)


def verb(name: str) -> str:
    """A piece of a message that names a verb.

    >>> in_python(verb("audit")), on_command_line(verb("audit"))
    ('lw.audit', 'likewise audit')
    """
    return either(f"lw.{name}", f"likewise {name}")


def marked(message: object) -> str:
    """A message with the marks that its pieces have, of an error, a `Message` or any text."""
    return getattr(message, "marked", None) or str(message)


def in_python(message: object) -> str:
    """A message as a caller in Python reads it."""
    return chosen(message, 0)


def on_command_line(message: object) -> str:
    """A message as a user of the command line reads it."""
    return chosen(message, 1)


def in_document(message: object) -> str:
    """A message for a file. It is the same whichever way the run was started."""
    return chosen(message, 2)


def chosen(message: object, form: int) -> str:
    return "".join(part if isinstance(part, str) else part[1 + form] for part in parts(marked(message)))


def options_in(message: object) -> list[str]:
    """The names of the options in a message, in order."""
    return [part[0] for part in parts(marked(message)) if not isinstance(part, str) and part[0]]


def parts(whole: str) -> Iterator[str | list[str]]:
    """The pieces of a message: text, or the name and the forms of a marked piece."""
    first, *rest = whole.split(BEGIN)
    yield first
    for piece in rest:
        inside, end, after = piece.partition(END)
        forms = inside.split(NEXT)
        if len(forms) == 4:
            yield forms
        else:  # from an input: text with such characters
            yield BEGIN + inside + end
        yield after


def quoted(value: Any) -> str:
    """A value as a message quotes it, shortened if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write whole numbers of more than 4,300 digits
        return "a number of thousands of digits"
    return text if len(text) <= QUOTED else f"{text[: QUOTED - 3]}..."
