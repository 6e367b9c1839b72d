"""likewise dedup"""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.choices import TAKES
from likewise.cli.plan import recall_of
from likewise.cli.screen import Screen, counted, duration, in_line, size, typed
from likewise.cli.verbs import INPUTS, inputs, verb
from likewise.errors import UsageError, can_go_on
from likewise.io.address import place, without_secrets
from likewise.messages import in_document, on_command_line, option
from likewise.methods import parse
from likewise.options import Options
from likewise.planning.plan import OPH_STEEP_ABOVE

if TYPE_CHECKING:
    from likewise.cli.progress import ScreenProgress
    from likewise.io.inputs import Sources
    from likewise.job import Job

#: How candidates were verified, if not exactly.
NOT_EXACT = {
    "estimate": "by estimates from signatures; similarities are not exact",
    "none": "not at all; removed items share a bucket with a kept item",
}
#: Parts of documents shown at the end, those repeated most.
MOST_PARTS = 5
#: Characters of what the items of an overfull bucket have in common.
LONGEST = 100
#: Findings for review that the summary lists; other lines say the rest.
REVIEWED = ("borderline", "suspicious")


@verb(
    "dedup",
    "INPUT... [--against INPUT]... -o OUT",
    examples=("dedup crawl/*.jsonl.zst -o clean", "dedup pages.parquet -o clean --by chars:9 --threshold 0.9"),
    flags=f"{TAKES['dedup']} dry_run config json exit_code quiet verbose color progress",
    arguments=[inputs()],
    notes=INPUTS,
    min_run={
        "help": "With --level passage: minimum length of a repeated run, or, with --against, of a run in the second collection.",
        "shown": "50 words; with --against 12, or as --preset",
        "brief": None,
    },
    against={
        "help": "Remove only items that are similar to an item of these files, which do not change; or to a kept record of an output folder of "
        "dedup, whose options are used; or to an item of an index. Repeatable.",
        "brief": "Remove only items that are similar to an item of these files. Repeatable.",
    },
)
def command(
    screen: Screen,
    inputs: tuple[str, ...],
    against: tuple[str, ...] = (),
    out: str | None = None,
    dry_run: bool = False,
    exit_code: bool = False,
    **choices: Any,
) -> int:
    from likewise.report.indexed import second_of
    from likewise.report.made import compared_with
    from likewise.runs.session import resolved

    first = [place(given) for given in inputs]
    second, choices = compared_with(second_of(against), choices)
    options = resolved([first, second], choices, alone=second is None)
    target = None if out is None else place(out)
    if target is not None:
        from likewise.io.output import check_target

        check_target(target, overwrite=options.overwrite, work=options.work, resume=options.resume)
    if dry_run:
        dry_run_of(screen, first, second or [], options, target, "dedup", walk=True)
        return 0
    if target is None:
        raise UsageError("-o is missing: name the output folder with -o OUT, or use --dry-run to see the plan")
    more = [] if options.resume else ["--resume"]
    if choices.get("seed") == "random":
        more += ["--seed", str(options.seed)]

    from likewise.cli.progress import progress_on
    from likewise.io.output import work_beside
    from likewise.verbs.dedup import deduplicate

    progress = progress_on(screen)
    progress.command = typed(["likewise", *map(without_secrets, sys.argv[1:])])
    for message in early_warnings(options):
        progress.warn(message)
    work = options.work or work_beside(target)
    begun = options.resume and work.exists()
    with resumable(work, more):
        result = deduplicate(first, second, options, target, progress)
    if screen.json:
        screen.document({**result.report, "out": str(target.absolute())})
    else:
        screen.rows(summary(result.report, target, progress, begun))
    progress.steps()
    return int(exit_code and len(result.removed) > 0)


def summary(report: dict[str, Any], out: Path, progress: ScreenProgress, resumed: bool) -> Iterator[tuple[str, str]]:
    """The summary at the end of a run: how much was removed and why, whether to trust it, and what to do next."""
    from likewise.drawing.numbers import by_reason, share
    from likewise.report import removals, wording
    from likewise.runs.outcome import against, in_a_line

    counts, clusters = report["counts"], report["clusters"]
    yield "read", f"{counted(counts['read'], 'item')} from {counted(len(report['sources']), 'source')}, {took(progress, resumed)}"
    if units := report.get("units"):
        removed = f"{counts['removed']:,} removed ({wording.too_short(report)})" if counts["removed"] else "none removed"
        yield "documents", f"{counts['kept']:,} kept, {wording.shortened(report)}; {removed}"
        if "leaks" not in report:
            yield f"{units['level']}s", f"{units['read']:,} read, {units['kept']:,} kept{not_compared(report)}"
        less = share(units["characters"]["read"] - units["characters"]["kept"], units["characters"]["read"])
        yield "removed", f"{units['removed']:,}  ({', '.join(by_reason(units))}), {less} of the text"
    else:
        yield "kept", f"{counts['kept']:,}{not_compared(report)}"
        yield "removed", f"{counts['removed']:,}  ({', '.join(by_reason(counts))})"
    if beside := against(report):
        yield "test items" if "leaks" in report else "against", beside
    if spread := in_a_line(report):
        yield "similar" if report["value"] == "similarity" else "distance", spread
    if counts["rejected"]:
        rest = f"; the unreadable rest of each of {counts['cut_short']} files counts as one item" if counts["cut_short"] > 1 else ""
        rest = "; the unreadable rest of a file counts as one item" if counts["cut_short"] == 1 else rest
        yield "rejected", f"{counts['rejected']:,}  (see {out / 'rejected.jsonl'}{rest})"
    for part in report.get("largest_parts", ())[:MOST_PARTS]:
        where = f"{counted(part['times'], 'time')} in {counted(part['documents'], 'document')}"
        yield "repeated", f"{where}: {in_line(part['text'] or '(not read)')}"
    if clusters["number"] and not units:
        largest = clusters["largest"][0]
        yield "clusters", f"{clusters['number']:,}, the largest with {counted(largest['items'], 'item')} (representative {removals.called(largest)})"
    if said := wording.ignored(report):
        yield "ignored", said
    if "leaks" not in report:
        yield from recall_lines(report)
    shown = [example for example in report["examples"] if not example["removed"]["source"].startswith("stdin")]
    if shown and shown[0]["group"] == "borderline":
        yield "borderline", pair_of(shown[0], report)
    yield from (("review", in_line(each["text"])) for each in report["needs_review"] if each["target"] in REVIEWED)
    yield "output", str(out)
    if shown and shown[0]["removed"]["id"] is not None:
        yield "next", show_command(out, spelled(shown[0]["removed"]["id"], out))


def took(progress: ScreenProgress, resumed: bool) -> str:
    """Bytes read, time and speed. The speed does not include the time of compiling; that of a resumed run is unknown."""
    seconds = progress.seconds_in_all
    if resumed:
        return f"{duration(seconds)} since the run was resumed"
    return f"{size(progress.bytes_read)} in {progress.time_in_all}, {size(progress.bytes_read / (seconds - progress.compiled))}/s"


def show_command(out: Path | str, item: object) -> str:
    """The command that shows an item of an output."""
    return typed(["likewise", "show", str(out), *(["--"] if str(item).startswith("-") else []), str(item)])


def spelled(identity: object, out: Path) -> object:
    """An id as `likewise show` takes it: as JSON text if ids of several types are the same text."""
    import pyarrow.parquet as pq

    from likewise.io import storage
    from likewise.io.idcolumn import QUOTED

    metadata = pq.read_schema(storage.arrow(out / "removed.parquet")).metadata or {}
    return json.dumps(identity, ensure_ascii=False) if metadata.get(b"likewise.ids") == QUOTED.encode() else identity


def pair_of(example: dict[str, Any], report: dict[str, Any]) -> str:
    """A removed item, the one kept in its place, and their similarity or distance."""
    from likewise.report import wording
    from likewise.report.removals import called

    removed, kept = (in_line(called({**example[side], "representative": example[side]["id"]})) for side in ("removed", "kept"))
    value = report["value"]
    return f"{removed}, a duplicate of {kept}: {value} {wording.amount(example[value], value, report['method']['by'])}"


def not_compared(report: dict[str, Any]) -> str:
    """The numbers of items that were kept without a comparison."""
    from likewise.report import wording

    reasons = wording.not_compared({"without_text": 0} | wording.outcome(report), report["method"]["by"])
    return f"  ({', '.join(reasons)})" if reasons else ""


def recall_lines(report: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The expected recall, and the reasons for which it is lower than planned."""
    from likewise.planning import spread
    from likewise.report import wording

    plan, budget, by = report["method"]["plan"] or report.get("join") or {}, report["budget"], report["method"].get("by")
    place = at(report.get("value") == "distance")
    if budget["recall"] is None:
        yield "recall", "not guaranteed; likewise audit measures it"
        return
    if not report.get("curve", plan):
        yield "recall", f"100% ({exact_search(all_pairs=wording.compares_all(report))})"
        return
    guaranteed = budget["recall"] >= OPH_STEEP_ABOVE or plan.get("sketch") != "oph"
    layout = f"{counted(plan['bands'], 'band')} x {counted(plan['rows'], 'row')}" if plan["rows"] else f"codes of {plan['bits']:,} bits, all compared"
    yield "recall", f"{recall_of(report['threshold'], budget['recall'], place, guaranteed)} ({layout})"
    if report.get("spread"):
        yield "spread", spread.described(report["spread"])
    if budget["cut"]:
        sample = f"a sample of {budget['sampled']:,} contained {counted(budget['similar'], 'similar pair')}"
        missed = f"at most {counted(most, 'pair')}" if (most := int(budget["missed_at_most"])) else "no pair"
        yield "skipped", f"{counted(budget['cut'], 'comparison')} in overfull buckets; {sample} ({missed} missed, 95% confidence)"
        if crowded := next((bucket for bucket in budget.get("buckets", ()) if bucket.get("shared")), None):
            shared = in_line(wording.between(by).join(crowded["shared"]))
            shared = shared if len(shared) <= LONGEST else f"{shared[: LONGEST - 1]}…"
            yield "in common", f"{counted(crowded['items'], *wording.compared(report))} of one bucket have: {shared}"
        if report.get("spread") and parse(by).kind.sets and not report["method"].get("ignore_common"):
            flag = on_command_line(option("ignore_common", "1%"))
            yield "try", f"{flag}, if many {wording.compared(report)[1]} share uninformative {wording.parts(by)}"
    if report["verified"] in NOT_EXACT:
        yield "verified", NOT_EXACT[report["verified"]]


def exact_search(*, all_pairs: bool) -> str:
    return "all pairs compared" if all_pairs else "exact similarity join"


def at(distances: bool) -> str:
    return "at a distance of" if distances else "at"


def early_warnings(options: Options) -> list[str]:
    """The warnings of a plan that does not depend on the data."""
    return options.plan.about_layout if options.plan else []


@contextmanager
def resumable(work: Path, more: list[str]) -> Iterator[None]:
    """If the run stops and can be resumed, add the command that resumes it to the error: the same command with ``more``."""
    from likewise.io.claims import is_begun

    try:
        yield
    except BaseException as stop:
        if can_go_on(stop) and is_begun(work):
            given = [without_secrets(word) for word in sys.argv[1:]]
            end = given.index("--") if "--" in given else len(given)
            if isinstance(stop, UsageError) and getattr(stop.__cause__, "errno", None) == errno.ENOMEM:  # `errors.no_room`
                stop.add_note(f"raise --memory in the command below; to change anything else, delete {work} and start over")
            stop.add_note(f"to continue: {typed(['likewise', *given[:end], *more, *given[end:]])}")
        raise


def dry_run_of(screen: Screen, first: list[Path], second: Any, options: Options, out: Path | None, verb: str, *, walk: bool) -> None:
    """--dry-run: print the plan and the inputs. Only the beginnings of the inputs are read.

    first, second: the inputs, and those of a second collection. walk: the verb removes items.
    """
    from likewise.index.source import Indexed
    from likewise.io.inputs import STDIN
    from likewise.runs.inspection import inspect_inputs, job_of
    from likewise.runs.session import beside

    index = second if isinstance(second, Indexed) else None
    piped = STDIN in map(str, first + (second if index is None else []))
    one, other = sources_of(first, options, out), sources_of(second, options, out) if index is None else index.sources()
    found = beside(one, other)
    if piped and options.method.kind.needs_data:
        raise UsageError("--dry-run: the plan for vectors or codes depends on the data, and a dry run does not read standard input; name a file")
    if index is not None:
        job = inspect_inputs([] if piped else one, options, walk=walk, like=index.job())
        index.close()
    else:
        job = inspect_inputs(found, options, walk=walk) if found and not piped else job_of(options)
    sources = list(named(found, piped=piped))
    method = job.described_for(verb)
    if screen.json:
        warnings = list(map(in_document, early_warnings(options)))
        planned = {"sources": sources, "method": method, "engine": options.engine, "warnings": warnings, "out": out}
        screen.document({"schema": "likewise/dry-run/1", **planned})
        return
    for source in sources:
        what = "format detected when it is read" if source["format"] is None else f"{source['format']}, {size(source['bytes'])}"
        screen.data(in_line(f"{source['source']}  {what}"))
    screen.data("")
    rows = {name.replace("_", "-"): shown(value) for name, value in method.items() if name != "plan"}
    rows["max-record"] = f"{options.max_record:,} bytes"
    rows["plan"] = layout(job)
    rows["engine"] = options.engine
    rows["threads"] = str(options.threads or "all")
    rows["memory"] = size(options.memory) if options.memory else "75% of available memory"
    rows["out"] = str(out or "-")
    screen.rows(rows.items(), data=True)
    for message in early_warnings(options):
        screen.warn(message)


def layout(job: Job) -> str:
    """The plan on one line."""
    if job.plan:
        plan = job.plan
        recall = recall_of(float(plan.threshold), plan.recall, at(job.distances))
        return f"{counted(plan.bands, 'band')} x {counted(plan.rows, 'row')}, {counted(plan.slots, 'slot')}; recall: {recall}"
    if job.recall is None:
        return f"candidates from {job.compared.proposed_by}; recall: not guaranteed"
    if job.recall != 1:
        return f"join by bits of codes; recall: {recall_of(float(job.threshold), job.recall, at(job.distances))}"
    return f"{exact_search(all_pairs=job.compared.compares_all(job.base))}; recall: 100%"


def sources_of(inputs: list[Path], options: Options, out: Path | None) -> Sources:
    """The sources that the inputs name; standard input is not read."""
    from likewise.io.inputs import STDIN, Sources, resolve
    from likewise.runs.inspection import want

    files = [given for given in inputs if str(given) != STDIN]
    return resolve(files, out=out, work=options.work, want=want(options)) if files else Sources([])


def named(sources: Sequence[Any], *, piped: bool) -> Iterator[dict[str, Any]]:
    """Name, size and format of each source."""
    from likewise.io.source_names import printable

    for source in sources:
        yield {"source": printable(source.name), "bytes": source.size, "format": getattr(source.format, "__name__", "").rpartition(".")[2]}
    if piped:
        yield {"source": "stdin", "bytes": None, "format": None}


def shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "-" if value is None else str(value)
