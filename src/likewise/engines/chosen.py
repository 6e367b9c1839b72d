"""The choice of the engine by the options of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from likewise.engines.engine import Engine
from likewise.engines.local import Local
from likewise.errors import UsageError
from likewise.io.inputs import Source
from likewise.job import Job
from likewise.kinds.kind import EXACT, NEVER
from likewise.messages import option
from likewise.planning import choose
from likewise.runs.items import Run


@contextmanager
def local(sources: Sequence[Source], run: Run) -> Iterator[Engine]:
    """The engine of this machine."""
    yield Local(run)


@contextmanager
def spark(sources: Sequence[Source], run: Run) -> Iterator[Engine]:
    """The engine of a Spark cluster. Raises UsageError for runs that it cannot do, and for a cluster that cannot be used."""
    refuse(run.job)
    from likewise.engines.spark import reach
    from likewise.engines.spark.engine import Spark
    from likewise.engines.spark.session import opened

    reach.refuse_unreachable(sources)
    run.begin("starting Spark", 0, "executors")
    with opened(run.job.options.master, run.spark) as session:
        folder = run.work.folder / "spark"
        folder.mkdir(exist_ok=True)
        reach.check(session, folder, sources, run.note)
        yield Spark(run, session)


#: The registry: each value of ``engine`` (`choices.Engine`), and the context manager that makes the engine of a run.
ENGINES: dict[str, Callable[[Sequence[Source], Run], AbstractContextManager[Engine]]] = {"local": local, "spark": spark}


@contextmanager
def chosen(sources: Sequence[Source], run: Run) -> Iterator[Engine]:
    """The engine of a run. Raises UsageError, before any work, for runs that the engine cannot do."""
    with ENGINES[run.job.options.engine](sources, run) as engine:
        yield engine


def refuse(job: Job) -> None:
    """Raise UsageError for a run that Spark cannot do, with the options to use instead."""
    options, asked = job.options, option("engine", "spark")
    here = f"run it on one machine, without {asked}"
    if options.level == "passage":
        raise UsageError(f"{asked}: passages are found on one machine only; {here}")
    if options.sketches:
        raise UsageError(f"{asked}: {option('sketches')} is written on one machine only; leave one of them out")
    if job.kept is not None:
        raise UsageError(f"{asked}: items are compared with an index on one machine only; {here}")
    if not options.limited:
        if not job.exact and job.compared.recall != EXACT and not job.compared.scans(job):
            raise UsageError(f"{asked}: {option('exact')} is required to find the nearest {job.compared.name}; add it, or {here}")
        return
    if job.plan is not None or (job.compared.keyed and not job.contained):
        return
    if job.compared.bands == NEVER or job.base.bandless or job.contained:
        raise UsageError(f"{asked}: {option('by', str(job.method))} compares {job.compared.name} without bands; {here}")
    if options.exact:
        raise UsageError(f"{asked}: {option('exact')} joins {job.compared.name} on one machine only; leave it out, or {here}")
    plan = choose(method=job.method, facts=job.facts, **options.asked)
    layout = f"{option('bands', plan.bands)} {option('rows', plan.rows)}"
    raise UsageError(f"{asked}: these {job.compared.name} would be joined on one machine, which is cheaper; add {layout}, which has the same recall")
