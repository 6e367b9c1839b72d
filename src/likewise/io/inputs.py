"""Inputs named by the user, resolved to sources: files, folders, globs, standard input, tables in memory."""

from __future__ import annotations

import difflib
import glob
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

import pyarrow as pa
import xxhash

from likewise.drawing.numbers import counted
from likewise.errors import DataError, UsageError
from likewise.io import alternatives, compression, containers, formats, partitions, patterns, source_names, storage
from likewise.io.address import HUB, UNLISTED, Address, Place, place
from likewise.io.claims import is_begun, is_work
from likewise.io.encoding import refuse_other
from likewise.io.field_names import of_source
from likewise.io.formats import Format, memory
from likewise.io.formats.text import Files
from likewise.io.item_files import compared_by, items_among
from likewise.io.layouts import Layouts
from likewise.io.manifest import is_output, own_folder
from likewise.io.partitions import Partitioned
from likewise.io.ranges import END, WHOLE, Range
from likewise.kinds import of_files
from likewise.kinds.kind import Kind
from likewise.records import Chunk, Records, Want

STDIN = "-"
ANY = Want()
#: Formats whose files are items, all files of a run in one source -> the name of this source.
TEXT_FILES = "text files"
FILES = {"text": TEXT_FILES, "images": "image files"}
#: Approximate number of ranges into which a source is cut to find single rows.
MOST_RANGES = 1024
#: Characters of a name's end that a copy of the file has in its name.
LONGEST_END = 40


@dataclass(frozen=True, eq=False)
class Source:
    """Rows read by one format module: a data file, all text or image files, or a table in memory. Pickles for processes that see the same files."""

    name: str  # path relative to the inputs' common folder, with / as separator; "stdin"; one of FILES; "memory.arrow"
    path: Path | Files | pa.Table
    format: Format
    size: int  # bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return _source, (self.name, self.path, formats.pickled(self.format), self.size)

    def asked(self, want: Want) -> Want:
        """Return the Want for this source."""
        return of_source(want, self.name)

    def plan(self, size: int) -> list[Range]:
        """Return ranges of about ``size`` bytes that cover the source; a single one if it can be read only from the beginning. Raises DataError."""
        plan: Any = getattr(self.format, "plan", None)
        return [WHOLE] if plan is None else plan(self.path, size)

    def chunks(self, want: Want, start: int = 0, part: Range = WHOLE) -> Iterator[Chunk]:
        """Yield the chunks of a range of `plan`, or of any range if `plan` returns several, from the place ``start``, where a chunk must begin."""
        return self.format.chunks(self.path, self.asked(want), start, *(() if part == WHOLE else (part,)))

    def chunks_from_few(self, want: Want) -> Iterator[Chunk]:
        """Yield all chunks; if ranges can be read, the first has only a few rows, so that they are available early."""
        yield from self.chunks(want, 0, (0, self.few))
        if self.few != END:
            yield from self.chunks(want, 0, (self.few, END))

    def chunks_of(self, want: Want, places: Sequence[int], start: int) -> Iterator[Chunk]:
        """Yield chunks that hold the rows at these ascending places (`Records.start`); ``start``: the start of the chunk with the first.

        Reads the source in one pass, or only the small ranges with such rows.
        """
        if self.few == END:
            yield from self.chunks(want, start)
            return
        for begin, end in self.plan(max(1, self.size // MOST_RANGES)):
            if here := [at for at in places if begin <= at < end]:
                for chunk in self.chunks(want, 0, (here[0], here[-1] + 1)):
                    yield from _rows(chunk, here) if isinstance(chunk.data, pa.Table) else [chunk]

    @property
    def few(self) -> int:
        """The end of a range of the first few rows; END if the source can be read only from its beginning."""
        few: Any = getattr(self.format, "few", None)
        return END if few is None else few(self.path)

    def parse(self, chunk: Chunk, want: Want) -> Records:
        """Return the rows of a chunk, each with the first alternative of the field that it has."""
        return alternatives.parse(self.format, chunk, self.asked(want), self.name)

    @property
    def files(self) -> list[tuple[str, Path]]:
        """(name, path) of each file; empty for a table."""
        if isinstance(self.path, pa.Table):
            return []
        return list(zip(self.path.names, self.path.paths, strict=True)) if isinstance(self.path, Files) else [(self.name, self.path)]

    @property
    def blank(self) -> bool:
        """True if its rows have no content that can be shown."""
        return False

    @property
    def of_texts(self) -> bool:
        """True for text files."""
        return isinstance(self.path, Files) and self.path.format == "text"

    def target(self, folder: Path) -> Path:
        """Return the path under ``folder`` for ``format.write``: the folder itself for text files, which have their own names, else a file."""
        return folder if isinstance(self.path, Files) else folder / self.name

    def listed(self, fingerprint: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the entries of run.json: the name, the path and the fingerprint of each file."""
        return [{"source": source_names.printable(name), "path": str(path.absolute()), **fingerprint[name]} for name, path in self.files]

    def fingerprint(self, *, now: bool = False) -> dict[str, dict[str, int | str]]:
        """Return size and time of every file by name (rows and a digest for a table), which must be unchanged when a run is resumed.

        now: ask again about files at addresses, whose state was found when they were listed.
        """
        if isinstance(self.path, pa.Table):
            return {self.name: {"rows": len(self.path), "xxh3_128": memory.digest(self.path)}}
        stats = {name: _stat(path, now=now) for name, path in self.files}
        columns = partitions.values_of_files(self.format, len(stats))
        return {name: {**storage.stamp(found), **here} for (name, found), here in zip(stats.items(), columns, strict=True)}


def _rows(chunk: Chunk, places: Sequence[int]) -> list[Chunk]:
    """Return the rows of a chunk at some places, each as a chunk."""
    held = [at - chunk.start for at in places if chunk.start <= at < chunk.start + len(chunk.data)]
    return [chunk._replace(data=chunk.data.slice(row, 1), start=chunk.start + row) for row in held]


def _source(name: str, path: Any, format: Any, size: int) -> Source:
    return Source(name, path, formats.unpickled(format), size)


class Sources(list[Source]):
    """Sources in the order in which they are read, and facts for warnings.

    ``skipped``: files of unknown formats in named folders. ``again``: for each repeated mention of a file, also through a link, the path
    mentioned and the path by which it is read.
    """

    def __init__(self, sources: Sequence[Source], skipped: Sequence[Path] = (), again: Sequence[tuple[Path, Path]] = ()) -> None:
        super().__init__(sources)
        self.skipped, self.again = list(skipped), list(again)

    def read_once(self) -> str:
        """Return a warning about files that were given more than once, or ""."""
        if not self.again:
            return ""
        files = len({first for _, first in self.again})
        path, first = self.again[0]
        same = "" if path.name == first.name else f", the same file as {source_names.printable(first.name)}"
        many = f"{files:,} files were" if files > 1 else "1 file was"
        return f"{many} given more than once and read once, such as {source_names.printable(path.name)}{same}"


def typed(sources: Sequence[Source]) -> list[Source]:
    """Return the sources, with one type per partition column across all of them."""
    whole = partitions.whole(source.format for source in sources)
    return [replace(s, format=replace(s.format, whole=whole)) if isinstance(s.format, Partitioned) else s for s in sources]


def sole_kind(inputs: Sequence[Any]) -> Kind | None:
    """Return the kind whose items are all data files of the inputs, judged from names; None if there are others. Reads folders until one is found."""
    found: Kind | None = None
    for format in chain.from_iterable(map(_formats_of, inputs)):
        if format is not None:
            kind = of_files(format)
            if kind is None or found not in (None, kind):
                return None
            found = kind
    return found


def _formats_of(given: Any) -> Iterator[str | None]:
    """Yield the format of each file of an input as far as names show it; "other" for anything but a file."""
    name = os.fspath(given) if isinstance(given, str | os.PathLike) else ""
    walk = _Found(None, None, ANY).walk
    try:
        found = place(given) if name else Path()
        is_pattern = storage.is_pattern(found)
        for path in patterns.expanded(found) if is_pattern else [found]:
            if name and path.is_dir():
                yield from (formats.by_name(file) for file in walk(path))
            elif is_pattern:
                yield formats.by_name(path)
            else:
                yield formats.by_name(path) or (formats.by_content(path, ANY) if path.is_file() else None) or "other"
    except (UsageError, DataError, OSError):  # reported when the sources are resolved
        yield "other"


def listed(folder: Path) -> list[str]:
    """Return the names in a folder. Raises DataError if it cannot be read."""
    try:
        return [path.name for path in folder.iterdir()]
    except OSError as error:
        raise DataError(f"{folder}: this folder cannot be listed: {error.strerror}") from error


def resolve(inputs: Sequence[Any], *, out: Path | None = None, work: Path | None = None, want: Want = ANY) -> Sources:
    """Return the sources of ``inputs`` in the given order; those within a folder or a glob are sorted by path.

    A str or Path is a file, a folder, a glob or ``-``; any other object is read as a table. ``out`` is the output, which must not be an input; it
    and the work folder ``work`` are skipped inside input folders. Standard input is first copied to ``work``. ``want`` determines how bare data, such
    as a list of str or an array, are read; files in folders whose format cannot hold it are skipped. Raises UsageError for inputs that do not exist
    or hold no data, and DataError for folders and files that cannot be read.
    """
    if not inputs:
        raise UsageError("no input: name files, folders, globs such as 'crawl/**/*.jsonl.zst', or - for standard input")
    found = _Found(out, work, want)
    for given in inputs:
        if not isinstance(given, str | os.PathLike):
            found.add_table(given)
        elif os.fspath(given) == STDIN:
            found.add_stdin()
        else:
            found.add_path(given)
    return found.sources()


@dataclass(frozen=True)
class _Entry:
    data: Path | pa.Table
    kind: str  # a key of formats.FORMATS, or "memory"
    name: str = ""  # for entries that are not files


class _Found:
    """Collects entries while inputs are resolved."""

    def __init__(self, out: Path | None, work: Path | None, want: Want) -> None:
        self.entries: list[_Entry] = []
        self.seen: dict[tuple[int, int], Path] = {}
        self.again: list[tuple[Path, Path]] = []
        self.bases: list[Path] = []  # folders of the inputs; names are relative to their common folder
        self.skipped: list[Path] = []
        self.layouts = Layouts()
        self.work = work
        self.want = want
        self.guarded = [path.resolve() for path in (out, work, out and out.with_name(out.name + ".work")) if path]
        self.guarded_keys = {_key(path.stat()) for path in self.guarded if path.exists()}

    def add_table(self, given: Any) -> None:
        """Add a Python object as a table. Raises UsageError."""
        self.entries.append(_Entry(memory.table(given, self.want), "memory", "memory.arrow"))

    def add_stdin(self) -> None:
        """Add standard input, copied to the work folder unless an interrupted run did so. Raises UsageError or DataError."""
        if self.work is None:
            raise UsageError("standard input (-) cannot be read here; name a file")
        if any(entry.name == "stdin" for entry in self.entries):
            self.again.append((Path(STDIN), Path(STDIN)))
            return
        self._add_copy("stdin", "stdin", "standard input", lambda file: shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20))

    def add_download(self, address: Address) -> None:
        """Add a file of which the server sends only the whole, copied to the work folder like standard input. Raises UsageError or DataError."""
        from likewise.io.stores.http import download

        if self.work is None:
            raise UsageError(f"{address}: this server cannot send ranges of a file, so it cannot be read here; download the file first")
        file = f"{xxhash.xxh3_64_hexdigest(address.url.encode())}-{address.name[-LONGEST_END:]}"  # the extension shows the format
        self._add_copy(file, address.name, str(address), lambda to: download(address, to))

    def _add_copy(self, file: str, name: str, shown: str, write: Callable[[BinaryIO], None]) -> None:
        """Add a source that is first written to a file of the work folder, unless an interrupted run did so. ``shown``: its name in messages."""
        assert self.work is not None
        spool = storage.spooled(self.work / file, write, again=is_begun(self.work))  # a resumed run finds what the first one wrote
        try:
            kind = formats.by_name(spool) or formats.by_content(spool, self.want) or _refused(spool, "the first bytes do not identify")
        except (UsageError, DataError) as error:
            raise type(error)(error.marked.replace(str(spool), shown)) from error
        self.entries.append(_Entry(spool, kind, name))

    def add_path(self, given: str | os.PathLike[str]) -> None:
        """Add a file, folder or glob. Raises UsageError or DataError."""
        path = place(given)
        if storage.is_pattern(path):
            self._add_glob(path)
            return
        try:
            found = path.stat()
        except OSError as error:
            raise UsageError(_missing(path, error)) from error
        if _key(found) in self.guarded_keys or self._in_output(path):
            raise UsageError(f"{path}: this input is the output or lies inside it; choose another output with -o")
        if stat.S_ISDIR(found.st_mode):
            if why := own_folder(path):
                raise UsageError(why)
            self.bases.append(storage.placed(path))
            self._add_folder(path)
        elif not getattr(found, "ranges", True):
            self.add_download(cast(Address, path))
        elif stat.S_ISREG(found.st_mode):
            self.bases.append(storage.placed(path).parent)
            self._add_file(path, found, _format_of_named(path, self.want))
        else:
            raise UsageError(f"{path}: is neither a file nor a folder; for a pipe, use standard input (-)")

    def _add_folder(self, folder: Path) -> None:
        before = len(self.skipped)
        if not sum(self._add_found(path, self._format_in_folder) for path in self.walk(folder)):
            others = self.skipped[before:]
            kind, some = items_among(others)
            if kind:
                raise UsageError(f"{folder}: no data file in this folder, but {counted(len(some), kind.noun)}; {compared_by(kind)}")
            beside = f", only others ({len(others)}, such as {others[0].name})" if others else ""
            remedies = [f"{held.name}s are not read: {held.remedy}" for held in containers.among(others)]
            raise UsageError(f"{folder}: no data file in this folder{beside}; {'; '.join(remedies[:3]) or f'likewise reads {_extensions()}'}")

    def _add_glob(self, pattern: Place) -> None:
        base = pattern
        while glob.has_magic(str(base)):
            base = base.parent
        self.bases.append(storage.placed(base))
        matches = patterns.expanded(pattern)
        if not matches:
            raise UsageError(f"{pattern}: no file matches this pattern")
        outside = [match for match in matches if not self._in_output(match)]
        if not outside:
            raise UsageError(f"{pattern}: all files that match this pattern lie in the output; choose another output with -o")
        matched = [path for match in outside for path in (self.walk(match) if match.is_dir() else [match])]
        if not sum(self._add_found(path, partial(_by_name_or_magic, want=self.want)) for path in matched):
            raise UsageError(f"{pattern}: no data file among the {len(outside)} that match this pattern; likewise reads {_extensions()}")

    def _format_in_folder(self, path: Path) -> str | None:
        """Return the format of a file in a folder, or None. Files of Spark and Hive may have no extension; their first bytes are examined."""
        bare = "." not in path.name and self.layouts.of(path.parent).engine
        return _by_name_or_magic(path, self.want) if bare else formats.by_name(path)

    def _add_found(self, path: Path, recognize: Callable[[Path], str | None]) -> bool:
        """Add a file found in a folder or by a pattern; skip and remember one of unknown format. Returns whether it was added or is a duplicate."""
        try:
            found = path.stat()
        except OSError:  # a broken link
            self.skipped.append(path)
            return False
        if _key(found) in self.guarded_keys or (path.is_symlink() and self._in_output(path)):
            return False
        kind = recognize(path) if stat.S_ISREG(found.st_mode) and not self.layouts.passes(path) else None
        if kind is None or not formats.holds(kind, self.want):
            self.skipped.append(path)
            return False
        self._add_file(path, found, kind)
        return True

    def _add_file(self, path: Path, found: os.stat_result, kind: str) -> None:
        if (first := self.seen.setdefault(_key(found), path)) is path:
            self.entries.append(_Entry(path, kind))
        else:  # a file given twice or through a link is read once
            self.again.append((path, first))

    def walk(self, start: Path) -> Iterator[Path]:
        """Yield all files below, sorted by path, without hidden ones, the output, and folders already visited through another path."""
        seen: set[tuple[int, int]] = set()
        ahead = [start]
        while ahead:
            path = ahead.pop()
            if not patterns.is_folder(path):
                yield path
            elif _key(path.stat()) not in self.guarded_keys and patterns.is_new(path, seen) and not (path.is_symlink() and self._in_output(path)):
                if path != start and (is_output(path) or is_work(path) or self.layouts.passes(path)):
                    self.skipped.append(path)
                else:
                    here = listed(path)
                    if lacking := self.layouts.of(path, here).lacking:
                        raise DataError(incomplete(path, lacking))
                    ahead += [path / name for name in sorted(here, reverse=True) if not name.startswith(".")]

    def _in_output(self, path: Path) -> bool:
        return any(type(path) is type(guarded) and path.resolve().is_relative_to(guarded) for guarded in self.guarded)

    def sources(self) -> Sources:
        """Return a source per entry, except that all text files form one, at the position of the first, and all image files another."""
        names = self._names()
        alone = {kind: [(entry.data, name) for entry, name in zip(self.entries, names, strict=True) if entry.kind == kind] for kind in FILES}
        sources: list[Source] = []
        for entry, name in zip(self.entries, names, strict=True):
            if entry.kind not in FILES:
                size = entry.data.nbytes if isinstance(entry.data, pa.Table) else _stat(entry.data).st_size
                paths = [] if isinstance(entry.data, pa.Table) else [entry.data]
                sources.append(Source(name, entry.data, partitions.partitioned(self._format(entry.kind), paths), size))
            elif name == alone[entry.kind][0][1]:
                paths, called = zip(*alone[entry.kind], strict=True)
                files = Files(paths, called, entry.kind)
                format = partitions.partitioned(formats.load(entry.kind), files.paths)
                sources.append(Source(FILES[entry.kind], files, format, sum(_stat(path).st_size for path in files.paths)))
        return Sources(typed(sources), self.skipped, self.again)

    def _format(self, kind: str) -> Format:
        if self.want.records is not None and kind in ("jsonl", "json_array"):
            from likewise.io.formats.json_wrapped import Wrapped

            return cast(Format, Wrapped(self.want.records))
        return formats.load(kind)

    def _names(self) -> list[str]:
        """Return a unique name for each entry; names become paths in the output."""
        places = [None if entry.name else storage.placed(entry.data) for entry in self.entries]
        folders = [*self.bases, *(place.parent for place in places if place)]  # a pattern with .. in it can leave the folder where it begins
        common = os.path.commonpath(folders) if folders else ""
        names = [source_names.below(common, place) if place else entry.name for entry, place in zip(self.entries, places, strict=True)]
        return source_names.distinct(names, [bool(entry.name) or isinstance(entry.data, Address) for entry in self.entries])


def incomplete(folder: Path, lacking: Sequence[str]) -> str:
    """Return the message about a dataset with missing files."""
    first = source_names.printable(lacking[0])
    many = f"{len(lacking):,} names that do not exist, such as {first}" if len(lacking) > 1 else f"{first}, which does not exist"
    return f"{folder}: the metadata of this dataset lists {many}; copy the whole dataset again, or name the files one by one"


def _format_of_named(path: Path, want: Want) -> str:
    """Return the format of a file that the user named, by its extension or else by its content. Raises UsageError or DataError."""
    found = formats.by_name(path) or formats.by_content(path, want) or _refused(path, "neither the name nor the first bytes identify")
    if (kind := of_files(found)) and not formats.holds(found, want):
        raise UsageError(f"{path}: is {kind.item}; {compared_by(kind)}")
    return found


def _refused(path: Path, reason: str) -> NoReturn:
    """Raise UsageError or DataError for a file of unknown format."""
    head = formats.first_bytes(path)
    if held := containers.of(path.name, head):
        raise UsageError(f"{path}: {held.name}s are not read; {held.remedy}")
    refuse_other(path, head)
    if compression.kind_of(path):
        raise UsageError(f"{path}: only JSON lines, JSON, CSV and web archives can be compressed; decompress this file first")
    raise UsageError(f"{path}: {reason} the format; likewise reads {_extensions()}")


def _by_name_or_magic(path: Path, want: Want) -> str | None:
    """Return the format of a file that a pattern matched, or None: files without an extension may be data, but are not assumed to be text."""
    if (kind := formats.by_name(path)) is not None:
        return kind
    kind = formats.by_content(path, want)
    return None if kind == "text" else kind


def _extensions() -> str:
    return ", ".join(f".{extensions[0]}" for extensions, _ in formats.FORMATS.values()) + " and more"


def _has_bucket(address: Address) -> bool:
    """Return False if a store says that the bucket of an address does not exist; True if it does not tell."""
    try:
        return address.scheme in (HUB, *UNLISTED) or address.at("").exists()
    except OSError:
        return True


def _missing(path: Place, error: OSError) -> str:
    """Return why a path cannot be read, and the name that was probably meant."""
    if isinstance(path, Path) and path.is_symlink():
        return f"{path}: is a link to {path.readlink()}, which does not exist"
    if not isinstance(error, FileNotFoundError):
        return f"{path}: cannot be read: {error.strerror}"
    if isinstance(path, Address):
        return f"{path}: {error.strerror}" + (f"; the bucket {path.host} does not exist" if path.key and not _has_bucket(path) else "")
    if not path.parent.is_dir():
        return f"{path}: the folder {path.parent} does not exist"
    there = list(path.parent.iterdir())
    stems = difflib.get_close_matches(path.stem, {other.stem for other in there})  # a shared extension makes no two names similar
    close = difflib.get_close_matches(path.name, [other.name for other in there if other.stem in stems], 1)
    return f"{path}: no such file or folder" + (f"; did you mean {path.with_name(close[0])}?" if close else "")


def _key(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _stat(path: Place, *, now: bool = False) -> Any:
    try:
        return storage.now(path) if now else path.stat()
    except OSError as error:
        raise DataError(f"{path}: was readable a moment ago and cannot be read now: {error.strerror}") from error
