"""The verb `dedup`."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from likewise.choices import OfDedup, refuse_empty, refuse_others
from likewise.engines.local import Local
from likewise.errors import UsageError
from likewise.io.output import check_target
from likewise.messages import option
from likewise.options import Options, resolve
from likewise.progress import Progress
from likewise.runs.removal import remove
from likewise.runs.results import Removal
from likewise.runs.session import Inputs, started

#: Options of `dedup` that say what goes into its folder.
WRITTEN = ("output", "pairs", "removed_records")


def dedup(inputs: Inputs, *, out: str | Path | None = None, progress: Progress | bool | None = None, **choices: Unpack[OfDedup]) -> Removal:
    """Remove near-duplicates: every removed item has a kept one at or above the threshold, exactly verified.

    inputs: a path, glob or folder, a list of ``pathlib.Path``, or Python data (a table of another library, a list of str, which are texts,
    or of mappings). The first run compiles its kernels, which takes some 15 s.
    out: the folder to write; without it nothing is written and the result lies in memory. progress: a `Progress`, or True or False for a line
    that shows the progress; by default it is shown on a terminal and in a notebook, after a second.

    ===================  ====================================================================================================================
    choice               meaning; and the default, which None is too
    ===================  ====================================================================================================================
    ``by``               what is compared: words:5, chars:9 and so on, elements, weighted, cosine, l2, hamming, levenshtein, ...; words:5
    ``threshold``        the least similarity, above 0 and up to 1, as a number, or as a str to be exact ("4/5"); equality counts; 0.8
    ``within``           in its place the greatest distance; of texts and sets 1 - similarity
    ``recall``           the least chance that a pair at the threshold is found, above 0 and below 1; 0.99
    ``exact``            miss none, by an exact join of sets or strings, by a scan of all pairs of other items; for sets where that is cheaper
    ``normalize``        steps before a text is cut, as "nfc,lower", or "none"; by the unit
    ``field``            column or JSON path to compare, "a+b" and "a|b" of two, or a list with "NAME@GLOB"; text, elements, vector, ...
    ``records``          the list of records inside of a JSON document, as "data" or "response.items"; the document itself
    ``id``               column or JSON path of the id; id, else the position
    ``per``              compare only items with the same value of this field
    ``min_tokens``       keep shorter items uncompared; 0
    ``groups``           for sets: a mapping, or a table in a file, from elements to groups; sets of groups are compared
    ``keep``             which of similar items stays: first, last, longest, shortest, or max:F or min:F of a field; first
    ``prefer``           globs: items of these files stay before all others, in this order
    ``copies``           "empty": items without any token are copies of each other; "none"
    ``output``           what is written: "copy" of the kept records, their "ids", a "mask", or all records, to which "annotate" adds; "copy"
    ``pairs``            also write the verified pairs that were compared
    ``removed_records``  also write what was removed, record by record
    ``verify``           how candidates are checked: "exact", "estimate" by signatures, "none"; "exact"
    ``bands``, ``rows``  the layout by hand, or one of them; planned
    ``slots``            the most slots of a signature; planned
    ``sketch``           how MinHash fills them, "oph" or "classic"; "oph"
    ``tune``             plan for the "recall", or for the least "error", which promises no recall; "recall"
    ``preset``           a published recipe (likewise.planning.presets); what is given beside it counts
    ``seed``             the same seed gives the same bytes; "random" draws one; 0
    ``limit``            only the first so many items; all
    ``on_error``         "skip" sets records aside that cannot be decoded; "fail"
    ``max_record``       the most bytes of a record, as 1000000 or "64M"; "64M"
    ``threads``          how many; one for each core
    ``memory``           memory for the data, as "1.5G", beside 220 MB for Python and libraries; 75 % of available memory
    ``work``             the folder of intermediate files; beside ``out``, or a temporary one
    ``overwrite``        replace ``out`` once the new one is complete
    ``resume``           go on where an interrupted run stopped
    ===================  ====================================================================================================================

    Raises UsageError for a choice that there is not or that cannot be, DataError and FormatError for what cannot be read.

    >>> import likewise as lw
    >>> result = lw.dedup(["the cat sat on the mat today", "The cat sat on the mat, today!", "dogs bark"], by="words:3")
    >>> result.kept.to_arrow()["text"].to_pylist()
    ['the cat sat on the mat today', 'dogs bark']
    """
    refuse_others("dedup", choices)
    refuse_empty(inputs=inputs, out=out, **choices)
    options = resolve(**choices)
    target = None if out is None else Path(out)
    if target is None and (idle := [name for name in WRITTEN if choices.get(name)]):
        named = " and ".join(option(name, choices.get(name)) for name in idle)
        raise UsageError(f"{named}: nothing is written without {option('out')}; give {option('out', placeholder='FOLDER')}, or leave out the rest")
    if target is not None:
        check_target(target, overwrite=options.overwrite, work=options.work, resume=options.resume)
    return deduplicate(inputs, options, target, progress)


def deduplicate(inputs: Inputs, options: Options, target: Path | None, progress: Progress | bool | None) -> Removal:
    """`dedup` by options that are checked, into a folder that may be written, or into memory."""
    with started(inputs, options, "dedup", target, progress) as (sources, run):
        return remove(sources, run, Local(run), target, inputs)
