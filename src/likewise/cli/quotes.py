"""likewise quotes"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from likewise.choices import TAKES, CsvFormulas
from likewise.cli import output_file
from likewise.cli.flags import FILE
from likewise.cli.pairs import check, deliver, in_brief
from likewise.cli.screen import Screen, counted
from likewise.cli.verbs import inputs, verb
from likewise.errors import UsageError
from likewise.io.address import place

#: Flag of the page, and the extension of its file.
PAGE, HTML = "--page", (".html", ".htm")


@verb(
    "quotes",
    "CORPUS... --in SUSPECT... [-o FILE] [--page FILE]",
    examples=("quotes books/ --in essays/ --page quotes.html", "quotes crawl.jsonl --in test.jsonl --min-run 20 -o quotes.parquet"),
    flags=f"{TAKES['quotes']} out page overwrite csv_formulas config json exit_code quiet verbose color progress",
    arguments=[inputs("CORPUS...")],
    notes="CORPUS, SUSPECT: files, folders, globs, s3://..., or - for standard input.",
    by={"help": "Unit of tokens: words, whitespace, code, chars, lines, paragraphs, or tokens for token ids.", "shown": "words", "brief": ""},
    threshold={"help": "Minimum similarity of a passage: 2 x equal tokens / tokens of both texts.", "shown": "0.5"},
    normalize={"help": "Normalization steps to apply before a text is cut into tokens, instead of those of the unit; or none. Repeatable."},
    ignore={"help": "Ignore passages of these inputs, such as a template. Repeatable."},
    ignore_common={"help": "Ignore passages whose shingles are in more than this share of the texts, such as 0.01 or 1%."},
    out={"help": "Output file (.parquet, .jsonl, .csv or .tsv); without it, passages go to standard output.", "metavar": "FILE", "values": FILE},
    overwrite={"help": "Replace FILE when the new one is complete."},
    work={"shown": "a temporary folder"},
)
def command(
    screen: Screen,
    inputs: tuple[str, ...],
    suspects: tuple[str, ...] = (),
    out: str | None = None,
    page: str | None = None,
    overwrite: bool = False,
    csv_formulas: CsvFormulas = "escape",
    exit_code: bool = False,
    **choices: Any,
) -> int:
    from likewise.io.inputs import STDIN
    from likewise.runs.inspection import want
    from likewise.runs.quoted import SIDES
    from likewise.verbs.quotes import find_quotes, options_of

    if not suspects:
        raise UsageError("name the texts to search for passages of CORPUS: --in SUSPECT")
    if page is not None and STDIN in (*inputs, *suspects):
        raise UsageError(f"{PAGE} {page}: texts are read again for the page, and standard input can be read only once; name a file instead of -")
    options = options_of(choices)
    target, page_target = (None if name is None else place(name) for name in (out, page))
    if target is not None:
        check(target, overwrite, (*inputs, *suspects), options)
    if page_target is not None:
        beside: list[tuple[str, Path]] = [] if target is None else [(str(out), target)]
        output_file.check(page_target, (*inputs, *suspects), want(options), beside, overwrite=overwrite, formats=HTML, flag=PAGE)
    from likewise.cli.progress import progress_on

    progress = progress_on(screen)
    found = find_quotes([place(given) for given in inputs], [place(given) for given in suspects], options, progress)
    if target is not None:
        found.write(target, overwrite=overwrite, csv_formulas=csv_formulas)
    if page_target is not None:
        found.write_page(page_target, overwrite=overwrite)
    deliver(screen, found, target, "likewise/quotes/1", "passages", lambda found: in_brief(found, SIDES))
    if not screen.json:
        read, where = found.report["read"], f" in {out}" if out else ""
        texts = f"{counted(read['corpus'], 'text')} of the corpus read in {progress.time_in_all}"
        screen.say(f"{counted(len(found), 'passage')}{where}, in {found.report['quoting']:,} of {counted(read['suspects'], 'suspect')}; {texts}")
    progress.steps()
    return int(exit_code and len(found) > 0)
