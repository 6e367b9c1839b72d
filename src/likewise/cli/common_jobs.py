"""Small jobs of every verb, data type and format, which call the kernels that users' jobs call, with the same types of arguments."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

import likewise as lw
from likewise.errors import UsageError
from likewise.index import memory
from likewise.index.parts import Parts
from likewise.index.segment import Building, Form
from likewise.index.store import KEY_BITS, Change, Items
from likewise.items import binary
from likewise.items.places import characters, placer
from likewise.methods import text as parse
from likewise.passages import grown
from likewise.verbs.similarity import sketch

TEXTS = [
    "The quick brown fox jumps over the lazy dog and runs away from here into the deep dark wood, where nobody has seen it since.",
    "The quick brown fox jumps over the lazy dog and runs away from here into the deep dark forest, where nobody has seen it since.",
    'Über die grünen Wiesen läuft ein Fuchs; naïve cafés, Ελληνικά, кириллица, 東京都は日本の首都です。 ภาษาไทย 👩‍🚀 \u200b e\u0301 \\ " /',
    "Something else entirely\n\nwith two paragraphs\tand a tab, x = f(y) + 1.",
    "",
]
UNITS = ("words:3", "words:1", "whitespace:3", "chars:9", "lines:1", "paragraphs:1", "stopwords:3", "bytes:16", "code:5")


def jsonl(folder: Path, field: str, values: list[Any]) -> Path:
    path = folder / f"{field}.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), field: value}, ensure_ascii=i % 2 > 0) + "\n" for i, value in enumerate(values)))
    return path


def parquet(folder: Path, field: str, values: Any) -> Path:
    path = folder / f"{field}.parquet"
    pq.write_table(pa.table({"id": np.arange(len(values)), field: values}), path)
    return path


def verbs(inputs: Any, folder: Path, **options: Any) -> None:
    """The verbs over inputs of one data type."""
    lw.dedup(inputs, **options)
    lw.pairs(inputs, **options)
    lw.pairs(inputs, against=inputs, **options)
    with suppress(UsageError):  # not for every data type
        lw.dedup(inputs, exact=True, **options)
        lw.pairs(inputs, exact=True, **options)
    with suppress(UsageError):
        lw.pairs(inputs, bands=8, rows=2, **options)
        lw.dedup(inputs, bands=8, rows=2, **options)
    with suppress(UsageError):
        lw.plan(inputs, **options)
    shutil.rmtree(folder / "audited", ignore_errors=True)
    lw.dedup(inputs, out=folder / "audited", **options)
    with suppress(UsageError):
        lw.audit(folder / "audited")
    limits: dict[str, Any] = {name: options[name] for name in options.keys() - {"threshold", "within"}}
    for exact in (None, True):
        with suppress(UsageError):
            lw.neighbors(inputs, query=inputs, k=2, exact=exact, **limits)


def documents(folder: Path) -> None:
    """Files of documents."""
    file = jsonl(folder, "text", TEXTS)
    lw.dedup(file, out=folder / "out", pairs=True, removed_records=True, sketches=True)
    lw.audit(folder / "out")
    verbs(file, folder)


def formats(folder: Path) -> None:
    """The other formats of documents, and documents in memory."""
    table = pa.table({"id": list(range(len(TEXTS))), "text": TEXTS})
    pq.write_table(table, folder / "a.parquet")
    pa.feather.write_feather(table, folder / "a.arrow", compression="uncompressed")
    (folder / "a.json").write_text(json.dumps(table.to_pylist()))
    (folder / "a.csv").write_text("id,text\n" + "".join(f'{i},"{text.replace(chr(34), chr(34) * 2)}"\n' for i, text in enumerate(TEXTS)))
    (folder / "a.tsv").write_text("id\ttext\n" + "".join(f"{i}\t{' '.join(text.split())}\n" for i, text in enumerate(TEXTS)))
    (folder / "a.ndjson").write_text("\n".join(json.dumps(row, indent=1) for row in table.to_pylist()))  # each over several lines
    (folder / "texts").mkdir()
    for i, text in enumerate(TEXTS):
        (folder / "texts" / f"{i}.txt").write_text(text)
    for name in ("a.parquet", "a.arrow", "a.json", "a.csv", "a.tsv", "a.ndjson", "texts"):
        lw.dedup(folder / name, out=folder / f"{name}.out")
    lw.pairs(TEXTS)
    lw.pairs(table)
    lw.similarity(TEXTS[0], TEXTS[1])


def levels(folder: Path) -> None:
    """Lines and paragraphs, cut out of every format."""
    repeated = [f'{text}\r\nthe "same" line\n\nand {i} of its own: é\n' for i, text in enumerate(TEXTS)]
    table = pa.table({"id": list(range(len(TEXTS))), "text": repeated})
    jsonl(folder, "text", repeated)
    pq.write_table(table, folder / "a.parquet")
    (folder / "a.csv").write_text("id,text\n" + "".join(f'{i},"{text.replace(chr(34), chr(34) * 2)}"\n' for i, text in enumerate(repeated)))
    for name in ("text.jsonl", "a.parquet", "a.csv"):
        lw.dedup(folder / name, out=folder / f"{name}.out", level="line")
    lw.dedup(table, level="paragraph", by="words:1", threshold=0.5)
    lw.dedup(table, level="passage", min_run=3)
    for recipe in (None, "gpt3"):
        lw.dedup(table, against=[repeated[0]], level="passage", preset=recipe, min_run=5)


def units(folder: Path) -> None:
    """Documents by each unit."""
    for unit in UNITS:
        lw.pairs(TEXTS, by=unit, threshold=0.5)
    every = "header,masks,nfkc,fold,accents,marks,invisible,punct,digits,space"
    lw.similarity(TEXTS[0], TEXTS[2], normalize=every)
    texts, rows = binary.from_list(text.encode() for text in TEXTS), np.arange(len(TEXTS))
    for method in (parse("words"), parse("words", f"{every},re:fo.")):
        placed = placer(method, 0)(texts, rows >= 0)
        characters(texts, np.repeat(rows, np.diff(placed.offsets)), placed.begin)


def ways(folder: Path) -> None:
    """Documents compared in other ways."""
    for options in ({"verify": "estimate"}, {"sketch": "classic"}, {"verify": "none"}, {"copies": "empty", "min_tokens": 3}):
        lw.dedup(TEXTS, **options)
        lw.pairs(TEXTS, **options)
    lw.pairs(TEXTS, star=True)
    many = [" ".join(f"w{word}" for word in {0, 1, *(7 * i + word**3 % 997 for word in range(12))}) for i in range(2_000)]
    lw.dedup(many, by="words:1", threshold=0.9, bands=8, rows=1)  # overfull buckets, and a sample of the pairs that they skip
    lw.frequent([["a", "b"], ["a", "b", "c"]], support=2)
    lw.dedup(TEXTS, ignore=TEXTS[:1])
    lw.dedup(TEXTS, by="words:1", ignore_common=0.5)
    lw.similarity(TEXTS[0], TEXTS[1], ignore=TEXTS[2:3])
    passages: tuple[dict[str, Any], ...] = ({}, {"ignore": TEXTS[:1]}, {"by": "chars", "min_run": 20})
    for wanted in passages:
        lw.quotes(TEXTS, TEXTS[:2], **wanted)
        lw.quotes(TEXTS[:2], TEXTS, **wanted)
    usual, grown.AT_ONCE = grown.AT_ONCE, 1  # as for a suspect with many common k-grams
    lw.quotes(TEXTS, TEXTS[:2])
    grown.AT_ONCE = usual
    lw.quotes([[1, 2, 3, 4]], [[1, 2, 3, 5], [1, 2, 3]], by="tokens", min_run=3)
    for by in ("words:3/bag", "words:1/containment"):
        lw.pairs(TEXTS, by=by, threshold=0.5)
    for sides in ((TEXTS[:1], TEXTS), (TEXTS, TEXTS[:1])):  # the smaller one is held
        lw.pairs(sides[0], against=sides[1], by="words:1/containment", threshold=0.5)
    for mode in ("oph", "classic"):
        sketch(TEXTS, mode=mode)


def sets(folder: Path) -> None:
    """Sets of integers and of strings."""
    integers = [[1, 2, 3, 4, 5], [1, 2, 3, 4, 6], [7, 8, 9], []]
    for values in (integers, [[str(one) for one in each] for each in integers]):
        verbs(jsonl(folder, "elements", values), folder, by="elements", threshold=0.5)
        verbs(parquet(folder, "elements", values), folder, by="elements", threshold=0.5)
        lw.similarity(values[0], values[1], by="elements")
        lw.pairs(values, by="elements", ignore=values[2:3])
    common = np.random.default_rng(0).permuted(np.tile(np.arange(64), (4_000, 1)), axis=1)[:, :24].tolist()  # keys of several elements pay
    lw.pairs(parquet(folder, "common", common), by="elements", field="common", threshold=0.9, exact=True)
    verbs(parquet(folder, "tokens", integers), folder, by="tokens:2", threshold=0.5, field="tokens")


def weighted(folder: Path) -> None:
    """Weighted sets."""
    values = [{"a": 1.0, "b": 2.0, "c": 1.5}, {"a": 1.0, "b": 2.0}, {"d": 4.0}]
    verbs(jsonl(folder, "elements", values), folder, by="weighted", threshold=0.5)
    lw.similarity(values[0], values[1], by="weighted")


def vectors(folder: Path) -> None:
    """Dense vectors of either width."""
    made = np.random.default_rng(0).normal(size=(40, 8))
    made[20:] = made[:20] + 0.001
    for dtype in (np.float32, np.float64):
        values = made.astype(dtype)
        np.save(folder / "vectors.npy", values)
        pq.write_table(pa.table({"vector": pa.array(list(values))}), folder / "vectors.parquet")
        limits: dict[str, Any] = {
            "cosine": {"threshold": 0.9},
            "angle": {"within": 20},
            "l2": {"within": 1},
            "l1": {"within": 1},
            "linf": {"within": 1},
        }
        for by, limit in limits.items():
            verbs(folder / "vectors.npy", folder, by=by, **limit)
            lw.dedup(folder / "vectors.parquet", by=by, **limit)
            lw.similarity(values[0], values[1], by=by)
        lw.pairs(values, by="cosine", threshold=0.9)
        np.save(folder / "queries.npy", values[:3])
        for by in ("cosine", "l2"):
            for exact in (False, True):
                lw.neighbors(folder / "vectors.npy", query=folder / "queries.npy", by=by, k=2, exact=exact)
            lw.neighbors(np.multiply(values, np.finfo(dtype).max ** 0.8, dtype=dtype), by=by, k=2)  # squares may overflow
    verbs(jsonl(folder, "vector", made.tolist()), folder, by="cosine", threshold=0.9)


def sparse(folder: Path) -> None:
    """Sparse vectors."""
    values = [{"indices": [1, 5, 9], "values": [1.0, 2.0, 1.0]}, {"indices": [1, 5, 8], "values": [1.0, 2.0, 1.0]}, {"indices": [2], "values": [1.0]}]
    file = jsonl(folder, "vector", values)
    limits: dict[str, Any] = {"cosine": {"threshold": 0.8}, "angle": {"within": 30}, "l2": {"within": 2}, "l1": {"within": 2}, "linf": {"within": 2}}
    for by, limit in limits.items():
        verbs(file, folder, by=by, **limit)


def codes(folder: Path) -> None:
    """Binary codes."""
    values = [f"{7 * i**5 % 2**64:016x}" for i in range(30)] + ["0000000000000001", "0000000000000003"]
    for file in (jsonl(folder, "code", values), parquet(folder, "code", values)):
        verbs(file, folder, by="hamming", within=3)
    lw.similarity(values[0], values[1], by="hamming")


def strings(folder: Path) -> None:
    """Short strings."""
    names = jsonl(folder, "text", ["duplicate", "duplicated", "duplicat", "something else", "somethingelse"])
    for by, limit in (("levenshtein", {"within": 2}), ("edit", {"within": 2}), ("levenshtein/ratio", {}), ("edit/ratio", {}), ("jaro-winkler", {})):
        verbs(names, folder, by=by, **limit)
        lw.neighbors(names, query=names, by=by, k=2, normalize="lower")
        lw.similarity("duplicate", "duplicated", by=by)
    for by in ("levenshtein", "edit"):
        lw.pairs([f"a common beginning of all {i:05d}" for i in range(3_000)], by=by, within=1)  # deletions pay


def features(folder: Path) -> None:
    """Sets of feature vectors."""
    random = np.random.default_rng(0)
    values = [random.normal(size=(3 + i % 3, 8)).tolist() for i in range(30)]
    values += values[:5]
    file = jsonl(folder, "features", values)
    for by in ("features", "features/chamfer", "features/one-to-many", "features/assignment"):
        verbs(file, folder, by=by, threshold=0.5)
    lw.similarity(values[0], values[1], by="features")


def images(folder: Path) -> None:
    """Images."""
    from PIL import Image

    (folder / "photos").mkdir()
    for number in range(4):
        Image.fromarray(np.random.default_rng(number // 2).integers(0, 255, (40, 30 + number, 3), np.uint8)).save(folder / "photos" / f"{number}.png")
    verbs(folder / "photos", folder, threshold=0.5)


def repeats(folder: Path) -> None:
    """Passages that occur again."""
    for by in ("words", "chars"):
        lw.repeats(jsonl(folder, "text", TEXTS), by=by, min_run=5)


def indexes(folder: Path) -> None:
    """The parts of an index, in memory and in files, with copies, removed items and overfull buckets."""
    random = np.random.default_rng(0)
    numbers = np.arange(700) % 600  # the last ones are copies
    keys = random.integers(0, 1 << KEY_BITS, (600, 3), np.uint64)
    keys[:300, 0], keys[:150, 1] = 1, 2
    copy, words = np.stack([np.arange(600, dtype=np.uint64)] * 2, axis=1), np.sort(random.integers(0, 1 << 63, (600, 9), np.uint64))
    ids, size = [b"%d" % number for number in range(700)], np.full(700, 9, np.uint32)
    for sets, slots in (("full", 0), ("compact", 0), ("none", 9)):
        kept = words[numbers].ravel() if sets != "none" else words[:0].ravel()
        items = Items(ids, keys[numbers], copy[numbers], size, kept, np.zeros((700, slots), np.uint8))
        form = {"bands": 3, "sets": sets, "bits": 48, "slots": slots}
        store = memory.create(None, form)
        for turn in range(3):
            for existing in ("replace", "require"):
                store.write(Change(items, existing, store.view().last - 1))
            store.write(Change(replace(items, ids=[b"%d of %d" % (number, turn) for number in range(700)])))
            for view in (store.view(), store.view().with_gone(np.array([store.view().last]))):
                found = view.members(items.keys, items.copy)
                view.contents(found.content)
                view.copies(found.content)
                view.shares_after(items.keys, items.size, -1)
            store.flush()
        store.compact()
        made = Building(Form.of(form), folder, slots + (sets == "full"))
        made.add(np.arange(700), items)
        made.finish().check()
        long = Building(Form.of(form))
        long.add(np.arange(700), replace(items, ids=[b"0" * 2100 + id_ for id_ in ids]))
        view = Parts.of(Form.of(form), [long.finish()], np.zeros(0, np.int64), 699)
        view.find(view.ids(np.arange(700)))


def document_indexes(folder: Path) -> None:
    """Indexes of documents in a folder: each action, on items in the log and in segments."""
    file = jsonl(folder, "text", TEXTS)
    limits: dict[str, Any] = {"by": "words:2", "threshold": 0.5}
    for sets in ("full", "compact", "none"):
        with lw.Index.create(folder / sets, sets=sets, **limits) as ix:
            for _ in range(2):
                ix.add(TEXTS)
                ix.query(TEXTS, k=2)
                ix.update(TEXTS[:2], ids=[0, 1])
                if sets != "none":
                    ix.add_new([*TEXTS, TEXTS[0][:60]])
                ix.flush()
            ix.remove([2])
            ix.compact()
            ix.check()
            with lw.Index.build(folder / f"{sets} at once", file, sets=sets, **limits) as other:
                ix.merge(other)
        if sets != "none":
            lw.dedup(file, against=folder / sets)


def queries(folder: Path) -> None:
    """Queries and writes of indexes of the other data types, in memory."""
    numbers = np.random.default_rng(0).normal(size=(12, 8))
    numbers[6:] = numbers[:6] + 0.01
    sparse = [{"indices": [1, 2, 3 + row % 3], "values": [1.0, 2.0, 0.1]} for row in range(6)]
    counted = [{1: 2.0, 2: 1.0, 3 + row % 3: 0.1} for row in range(6)]
    given: list[tuple[Any, dict[str, Any]]] = [(sparse, {"by": by, "sparse": True, **limit}) for by, limit in (("cosine", {}), ("l2", {"within": 1}))]
    given += [([numbers[:3], numbers[6:9]], {"by": by, "threshold": 0.5, "dimension": 8}) for by in ("features", "features/one-to-many")]
    for wide in (False, True):
        given += [(numbers, {"by": by, "dimension": 8, "wide": wide, **limit}) for by, limit in (("cosine", {}), ("l2", {"within": 1}))]
    given += [([[1, 2, 3], [1, 2, 3, 4]], {"by": by, "threshold": 0.5}) for by in ("tokens:2", "elements")]
    given += [(counted, {"by": "weighted"}), ([1, 2, 3], {"by": "hamming", "dimension": 64, "within": 3})]
    for items, choices in given:
        with lw.Index.create(**choices) as ix:
            for _ in range(2):
                ix.add(items)
                ix.flush()
            ix.query(items, k=2)
            ix.add_new(items)


def families(folder: Path) -> None:
    """The hash families and measures that only Python functions use."""
    from likewise.families import BBit, CrossPolytope, Histograms, Hyperplane, Stripe, Threshold
    from likewise.items.codes import codes as codes_of
    from likewise.measures.jaccard import jaccard
    from likewise.measures.matching import every, one_to_many, one_to_one

    family = BBit(64, bits=2)
    family.estimate(*family.signature([range(100), range(50, 150)]))
    points = np.random.default_rng(0).random((6, 16))
    for of_points in (CrossPolytope(16, 64), Threshold(0.0, 1.0, 16, 64), Hyperplane(64, "orthogonal")):
        of_points.signature(points)
    jaccard(codes_of(["00ff", "0fff"]), codes_of(["00fe", "0fff"]))
    for bits in (1, 3):
        histograms = Histograms(Stripe(4.0), bits=bits, tables=2).embed([points[:3], points[3:]])
        one_to_one(histograms, histograms)
        one_to_many(histograms, histograms)
        every(one_to_many, histograms, histograms)


JOBS: dict[str, Callable[[Path], Any]] = {
    job.__name__: job
    for job in (
        documents,
        document_indexes,
        vectors,
        sets,
        formats,
        units,
        levels,
        ways,
        sparse,
        features,
        codes,
        weighted,
        strings,
        images,
        repeats,
        families,
        indexes,
        queries,
    )
}
#: The optional library that a job needs.
LIBRARIES = {"strings": "rapidfuzz", "images": "PIL"}
