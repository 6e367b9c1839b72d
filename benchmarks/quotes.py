#!/usr/bin/env python3
"""likewise quotes on real texts: speed and memory, PAN's scores, shared runs, and classes of revision.

    bash benchmarks/fetch_texts.sh FOLDER
    python benchmarks/quotes.py FOLDER [--only speed pan runs revisions] [--rounds 1] [--json FILE]

speed       whole processes, from files to a table; MB of the corpus per second
pan         passages planted in real texts and edited, PAN's scores by characters; see pan.py
runs        runs of exactly N words planted in real texts: how many are found
revisions   answers by the recipe of Clough and Stevenson; see rewritten.py
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import contest
import pan
import rewritten
import texts
from compare import LIKEWISE, run
from pan import Span

MANUALS = ("kernel", "Python", "Perl")
#: Default of --min-run.
RUN = 12
#: Characters of a suspect between passages of one pair that are one after merging, as entries of the PAN competitions do it.
APART = 150


def manuals(folder: Path) -> list[str]:
    """English manuals, without copies in other languages, which repeat the code of the originals."""
    return [document.text for document in texts.documents(folder, *MANUALS) if "/translations/" not in document.id]


@cache
def planter(folder: Path) -> pan.Planter:
    return pan.Planter(manuals(folder), [document.text for document in texts.documents(folder, "databases", "Debian")], seed=1)


def quotes(corpus: Sequence[str], suspects: Sequence[str], **options: Any) -> list[Span]:
    import likewise as lw

    found = lw.quotes(corpus, suspects, **options).to_dicts()
    names = ("suspect", "suspect_start", "suspect_end", "corpus", "corpus_start", "corpus_end")
    return [Span(*(row[name] for name in names)) for row in found]


def merged(found: Sequence[Span]) -> list[Span]:
    """Passages of one pair at most APART characters apart in the suspect are one."""
    out: list[Span] = []
    for one in sorted(found, key=lambda one: (one.suspect, one.source, one.start)):
        last = out[-1] if out else None
        if last and (last.suspect, last.source) == (one.suspect, one.source) and one.start - last.end <= APART:
            out[-1] = last._replace(
                end=max(last.end, one.end),
                source_start=min(last.source_start, one.source_start),
                source_end=max(last.source_end, one.source_end),
            )
        else:
            out.append(one)
    return out


def show(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table in Markdown."""
    print("", "| " + " | ".join(head) + " |", "|" + "---|" * len(head), sep="\n")
    for row in rows:
        print("| " + " | ".join(f"{value:.3f}" if isinstance(value, float) else str(value) for value in row) + " |", flush=True)


# -- speed ---------------------------------------------------------------------------------------------------------------------------------------


def searches(folder: Path, work: Path) -> dict[str, tuple[int, int, list[str]]]:
    """Name -> (bytes of the texts of the corpus, of the suspects, arguments of likewise quotes)."""
    prose = list(texts.documents(folder, *texts.PROSE))
    some = sorted(np.random.default_rng(5).choice(len(prose), 600, replace=False).tolist())
    sides = {
        "prose": prose,
        "600 of its documents": [prose[at] for at in some],
        "60 of its documents": [prose[at] for at in some[::10]],
        "planted": [texts.Document(str(at), text) for at, text in enumerate(planter(folder).suspects("edit10", 300)[0])],
        "Bible": texts.chapters(folder),
        **{name: list(texts.documents(folder, name)) for name in ("kernel", "kernel in HTML", "Django 4.2", "Django 5.2", "code")},
    }
    code = sides["code"] = [one for one in sides["code"] if "/rubi/" not in one.id]  # rules that a program wrote, each of which repeats the others
    sides["300 files of it"] = code[:: len(code) // 300]
    size = {name: texts.write(side, work / f"{name}.jsonl") for name, side in sides.items()}
    pairs = [
        ("prose", "planted", []),
        ("prose", "Bible", []),
        ("prose", "60 of its documents", []),
        ("prose", "600 of its documents", []),
        ("Django 4.2", "Django 5.2", []),
        ("kernel", "kernel in HTML", []),
        ("code", "300 files of it", ["--by", "code"]),
    ]
    return {
        f"{suspects} in {corpus}": (size[corpus], size[suspects], [str(work / f"{corpus}.jsonl"), "--in", str(work / f"{suspects}.jsonl"), *options])
        for corpus, suspects, options in pairs
    }


def counted(arguments: Sequence[str]) -> dict[str, int]:
    """Common fingerprints that were followed, passages, and bytes of the fingerprints of the smaller side, in a process of its own."""
    return contest.answer("likewise", [sys.executable, __file__, "--count", *arguments])


def count(corpus: str, suspects: str, by: str | None) -> dict[str, int]:
    import likewise as lw
    from likewise.passages import grown
    from likewise.passages.streams import PRINT_COLUMNS
    from likewise.runs.quotes import Side

    hits, batches, prints, prints_of = [], grown.batches, [], Side.prints

    def watched(*given: Any) -> Any:
        for batch in batches(*given):
            hits.append(batch.hits)
            yield batch

    def measured(*given: Any) -> Any:
        found = prints_of(*given)
        prints.append(len(found.tokens) * sum(np.dtype(dtype).itemsize for dtype in PRINT_COLUMNS.values()))
        return found

    grown.batches, Side.prints = watched, measured
    return {"passages": len(lw.quotes(corpus, suspects, **({"by": by} if by else {}))), "hits": sum(hits), "prints": sum(prints)}


def speed(folder: Path, rounds: int) -> Any:
    table = {}
    with tempfile.TemporaryDirectory(dir=folder) as name:
        work = Path(name)
        each = searches(folder, work)
        (work / "one.jsonl").write_text('{"text": "one text"}\n')
        start = [*LIKEWISE, "quotes", str(work / "one.jsonl"), "--in", str(work / "one.jsonl"), "-q", "-o", str(work / "none.parquet"), "--overwrite"]
        run(start)
        begun = contest.middle([run(start) for _ in range(rounds)])
        rows = []
        for search, (corpus, suspects, arguments) in each.items():
            found = [*LIKEWISE, "quotes", *arguments, "-q", "-o", str(work / "found.parquet"), "--overwrite"]
            known = counted(arguments)  # and the input is in the page cache
            middle = contest.middle([run(found) for _ in range(rounds)])
            # MB/s by wall time, and by the processor time of all cores, which other work on the machine changes less
            wall, cpu = (corpus / 1e6 / (middle[one] - begun[one]) for one in ("wall", "cpu"))
            table[search] = {**middle, **known, "start": begun, "corpus": corpus, "suspects": suspects}
            prints = known["prints"] / min(corpus, suspects)
            sizes = (f"{corpus / 1e6:.1f}", f"{suspects / 1e6:.1f}", f"{prints:.2f}", f"{known['hits']:,}", f"{known['passages']:,}")
            times = (f"{middle['wall']:.2f}", f"{middle['cpu']:.2f}", f"{wall:.0f}", f"{cpu * contest.CORES:.0f}", f"{middle['peak_mb']:.0f}")
            rows.append([search, *sizes, *times])
            print(rows[-1], file=sys.stderr)
    head = ["search", "corpus MB", "suspects MB", "fingerprints, bytes a byte", "hits", "passages", "wall s", "CPU s"]
    show([*head, "MB/s", "MB/s by CPU time", "peak MB"], rows)
    return table


# -- quality -------------------------------------------------------------------------------------------------------------------------------------


def scores(folder: Path, number: int = 300) -> Any:
    table, rows = {}, []
    for recipe in pan.RECIPES:
        suspects, cases = planter(folder).suspects(recipe, number)
        found = quotes(planter(folder).corpus, suspects)
        table[recipe] = [pan.scores(one, cases)._asdict() for one in (found, merged(found))]
        rows.append([recipe, len(cases), len(found), *table[recipe][0].values(), table[recipe][1]["plagdet"]])
    show(["recipe", "planted", "found", "precision", "recall", "granularity", "plagdet", "plagdet, merged"], rows)
    return table


def runs(folder: Path, number: int = 300) -> Any:
    """Verbatim runs, two in each suspect; a run is found if a passage has all its characters on both sides."""
    table, rows = {}, []
    for size in (8, 9, 10, 11, 12, 13, 16, 20):
        suspects, cases = planter(folder).suspects("verbatim", number, (size, size + 1), plain=True)
        found = quotes(planter(folder).corpus, suspects, min_run=RUN)
        whole = sum(pan.covered(case, ones) == 1 for case, ones in zip(cases, pan.detected(cases, found), strict=True))
        table[size] = {"planted": len(cases), "found": whole, "others": sum(not ones for ones in pan.detected(found, cases))}
        rows.append([size, *table[size].values()])
    show([f"words (min_run {RUN})", "planted", "found whole", "passages elsewhere"], rows)
    return table


def revisions(folder: Path, number: int = 100) -> Any:
    """Answers of each level from ``number`` texts, and the text that they are from: three searches separate the levels."""
    synonyms, rng = texts.synonyms(folder), np.random.default_rng(3)
    prose = [several for several in map(rewritten.sentences, manuals(folder)) if len(" ".join(several).split()) > 1000]
    order = iter(rng.permutation(len(prose)).tolist())
    sources, answers, levels, threes = [], [], [], []
    while len(sources) < number:
        several, others = (prose[next(order)] for _ in range(2))
        if texts.Runs([" ".join(several)], 6).count(" ".join(others)).any():
            continue  # an answer of the level "none" is written without the text
        three = texts.Runs([" ".join(several)], 3)
        for level, answer in rewritten.answers(several, others, 250, rng, synonyms).items():
            answers.append(answer)
            threes.append(float((three.count(answer) > 0).mean()))
            levels.append((level, len(sources)))
        sources.append(" ".join(several))
    found = {name: coverage(sources, answers, levels, options) for name, options in rewritten.SEARCHES.items()}
    said = [rewritten.level(*(found[name][at] for name in rewritten.SEARCHES)) for at in range(len(answers))]
    rows = []
    for level in rewritten.LEVELS:
        of = [at for at, (name, _) in enumerate(levels) if name == level]
        values = ([several[at] for at in of] for several in (threes, *found.values()))
        ranges = [f"{min(several):.2f}-{max(several):.2f}" for several in values]
        rows.append([level, len(of), *ranges, sum(said[at] == level for at in of)])
    show(["level", "answers", "3-grams in the text", *rewritten.SEARCHES, "recognized"], rows)
    return {row[0]: row[1:] for row in rows}


def coverage(sources: Sequence[str], answers: Sequence[str], levels: Sequence[tuple[str, int]], options: dict[str, Any]) -> list[float]:
    """The share of each answer that stands in the text that it should be from."""
    parts = defaultdict(list)
    for one in quotes(sources, answers, **options):
        if one.source == levels[one.suspect][1]:
            parts[one.suspect].append((one.start, one.end))
    return [pan.union(parts[at]) / len(answer) for at, answer in enumerate(answers)]


TABLES = {"speed": None, "pan": scores, "runs": runs, "revisions": revisions}


def main() -> None:
    if sys.argv[1:2] == ["--count"]:
        corpus, _, suspects, *by = sys.argv[2:]
        print(json.dumps(count(corpus, suspects, by[1] if by else None)))
        return
    parser = contest.arguments(__doc__, 1)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", choices=TABLES, default=list(TABLES))
    options = parser.parse_args()
    table = {}
    for name in options.only:
        table[name] = speed(options.folder, options.rounds) if name == "speed" else TABLES[name](options.folder)
        contest.keep(table, options.json)


if __name__ == "__main__":
    main()
