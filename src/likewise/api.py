"""The verbs: what Python users call, and what each command of the command line calls."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from likewise import methods
from likewise.choices import OfAudit, OfDedup, OfNeighbors, OfPairs, OfPlan, refuse_empty, refuse_others
from likewise.engines.local import Local
from likewise.errors import DataError, UsageError
from likewise.io.field_names import mentioned
from likewise.io.groups import Groups
from likewise.io.manifest import is_output
from likewise.io.output import check_target
from likewise.items.given import shown
from likewise.kinds.kind import NOT_PROMISED
from likewise.methods import Measure, Text
from likewise.options import Options, integer, parse_seed
from likewise.options import resolve as options_of
from likewise.planning import Plan
from likewise.planning.families import family_for, findable
from likewise.planning.layouts import planned
from likewise.planning.spread import spread
from likewise.progress import Progress
from likewise.records import REJECTED
from likewise.report import summary
from likewise.report.originals import as_written, document, sealed, whole
from likewise.runs import inspection, pipeline
from likewise.runs.audit import Audit
from likewise.runs.audit import audit as measured
from likewise.runs.removal import remove
from likewise.runs.results import Pairs, Removal
from likewise.runs.sample import Pilot, of_items, of_sources
from likewise.runs.session import Inputs, sources_of, started
from likewise.runs.tables import pairs_rows

if TYPE_CHECKING:
    from likewise.items.documents import Shingled

#: Options of `dedup` that say what goes into its folder.
WRITTEN = ("output", "pairs", "removed_records")


def dedup(inputs: Inputs, *, out: str | Path | None = None, progress: Progress | None = None, **choices: Unpack[OfDedup]) -> Removal:
    """Remove near-duplicates: every removed item has a kept one at or above the threshold, exactly verified.

    inputs: a path, glob or folder, a list of ``pathlib.Path``, or Python data (a table of another library, a list of str, which are texts,
    or of mappings). The first run compiles its kernels, which takes some 15 s.
    out: the folder to write; without it nothing is written and the result lies in memory. progress: a `Progress`, which is told how far the run is.

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
    options = options_of(**choices)
    target = None if out is None else Path(out)
    if target is None and (idle := [name for name in WRITTEN if choices.get(name)]):
        raise UsageError(f"{', '.join(idle)}: says what is written, and nothing is without out; give out=FOLDER, or leave it out")
    if target is not None:
        check_target(target, overwrite=options.overwrite, work=options.work, resume=options.resume)
    return deduplicate(inputs, options, target, progress)


def deduplicate(inputs: Inputs, options: Options, target: Path | None, progress: Progress | None) -> Removal:
    """`dedup` by options that are checked, into a folder that may be written, or into memory."""
    with started(inputs, options, "dedup", target, progress) as (sources, run):
        return remove(sources, run, Local(run), target)


def pairs(inputs: Inputs, *, against: Inputs | None = None, progress: Progress | None = None, **choices: Unpack[OfPairs]) -> Pairs:
    """All pairs at or above the threshold, inside one collection or of ``inputs`` against ``against``; exactly verified.

    Columns id_a, id_b, similarity; also source_a, position_a, source_b, position_b where ids do not tell items apart. By containment, as with
    ``by="words:5/containment"``, a is contained in b, a row tells one direction, and none is missed; with ``against``, a is of ``inputs``.

    Choices: ``star`` lists members against their leader only, ``max_pairs`` refuses to list more (100,000,000); and as of `dedup` ``by``,
    ``threshold``, ``within``, ``recall``, ``exact``, ``normalize``, ``field``, ``records``, ``id``, ``per``, ``min_tokens``, ``groups``, ``verify``,
    ``bands``, ``rows``, ``slots``, ``sketch``, ``tune``, ``preset``, ``seed``, ``limit``, ``on_error``, ``max_record``, ``threads``, ``memory``,
    ``work``, ``copies``, and for who leads ``keep`` and ``prefer``. Raises what `dedup` raises.

    >>> import likewise as lw
    >>> lw.pairs(["a b c d", "A B C D", "x y"], by="words:2").to_arrow().to_pylist()
    [{'id_a': 0, 'id_b': 1, 'similarity': 1.0}]
    """
    refuse_others("pairs", choices)
    refuse_empty(inputs=inputs, against=against, **choices)
    return list_pairs(inputs, against, options_of(one_way=True, **choices), progress)


def list_pairs(inputs: Inputs, against: Inputs | None, options: Options, progress: Progress | None) -> Pairs:
    """`pairs` by options that are checked. Raises UsageError for ``star`` of two collections."""
    if options.star and against is not None:
        raise UsageError("--star lists members against their leader inside one collection; it has no meaning with --against")
    with started(inputs, options, "pairs", None, progress, against) as (sources, run):
        collection = pipeline.collect(sources, run, Local(run))
        items = pipeline.distinct(collection, run, Local(run))
        job = run.job
        sides = None if against is None else (collection.source_of(np.arange(len(collection))) >= run.first_side).astype(np.uint8)
        rows, similarity = pipeline.star_pairs(items, run, Local(run)) if options.star else pipeline.find_pairs(items, run, sides)
        table = pairs_rows(collection, rows[:, 0], rows[:, 1], similarity, pipeline.value_of(job), sides=(0, int(against is not None))).whole()
        said = run.progress.warnings + summary.warnings(collection, items.empty, job, np.zeros(len(collection), bool))
        report = {
            "threshold": float(job.threshold),
            "value": pipeline.value_of(job).name,
            "recall": job.recall,
            "spread": spread(job.target, job.recall, len(rows)),
            "method": job.described(),
            "read": len(collection),
            "warnings": said,
        }
    return Pairs(table, report)


def plan(
    inputs: Inputs | None = None,
    *,
    by: str | Text | Measure | None = None,
    normalize: str | None = None,
    field: str | Sequence[str] | None = None,
    records: str | None = None,
    seed: int | str | None = 0,
    items: int | None = None,
    preset: str | None = None,
    **choices: Unpack[OfPlan],
) -> Plan:
    """Bands and rows for a threshold and a recall target, and what they promise and cost.

    inputs: files or data, as `dedup` takes them; of sets, weighted sets, vectors and codes also a batch as `similarity` takes it. A sample
    says how alike pairs are, in place of what is assumed, and how many different items there are.

    =============  =======================  ====================================================================================================
    choice         type                     meaning; what is not given, or None, is the default
    =============  =======================  ====================================================================================================
    ``by``         str, Text, Measure       what is compared: words:5 and so on; elements, weighted, cosine, angle, l1, l2, hamming, features
    ``normalize``  str                      steps that even a text out, as ``likewise plan --help`` lists them
    ``field``      str or a list of str     the column of a table that holds the items; text, elements, vector or code
    ``records``    str                      the list of records inside of a JSON document
    ``threshold``  number or str            the least similarity, above 0 and up to 1; 0.8
    ``within``     number or str            in its place the greatest distance; of texts and sets 1 - similarity
    ``recall``     float                    the least chance that a pair at the threshold is found, above 0 and below 1; 0.99
    ``bands``      int                      both: the layout by hand; one alone: the other is planned, or is what ``slots`` leaves
    ``rows``       int
    ``slots``      int                      the most slots of a signature
    ``sketch``     "oph", "classic"         how MinHash fills them
    ``tune``       "recall", "error"        for what: the recall, or the least area between the curve and a step, which promises no recall
    ``family``     str                      the hash family, where a measure has several
    ``dimension``  int                      numbers of a vector, or bits of a code, where no data tell; vectors are taken to have 384
    ``items``      int                      how many items to predict for, where not those of ``inputs``; 1,000,000
    ``preset``     str                      a published recipe (likewise.planning.presets); what is given beside it counts
    ``seed``       int, "random"            draws the sample
    =============  =======================  ====================================================================================================

    Raises UsageError for a choice that there is not or that cannot be, for a target that no layout reaches, for what is no batch; DataError for
    a file that cannot be read. `likewise.families.from_plan` makes the family of a plan.

    >>> import likewise as lw
    >>> p = lw.plan(threshold=0.8, recall=0.99)
    >>> p.curve(0.8) >= 0.99
    True
    >>> lw.plan(by="hamming", within=3, dimension=64).recall >= 0.99
    True
    """
    refuse_others("plan", choices)
    refuse_empty(inputs=inputs, by=by, normalize=normalize, field=field, preset=preset, **choices)
    return plans(inputs, [{}], normalize, field, seed, records, **choices, by=by, items=items, preset=preset)[0]


def plans(
    inputs: Inputs | None,
    layouts: Sequence[dict[str, int]],
    normalize: str | None = None,
    field: str | Sequence[str] | None = None,
    seed: int | str | None = 0,
    records: str | None = None,
    **typed: Any,
) -> list[Plan]:
    """`plan` for each of several layouts, ``bands`` and ``rows`` or nothing, by one sample."""
    number = parse_seed(0 if seed is None else seed)

    def known(method: Text | Measure) -> dict[str, Any]:
        if inputs is None:
            return {}
        family_for(method, typed.get("family"))  # before all pairs of the sample are compared in vain
        pilot = sampled(inputs, method, field, number, records)
        return {"items": pilot.items, "sample": pilot.density, "facts": pilot.facts, "shingles": pilot.shingles}

    return planned(typed, layouts, normalize, known)


def sampled(inputs: Inputs, method: Text | Measure, field: str | Sequence[str] | None, seed: int, records: str | None = None) -> Pilot:
    """A sample of files or tables, or of a batch as `similarity` takes it."""
    options = options_of(limited=False, by=method, field=field, seed=seed, records=records)
    if isinstance(method, Measure) and not in_columns(inputs, options.field):
        return of_items(inputs, method, seed)
    sources = sources_of(inputs, None, None, inspection.want(options))
    return of_sources(sources, inspection.inspect_inputs(sources, options))


def in_columns(inputs: Inputs, field: str) -> bool:
    """Whether these are files, a table, or records, and no batch of items."""
    if isinstance(inputs, list | tuple):
        return any(isinstance(one, os.PathLike) or (isinstance(one, Mapping) and not {field, *mentioned(field)}.isdisjoint(one)) for one in inputs)
    return isinstance(inputs, str | os.PathLike) or hasattr(inputs, "columns")  # what tables have, and arrays and Series have not


def sketch(texts: Any, *, by: str = "words:5", normalize: str | None = None, slots: int = 128, mode: str = "oph", seed: int = 0) -> np.ndarray:
    """MinHash signatures of texts: uint32[n, slots]; the share of equal slots estimates the similarity of two.

    texts: a list of str, None or bytes of UTF-8, one an item, or an Arrow array of strings; under ``tokens:k`` lists of token ids. An empty item
    has all slots 2^32-1. Raises UsageError with the row, counted from 0, for what is no text, DataError for bytes that are not UTF-8.
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
    tokens:5             a list of token ids, whole numbers                          the same
    .. /bag              a text                                                      weighted Jaccard similarity of the bags
    .. /containment      a text                                                      share of the first that the second holds
    elements             a set, list or 1-D array of whole numbers or strings        Jaccard similarity; of groups with ``groups``
    elements/containment the same                                                    share of the first held; of groups too
    weighted             a mapping element -> weight, or a list of such pairs        weighted Jaccard similarity
    cosine               a list or 1-D array of numbers                              cosine similarity, -1 to 1
    angle                the same                                                    distance in degrees, 0 to 180
    l1, l2, linf, l2.5   the same                                                    distance
    hamming              bytes, a whole number, a 1-D array of bool, or              distance: bits that differ
                         a string of hexadecimal digits
    edit, levenshtein    a string                                                    distance: inserts and deletes; and substitutions
    features             a 2-D array, a feature a row                                similarity of histograms of the features' directions
    .. /one-to-many      the same                                                    the same, with each feature matched with all alike
    .. /chamfer          the same                                                    similarity: mean cosine of nearest features, both ways
    .. /assignment       the same                                                    similarity: cosines of features paired one with one
    ===================  ==========================================================  ==============================================

    A batch is a list of items, or an array with an item a row: docs/reference/measures.md. One item goes with one item only. Two empty sets
    or texts have no similarity, and of an empty one no share: NaN. What else has no value is refused: UsageError names the row, counted from 0;
    DataError too, for bytes that are not UTF-8.

    >>> import likewise as lw
    >>> lw.similarity("abcab", "bcab", by="chars:2"), lw.similarity([1, 0], [1, 1], by="l1")
    (1.0, 1.0)
    >>> lw.similarity([{1, 2}, {"1"}], [{2, 3}, {1}], by="elements").tolist()
    [0.3333333333333333, 0.0]
    """
    from likewise.measures.similarity import values_of

    check_steps(normalize)
    refuse_empty(by=by, normalize=normalize)
    method = methods.parse(by, normalize)
    if groups is not None and not (isinstance(groups, Mapping) and method.kind.grouped):
        raise UsageError("groups= is a mapping from element to group, and goes with by='elements'")
    return values_of(method, a, b, None if groups is None else Groups(groups, 0))


def shingle(texts: Any, by: str | Text, normalize: str | None, seed: int) -> Shingled:
    """A batch of texts, or of lists of token ids under ``tokens:k``, or one text alone, as sets of shingles."""
    check_steps(normalize)
    refuse_empty(by=by, normalize=normalize)
    method = methods.parse(by, normalize)
    if isinstance(method, Measure):
        raise UsageError(f"by={str(method)!r}: texts are cut into shingles, as by words:5; what signs other items is in likewise.families")
    return method.kind.shingled(texts, method, seed)


def check_steps(normalize: object) -> None:
    if not isinstance(normalize, str | None):
        raise UsageError(f"normalize={normalize!r}: give the names of steps in one str, as in 'nfc,lower', or 'none'")


def neighbors(inputs: Inputs, *, query: Inputs | None = None, k: int = 10, progress: Progress | None = None, **choices: Unpack[OfNeighbors]) -> Pairs:
    """The ``k`` most similar items of ``inputs`` for each item of ``query``, or for each of ``inputs`` itself; similarities are exact.

    Columns id_a (the query), id_b, similarity or distance, nearest first; also source_a, position_a, source_b, position_b where ids do not tell
    items apart. A query with fewer than k neighbours (at or above ``threshold``, or ``within`` a distance, where one is given) has fewer rows.
    ``recall`` is the least chance that each of the true k is among them; with ``exact`` none is missed.

    Other choices as of `dedup`: ``by``, ``normalize``, ``field``, ``records``, ``id``, ``per``, ``groups``, ``seed``, ``limit``, ``on_error``,
    ``max_record``, ``threads``, ``memory``, ``work``. Raises what `dedup` raises.

    >>> import likewise as lw
    >>> lw.neighbors(["a b c d", "a b c x", "p q"], query=["a b c"], by="words:2", k=2).to_arrow().to_pylist()
    [{'id_a': 0, 'id_b': 0, 'similarity': 0.6666666666666666}, {'id_a': 0, 'id_b': 1, 'similarity': 0.6666666666666666}]
    """
    refuse_others("neighbors", choices)
    refuse_empty(inputs=inputs, query=query, **choices)
    return find_neighbors(inputs, query, options_of(limited=False, **choices), k, progress)


def find_neighbors(inputs: Inputs, query: Inputs | None, options: Options, k: int, progress: Progress | None) -> Pairs:
    """`neighbors` by options that are checked. Raises UsageError for ``k``, and for items of which there are no neighbours."""
    k = integer(k)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise UsageError(f"-k {shown(k)}: give a whole number of 1 or more")
    if not options.method.compared.looked_for:
        heads = dict.fromkeys(name.partition("/")[0] for name in findable() if Measure(name).compared.looked_for)
        *most, last = heads
        names = f"texts, {', '.join(most)} and {last}"
        raise UsageError(f"--by {options.method}: neighbours are looked for by {names}")
    with started(inputs, options, "neighbors", None, progress, query) as (sources, run):
        collection = pipeline.collect(sources, run, Local(run))
        rows, value, all_of_them = pipeline.nearest(collection, run, k)
        sides = (int(query is not None), 0)
        table = pairs_rows(collection, rows[:, 0], rows[:, 1], value, pipeline.value_of(run.job), sides=sides, ordered=True).whole()
        none = np.zeros(len(collection), bool)
        empty = (collection.column("kind") != REJECTED) & (collection.column("tokens") == 0)
        said = run.progress.warnings + summary.warnings(collection, empty, run.job, none)
        queries = int((collection.source_of(np.arange(len(collection))) >= run.first_side).sum()) if query is not None else len(collection)
        report = {
            "k": k,
            "value": pipeline.value_of(run.job).name,
            "threshold": None if options.bound is None else float(options.bound),
            "recall": 1.0 if all_of_them else None if run.job.compared.recall == NOT_PROMISED else run.job.target,
            "method": run.job.described(),
            "read": len(collection),
            "queries": queries,
            "with_fewer": queries - int((np.unique(rows[:, 0], return_counts=True)[1] >= k).sum()),
            "warnings": said,
        }
    return Pairs(table, report)


def audit(inputs: Inputs, *, sample: int = 1000, progress: Progress | None = None, **choices: Unpack[OfAudit]) -> Audit:
    """The recall of `pairs` or `dedup`, measured: all alike pairs of ``sample`` random items by an exact search, and which of them a run finds.

    inputs: an output folder of `dedup`, which is audited as it was made, from the files that it was made of, if it was; or what `pairs` takes, with
    choices as there: ``by``, ``threshold``, ``within``, ``recall``, ``exact``, ``normalize``, ``field``, ``records``, ``id``, ``per``,
    ``min_tokens``, ``groups``, ``bands``, ``rows``, ``slots``, ``sketch``, ``tune``, ``preset``, ``seed``, ``limit``, ``on_error``, ``max_record``,
    ``threads``, ``memory``, ``work``. Raises what `dedup` raises.

    >>> import likewise as lw
    >>> lw.audit(["a b c d e", "a b c d x", "p q r s t"], by="words:1", threshold=0.6).recall
    1.0
    """
    refuse_others("audit", choices)
    refuse_empty(inputs=inputs, **choices)
    typed = {name: value for name, value in choices.items() if value is not None}
    sample = integer(sample)
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 1:
        raise UsageError(f"--sample {shown(sample)}: give a whole number of 1 or more")
    made = None
    if isinstance(inputs, str | os.PathLike) and is_output(Path(inputs)):
        with as_written(Path(inputs)):
            made = as_made(Path(inputs))
        given = (made.choices | typed).get("groups")
        if made.groups is not None and isinstance(given, Path) and not given.is_file():
            raise UsageError(f"{inputs} was made by groups that are not where they were ({given}); name them with --groups FILE, in Python groups=")
        inputs = made.inputs
    options = options_of(**{**(made.choices if made else {}), **typed})
    with started(inputs, options, "audit", None, progress) as (sources, run):
        if made and made.groups is not None and (run.job.grouped is None or run.job.grouped.digest != made.groups):
            raise DataError("the groups are not those that the output was made by; run dedup again, or name those with --groups FILE")
        collection = pipeline.collect(sources, run, Local(run))
        if made and sorted(collection.digests()) != sorted(made.digests):
            raise DataError("the inputs have changed since the output was made; run dedup again, or audit the files themselves")
        items = pipeline.distinct(collection, run, Local(run))
        found = measured(items, run, sample, walk=bool(made))
        said = run.progress.warnings + summary.warnings(collection, items.empty, run.job, np.zeros(len(collection), bool))
        of_layout = run.job.plan.about_layout if run.job.plan else []  # what it finds is measured, and `promised` says what it should
        found.warnings = [message for message in said if message not in of_layout]
    if made and made.verify != "exact":
        found.precision = float("nan")
        found.warnings.append(f"the output was made with --verify {made.verify}: what it removed was not compared exactly, and may be less alike")
    return found


class Made(NamedTuple):
    """How an output folder was made."""

    inputs: list[Path]
    choices: dict[str, Any]  # but for how candidates were checked, which an audit does exactly:
    verify: str
    digests: list[str]  # of what was read
    groups: str | None  # the digest of the groups of elements, where there were some


def as_made(out: Path) -> Made:
    manifest, run = sealed(out / "manifest.json"), sealed(out / "run.json")
    method = manifest["method"]
    names = ("by", "field", "records", "id", "per", "min_tokens", "seed", "exact", "limit", "on_error", "max_record")
    choices = {name: method[name] for name in names if method.get(name) is not None}
    if isinstance(methods.parse(method["by"]), Text):
        choices["normalize"] = ",".join(method["normalize"]) or "none"
    report, plan = document(whole(out, manifest, "report.json")), method.get("plan") or method
    choices["within" if report["value"] == "distance" else "threshold"] = plan.get("threshold_exact", report["threshold"])
    choices |= {name: plan[name] for name in ("bands", "rows") if name in plan} | {"recall": plan.get("target", 0.99)}
    choices |= {"sketch": plan["sketch"]} if plan.get("sketch") else {}
    choices |= {"groups": Path(method["groups"])} if method.get("groups") else {}
    digests = [entry["xxh3_128"] for entry in manifest["inputs"]]
    if len(digests) > 0 and not run["inputs"]:
        raise DataError(f"{out}: was made of data from Python, which are not kept; audit the data themselves, with the same choices")
    return Made([Path(entry["path"]) for entry in run["inputs"]], choices, method["verify"], digests, manifest.get("groups"))
