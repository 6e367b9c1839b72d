"""The verbs: what Python users call, and what each command of the command line calls."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from likewise import methods, outputs, pipeline
from likewise.engines.local import Local, usable_memory
from likewise.errors import LikewiseError, UsageError
from likewise.io.formats.memory import take
from likewise.io.formats.text import Files
from likewise.io.inputs import Sources, printable, resolve
from likewise.io.output import check_target, write_json
from likewise.io.work import Work, is_free
from likewise.methods import Measure, Text
from likewise.options import Options
from likewise.options import resolve as options_of
from likewise.pilot import of_items, of_texts
from likewise.planning import Plan, choose
from likewise.planning.presets import with_preset
from likewise.progress import Progress
from likewise.records import REJECTED, Want
from likewise.report import summary
from likewise.report.gather import examples
from likewise.report.html import render
from likewise.results import Pairs, Removal, Table, clusters_table, pairs_table, removed_table

#: A longer text is not looked up as a file name: systems refuse such names.
LONGEST_NAME = 255

Inputs = Any  # a path, glob or "-"; texts, mappings or an Arrow table; or a list of paths


def dedup(inputs: Inputs, *, out: str | Path | None = None, progress: Progress | None = None, **choices: Any) -> Removal:
    """Remove near-duplicates: every removed item has a kept one at or above the threshold, exactly verified.

    inputs: paths, globs and folders, or Python data (a table with ``__arrow_c_stream__``, a list of str or of mappings).
    out: the folder to write; without it nothing is written and the result lies in memory.
    choices: ``by``, ``threshold``, ``recall``, ``keep``, ... as the flags of ``likewise dedup`` with ``_`` for ``-``.

    >>> import likewise as lw
    >>> result = lw.dedup(["the cat sat on the mat today", "The cat sat on the mat, today!", "dogs bark"], by="words:3")
    >>> result.kept.to_arrow()["text"].to_pylist()
    ['the cat sat on the mat today', 'dogs bark']
    """
    options = options_of(**choices)
    target = None if out is None else Path(out)
    if target is not None:
        check_target(target, overwrite=options.overwrite or options.resume, work=options.work)
    with started(inputs, options, "dedup", target, progress) as (sources, run):
        outputs.check(sources, options)
        collection = pipeline.collect(sources, run)
        items = pipeline.distinct(collection, run)
        decision = pipeline.decide(items, run)
        said = run.progress.warnings + summary.warnings(collection, items.empty, items.short, options, decision.removed)
        report = summary.summary(collection, decision, items.empty, items.short, options, said)
        keep = (collection.column("kind") != REJECTED) & ~decision.removed
        memory = len(sources) == 1 and isinstance(sources[0].path, pa.Table)
        result = Removal(
            kept=Table(lambda: take(sources[0].path, keep) if memory else outputs.placed(collection, np.flatnonzero(keep))),
            removed=Table(lambda: removed_table(collection, decision)),
            clusters=Table(lambda: clusters_table(collection, decision)),
            report=report,
            out=target,
        )
        for table in (result.removed, result.clusters, *([] if target else [result.kept])):
            table.to_arrow()  # while the work folder is there
        if target is not None and not outputs.published(target, run):
            check_target(target, overwrite=options.overwrite)
            staged = outputs.write(items, decision, result, run)
            run.progress.finish()
            facts = outputs.machine_facts(sources, run)
            write_json(facts, staged / "run.json")
            page = render(report, facts, examples(collection, decision, pipeline.want(options)))
            (staged / "report.html").write_text(page, encoding="utf-8")
            outputs.publish_staged(staged, target, run)
    return result


def pairs(inputs: Inputs, *, against: Inputs | None = None, progress: Progress | None = None, **choices: Any) -> Pairs:
    """All pairs at or above the threshold, inside one collection or of ``inputs`` against ``against``; exactly verified.

    Columns id_a, id_b, similarity; also source_a, position_a, source_b, position_b where ids do not tell items apart.

    >>> import likewise as lw
    >>> lw.pairs(["a b c d", "A B C D", "x y"], by="words:2").to_arrow().to_pylist()
    [{'id_a': 0, 'id_b': 1, 'similarity': 1.0}]
    """
    options = options_of(**choices)
    if options.star and against is not None:
        raise UsageError("--star lists members against their leader inside one collection; it has no meaning with --against")
    with started(inputs, options, "pairs", None, progress, against) as (sources, run):
        collection = pipeline.collect(sources, run)
        items = pipeline.distinct(collection, run)
        sides = None if against is None else (collection.source_of(np.arange(len(collection))) >= run.first_side).astype(np.uint8)
        rows, similarity = pipeline.star_pairs(items, run) if options.star else pipeline.find_pairs(items, run, sides)
        table = pairs_table(collection, rows[:, 0], rows[:, 1], similarity)
        said = run.progress.warnings + summary.warnings(collection, items.empty, items.short, options, np.zeros(len(collection), bool))
        report = {"threshold": float(options.plan.threshold), "method": options.described(), "read": len(collection), "warnings": said}
    return Pairs(table, report)


def plan(
    inputs: Inputs | None = None,
    *,
    by: str | Text | Measure = "words:5",
    normalize: str | None = None,
    field: str = "text",
    seed: int = 0,
    items: int | None = None,
    preset: str | None = None,
    **choices: Any,
) -> Plan:
    """Bands and rows for a threshold and a recall target, and what they promise and cost.

    inputs: texts as `dedup` takes them, or sets, vectors or codes as `similarity` does; a sample of them says how alike pairs are, in
    place of what is assumed, and how many items there are. ``by`` may be any measure that has a hash family.
    choices: ``threshold`` or ``within``, ``recall``, ``bands``, ``rows``, ``slots``, ``sketch``, ``tune``, ``family``, ``dimension``: see
    `likewise.planning.choose`. ``preset`` names a published recipe (likewise.planning.presets).

    >>> import likewise as lw
    >>> p = lw.plan(threshold=0.8, recall=0.99)
    >>> p.curve(0.8) >= 0.99
    True
    >>> lw.plan(by="hamming", within=3, dimension=64).recall >= 0.99
    True
    """
    choices = with_preset({**choices, "by": by, "preset": preset})
    method = methods.parse(choices.pop("by"), normalize)
    if inputs is None:
        return choose(method=method, items=items or 1_000_000, **choices)
    if isinstance(method, Text):
        sources = sources_of(inputs, None, None)
        pilot = of_texts(sources, method, Want(field, None, None, None, tokens=method.unit == "tokens"), seed)
    else:
        pilot = of_items(inputs, method, partial(similarity, by=method), seed)
    return choose(method=method, items=items or pilot.items, sample=pilot.density, facts=pilot.facts, shingles=pilot.shingles, **choices)


def sketch(texts: Any, *, by: str = "words:5", normalize: str | None = None, slots: int = 128, mode: str = "oph", seed: int = 0) -> np.ndarray:
    """MinHash signatures of texts: uint32[n, slots]; the share of equal slots estimates the similarity of two.

    texts: str, None or bytes, one an item, or an Arrow array of strings. An empty item has all slots 2^32-1.
    """
    from likewise.families.minhash import MinHash

    shingled = shingle(texts, by, normalize, seed)
    return MinHash(slots, mode, seed).signature((shingled.values, shingled.offsets))


def similarity(a: Any, b: Any, *, by: str | Text | Measure = "words:5", normalize: str | None = None, groups: Mapping[Any, Any] | None = None) -> Any:
    """The exact similarity, or distance, of two items: a float or int; or of two equally long batches item by item: float64[n] or int64[n].

    ===================  ==========================================================  ==============================================
    ``by``               one item                                                    value
    ===================  ==========================================================  ==============================================
    words:5, chars:9 ..  a text                                                      Jaccard similarity of the sets of shingles
    .. /bag              a text                                                      weighted Jaccard similarity of the bags
    .. /containment      a text                                                      share of the first that the second holds
    elements             a set, list or 1-D array of whole numbers or strings        Jaccard similarity; of groups with ``groups``
    elements/containment the same                                                    share of the first that the second holds
    weighted             a mapping element -> weight, or a list of such pairs        weighted Jaccard similarity
    cosine               a list or 1-D array of numbers                              cosine similarity, -1 to 1
    angle                the same                                                    distance in degrees, 0 to 180
    l1, l2, linf, l2.5   the same                                                    distance
    hamming              bytes, a whole number, a 1-D array of bool; or a string     distance: positions that differ
    edit, levenshtein    a string                                                    distance: inserts and deletes; and substitutions
    ===================  ==========================================================  ==============================================

    A batch is a list of items, or an array with an item a row: docs/reference/measures.md. One item goes with one item only. Two empty sets
    or texts have no similarity, and of an empty one no share: NaN. What else has no value is refused: UsageError names the row, counted from 0.

    >>> import likewise as lw
    >>> lw.similarity("abcab", "bcab", by="chars:2"), lw.similarity([1, 0], [1, 1], by="l1")
    (1.0, 1.0)
    >>> lw.similarity([{1, 2}, {"1"}], [{2, 3}, {1}], by="elements").tolist()
    [0.3333333333333333, 0.0]
    """
    from likewise.measures import measure, sides

    method = methods.parse(by, normalize)
    if isinstance(method, Measure):
        return sides.values_of(method, a, b, groups)
    if groups is not None:
        raise UsageError(f"groups= goes with by='elements', not with {method}")
    texts = sides.Kind("text", lambda given: isinstance(given, str | bytes | None), lambda a, b: partial(shingle_sets, by=method))
    return sides.compared(texts, measure("elements/containment" if method.containment else "elements"), a, b)


def shingle_sets(texts: Any, by: Text) -> tuple[np.ndarray, np.ndarray]:
    shingled = shingle(texts, by, None, 0)
    return shingled.values, shingled.offsets


def shingle(texts: Any, by: str | Text, normalize: str | None, seed: int):
    from likewise.items.documents import shingler

    if isinstance(texts, str):
        texts = [texts]
    if not isinstance(texts, pa.Array | pa.ChunkedArray):
        if not isinstance(texts, Iterable) or any(not isinstance(text, str | bytes | None) for text in texts):
            raise UsageError("give a text, a list of texts (str, bytes or None), or an Arrow array of strings")
        texts = pa.array([text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text for text in texts], pa.large_binary())
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    texts = texts.cast(pa.large_binary())
    return shingler(methods.text(by, normalize), seed)(texts.fill_null(b""), texts.is_valid().to_numpy(zero_copy_only=False))


@contextmanager
def started(
    inputs: Inputs, options: Options, verb: str, out: Path | None, progress: Progress | None, against: Inputs | None = None
) -> Iterator[tuple[Sources, pipeline.Run]]:
    """Sources and a run over them, with a work folder that is removed when all went well, and kept for --resume when not."""
    folder = options.work or (Path(tempfile.mkdtemp(prefix="likewise-")) if out is None else out.with_name(out.name + ".work"))
    memory = options.memory or usable_memory() * 3 // 4
    work = Work.claim(folder, resume=options.resume, in_memory=memory // 2)
    try:
        sources = sources_of(inputs, out, folder)
        first = len(sources)
        if against is not None:
            sources = beside(sources, sources_of(against, out, folder))
        made = {**outputs.described(options, verb), "inputs": [source.fingerprint() for source in sources]}
        work.begin(made)
    except BaseException:
        work.close(remove=is_free(folder))
        raise
    run = pipeline.Run(options, work, Local(options.threads), progress or Progress(), made["inputs"], first, memory)
    if skipped := sources.skipped:
        some = f"{len(skipped):,} files and folders are" if len(skipped) > 1 else "a file or folder is"
        run.progress.warn(f"{some} of no known format or an earlier output and passed over, such as {printable(skipped[0].name)}")
    if any(name == "stdin" for source in sources if isinstance(source.path, Files) for name in source.path.names):
        run.progress.warn("standard input is neither JSON nor Parquet nor Arrow and was taken as one text; save CSV under a name that ends in .csv")
    useless = True  # the work folder, once the run is over; an interrupted run goes on from it
    try:
        yield sources, run
    except LikewiseError:
        raise  # what is to be changed is the input or an option, and that makes another run
    except BaseException:
        useless = out is None
        raise
    finally:
        run.progress.finish()
        run.engine.close()
        work.close(remove=useless)


def sources_of(inputs: Inputs, out: Path | None, folder: Path | None) -> Sources:
    """A str or Path is a path, and so are several Paths; everything else is data."""
    if isinstance(inputs, str | os.PathLike):
        named = [inputs]
    elif isinstance(inputs, list | tuple) and inputs and all(isinstance(path, os.PathLike) for path in inputs):
        named = list(inputs)
    else:
        if isinstance(inputs, list | tuple) and inputs and all(isinstance(text, str) and is_file_name(text) for text in inputs):
            raise UsageError(f"a list of str is a list of texts, and these are names of files, such as {inputs[0]!r}: give them as pathlib.Path")
        named = [inputs]
    return resolve(named, out=out, work=folder)


def is_file_name(text: str) -> bool:
    return 0 < len(text) < LONGEST_NAME and "\0" not in text and Path(text).exists()


def beside(first: Sources, second: Sources) -> Sources:
    """Both sides; a source of the second whose name is taken is called against/NAME."""
    taken = {source.name for source in first}
    renamed = [replace(source, name=f"against/{source.name}") if source.name in taken else source for source in second]
    return Sources([*first, *renamed], [*first.skipped, *second.skipped])
