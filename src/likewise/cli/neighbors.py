"""likewise neighbors"""

from __future__ import annotations

from typing import Any

from likewise.choices import TAKES, CsvFormulas
from likewise.cli.flags import FILE
from likewise.cli.pairs import as_it_is, check, deliver, without_places
from likewise.cli.screen import Screen, counted, percent
from likewise.cli.verbs import INPUTS, inputs, verb
from likewise.io.address import place


@verb(
    "neighbors",
    "INPUT... [--query QUERY]... [-k K] [-o FILE]",
    examples=("neighbors pages.jsonl --query new.jsonl -k 5", "neighbors vectors.npy --query queries.npy --by l2 -o nearest.parquet"),
    flags=f"{TAKES['neighbors']} out overwrite csv_formulas config json exit_code quiet verbose color progress",
    arguments=[inputs()],
    notes=INPUTS,
    recall={"help": "Minimum probability that a true neighbor is found."},
    threshold={"help": "Minimum similarity of a neighbor.", "shown": ""},
    within={"help": "Maximum distance of a neighbor."},
    exact={"help": "Find the true neighbors (recall 1), even if that takes longer."},
    out={"help": "Output file (.parquet, .jsonl, .csv or .tsv); without it, neighbors go to standard output.", "metavar": "FILE", "values": FILE},
    overwrite={"help": "Replace FILE when the new one is complete."},
    work={"shown": "a temporary folder"},
)
def command(
    screen: Screen,
    inputs: tuple[str, ...],
    query: tuple[str, ...] = (),
    k: int = 10,
    out: str | None = None,
    overwrite: bool = False,
    csv_formulas: CsvFormulas = "escape",
    exit_code: bool = False,
    **choices: Any,
) -> int:
    from likewise.runs.session import resolved

    options = resolved([[place(given) for given in some] or None for some in (inputs, query)], choices, limited=False)
    target = None if out is None else place(out)
    if target is not None:
        check(target, overwrite, (*inputs, *query), options)
    from likewise.cli.progress import progress_on
    from likewise.verbs.neighbors import find_neighbors

    progress = progress_on(screen)
    found = find_neighbors([place(given) for given in inputs], [place(given) for given in query] or None, options, k, progress)
    if target is not None:
        found.write(target, overwrite=overwrite, csv_formulas=csv_formulas)
    deliver(screen, found, target, "likewise/neighbors/1", "pairs", without_places if query else as_it_is)
    if not screen.json:
        short = found.report["with_fewer"]
        fewer = f"; {counted(short, 'query has', 'queries have')} fewer than {found.report['k']}" if short else ""
        recall = found.report["recall"]
        least = "not guaranteed" if recall is None else f"at least {percent(recall, down=True)} of neighbors"
        found_of = f"{counted(len(found), 'neighbor')} of {counted(found.report['queries'], 'query', 'queries')}{fewer}"
        read = f"{counted(found.report['read'], 'item')} read in {progress.time_in_all}"
        screen.say(f"{found_of}; {read}; recall: {'100%' if recall == 1 else least}")
    progress.steps()
    return int(exit_code and len(found) > 0)
