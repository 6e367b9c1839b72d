"""likewise repeats"""

from __future__ import annotations

from typing import Any

from likewise.choices import TAKES, CsvFormulas
from likewise.cli.flags import FILE
from likewise.cli.pairs import check, deliver, in_brief
from likewise.cli.screen import Screen, counted, harmless, percent
from likewise.cli.verbs import INPUTS, inputs, verb
from likewise.io.address import place


@verb(
    "repeats",
    "INPUT... [-o FILE]",
    examples=("repeats crawl.jsonl --min-run 100", "repeats pages/ --by lines --common 1% -o boilerplate.parquet"),
    flags=f"{TAKES['repeats']} out overwrite csv_formulas config json exit_code quiet verbose color progress",
    arguments=[inputs()],
    notes=INPUTS,
    by={"help": "Unit of tokens: words, whitespace, code, chars, lines, paragraphs, or tokens for token ids.", "shown": "words", "brief": ""},
    min_run={"help": "Find repeated runs of N tokens or more.", "shown": "50; 250 characters; 3 lines; 2 paragraphs", "brief": ""},
    normalize={"help": "Normalization steps to apply before a text is cut into tokens, instead of those of the unit; or none. Repeatable."},
    out={"help": "Output file (.parquet, .jsonl, .csv or .tsv); without it, places go to standard output.", "metavar": "FILE", "values": FILE},
    overwrite={"help": "Replace FILE when the new one is complete."},
    work={"shown": "a temporary folder"},
)
def command(
    screen: Screen,
    inputs: tuple[str, ...],
    out: str | None = None,
    overwrite: bool = False,
    csv_formulas: CsvFormulas = "escape",
    exit_code: bool = False,
    **choices: Any,
) -> int:
    from likewise.runs.repeated import SIDES
    from likewise.verbs.repeats import find_repeats, options_of

    options = options_of(choices)
    target = None if out is None else place(out)
    if target is not None:
        check(target, overwrite, inputs, options)
    from likewise.cli.progress import progress_on

    progress = progress_on(screen)
    found = find_repeats([place(given) for given in inputs], options, progress)
    if target is not None:
        found.write(target, overwrite=overwrite, csv_formulas=csv_formulas)
    deliver(screen, found, target, "likewise/repeats/1", "places", lambda found: in_brief(found, SIDES))
    if not screen.json:
        report, where = found.report, f" in {out}" if out else ""
        read = f"{counted(report['read'], 'document')} read in {progress.time_in_all}"
        screen.say(f"{counted(report['passages'], 'passage')}, {counted(len(found), 'place')}{where}; {read}")
        for passage in report["most"][:1]:
            text = " ".join(passage["text"].split())[:60]
            screen.say(f"in most documents ({passage['documents']:,}): {harmless(text)}")
        share = percent(report["later"]["characters"] / max(1, report["characters"]))
        screen.say(f"occurrences after the first: {counted(report['later']['characters'], 'character')}, {share} of all")
    progress.steps()
    return int(exit_code and len(found) > 0)
