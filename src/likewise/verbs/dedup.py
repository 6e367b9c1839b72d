"""The verb `dedup`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Never

from likewise.choices import WRITTEN, Copies, Engine, Html, Level, Number, OnError, Output, Sketch, Tune, Verify, given
from likewise.engines.chosen import chosen
from likewise.errors import UsageError
from likewise.io.address import place
from likewise.io.output import check_target
from likewise.messages import option
from likewise.methods import Measure, Text
from likewise.options import Options
from likewise.progress import Progress
from likewise.report.made import compared_with
from likewise.runs import frames
from likewise.runs.removal import remove
from likewise.runs.results import Removal
from likewise.runs.session import Inputs, resolved, started


def dedup(
    inputs: Inputs,
    *,
    against: Inputs | None = None,
    order: str | Sequence[str] | None = None,
    also_inside: bool | None = None,
    out: str | Path | None = None,
    progress: Progress | bool | None = None,
    by: str | Text | Measure | None = None,
    threshold: Number | None = None,
    within: Number | None = None,
    recall: float | None = None,
    exact: bool | None = None,
    normalize: str | Sequence[str] | None = None,
    field: str | Sequence[str] | None = None,
    records: str | None = None,
    html: Html | None = None,
    id: str | None = None,
    per: str | None = None,
    min_tokens: int | None = None,
    ignore: Inputs | None = None,
    ignore_common: Number | None = None,
    groups: str | Path | Mapping[Any, Any] | None = None,
    level: Level | None = None,
    min_run: int | None = None,
    min_left: int | None = None,
    verify: Verify | None = None,
    keep: str | None = None,
    prefer: str | Sequence[str] | None = None,
    copies: Copies | None = None,
    output: Output | None = None,
    pairs: bool | None = None,
    removed_records: bool | None = None,
    sketches: bool | None = None,
    bands: int | None = None,
    rows: int | None = None,
    slots: int | None = None,
    sketch: Sketch | None = None,
    tune: Tune | None = None,
    preset: str | None = None,
    seed: int | str | None = None,
    limit: int | None = None,
    on_error: OnError | None = None,
    max_record: int | str | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    work: str | Path | None = None,
    overwrite: bool | None = None,
    resume: bool | None = None,
    engine: Engine | None = None,
    master: str | None = None,
    **unknown: Never,
) -> Removal:
    """Remove near-duplicates. Every removed item was compared exactly with a kept item that is at or above the threshold.

    inputs: a path, glob or folder; a list of ``pathlib.Path``; or data: a table of another library, a list of strings (each is a text), or a list of
    mappings. A Spark DataFrame is compared in its own session.
    against: a second collection, given like ``inputs``; or an output folder of `dedup`, whose kept records and options are used; or an index, by its
    path or address or as an open `Index`, whose options are used. Items of ``inputs`` that are similar to one of its items are removed; if
    ``also_inside`` is True, also those similar to a kept item of ``inputs``. The second collection is not changed, and is counted separately
    (``report["against"]``).
    order: required for Spark DataFrames, whose rows have no order: the column or columns by which the rows are sorted first, nulls before others.
    Rows with equal values in them are sorted by a hash of the row, so the result is always the same. ``to_native()`` of each table of the result
    returns a DataFrame; for ``result.kept``, it has the columns and types of the input, all nullable. ``id`` is by default the column "id", or else
    that of ``order``.
    out: the output folder; without it, nothing is written, and the result is in memory. For a Spark DataFrame, the result is then in files next to
    ``work`` or in a temporary folder, which are deleted when the process ends.
    progress: a `Progress`; or True or False to show a progress line or not (by default shown on a terminal and in a notebook, after a second).

    ===================  ====================================================================================================================
    option               meaning (default)
    ===================  ====================================================================================================================
    ``by``               shingles (words:5, chars:9, ...), or a measure: elements, cosine, hamming, ...; image if all files are images (words:5)
    ``threshold``        minimum similarity, above 0 and up to 1; a string such as "4/5" is exact (0.8; by image/region 0.5)
    ``within``           maximum distance, in place of ``threshold``; for texts and sets it is 1 - similarity
    ``recall``           minimum probability that a pair at the threshold is found, above 0 and below 1 (0.99)
    ``exact``            True: find all pairs, by an exact join of sets or strings, or a scan of other items (for sets: if it is faster)
    ``normalize``        steps before texts are cut into tokens: "nfc,lower", ["masks", "re:id=[0-9]+"], or "none" (depends on the unit)
    ``field``            column or JSON path to compare; "a+b" joins two, "a|b" takes the first present, "NAME@GLOB" is for some files (text)
    ``records``          path of the list of records inside a JSON document, such as "data" or "response.items"
    ``html``             what to read of web pages in archives: their "text", the "main" text, or the "raw" source (text)
    ``id``               column or JSON path of the id ("id", else the position, not the label of a data frame's index: use ``frame.iloc[id]``)
    ``per``              compare only items with the same value of this field
    ``min_tokens``       keep items with fewer tokens, ignored ones included, without comparing them (0)
    ``ignore``           inputs such as a license notice or a template, also texts: their shingles or elements are left out of all items
    ``ignore_common``    leave out the shingles or elements in more than this share of the distinct items, such as 0.01 or "1%"
    ``groups``           for sets: a mapping from elements to groups, or a file with one; the sets of groups are compared
    ``level``            "line", "paragraph" or "passage": compare these parts of documents, and cut them out of the documents (document);
                         passages are runs of tokens of the unit ``by`` that occur earlier, or in ``against``
    ``min_run``          for passages: the minimum number of tokens of a run (50 words; with ``against`` 12, or as the preset)
    ``min_left``         with ``level``: also remove documents that lose parts and keep fewer tokens (1)
    ``verify``           how candidates are checked: "exact", "estimate" by signatures, or "none" (exact)
    ``keep``             which of similar items is kept: first, last, longest, shortest, or max:F or min:F of a field F (first)
    ``prefer``           one glob or several: items of these files are kept before all others, in this order
    ``copies``           "empty": items without tokens are duplicates of each other (none)
    ``output``           "copy": the kept records; "ids": their ids; "mask": a table; "annotate": all records with added fields (copy)
    ``pairs``            True: also write the verified pairs
    ``removed_records``  True: also write the removed records
    ``sketches``         True: also write the band keys and sets of the kept records, from which an index is built without their texts
    ``bands``, ``rows``  number of bands, and of rows in each (planned)
    ``slots``            maximum length of a signature (planned)
    ``sketch``           MinHash with one permutation, "oph", or with many, "classic" (oph)
    ``tune``             plan for the "recall", or for the minimum "error", which guarantees no recall (recall)
    ``preset``           published layout (likewise.planning.presets), or with passages published recipe (likewise.planning.recipes); explicit options
                         override it
    ``seed``             seed of the hash functions: the same seed gives the same result; "random" draws one (0)
    ``limit``            read only the first N items (all)
    ``on_error``         "skip", the default for images: reject and list records that cannot be decoded, and continue (fail)
    ``max_record``       maximum size of a record, such as 1000000 or "64M" (64M)
    ``threads``          number of threads (one for each core)
    ``memory``           memory for the data, such as "1.5G"; Python, libraries and compiling need up to 370 MB more (75% of available memory)
    ``work``             folder of intermediate files (next to ``out``, or a temporary folder)
    ``overwrite``        True: replace ``out`` once the new output is complete
    ``resume``           True: continue an interrupted run
    ``engine``           "spark": run on a Spark cluster, with the same result (local)
    ``master``           URL of the cluster: "local[4]", "spark://HOST:7077", "yarn", "k8s://...", "sc://HOST:15002" (the active session)
    ===================  ====================================================================================================================

    Raises UsageError for unknown or invalid options, DataError for inputs that cannot be read, FormatError for damaged files of likewise.

    >>> import likewise as lw
    >>> result = lw.dedup(["the cat sat on the mat today", "The cat sat on the mat, today!", "dogs bark"], by="words:3")
    >>> result.kept.to_arrow()["text"].to_pylist()
    ['the cat sat on the mat today', 'dogs bark']
    """
    choices = given("dedup", locals(), own="out against")
    inputs, against, choices = frames.given(inputs, against, order, choices)
    against, choices = compared_with(against, choices)
    options = resolved([inputs, against], choices, alone=against is None)
    if out is not None and not isinstance(out, str | os.PathLike):
        raise UsageError(f"{option('out', out)}: give the path of a folder")
    target = None if out is None else place(out)
    if target is None and (idle := [name for name in WRITTEN.split() if choices.get(name)]):
        named = " and ".join(option(name, choices[name]) for name in idle)
        raise UsageError(f"{named}: nothing is written without {option('out')}; give {option('out', placeholder='FOLDER')}, or leave out the rest")
    if target is not None:
        check_target(target, overwrite=options.overwrite, work=options.work, resume=options.resume)
    if not isinstance(inputs, frames.Ordered):
        return deduplicate(inputs, against, options, target, progress)
    with frames.folder(options, target) as folder:
        found = deduplicate(inputs, against, options, folder, progress)
        return replace(frames.removal(found, inputs, folder, options), out=target)


def deduplicate(inputs: Inputs, against: Inputs | None, options: Options, target: Path | None, progress: Progress | bool | None) -> Removal:
    """`dedup` by options that are checked, into a folder that may be written, or into memory."""
    if options.min_run is not None and options.level != "passage":
        raise UsageError(f"{option('min_run', options.min_run)}: only passages are runs of tokens; it needs {option('level', 'passage')}")
    if options.level == "passage" and against is None and (idle := [name for name in ("preset", "ignore") if getattr(options, name) is not None]):
        needs = option("against", placeholder="INPUT")
        raise UsageError(
            f"{option(idle[0], getattr(options, idle[0]))}: {option('level', 'passage')} takes it only with a second collection; give {needs}"
        )
    with (
        started(inputs, options, "dedup", target, progress, against) as (sources, run),
        chosen(sources, run) as engine,
    ):
        return remove(sources, run, engine, target, inputs)
