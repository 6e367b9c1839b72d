"""The verb `audit`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from likewise import methods
from likewise.choices import OfAudit, refuse_empty, refuse_others
from likewise.engines.local import Local
from likewise.errors import DataError, UsageError
from likewise.io.manifest import is_output
from likewise.messages import option
from likewise.methods import Text
from likewise.options import integer, resolve
from likewise.progress import Progress
from likewise.report import summary
from likewise.report.originals import as_written, document, sealed, whole
from likewise.runs import pipeline
from likewise.runs.audit import Audit
from likewise.runs.audit import audit as measured
from likewise.runs.session import Inputs, started


def audit(inputs: Inputs, *, sample: int = 1000, progress: Progress | bool | None = None, **choices: Unpack[OfAudit]) -> Audit:
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
        raise UsageError(f"{option('sample', sample)}: give a whole number of 1 or more")
    made = None
    if isinstance(inputs, str | os.PathLike) and is_output(Path(inputs)):
        with as_written(Path(inputs)):
            made = as_made(Path(inputs))
        given = (made.choices | typed).get("groups")
        if made.groups is not None and isinstance(given, Path) and not given.is_file():
            raise UsageError(f"{inputs}: the groups that this output was made with ({given}) are missing; give {option('groups')}")
        inputs = made.inputs
    options = resolve(**{**(made.choices if made else {}), **typed})
    with started(inputs, options, "audit", None, progress) as (sources, run):
        if made and made.groups is not None and (run.job.grouped is None or run.job.grouped.digest != made.groups):
            remedy = f"run dedup again, or give the groups of the output with {option('groups')}"
            raise DataError(f"the groups differ from those that the output was made with; {remedy}")
        collection = pipeline.collect(sources, run, Local(run))
        if made and sorted(collection.digests()) != sorted(made.digests):
            raise DataError("the inputs have changed since the output was made; run dedup again, or audit the input files")
        items = pipeline.distinct(collection, run, Local(run))
        found = measured(items, run, sample, walk=bool(made))
        of_layout = run.job.plan.about_layout if run.job.plan else []  # the recall is measured, so a prediction of it is not needed
        for said in summary.warnings(collection, items.empty, run.job, np.zeros(len(collection), bool)):
            if said not in of_layout:
                run.warn(said)
        if made and made.verify != "exact":
            found.precision = float("nan")
            how = option("verify", made.verify)
            run.warn(f"the output was made with {how}: removed items were not compared exactly, and may be less similar than the threshold")
        found.warnings = run.warnings
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
        raise DataError(f"{out}: this output was made from data in memory, which is not stored; audit the data, with the same options")
    return Made([Path(entry["path"]) for entry in run["inputs"]], choices, method["verify"], digests, manifest.get("groups"))
