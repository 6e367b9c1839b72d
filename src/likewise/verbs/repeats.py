"""The verb `repeats`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Never

from likewise import methods
from likewise.choices import Html, Number, OnError, given
from likewise.methods import Text
from likewise.options import Options, resolve
from likewise.passages.repeats import settings_of
from likewise.planning.recipes import REPEATED
from likewise.progress import Progress
from likewise.runs.repeated import Repeats, result
from likewise.runs.repeats import search
from likewise.runs.session import Inputs, started

#: The units of text in which repeats are counted, and the default of ``min_run``.
RUNS = REPEATED | {"tokens": 50}


def repeats(
    inputs: Inputs,
    *,
    progress: Progress | bool | None = None,
    by: str | Text | None = None,
    min_run: int | None = None,
    common: Number | None = None,
    normalize: str | Sequence[str] | None = None,
    field: str | Sequence[str] | None = None,
    records: str | None = None,
    html: Html | None = None,
    id: str | None = None,
    on_error: OnError | None = None,
    max_record: int | str | None = None,
    seed: int | str | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    work: str | Path | None = None,
    **unknown: Never,
) -> Repeats:
    """Find all runs of ``min_run`` tokens or more that are repeated exactly, in another document or in the same one, with their places.

    A *passage* is a longest run of tokens whose windows of ``min_run`` tokens always occur together, so each of its places has the complete passage.
    Columns, one row for each place, in input order: id, source, position, start, end, tokens, passage, times, documents, first. Start and end count
    characters (code points) of the original text, so that ``text[start:end]`` is the passage. ``passage`` is its number, by first places; ``times``
    is how often it occurs, ``documents`` in how many documents; ``first`` is True for its first place. Occurrences that overlap are one place.
    ``passages`` of the result has one row for each passage.

    ``by`` is the unit of tokens: words (the default), whitespace, code, chars, lines, paragraphs, or tokens for token ids. ``min_run`` is 50 by
    default (250 characters, 3 lines, 2 paragraphs). ``common`` lists only the passages in more than this share of the documents, such as 0.01 or
    "1%": boilerplate.

    Every repeat is found. Two different runs are mistaken for equal with a probability of about 2^-64 for each pair that differs in one token, and
    far less for others. The documents are read twice and may be larger than memory. ``report["later"]`` has the numbers of tokens and characters in
    all occurrences but the first.

    Other options are those of `dedup`: ``normalize``, ``field``, ``records``, ``html``, ``id``, ``on_error``, ``max_record``, ``seed``, ``threads``,
    ``memory``, ``work``, ``progress``. Raises the errors of `dedup`.

    >>> import likewise as lw
    >>> found = lw.repeats(["All rights reserved. One.", "Two. All rights reserved."], min_run=3)
    >>> for place in found:
    ...     print(place["id"], place["start"], place["end"], place["passage"], place["times"], place["first"])
    0 0 19 0 2 True
    1 5 24 0 2 False
    """
    return find_repeats(inputs, options_of(given("repeats", locals())), progress)


def options_of(choices: dict[str, Any]) -> Options:
    """The options of a search. Raises UsageError."""
    tokens = methods.tokens(choices.get("by", "words"), choices.get("normalize"), RUNS)
    return resolve(limited=False, **choices | {"by": tokens, "normalize": None, "exact": True})


def find_repeats(inputs: Inputs, options: Options, progress: Progress | bool | None) -> Repeats:
    """`repeats` by options that are checked."""
    assert isinstance(options.method, Text)
    least = RUNS[options.method.unit] if options.min_run is None else options.min_run
    settings = settings_of(options.method, options.seed, least)
    with started(inputs, options, "repeats", None, progress) as (sources, run):
        return result(search(sources, run, settings), run, settings, run.job.described_for("repeats", "exact"))
