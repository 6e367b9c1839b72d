"""Extraction of feature sets from images, videos and texts to a file: an id and a list of vectors per item; every item is accounted for."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Never

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from likewise.choices import Hash, HashBits, Html, OnError, given
from likewise.engines.threads import Threads
from likewise.errors import DataError, UsageError, has_gone
from likewise.io import disk, rejects
from likewise.io.address import Address
from likewise.io.beginning_rows import first_rows
from likewise.io.chunks import chunks, failed, parsed
from likewise.io.collection import place
from likewise.io.idcolumn import IdColumn, id_column
from likewise.io.inputs import Source, resolve
from likewise.io.media import files, images, videos
from likewise.io.media.tokens import TokenVectors, load
from likewise.io.placing import new_file
from likewise.io.source_names import printable
from likewise.io.unreadable import explained
from likewise.items import opencv, pictures
from likewise.items.perceptual import HASHES, SIZES
from likewise.job import Job
from likewise.messages import in_document, option
from likewise.methods import Text
from likewise.options import Options
from likewise.options import resolve as options_of
from likewise.progress import Progress
from likewise.records import REJECTED, TEXT, Records, Want
from likewise.runs import inspection

#: Items written at once; and the defaults for features per image and seconds between key frames.
ITEMS_AT_ONCE, FEATURES, SECONDS = 256, 500, 0.5

#: Advice about inputs that cannot be read.
LISTED = f"{option('on_error', 'skip')} lists such {{}} in FILE.rejected.jsonl beside {option('out', placeholder='FILE')} and continues"

#: The features of an item, float32[m, dimension], or its code, uint8[dimension / 8].
Vectors = NDArray[Any]


@dataclass
class Batch:
    """Consecutive items: their ids, and the features of each."""

    ids: pa.Array
    sets: list[Vectors]
    places: list[tuple[str, int]] | None = None  # source and position of each, if some items have no id


@dataclass
class Extraction:
    """A prepared extraction, and its counts once `write` has run."""

    batches: Callable[[Extraction], Iterator[Batch]]
    kind: str  # "images", "videos" or "texts"
    dimension: int  # numbers of a feature, or bits of a code
    note: str | None = None  # note about the ids for the file's metadata
    coded: bool = False  # an item has a code instead of features
    items: int = 0
    features: int = 0
    empty: int = 0  # items without any feature
    unknown: int = 0  # distinct tokens without a vector, summed over texts
    rejected: list[dict[str, Any]] = field(default_factory=list)  # as in FILE.rejected.jsonl

    @property
    def report(self) -> dict[str, Any]:
        """The counts of the extraction."""
        counts = {"kind": self.kind, "dimension": self.dimension, "read": self.items + len(self.rejected), "items": self.items}
        counts |= {"features": self.features, "empty": self.empty, "rejected": len(self.rejected)}
        return counts | ({"tokens_without_vector": self.unknown} if self.kind == "texts" else {})

    def write(self, path: Path, *, overwrite: bool = False) -> None:
        """Write a Parquet file with the columns id and features, list<fixed_size_list<float32, d>>, or id and code, in the order of the inputs.

        If some items have no id, also source and position. Raises DataError if no item could be read.
        """
        writer = None
        with new_file(path, overwrite=overwrite) as file:
            try:
                for batch in self.batches(self):
                    table = self.table(batch)
                    writer = writer or pq.ParquetWriter(file, table.schema, compression="zstd", use_dictionary=False)
                    writer.write_table(table)
            finally:
                if writer is not None:
                    writer.close()
            if writer is None:
                raise DataError("no item has been read" + (f"; all {len(self.rejected):,} were rejected" if self.rejected else ""))

    def table(self, batch: Batch) -> pa.Table:
        """Return a batch as a table, and count its items."""
        sizes = [len(vectors) for vectors in batch.sets]
        self.items += len(sizes)
        self.features += len(sizes) if self.coded else sum(sizes)
        self.empty += sizes.count(0)
        metadata = {"likewise.features": self.kind} | ({"likewise.ids": self.note} if self.note else {})
        columns = {"id": batch.ids}
        if batch.places is not None:
            columns |= {
                "source": pa.array([source for source, _ in batch.places], pa.string()),
                "position": pa.array([position for _, position in batch.places], pa.int64()),
            }
        if self.coded:
            columns["code"] = pa.array([code.tobytes() for code in batch.sets], pa.binary(self.dimension // 8))
        else:
            flat = np.concatenate([np.empty((0, self.dimension), np.float32), *batch.sets])
            rows = pa.FixedSizeListArray.from_arrays(pa.array(flat.reshape(-1)), self.dimension)
            columns["features"] = pa.ListArray.from_arrays(pa.array(np.cumsum([0, *sizes]), pa.int32()), rows)
        return pa.table(columns).replace_schema_metadata(metadata)

    def write_rejected(self, path: Path, *, overwrite: bool = False) -> Path:
        """Write the list of rejected inputs and return its path.

        That is not ``path`` if another file has appeared there since `cli.features.check`.
        """
        lines = [json.dumps(entry).encode() + b"\n" for entry in self.rejected]
        again = overwrite and rejects.are_in(path)
        if again or isinstance(path, Address):  # at an address it appears when it is complete
            with new_file(path, overwrite=again) as file:
                file.writelines(lines)
            return path
        other = path.with_name(f"{path.stem}.{secrets.token_hex(4)}{path.suffix}")
        with new_file(other, overwrite=False) as file:
            file.writelines(lines)
        try:
            disk.rename_new(other, path)
        except FileExistsError:
            return other
        disk.force_file(path.parent)
        return path


def extract(
    inputs: Sequence[Path],
    *,
    vectors: Path | None = None,
    most: int | None = None,
    every: float | None = None,
    kind: Hash | None = None,
    bits: HashBits | None = None,
    work: Path | None = None,
    progress: Progress | None = None,
    by: str | Text | None = None,
    normalize: str | Sequence[str] | None = None,
    field: str | Sequence[str] | None = None,
    records: str | None = None,
    html: Html | None = None,
    id: str | None = None,
    on_error: OnError | None = None,
    max_record: int | str | None = None,
    limit: int | None = None,
    threads: int | None = None,
    **unknown: Never,
) -> Extraction:
    """Prepare the extraction of local features or hashes of images, colors or hashes of key frames of videos, or vectors of the tokens of texts.

    vectors: a file of token vectors, as read by `io.media.tokens.load`. most: maximum number of features per image, strongest first.
    every: seconds between key frames. kind: the perceptual hash. bits: its length. work: folder for standard input. ``by`` and ``normalize`` set
    the tokens; ``field``, ``records``, ``html``, ``id``, ``on_error``, ``max_record``, ``limit`` and ``threads`` are those of `dedup`. Raises
    UsageError, DataError, MissingPartError.
    """
    options = options_of(limited=False, **({"by": "words:1"} | given("features", locals(), own="vectors most every kind bits work")))
    progress = progress or Progress()
    if vectors is None:
        return of_files(inputs, options, most, every, kind, bits, progress)
    if of_media := [name for name, value in {"most": most, "every": every, "kind": kind, "bits": bits}.items() if value is not None]:
        raise UsageError(f"{option(of_media[0])} applies to images and videos, but with {option('vectors')} the inputs are texts")
    return of_texts(inputs, options, load(vectors), work, progress)


def of_files(
    inputs: Sequence[Path], options: Options, most: int | None, every: float | None, kind: str | None, bits: int | None, progress: Progress
) -> Extraction:
    """Prepare the extraction of images or videos. Raises UsageError for invalid options, MissingPartError without Pillow or OpenCV."""
    check_hash(kind, bits, most)
    most, every, bits = FEATURES if most is None else most, SECONDS if every is None else every, bits or SIZES[0]
    if most < 1:
        raise UsageError(f"{option('most', most)}: give a whole number of 1 or more")
    if not 0 < every < float("inf"):
        raise UsageError(f"{option('every', every)}: give a number of seconds above 0")
    media = files.found(inputs)
    if media.skipped:
        some = f"{len(media.skipped):,} files" if len(media.skipped) > 1 else "1 file"
        progress.warn(f"skipped {some} whose extension is not that of an image or a video, such as {printable(media.skipped[0].name)}")
    made: Callable[[Path], Vectors]
    if media.kind == "images":
        made, dimension = partial(images.features_of, most=most), images.DIMENSION
        if kind:
            made, dimension = partial(images.hash_of, name=kind, bits=bits), bits
        pictures.library()  # raises, if it is missing, before any file is read
    else:
        made, dimension = partial(videos.features_of, every=every), videos.DIMENSION
        if kind:
            made, dimension = partial(videos.hashes_of, every=every, name=kind, bits=bits), bits
    if kind is None or media.kind == "videos":
        opencv.library()
    batches = partial(of_each_file, media.files[: options.limit], made, options, progress)
    return Extraction(batches, media.kind, dimension, coded=kind is not None and media.kind == "images")


def check_hash(kind: str | None, bits: int | None, most: int | None) -> None:
    """Raises UsageError for an unknown kind or number of bits, and for options that do not go together."""
    if kind is not None and kind not in HASHES:
        raise UsageError(f"{option('kind', kind)}: give {', '.join(HASHES)}")
    if bits is not None and bits not in SIZES:
        raise UsageError(f"{option('bits', bits)}: give {' or '.join(map(str, SIZES))}")
    if bits is not None and kind is None:
        raise UsageError(f"{option('bits')} applies to perceptual hashes; add {option('kind', 'phash')}")
    if most is not None and kind is not None:
        raise UsageError(f"{option('most')} applies to local features, but {option('kind', kind)} is a hash of the whole image; leave one out")


def of_each_file(
    named: list[tuple[str, Path]], made: Callable[[Path], Vectors], options: Options, progress: Progress, to: Extraction
) -> Iterator[Batch]:
    """Yield the features of files in batches. Raises DataError for unreadable files unless they are skipped."""

    def stage(entry: tuple[str, Path]) -> tuple[str, Path, Vectors | str]:
        try:
            return *entry, made(entry[1])
        except DataError as error:
            if has_gone(error):
                raise
            return *entry, error.marked

    progress.begin("extracting features", len(named), "files")
    engine = Threads(options.threads)
    try:
        results = engine.map(stage, named)
        while some := list(islice(results, ITEMS_AT_ONCE)):
            for name, path, result in some:
                if isinstance(result, str):
                    if options.on_error != "skip":
                        raise DataError(f"{result}; {LISTED.format('files')}")
                    reason = result.removeprefix(f"{path}: ")  # the result must not depend on the input's location
                    to.rejected.append({"source": name, "position": 0, "reason": in_document(reason), "bytes": ""})
            good = [(name, result) for name, _, result in some if not isinstance(result, str)]
            progress.advance(len(some))
            if good:
                yield Batch(pa.array([name for name, _ in good], pa.string()), [result for _, result in good])
    finally:
        engine.close()
        progress.finish()


def of_texts(inputs: Sequence[Path], options: Options, known: TokenVectors, work: Path | None, progress: Progress) -> Extraction:
    """Prepare the extraction of texts, which reads all ids first. Raises UsageError if ``by`` is not a single token."""
    method = options.method
    if not isinstance(method, Text) or method.unit == "tokens" or method.k != 1 or method.bag or method.containment:
        raise UsageError(f"{option('by', str(method))}: with {option('vectors')}, give the token unit: words:1, whitespace:1, chars:1, ...")
    sources = resolve(list(inputs), work=work, want=inspection.want(options))
    for said in filter(None, (sources.read_once(), *inspection.without_effect(sources, options))):
        progress.warn(said)
    job = inspection.inspect_inputs(sources, options)
    progress.begin("reading", 0, "items")
    seen: list[pa.Array] = []
    positions: list[np.ndarray] = []
    for source, first, records in rows_of(sources, job):
        read = np.flatnonzero(records.kind != REJECTED)
        identity = records.id if records.id is not None else pa.nulls(len(records), pa.large_binary())
        seen.append(identity.take(pa.array(read)))
        positions.append(np.array([place(source, first, int(row))[1] for row in read], np.int64))
    column = id_column(pa.chunked_array(seen, pa.large_binary()))
    if column is None:
        column = IdColumn(pa.array(np.concatenate([np.empty(0, np.int64), *positions])))
    return Extraction(partial(of_each_text, sources, job, known, column.values, progress), "texts", known.vectors.shape[1], column.note)


def of_each_text(sources: Sequence[Source], job: Job, known: TokenVectors, column: pa.Array, progress: Progress, to: Extraction) -> Iterator[Batch]:
    """Yield the token vectors of texts in batches. Raises DataError if no token has a vector."""
    assert isinstance(job.method, Text)
    progress.begin("extracting features", len(column), "items")
    found = at = 0
    try:
        for source, first, records in rows_of(sources, job):
            to.rejected += [explained(entry, *place(source, first, entry.row)) for entry in records.rejected]
            sets: list[Vectors] = []
            read = np.flatnonzero(records.kind != REJECTED).tolist()
            places = [place(source, first, row) for row in read] if column.null_count else None
            for kind, text in zip(records.kind.tolist(), records.text, strict=True):
                if kind == REJECTED:
                    continue
                vectors, unknown = known.features_of(text.as_py().decode("utf-8", "surrogatepass") if kind == TEXT else "", job.method)
                sets.append(vectors)
                to.unknown += unknown
                found += len(vectors)
            for begin in range(0, len(sets), ITEMS_AT_ONCE):
                part = sets[begin : begin + ITEMS_AT_ONCE]
                yield Batch(column[at : at + len(part)], part, places and places[begin : begin + ITEMS_AT_ONCE])
                at += len(part)
                progress.advance(len(part))
    finally:
        progress.finish()
    if to.unknown and not found:
        raise DataError(
            f"no token of these texts has a vector; set {option('by')} and {option('normalize')} to match the tokens of the file "
            f"({option('normalize', 'none')} keeps capital letters)"
        )


def rows_of(sources: Sequence[Source], job: Job) -> Iterator[tuple[Source, int, Records]]:
    """Yield a source, the number of a chunk's first row in it, and the rows. Raises DataError for rejected rows unless they are skipped."""
    want, left, skip = job.want, job.options.limit, job.options.on_error == "skip"
    for source in sources:
        first = 0
        for records in records_of(source, want, skip):
            if records.rejected and not skip:
                name, _ = place(source, first, records.rejected[0].row)
                raise DataError(f"{name}, {records.rejected[0].reason}; {LISTED.format('rows')}")
            if left is not None and len(records) > left:
                records = first_rows(records, left)
            yield source, first, records
            first += len(records)
            if left is not None and (left := left - len(records)) <= 0:
                return


def records_of(source: Source, want: Want, skip: bool) -> Iterator[Records]:
    """Yield the rows chunk by chunk; the rest of a damaged source is one rejected row."""
    for chunk in chunks(source, want, skip=skip):
        records = chunk if isinstance(chunk, str) else parsed(source, chunk, want, skip=skip)
        if isinstance(records, str):
            yield failed(records, want)
            return
        yield records
