"""The kinds of items, one file each: every difference between them is declared there.

A kind is a module here that defines ``KIND``, an instance of a subclass of `kind.Kind`, and is listed in MODULES. It is loaded on first use; its
methods import numpy and Arrow themselves.

>>> from likewise.kinds import measure, measures
>>> measure("hamming").distance, [name for name, facts in measures().items() if facts.real][:2]
(True, ['weighted', 'cosine'])
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module

from likewise.kinds.kind import Kind, MeasureFacts

#: The registry, in the order in which messages and pages name the kinds.
MODULES = ("texts", "tokens", "sets", "weighted", "vectors", "sparse", "codes", "strings", "features", "images", "regions")
#: Kinds added by `registered`.
_OTHERS: list[Kind] = []


@cache
def kinds() -> dict[str, Kind]:
    """All kinds by name."""
    found = [import_module(f"likewise.kinds.{module}").KIND for module in MODULES]
    return {kind.name: kind for kind in (*found, *_OTHERS)}


@cache
def _compared() -> dict[str, tuple[MeasureFacts, Kind]]:
    """All measures by name, each with the kind that it compares."""
    return {facts.name: (facts, kind) for kind in kinds().values() for facts in kind.measures}


@cache
def measures() -> dict[str, MeasureFacts]:
    """The measures that ``by=`` accepts by name, without those that a pattern matches (`orders`)."""
    return {name: facts for name, (facts, _) in _compared().items() if not facts.order}


def orders() -> list[MeasureFacts]:
    """The measures named after their order, as l3: their facts hold a pattern."""
    return [facts for facts, _ in _compared().values() if facts.order]


def measure(name: str) -> MeasureFacts:
    """The facts of a measure. Raises KeyError for an unknown name."""
    return _compared()[name][0]


def kind_of(name: str) -> Kind:
    """The kind that a measure compares. Raises KeyError for an unknown name."""
    return _compared()[name][1]


def of_payload(payload: str) -> Kind:
    """The kind with this payload. Raises StopIteration for an unknown payload."""
    return next(kind for kind in kinds().values() if kind.payload == payload)


def of_files(format: str | None) -> Kind | None:
    """The kind whose items are whole files of this format, or None: texts are read from files of many formats."""
    return next((kind for kind in kinds().values() if format and kind.files == format), None)


def kind_of_unit(unit: str) -> Kind:
    """The kind that is cut into shingles of this unit (methods.UNITS)."""
    cut = {kind.unit: kind for kind in kinds().values() if kind.cut}
    return cut.get(unit, cut[""])


@contextmanager
def registered(kind: Kind) -> Iterator[Kind]:
    """Register another kind for the duration of a ``with`` block."""
    _OTHERS.append(kind)
    _forget()
    try:
        yield kind
    finally:
        _OTHERS.remove(kind)
        _forget()


def _forget() -> None:
    for made in (kinds, _compared, measures):
        made.cache_clear()
