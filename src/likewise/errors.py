"""Every exception that likewise raises on purpose.

    LikewiseError
    ├── UsageError        a value, flag or combination that cannot be meant
    ├── DataError         the input cannot be read as what it claims to be
    ├── FormatError       a file of our own (manifest, sketch, work folder) does not fit
    └── MissingPartError  an optional part is not installed

A message says what was expected, what came, where, and what to do next.
"""


class LikewiseError(Exception):
    """Root of the exceptions that a caller may want to catch."""


class UsageError(LikewiseError, ValueError):
    """A value, flag or combination that cannot be meant."""


class DataError(LikewiseError, ValueError):
    """The input cannot be read as what it claims to be; the message names the place."""


class FormatError(LikewiseError):
    """A file that likewise wrote itself is damaged, of another version, or made differently."""


class MissingPartError(LikewiseError, ImportError):
    """An optional part is not installed; the message names the extra to install."""
