#!/usr/bin/env python3
"""likewise beside what is in use for copied code, exact quotations, repeated lines and containment: whole processes on the same files, run in turn.

    bash benchmarks/fetch_texts.sh FOLDER
    BENCH_VENVS=VENVS python benchmarks/quotes_peers.py FOLDER [--only code text lines containment] [--rounds 1] [--json FILE]

code         functions planted in files of other packages: likewise quotes --by code and copydetect
text         passages planted in manuals: likewise quotes and a Python script with a dictionary of runs
lines        repeated lines: likewise dedup --level line and datatrove's sentence deduplication
containment  queries of 50 to 500 words in 100,000 documents: likewise pairs by containment and datasketch's LSH Ensemble

VENVS has one environment for each peer: copydetect, datatrove ("datatrove[io,processing]" spacy), datasketch.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import contest
import pan
import texts
from compare import LIKEWISE, run
from contest import VENVS
from quotes import planter, show
from texts import Document

PEERS = Path(__file__).resolve().parent / "peers"
#: A passage of a suspect and the number of the text that it stands in: suspect, first character, end, source.
Found = Iterable[tuple[int, int, int, int]]


def peer(name: str, script: str, *arguments: object) -> list[str]:
    python = sys.executable if name == "script" else str(VENVS / name / "bin" / "python")
    return [python, str(PEERS / script), *map(str, arguments)]


def race(contenders: dict[str, list[str]], rounds: int, score: Callable[[str], Sequence[Any]], output: Path) -> list[list[Any]]:
    """Rows of contender, wall seconds, CPU seconds, peak MB, and what ``score`` says of its output; the output is removed before each run."""
    runs: dict[str, list[dict[str, float]]] = defaultdict(list)
    scores = {}
    for turn in range(-1, rounds):
        for name, command in contenders.items():
            if turn < 0 and not name.startswith("likewise"):  # kernels of likewise are loaded once before; a peer needs no such round
                continue
            if not contest.installed(name, command[0]):
                continue
            shutil.rmtree(output, ignore_errors=True)
            output.mkdir()
            measured = run(command)
            if turn >= 0:
                runs[name].append(measured)
                scores[name] = score(name)
    middle = {name: contest.middle(several) for name, several in runs.items()}
    return [[name, f"{one['wall']:.2f}", f"{one['cpu']:.2f}", f"{one['peak_mb']:.0f}", *scores[name]] for name, one in middle.items()]


# -- quotations ----------------------------------------------------------------------------------------------------------------------------------


def passages(output: Path) -> list[tuple[int, int, int, int]]:
    """The findings of a contender in suspects."""
    if (output / "found.npy").exists():
        return [tuple(row) for row in np.load(output / "found.npy").tolist()]
    import pyarrow.parquet as pq

    table = pq.read_table(output / "found.parquet")
    return list(zip(*(table[name].to_pylist() for name in ("suspect_position", "suspect_start", "suspect_end", "corpus_position")), strict=True))


def quality(found: Found, cases: Sequence[pan.Span]) -> tuple[float, float]:
    """The share of the planted characters found with their source, and of the found characters that were planted, wherever else they stand."""
    of_pair, of_suspect, planted = defaultdict(list), defaultdict(list), defaultdict(list)
    for suspect, start, end, source in found:
        of_pair[suspect, source].append((start, end))
        of_suspect[suspect].append((start, end))
    for case in cases:
        planted[case.suspect].append((case.start, case.end))
    right = sum(within(of_pair[case.suspect, case.source], (case.start, case.end)) for case in cases)
    wanted = sum(case.end - case.start for case in cases)
    all_found = sum(pan.union(spans) for spans in of_suspect.values())
    in_planted = sum(within(of_suspect[suspect], span) for suspect, spans in planted.items() for span in spans)
    return right / wanted, in_planted / max(1, all_found)


def within(spans: Sequence[tuple[int, int]], whole: tuple[int, int]) -> int:
    return pan.union((max(begin, whole[0]), min(end, whole[1])) for begin, end in spans)


def functions(text: str) -> list[tuple[int, int]]:
    """Functions at the left margin or one level in, of 15 to 80 lines: (first character, end)."""
    found = [match.span() for match in re.finditer(r"(?m)^(?P<in>    |)def .*\n(?:(?:(?P=in)[ \t].*)?\n){15,80}", text)]
    return [span for span in found if span[1] - span[0] > 600]


def renamed(code: str, rng: np.random.Generator) -> str:
    """The code with other names for its variables: every name that is assigned to."""
    names = set(re.findall(r"(?m)^\s+([a-z_]\w*) = ", code)) - {"self"}
    pattern = r"(?<![.\w'\"])(" + "|".join(sorted(names)) + r")\b(?!\()"
    return re.sub(pattern, lambda match: f"value_{match[1][::-1]}", code) if names else code


def laid_out(code: str, rng: np.random.Generator) -> str:
    """The code without comments and blank lines, indented by two columns."""
    lines = [line for line in code.splitlines() if line.strip() and not line.strip().startswith("#")]
    return "".join(" " * ((len(line) - len(line.lstrip())) // 2) + line.strip() + "\n" for line in lines)


CHANGES = {"verbatim": lambda code, rng: code, "laid out": laid_out, "renamed": renamed}


def code_table(folder: Path, work: Path, rounds: int) -> Any:
    rng = np.random.default_rng(4)
    files = [one for one in texts.documents(folder, "code") if 2000 < len(one.text) < 40000]
    corpus = [one for one in files if one.id.startswith(("python3-pandas", "python3-sklearn", "python3-sympy"))]
    corpus = [corpus[at] for at in sorted(rng.choice(len(corpus), 600, replace=False).tolist())]
    ground = [one.text for one in files if one.id.startswith(("python3-twisted", "python3-django"))][::7]
    able = [(source, span) for source, one in enumerate(corpus) for span in functions(one.text)]
    table = {}
    size = texts.write(corpus, work / "corpus.jsonl")
    for change, changed in CHANGES.items():
        suspects, cases = [], []
        for suspect in range(60):
            text = ground[suspect % len(ground)][:8000].rpartition("\n")[0] + "\n"
            for _ in range(2):
                source, (low, high) = able[int(rng.integers(len(able)))]
                copied = changed(corpus[source].text[low:high], rng)
                cases.append(pan.Span(suspect, len(text), len(text) + len(copied), source, low, high))
                text += copied + "\n"
            suspects.append(Document(str(suspect), text))
        texts.write(suspects, work / "suspects.jsonl")
        output = work / "output"
        both, target = (work / "corpus.jsonl", work / "suspects.jsonl"), output / "found.npy"
        quotes = [*LIKEWISE, "quotes", str(both[0]), "--in", str(both[1]), "-q", "--by", "code", "-o", str(output / "found.parquet")]
        contenders = {
            "likewise quotes": quotes,
            "likewise quotes, min-run 20": [*quotes, "--min-run", "20"],
            "copydetect": peer("copydetect", "copydetect_files.py", *both, target),
            "copydetect, plain": peer("copydetect", "copydetect_files.py", *both, target, "plain"),
        }
        rows = race(contenders, rounds, lambda _, output=output, cases=cases: quality(passages(output), cases), output)
        table[change] = rows
        print(f"\n{change}: {len(cases)} functions in {len(suspects)} files, {size / 1e6:.1f} MB of corpus")
        show(["contender", "wall s", "CPU s", "peak MB", "recall", "precision"], rows)
    return table


def text_table(folder: Path, work: Path, rounds: int) -> Any:
    table = {}
    corpus = [Document(str(at), text) for at, text in enumerate(planter(folder).corpus)]
    size = texts.write(corpus, work / "corpus.jsonl")
    for recipe in ("verbatim", "edit5", "edit10", "edit20"):
        suspects, cases = planter(folder).suspects(recipe, 300)
        texts.write([Document(str(at), text) for at, text in enumerate(suspects)], work / "suspects.jsonl")
        output = work / "output"
        both = work / "corpus.jsonl", work / "suspects.jsonl"
        contenders = {
            "likewise quotes": [*LIKEWISE, "quotes", str(both[0]), "--in", str(both[1]), "-q", "-o", str(output / "found.parquet")],
            "dictionary of runs": peer("script", "ngram_set.py", *both, output / "found.npy", 12),
        }
        table[recipe] = race(contenders, rounds, lambda _, output=output, cases=cases: quality(passages(output), cases), output)
        print(f"\n{recipe}: {len(cases)} passages in {len(suspects)} suspects, {size / 1e6:.1f} MB of corpus")
        show(["contender", "wall s", "CPU s", "peak MB", "recall", "precision"], table[recipe])
    return table


# -- repeated lines ------------------------------------------------------------------------------------------------------------------------------


def lines_of(rows: Iterable[str]) -> tuple[int, int, int]:
    """Lines with words in texts, different ones among them, and characters of all. Lines are the same if their words are."""
    number, seen, characters = 0, set(), 0
    for text in rows:
        characters += len(text)
        for line in text.splitlines():
            if words := tuple(re.findall(r"\w+", line.lower())):
                number += 1
                seen.add(hash(words))
    return number, len(seen), characters


def lines_table(folder: Path, work: Path, rounds: int) -> Any:
    documents = list(texts.documents(folder, "man pages", "Python", "Perl", "databases"))
    size = texts.write(documents, work / "corpus.jsonl")
    before = lines_of(document.text for document in documents)
    output = work / "output"
    dedup = [*LIKEWISE, "dedup", str(work / "corpus.jsonl"), "-o", str(output / "out"), "-q"]
    contenders = {
        "likewise dedup --level line": [*dedup, "--level", "line", "--min-left", "0"],
        "datatrove": peer("datatrove", "datatrove_lines.py", work / "corpus.jsonl", output / "out"),
    }

    def score(name: str) -> list[Any]:
        kept = sorted((output / "out" / "kept").rglob("*.jsonl"))
        after = lines_of(json.loads(line)["text"] for path in kept for line in path.open())
        return [f"{after[0] - after[1]:,}", f"{before[1] - after[1]:,}", f"{after[2] / before[2]:.1%}"]

    rows = race(contenders, rounds, score, output)
    print(f"\n{size / 1e6:.1f} MB, {before[0]:,} lines with words, {before[0] - before[1]:,} of them repeat another")
    show(["contender", "wall s", "CPU s", "peak MB", "repeats left", "lines lost", "text left"], rows)
    return rows


# -- containment ---------------------------------------------------------------------------------------------------------------------------------


def containment_table(folder: Path, work: Path, rounds: int) -> Any:
    rng, documents, queries = np.random.default_rng(6), [], []
    for one in texts.documents(folder, *texts.PROSE):
        words = one.text.split()
        documents += [" ".join(words[at : at + 240]) for at in range(0, len(words), 240)]
    documents = [documents[at] for at in sorted(rng.choice(len(documents), 100_000, replace=False).tolist())]
    for _ in range(2000):
        words = documents[int(rng.integers(len(documents)))].split()
        size = min(len(words), int(rng.integers(50, 500)))
        begin = int(rng.integers(0, len(words) - size + 1))
        queries.append(" ".join(pan.edited(words[begin : begin + size], "edit5" if rng.random() < 0.5 else "verbatim", rng, words)))
    size = texts.write([Document(str(at), text) for at, text in enumerate(documents)], work / "corpus.jsonl")
    texts.write([Document(str(at), text) for at, text in enumerate(queries)], work / "queries.jsonl")
    true, output = contained(documents, queries, 0.8), work / "output"
    both = work / "queries.jsonl", work / "corpus.jsonl"
    pairs = ["pairs", str(both[0]), "--against", str(both[1]), "--by", "whitespace:5/containment", "--threshold", "0.8", "-q"]
    contenders = {
        "likewise pairs": [*LIKEWISE, *pairs, "--exact", "-o", str(output / "found.parquet")],
        "datasketch": peer("datasketch", "ensemble_containment.py", both[1], both[0], output / "found.npy"),
    }

    def score(name: str) -> list[float]:
        if (output / "found.npy").exists():
            found = set(map(tuple, np.load(output / "found.npy").tolist()))
        else:
            import pyarrow.parquet as pq

            table = pq.read_table(output / "found.parquet")
            at = next(name for name in ("position_a", "id_a") if name in table.column_names)[:-1]
            found = {(int(a), int(b)) for a, b in zip(table[f"{at}a"].to_pylist(), table[f"{at}b"].to_pylist(), strict=True)}
        return [len(found & true) / len(true), len(found & true) / max(1, len(found))]

    rows = race(contenders, rounds, score, output)
    print(f"\n{len(queries):,} queries, {len(documents):,} documents, {size / 1e6:.1f} MB, {len(true):,} pairs")
    show(["contender", "wall s", "CPU s", "peak MB", "recall", "precision"], rows)
    return rows


def contained(documents: Sequence[str], queries: Sequence[str], threshold: float) -> set[tuple[int, int]]:
    """(query, document) whose document has at least this share of the query's runs of five words between white space, by brute force."""

    def shingles(text: str) -> set[int]:
        words = text.split()
        return {hash(" ".join(words[at : at + 5])) for at in range(max(1, len(words) - 4))}

    asked, of_shingle = [shingles(query) for query in queries], defaultdict(list)
    for number, several in enumerate(asked):
        for shingle in several:
            of_shingle[shingle].append(number)
    found = set()
    for number, document in enumerate(documents):
        common: dict[int, int] = defaultdict(int)
        for shingle in shingles(document) & of_shingle.keys():
            for query in of_shingle[shingle]:
                common[query] += 1
        found |= {(query, number) for query, times in common.items() if times >= threshold * len(asked[query])}
    return found


TABLES = {"code": code_table, "text": text_table, "lines": lines_table, "containment": containment_table}


def main() -> None:
    parser = contest.arguments(__doc__, 1)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", choices=TABLES, default=list(TABLES))
    options = parser.parse_args()
    table = {}
    for name in options.only:
        with tempfile.TemporaryDirectory(dir=options.folder) as work:
            table[name] = TABLES[name](options.folder, Path(work), options.rounds)
        contest.keep(table, options.json)


if __name__ == "__main__":
    main()
