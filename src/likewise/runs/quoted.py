"""The result of `quotes`: the passages as a table, how much of each suspect they cover, and the facts for the report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise import schema
from likewise.drawing.numbers import counted
from likewise.errors import UsageError
from likewise.io import address
from likewise.io.placing import new_file, refuse_others
from likewise.kinds import of_payload
from likewise.messages import in_document, option
from likewise.passages.search import MOST_PLACES, Search
from likewise.records import NO_TEXT, REJECTED, TEXT
from likewise.runs import quotes_page as page
from likewise.runs import recorded
from likewise.runs.items import Run
from likewise.runs.origin import Origin
from likewise.runs.quotes import Passages, Side
from likewise.runs.shown import SHOWN, behind, part_of, read_again
from likewise.runs.table import Data, Table, check_length

#: Examples of passages that stand in more than MOST_PLACES places of the corpus.
EXAMPLES = 5
#: Fingerprints among which they are searched, the commonest.
SEARCHED = 1000
#: The columns of ids, each with the prefix of its places.
SIDES = {"suspect": "suspect_", "corpus": "corpus_"}
NAMES = (*SIDES,)
#: Extensions of a page.
PAGES = (".html", ".htm")


class Quotes(Table):
    """The result of ``quotes``: the passages, by suspect and place. `lw.quotes` and docs/reference/outputs.md explain the columns.

    ``coverage`` has a row for each suspect: suspect, source, position, characters, covered (in passages) and share. ``report`` has the facts.
    """

    def __init__(self, table: Data, report: dict[str, Any], coverage: Table, origins: list[Origin]):
        super().__init__(table)
        self.report: dict[str, Any] = report
        self.coverage: Table = coverage
        self._origins = origins

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_origins": None}

    @property
    def _warnings(self) -> list[str]:
        said: list[str] = self.report["warnings"]
        return said

    def _behind(self) -> list[str]:
        return behind(self.to_arrow(), SIDES)

    def with_text(self, length: int | None = 80) -> Quotes:
        """Return the table with the passages, read again from the inputs: suspect_text and corpus_text.

        length: maximum characters, in which white space is one space; None: all. Raises the errors of `Table.with_text`.
        """
        check_length(length)
        data = self._data()
        made = data.table
        for number, name in enumerate(SIDES):
            rows = self._place(name)
            assert self._origins is not None
            spans = made[f"{name}_start"].to_numpy(), made[f"{name}_end"].to_numpy()
            made = made.append_column(f"{name}_text", self._origins[number].snippets(rows, length, spans))
        return self._with(data._replace(table=made))

    def _note(self, target: Path) -> dict[bytes, bytes] | None:
        if self._origins is None or not {f"{name}_source" for name in SIDES} <= {*self.columns}:
            return None
        names = [{*pc.unique(self.to_arrow()[f"{name}_source"]).to_pylist()} for name in SIDES]
        sides = {name: origin.recorded([some, some], target.parent)[0] for name, origin, some in zip(SIDES, self._origins, names, strict=True)}
        return recorded.metadata("quotes", self.report, sides)

    def write_page(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write an HTML page: each suspect with its coverage, and beside it the passages of the corpus. It needs no other file, and no script.

        ``overwrite`` replaces an existing file. The inputs are read again. Raises DataError if one has changed, and the errors of `write`.
        """
        target = address.place(path)
        refuse_others(target, "")
        if target.suffix.lower() not in PAGES:
            raise UsageError(f"{path}: name the file .html")
        if target.is_file() and not overwrite:
            raise UsageError(f"{path}: the file exists; overwrite=True replaces it once the new one is complete")
        rows = np.unique(self._place("suspect"))
        contents = [page.Entry(one["suspect"], one["covered"], one["characters"]) for one in self._covered(rows[: page.MOST_SUSPECTS])]
        with new_file(target, overwrite=overwrite) as file:
            said = f"{counted(len(self), 'passage')} in {self.report['quoting']:,} of {counted(self.report['read']['suspects'], 'suspect')}"
            for part in page.render(said, self._warnings, contents, self._suspects(), len(rows)):
                file.write(part.encode())

    def _place(self, side: str) -> np.ndarray:
        """The numbers of the rows of a side, int64[n]."""
        if self._origins is None:
            raise UsageError("this table has no inputs to read: it was loaded from a pickle")
        table = self._data().table
        return self._origins[NAMES.index(side)].rows(table[f"{side}_source"], table[f"{side}_position"])

    def _covered(self, rows: np.ndarray) -> list[dict[str, Any]]:
        """The rows of ``coverage`` of these suspects."""
        assert self._origins is not None
        table = self.coverage.to_arrow()
        numbers = self._origins[0].rows(table["source"], table["position"])
        order = np.argsort(numbers)
        return [self.coverage[at] for at in order[np.searchsorted(numbers, rows, sorter=order)].tolist()]

    def _suspects(self) -> Iterator[page.Suspect]:
        """Yield the first suspects that have passages, for the page."""
        rows, of_corpus = self._place("suspect"), self._place("corpus")
        assert self._origins is not None
        distinct = np.unique(rows)[: page.MOST_SUSPECTS]
        begins, ends = np.searchsorted(rows, distinct), np.searchsorted(rows, distinct, side="right")
        texts = self._origins[0].contents(distinct)
        for (_, text), whole, begin, end in zip(texts, self._covered(distinct), begins.tolist(), ends.tolist(), strict=True):
            here = slice(begin, min(end, begin + page.MOST_PASSAGES))
            found = self[here].to_dicts()
            starts, ends_there = (np.array([one[f"corpus_{edge}"] for one in found]) for edge in ("start", "end"))
            spans = of_payload(self._origins[0].want.kind).spans(text, [(one["suspect_start"], one["suspect_end"]) for one in found])
            passages = [
                page.Passage(
                    *span, one["corpus"], one["corpus_source"], (one["corpus_start"], one["corpus_end"]),
                    one["agreed"], one["similarity"], *around,
                )
                for one, span, around in zip(found, spans, self._origins[1].parts(of_corpus[here], starts, ends_there, page.AROUND), strict=True)
            ]  # fmt: skip
            yield page.Suspect(whole["suspect"], whole["source"], text, whole["covered"], whole["characters"], passages, end - begin)


def table(passages: Passages) -> Data:
    """The passages with ids and places of the records, and characters."""
    suspect, a0, a1, row, b0, b1, agreed = passages.found.T
    sides = ((passages.suspects, suspect, a0, a1), (passages.corpus, row, b0, b1))
    columns: list[Any] = []
    typed = {}
    for number, (side, rows, first, end) in enumerate(sides):
        collection = side.collection
        columns += [collection.ids(rows), *collection.places(rows), *side.characters(rows, first, end)]
        typed[NAMES[number]] = collection.json_ids(rows)
    similarity = 2 * agreed / np.maximum(1, a1 - a0 + b1 - b0)
    types = (side.collection.id_type() for side, *_ in sides)
    made = pa.table([*columns, agreed, similarity], schema=schema.quotes(*types))
    return Data(made, {name: texts for name, texts in typed.items() if texts is not None})


def coverage(passages: Passages) -> Table:
    """For each suspect the characters that passages cover, each counted once."""
    side = passages.suspects
    rows, first, end = passages.found[:, 0], passages.found[:, 1], passages.found[:, 2]
    begins, ends = side.characters(rows, first, end)
    covered = np.bincount(rows, _new(rows, begins, ends), minlength=len(side.collection)).astype(np.int64)
    collection, every = side.collection, np.arange(len(side.collection))
    chars = collection.column("chars").astype(np.int64)
    source, position = collection.places(every)
    share = np.divide(covered, chars, out=np.zeros(len(every)), where=chars > 0)
    made = pa.table(
        [collection.ids(every), source, position, chars, covered, share], ["suspect", "source", "position", "characters", "covered", "share"]
    )
    typed = collection.json_ids(every)
    return Table(Data(made, {} if typed is None else {"suspect": typed}))


def _new(rows: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The characters of each span, ordered by row and begin, that no span of the row before it has."""
    if not len(rows):
        return np.zeros(0)
    base = rows * (int(ends.max()) + 1)  # rows apart, so that one running maximum serves all
    before = np.concatenate(([0], np.maximum.accumulate(base + ends)[:-1]))
    return np.maximum(0, base + ends - np.maximum(base + begins, before))


def facts(passages: Passages, settings: Search, method: dict[str, Any], run: Run) -> dict[str, Any]:
    """The report: the settings, counts, and what was not followed. Warns of texts in which nothing can be found. method: the options of the run."""
    suspects, corpus = passages.suspects.collection, passages.corpus.collection
    common = common_passages(passages, settings, run)
    warn(passages, settings, common, run)
    return {
        "threshold": float(settings.threshold),
        "min_run": settings.run,
        "gap": settings.gap,
        "method": method,
        "read": {"corpus": len(corpus), "suspects": len(suspects)},
        "quoting": len(np.unique(passages.found[:, 0])),
        "quoted": len(np.unique(passages.found[:, 3])),
        "common": common,
        **({} if run.job.ignored is None else {"ignored": {"shingles": len(run.job.ignored.words)}}),
        "warnings": run.warnings,
    }


def warn(passages: Passages, settings: Search, common: dict[str, Any], run: Run) -> None:
    """Warn of suspects and texts of the corpus that are too short or hold no text, and of passages that were not followed everywhere."""
    least = settings.run
    few = f"fewer than {least} {settings.tokens}" if least > 1 else f"no {settings.tokens}"
    for side, some, one in ((passages.suspects, "suspects", "suspect"), (passages.corpus, "texts of the corpus", "text of the corpus")):
        kind, tokens = side.collection.column("kind"), side.collection.column("tokens")
        usable = int(np.count_nonzero(kind != REJECTED))
        short, none = int(np.count_nonzero((kind == TEXT) & (tokens < least))), int(np.count_nonzero(kind == NO_TEXT))
        if not usable:
            run.warn(f"there are no {some}, so no passage can be found")
        if short:
            has = "has" if short == 1 else "have"
            run.warn(f"{short:,} of {counted(usable, one, some)} {has} {few}; no passage of such a text is found")
        if none:
            has = "has" if none == 1 else "have"
            run.warn(f"{none:,} of {counted(usable, one, some)} {has} no text in the field {run.job.field!r} (null, missing or not a text)")
    if both := int(np.count_nonzero(passages.same >= 0)):
        are = "is also a text" if both == 1 else "are also texts"
        run.warn(f"{both:,} of {counted(len(passages.same), 'suspect')} {are} of the corpus; no text is compared with itself, only with the others")
    if common["passages"]:
        many = counted(common["passages"], "passage")
        example = common["examples"][0]
        text = f", such as {' '.join(example['text'].split())[:60]!r} ({example['places']:,} places)"
        leave = f"{option('ignore')} and {option('ignore_common')} leave such text out"
        run.warn(f"{many} of suspects with more than {MOST_PLACES} places in the corpus: only the first {MOST_PLACES} were compared{text}; {leave}")


def common_passages(passages: Passages, settings: Search, run: Run) -> dict[str, Any]:
    """The passages of suspects all of whose fingerprints stand in more than MOST_PLACES places of the corpus, and examples, the commonest first."""
    offsets, tokens, keys = passages.shared
    there = np.flatnonzero(passages.places[keys])
    rows = np.searchsorted(offsets, there, side="right") - 1
    common = passages.places[keys[there]] > MOST_PLACES
    begins = common.copy()
    begins[1:] &= ~(common[:-1] & (rows[1:] == rows[:-1]))
    which, number = there[common], np.cumsum(begins)[common]  # of the passage, from 1
    distinct, first = np.unique(keys[which], return_index=True)
    examples, used = list[tuple[int, int, int, int]](), set[int]()
    for key, at in zip(*(one[np.lexsort((first, -passages.places[distinct]))[:SEARCHED]].tolist() for one in (distinct, first)), strict=True):
        if key not in used and len(examples) < EXAMPLES:
            mine = which[number == number[at]]
            used |= {*keys[mine].tolist()}
            row = int(np.searchsorted(offsets, which[at], side="right")) - 1
            examples.append((row, int(tokens[mine[0]]), int(tokens[mine[-1]]) + settings.k, int(passages.places[key])))
    return {
        "followed": MOST_PLACES,
        "passages": int(np.count_nonzero(begins)),
        "places_not_followed": int((passages.places[distinct] - MOST_PLACES).sum()),
        "repeats_not_followed": passages.repeats,
        "examples": [shown(passages.suspects, *each, run) for each in examples],
    }


def shown(side: Side, row: int, first: int, end: int, places: int, run: Run) -> dict[str, Any]:
    """An example of a passage that stands in many places, with the beginning of its text."""
    (start,), (stop,) = side.characters(*(np.array([value]) for value in (row, first, end)))
    (source,), (position,) = side.collection.places(np.array([row]))
    text = read_again(side.collection, [row], run.job.want).get(row, "")
    place = {"source": source.as_py(), "position": int(position), "start": int(start), "end": int(stop)}
    return {**place, "places": places, "text": in_document(part_of(text, int(start), int(stop), run.job.want.kind)[:SHOWN])}
