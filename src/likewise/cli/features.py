"""likewise features"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from likewise.choices import TAKES
from likewise.cli.flags import FILE
from likewise.cli.output_file import read_from
from likewise.cli.screen import Screen, counted
from likewise.cli.verbs import INPUTS, inputs, verb
from likewise.errors import UsageError
from likewise.io import rejects
from likewise.io.address import place
from likewise.io.placing import apart, check_file
from likewise.messages import option


@verb(
    "features",
    "INPUT... -o FILE",
    examples=(
        "features photos/ -o photos.parquet",
        "features texts.jsonl --vectors glove.txt -o texts.parquet",
    ),
    flags=f"{TAKES['features']} out overwrite config json quiet verbose color progress",
    arguments=[inputs()],
    notes=INPUTS,
    by={"help": "Token of documents: words:1, whitespace:1, chars:1, ...", "shown": "words:1"},
    on_error={"help": "If an input cannot be decoded: fail stops the run; skip lists it in FILE.rejected.jsonl.", "brief": ""},
    out={"help": "Output file (.parquet).", "metavar": "FILE", "values": FILE},
    overwrite={"help": "Replace FILE when the new one is complete."},
    work={"help": "Folder for a copy of standard input during the run.", "shown": "a temporary folder"},
)
def command(
    screen: Screen,
    inputs: tuple[str, ...],
    out: str | None = None,
    overwrite: bool = False,
    vectors: str | None = None,
    work: str | None = None,
    **choices: Any,
) -> None:
    if out is None:
        raise UsageError("-o is missing: name the output file with -o FILE, such as -o features.parquet")
    target = place(out)
    rejected_path = rejects.beside(target)
    check(target, rejected_path, inputs, vectors, overwrite=overwrite, skips=choices.get("on_error") == "skip")
    from likewise.cli.progress import progress_on
    from likewise.runs.extraction import extract

    progress = progress_on(screen)
    with folder_in(work) as folder:
        made = extract(
            [place(given) for given in inputs],
            vectors=None if vectors is None else place(vectors),
            work=folder,
            progress=progress,
            **choices,
        )
        try:
            made.write(target, overwrite=overwrite)
        except UsageError as error:
            if made.rejected and isinstance(error.__cause__, FileExistsError):  # the result has another name then, and so has its list
                listed = made.write_rejected(rejected_path, overwrite=overwrite)
                raise UsageError(f"{error.marked}; the rejected inputs are listed in {listed}") from error.__cause__
            raise
    if made.rejected:
        listed = made.write_rejected(rejected_path, overwrite=overwrite)
        if listed != rejected_path:
            progress.warn(f"{rejected_path}: this appeared during the run and was not replaced; the rejected inputs are listed in {listed}")
    elif overwrite and rejects.are_in(rejected_path):
        rejected_path.unlink()  # of the file that was replaced
    if made.empty:
        progress.warn(f"{counted(made.empty, 'item has', 'items have')} no features, so the list in the file is empty")
    if screen.json:
        screen.document({"schema": "likewise/features/1", **made.report, "out": str(target.absolute())})
        return
    lost = f"; {counted(len(made.rejected), 'input')} could not be read, see {listed}" if made.rejected else ""
    known = f"; {made.unknown:,} tokens have no vector" if made.unknown else ""
    written = f"wrote {counted(made.features, 'feature')} of {counted(made.items, 'item')} to {out}, dimension {made.dimension}"
    if made.coded:
        written = f"wrote {counted(made.items, 'code')} of {made.dimension} bits to {out}"
    screen.say(f"{written}; {progress.time_in_all}{known}{lost}")
    progress.steps()


@contextmanager
def folder_in(work: str | None) -> Iterator[Path]:
    """A new folder in ``work``, or among the temporary files. If ``work`` does not exist, it is created, and removed at the end."""
    import tempfile

    from likewise.io.output import check_work

    check_work(work)
    made = work is not None and not Path(work).exists()
    if work is not None and made:
        Path(work).mkdir(mode=0o700, parents=True)
    elif work is not None and not Path(work).is_dir():
        raise UsageError(f"{option('work', work)}: this is a file, but intermediate files need a folder; choose another path")
    try:
        with tempfile.TemporaryDirectory(prefix="likewise-", dir=work) as folder:
            yield Path(folder)
    finally:
        if work is not None and made:
            with suppress(OSError):  # not empty: someone else has put a file there
                Path(work).rmdir()


def check(target: Path, rejected_path: Path, inputs: Sequence[str], vectors: str | None, *, overwrite: bool, skips: bool) -> None:
    """Check, before any work, that the outputs can and may be written. skips: ``rejected_path`` may be written. Raises UsageError."""
    check_file(target, overwrite=overwrite, formats=[".parquet"])
    if skips:
        flag = f"-o {target}: rejected inputs are listed in"
        check_file(rejected_path, overwrite=True, flag=flag)
        if rejected_path.exists() and not rejects.are_in(rejected_path):
            raise UsageError(f"{flag} {rejected_path}, which exists and is not such a list; choose another path")
        check_file(rejected_path, overwrite=overwrite, flag=flag)
    if target.exists() or rejected_path.exists():
        files = read(inputs, vectors)
        apart(target, files)
        if skips or overwrite:  # a list of an earlier run is deleted
            apart(rejected_path, files)


def read(inputs: Sequence[str], vectors: str | None) -> list[tuple[str, Path]]:
    """The name and path of each input file."""
    from likewise.io.media.files import found
    from likewise.records import Want

    return found([place(given) for given in inputs]).files if vectors is None else [("--vectors", place(vectors)), *read_from(inputs, Want())]
