"""The verb `quotes`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Never

from likewise import methods
from likewise.choices import Html, Number, OnError, given
from likewise.methods import Text
from likewise.options import Options, integer, resolve
from likewise.passages.search import SCALES, Search
from likewise.progress import Progress
from likewise.runs.origin import Origin
from likewise.runs.quoted import Quotes, coverage, facts, table
from likewise.runs.quotes import search
from likewise.runs.session import Inputs, paths_of, started

#: Denominator of the threshold at most, so that it times a number of tokens is an int64.
MOST_DENOMINATOR = 10**9


def quotes(
    corpus: Inputs,
    suspects: Inputs,
    *,
    progress: Progress | bool | None = None,
    by: str | Text | None = None,
    threshold: Number | None = None,
    min_run: int | None = None,
    gap: int | None = None,
    normalize: str | Sequence[str] | None = None,
    ignore: Inputs | None = None,
    ignore_common: Number | None = None,
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
) -> Quotes:
    """Find the passages of ``suspects`` that occur in ``corpus``, exact or lightly edited, with their places in both.

    Columns: suspect, suspect_source, suspect_position, suspect_start, suspect_end, corpus, corpus_source, corpus_position, corpus_start, corpus_end,
    agreed, similarity; ordered by suspect and place. Starts and ends count characters (code points) of the original text, so that ``text[start:end]``
    is the passage. ``agreed`` is the number of equal tokens, ``similarity`` is 2 * agreed / (tokens here + tokens there).

    ``by`` is the unit of tokens: words (the default), whitespace, code, chars, lines, paragraphs, or tokens for token ids. Signs such as = and | are
    not words. Each run of ``min_run`` equal tokens or more (12; 60 characters; 3 lines) is found, as part of a passage. A passage continues after a
    difference of at most ``gap`` tokens in either text (the same numbers), as long as its similarity is at least ``threshold`` (0.5). Moved and
    reordered passages are also found.

    Only the first 64 places of a run in the corpus are compared; ``report["common"]`` describes runs with more places, such as licenses.
    ``ignore`` names texts, ``ignore_common`` the share of the texts above which a shingle is common: stretches of ``min_run`` tokens or more whose
    shingles are all ignored match nothing. If both sides name the same file, or are the same object, no record is compared with itself.

    Other options are those of `dedup`: ``normalize``, ``field``, ``records``, ``html``, ``id``, ``on_error``, ``max_record``, ``seed``, ``threads``,
    ``memory``, ``work``, ``progress``. Either side may be larger than memory. Raises the errors of `dedup`.

    >>> import likewise as lw
    >>> found = lw.quotes(["To be, or not to be, that is the question"], ["he said: to be or not to be"], min_run=6)
    >>> found[["suspect_start", "suspect_end", "corpus_start", "corpus_end", "agreed", "similarity"]].to_dicts()
    [{'suspect_start': 9, 'suspect_end': 27, 'corpus_start': 0, 'corpus_end': 19, 'agreed': 6, 'similarity': 1.0}]
    """
    choices = given("quotes", locals(), own="suspects")
    return find_quotes(corpus, suspects, options_of(choices), progress)


def options_of(choices: dict[str, Any]) -> Options:
    """The options of a search. Raises UsageError."""
    tokens, run = methods.tokens(choices.get("by", "words"), choices.get("normalize"), SCALES), integer(choices.get("min_run"))
    k = SCALES[tokens.unit].k
    method = replace(tokens, k=min(k, run) if isinstance(run, int) and run > 0 else k)
    return resolve(**{"threshold": "0.5", **choices, "by": method, "normalize": None, "exact": True})


def settings_of(options: Options) -> Search:
    """The settings of the search."""
    method, bound = options.method, options.bound
    assert isinstance(method, Text) and bound is not None
    scale = SCALES[method.unit]
    run, gap = (default if given is None else given for given, default in ((options.min_run, scale.run), (options.gap, scale.gap)))
    return Search(method, options.seed, run, gap, bound.limit_denominator(MOST_DENOMINATOR))


def find_quotes(corpus: Inputs, suspects: Inputs, options: Options, progress: Progress | bool | None) -> Quotes:
    """`quotes` by options that are checked."""
    settings = settings_of(options)
    with started(corpus, options, "quotes", None, progress, suspects, apart=True) as (sources, run):
        passages = search(sources, run, settings, one=corpus is suspects and paths_of(corpus) is None)
        origins = [Origin(side.collection, run, side.first) for side in (passages.suspects, passages.corpus)]
        report = facts(passages, settings, run.job.described_for("quotes", "exact"), run)
        return Quotes(table(passages), report, coverage(passages), origins)
