"""likewise demo"""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Iterator
from os.path import samestat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from likewise.cli import beside
from likewise.cli.dedup import recall_lines, show_command
from likewise.cli.screen import Screen, counted, harmless, size, typed
from likewise.cli.verbs import verb
from likewise.errors import LikewiseError, UsageError

#: Names of text files, and the bytes to take from each of the two folders; files larger than LARGEST are left out.
SUFFIXES = frozenset({".py", ".txt", ".rst", ".md"})
NAMES = frozenset({"LICENSE", "COPYING", "NOTICE", "METADATA"})
BYTES_EACH = 12_000_000
LARGEST = 200_000
#: Maximum numbers of clusters and of their members in the output.
CLUSTERS, MEMBERS = 3, 4
#: Preferred number of characters of an example.
READABLE = range(300, 4000)


@verb(
    "demo",
    "[-o OUT]",
    examples=("demo", "demo --by chars:9 --threshold 0.6 -o /tmp/demo"),
    flags="by threshold out overwrite threads memory json quiet verbose color progress",
    out={"shown": "likewise-demo"},
)
def command(screen: Screen, out: str = "likewise-demo", **choices: Any) -> None:
    from likewise.cli.progress import progress_on
    from likewise.io.output import check_target
    from likewise.io.placing import new_file
    from likewise.options import resolve
    from likewise.verbs.dedup import dedup

    resolve(**choices)
    target = Path(out)
    overwrite = choices.get("overwrite", False)
    check_target(target, overwrite=overwrite)
    source = target.with_name(target.name + "-input.jsonl")
    check_source(source, target, overwrite=overwrite)
    progress = progress_on(screen)
    texts = dict(gathered())
    with new_file(source, overwrite=overwrite) as file:
        file.writelines(json.dumps({"id": name, "text": text}).encode() + b"\n" for name, text in texts.items())
    written = source.stat()
    screen.say(f"wrote {counted(len(texts), 'text file')} of this Python installation to {source} ({size(source.stat().st_size)})")
    try:  # in a work folder that is deleted with the run: each run collects the texts again, so it cannot be resumed
        with TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent, ignore_cleanup_errors=True) as work:
            result = dedup(source, out=target, progress=progress, work=Path(work), **choices)
    except BaseException:
        if source.exists() and samestat(source.lstat(), written):
            source.unlink()
        raise
    if screen.json:
        screen.document({**result.report, "out": str(target.absolute())})
        return
    pair = example(result.removed.to_arrow().to_pylist(), texts)
    for line in story(result, pair, texts, screen, progress):
        screen.data(line)
    seen = [] if pair is None else [show_command(out, pair["id"])]
    for line in (*seen, typed(["likewise", "pairs", str(source), "--threshold", "0.5"]), "likewise dedup --help"):
        screen.say(f"  next: {line}")
    progress.steps()


def check_source(source: Path, target: Path, *, overwrite: bool) -> None:
    """Refuse to replace a file, unless it is the input of an output that is also replaced. Raises UsageError."""
    from likewise.io.placing import refuse_others

    refuse_others(source, "-o")
    if source.exists() and not is_input_of(source, target):
        raise UsageError(f"-o {target}: the demo writes its input to {source}, which exists and is not from a demo; choose another path")
    if source.exists() and not overwrite:
        raise UsageError(f"-o {target}: the demo writes its input to {source}, which exists; use --overwrite to replace it")


def is_input_of(source: Path, out: Path) -> bool:
    """True if the output was made from this file, and the file has not changed since."""
    from likewise.report.own_files import sealed

    try:
        inputs = sealed(out / "run.json")["inputs"]
    except LikewiseError:
        return False
    now = source.stat()
    made = {(entry["path"], entry.get("size"), entry.get("mtime_ns")) for entry in inputs}
    return (str(source.absolute()), now.st_size, now.st_mtime_ns) in made


def gathered() -> Iterator[tuple[str, str]]:
    """(name, text) of the text files of the standard library and the installed packages, sorted by name."""
    places = sysconfig.get_paths()
    for label, key in (("stdlib", "stdlib"), ("site-packages", "purelib")):
        root, left = Path(places[key]), BYTES_EACH
        for path in files(root):
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            left -= len(text)
            if left < 0:
                break
            yield f"{label}/{path.relative_to(root).as_posix()}", text


def files(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for path in entries:
        if path.is_dir():
            if path.name not in ("__pycache__", "site-packages", "dist-packages") and not path.is_symlink():
                yield from files(path)
        elif (path.suffix in SUFFIXES or path.stem in NAMES) and path.is_file() and 0 < path.stat().st_size <= LARGEST:
            yield path


def story(result: Any, pair: dict[str, Any] | None, texts: dict[str, str], screen: Screen, progress: Any) -> Iterator[str]:
    """The result in sentences, with one removed text as an example."""
    from likewise.drawing.numbers import by_reason

    counts, clusters = result.report["counts"], result.report["clusters"]
    yield ""
    yield f"{counts['kept']:,} of {counts['read']:,} texts were kept and {counts['removed']:,} removed, in {progress.time_in_all}:"
    yield f"{', '.join(by_reason(counts))}, in {counted(clusters['number'], 'cluster')}."
    for name, text in recall_lines(result.report):
        yield f"{name.capitalize()}: {text}."
    if clusters["largest"]:
        yield "\nThe largest clusters:"
    for cluster in clusters["largest"][:CLUSTERS]:
        yield from members(result.removed.to_arrow(), cluster)
    if pair is not None:
        from likewise.report import diff

        runs = diff.words(texts[pair["id"]], texts[pair["kept_id"]])
        colored = screen.colored(sys.stdout)
        yield "\nA removed near-duplicate, and its differences from the kept text:"
        yield f"  {beside.marked('delete', harmless(pair['id']), colored)}\n  {beside.marked('insert', harmless(pair['kept_id']), colored)}"
        yield f"  similarity {pair['similarity']:.4f}\n"
        yield "".join(beside.view(runs, colored, whole=False))
    yield f"\nThe output is in {result.out}: kept/ contains the kept texts, removed.parquet lists each removed text with the text kept in its place,"
    yield "and report.html shows the result in a browser."


def members(removed: Any, cluster: dict[str, Any]) -> Iterator[str]:
    import pyarrow.compute as pc

    of = removed.filter(pc.equal(removed["kept_id"], cluster["representative"]))
    yield f"  {cluster['items']:,} texts; kept: {harmless(cluster['representative'])}"
    for row in of.slice(0, MEMBERS).to_pylist():
        yield f"      {harmless(row['id'])}  {row['reason']} {row['similarity']:.3f}"
    if of.num_rows > MEMBERS:
        yield f"      ... and {of.num_rows - MEMBERS:,} more"


def example(removed: list[dict[str, Any]], texts: dict[str, str]) -> dict[str, Any] | None:
    """The near-duplicate to show: of a readable length, with the lowest similarity."""
    near = [row for row in removed if row["reason"] == "near" and row["similarity"] < 1]
    return min(near, key=lambda row: (len(texts[row["id"]]) not in READABLE, row["similarity"], row["id"]), default=None)
