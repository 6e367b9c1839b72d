"""Untrusted text in output for people: characters that control a terminal, and cells that a spreadsheet takes for formulas."""

from __future__ import annotations

import re

#: Control characters except tab and line feed, line and paragraph separators, and characters that change the writing direction.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
#: CONTROL, which text of a corpus must never bring to a terminal, and line ends, which in a name would begin a message of their own.
UNLINED = re.compile(rf"\n|{CONTROL.pattern}")
#: The beginning of a cell that a spreadsheet may take for a formula (OWASP, "CSV Injection"), in the syntax of RE2.
FORMULA = r"\A[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
#: A cell that a spreadsheet takes for a number, which is harmless: for example the id "-5" from CSV.
NUMBER = r"\A[+\-]?(\d+(\.\d*)?|\.\d+)([eE][+\-]?\d+)?\z"


def escaped_json(text: str) -> str:
    r"""JSON text with CONTROL characters as \uXXXX, which means the same.

    >>> escaped_json('"a\x9b\u202eb"')
    '"a\\u009b\\u202eb"'
    """
    if text.isascii() and "\x7f" not in text:  # JSON has already escaped the other controls of ASCII
        return text
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def harmless(text: str) -> str:
    """Text with control characters and what turns the writing direction spelled out, so that a terminal shows it and does not obey it.

    >>> harmless("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return spelled(CONTROL, text)


def in_line(text: str) -> str:
    """The same, on one line.

    >>> in_line("a\\nb")
    'a\\\\nb'
    """
    return spelled(UNLINED, text)


def spelled(what: re.Pattern[str], text: str) -> str:
    return what.sub(lambda match: match[0].encode("unicode_escape").decode(), text.encode("utf-8", "backslashreplace").decode())
