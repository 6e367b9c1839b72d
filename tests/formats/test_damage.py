"""Damage × format: what becomes of each, stated by hand, with ``--on-error fail`` and with ``skip``."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw
from as_bytes import npy
from damages import (
    BAD,
    COSINE,
    DAMAGES,
    FAST,
    FORMATS,
    PACKED,
    SOUND,
    VECTORS,
    Bad,
    Cut,
    Fine,
    Outcome,
    Refused,
    middle,
    of_value,
)
from likewise.errors import DataError, UsageError
from likewise.io import disk
from likewise.io.inputs import resolve
from likewise.messages import in_document
from likewise.records import REJECTED, TEXT, Want


def laid(folder: Path, name: str, data: Any) -> Path:
    """The file, or folder of text files, as input."""
    if isinstance(data, dict):
        for file, text in data.items():
            (folder / "in" / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / "in" / file).write_bytes(text)
        return folder / "in"
    (folder / f"in.{name}").write_bytes(data)
    return folder / f"in.{name}"


def texts(path: Path, column: str, kind: str) -> Iterator[bytes | None]:
    """The contents of the rows of an input: None without a text, b"rejected" for unreadable rows."""
    want = Want(column, kind=kind, wide=True)
    for source in resolve([path], want=want):
        for chunk in source.chunks(want):
            records = source.parse(chunk, want)
            for text, of in zip(records.text.to_pylist(), records.kind.tolist(), strict=True):
                yield text if of == TEXT else b"rejected" if of == REJECTED else None


def readable(path: Path, kind: str) -> Iterator[bytes | None]:
    """The same, up to damage."""
    with suppress(DataError):
        yield from texts(path, kind, kind)


CELLS = [(damage, name, comes) for damage, made in DAMAGES.items() for names, comes in made.comes.items() for name in names.split()]


def test_the_table_is_whole():
    for damage, made in DAMAGES.items():
        named = [name for names in made.comes for name in names.split()]
        assert sorted(named) == sorted(PACKED if set(named) <= set(PACKED) else FORMATS), damage


@pytest.mark.parametrize(
    ("damage", "name", "comes"), [pytest.param(*cell, id=f"{cell[0]}-{cell[1]}") for cell in CELLS if not isinstance(cell[2], str)]
)
def test_each_damage_in_each_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, name: str, comes: Outcome):
    monkeypatch.setattr(disk, "force_file", lambda path: None)  # the disk need not have it
    made = DAMAGES[damage]
    path = laid(tmp_path, name, made.make(name) if made.make else of_value(name, made.text))
    options = made.choices if "by" in made.choices else FAST | made.choices
    kind = "vector" if options["by"] == "cosine" else "text"
    out, source = tmp_path / "out", f"2.{name}" if name == "txt" else path.name

    def dedup(given: Path = path, **more: Any) -> Any:
        return lw.dedup(given, **options, **more)

    if isinstance(comes, Fine):
        result = dedup(out=out)
    else:
        with pytest.raises((DataError, UsageError)) as refused:
            dedup(out=out)
        said = in_document(refused.value)
        assert source in said and comes.says in said and (not isinstance(comes, Bad) or f"{source}, {comes.place}" in said), said
        assert list(tmp_path.iterdir()) == [path]
        if isinstance(comes, Refused):
            with pytest.raises((DataError, UsageError), match=re.escape(comes.says)):
                dedup(out=out, on_error="skip")
            assert list(tmp_path.iterdir()) == [path]
            return
        assert "on_error skip" in said or isinstance(comes, Cut), said
        result = dedup(out=out, on_error="skip")

    if isinstance(comes, Fine) and comes.ids:
        assert tuple(map(str, result.kept.to_arrow()["id"].to_pylist())) == comes.ids
    counts = result.report["counts"]
    rejected = [json.loads(line) for line in (out / "rejected.jsonl").read_text("utf-8").splitlines()]
    assert counts["kept"] + counts["removed"] + counts["rejected"] == counts["read"]
    assert len(rejected) == counts["rejected"] == (not isinstance(comes, Fine))
    sound = SOUND if kind == "text" else [np.array(row).tobytes() for row in VECTORS[:BAD] + VECTORS[BAD + 1 :]]
    if isinstance(comes, Fine):
        expected = list(comes.rows) if comes.rows is not None else [*sound[:BAD], comes.text, *sound[BAD:]]
    elif isinstance(comes, Bad):
        expected = sound[: comes.rows]
        assert rejected[0]["source"] == source and rejected[0]["position"] == (0 if name == "txt" else comes.position)
        assert comes.place in rejected[0]["reason"] and comes.says in rejected[0]["reason"]
    else:
        expected = [*sound[:BAD], b"a", *sound[BAD:]][: comes.rows]
        assert rejected[0]["source"] == source and rejected[0]["position"] is None and comes.says in rejected[0]["reason"]
    assert counts["read"] == len(expected) + len(rejected)
    kept = [text for place, text in enumerate(expected) if text is None or text not in expected[:place]]
    assert counts["removed"] == len(expected) - len(kept)
    assert not kept or list(texts(out / "kept", made.choices.get("field", kind), kind)) == kept


# --- cut anywhere


@pytest.mark.parametrize("name", [*FORMATS, *PACKED])
def test_what_is_cut_anywhere_is_whole_up_to_there(tmp_path: Path, name: str):
    """Rows that are read are the first ones. Where nothing is refused, the file looks whole: a text, or the last cell of CSV, may be shorter then."""
    whole = npy(np.array(VECTORS)) if name == "npy" else of_value(name, b"a")
    vectors, last = name == "npy", name.partition(".")[0] in ("csv", "tsv", "txt")
    expected: list[bytes | None] = [np.array(row).tobytes() for row in VECTORS] if vectors else list(middle(b"a"))
    draw = random.Random(name)
    for _ in range(6):
        data = {**whole, "4.txt": whole["4.txt"][: draw.randrange(18)]} if name == "txt" else whole[: draw.randrange(len(whole))]
        path = laid(tmp_path, name, data)
        options = COSINE if vectors else FAST
        try:
            lw.dedup(path, **options)
            refused = False
        except DataError as error:
            assert path.name in str(error)
            refused = True
        counts = lw.dedup(path, **options, on_error="skip").report["counts"]
        assert counts["kept"] + counts["removed"] + counts["rejected"] == counts["read"]
        assert counts["rejected"] == refused and (not refused or counts["read"] <= len(expected) + 1)
        if name.partition(".")[2] or not refused:
            continue
        found = [text for text in readable(path, "vector" if vectors else "text") if text != b"rejected"]
        assert found == expected[: len(found)] or (last and found[:-1] == expected[: len(found) - 1])
