"""Image files that share a part, through the verbs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image, ImageOps

import likewise as lw
from command_line import refused, run
from likewise.errors import UsageError
from pictures_made import encoded, scene

BY: dict[str, Any] = {"by": "image/region"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five images; a part of 0, 1 turned and halved, 2 mirrored, 3 beside 4, a byte copy of 4; an image of one color and a damaged one."""
    made = tmp_path / "photos"
    made.mkdir()
    for seed in range(5):
        scene(seed).save(made / f"{seed}.png")
    scene(0).crop((30, 20, 250, 190)).save(made / "0 part.jpg", quality=80)
    scene(1).rotate(90, expand=True).resize((180, 240)).save(made / "1 turned.webp")
    ImageOps.mirror(scene(2)).save(made / "2 mirrored.png")
    Image.fromarray(np.hstack([np.asarray(scene(3)), np.asarray(scene(4))])).save(made / "34.png")
    shutil.copy(made / "4.png", made / "4 copy.png")
    Image.new("RGB", (320, 240), (9, 9, 9)).save(made / "plain.png")
    (made / "broken.jpg").write_bytes(encoded(scene(0), "JPEG")[:900])
    return made


PAIRS = {
    frozenset(pair)
    for pair in (
        ("0.png", "0 part.jpg"),
        ("1.png", "1 turned.webp"),
        ("2.png", "2 mirrored.png"),
        ("3.png", "34.png"),
        ("4.png", "34.png"),
        ("4 copy.png", "34.png"),
        ("4.png", "4 copy.png"),
    )
}


def names(pairs: Any) -> set[frozenset[str]]:
    return {frozenset((row["id_a"], row["id_b"])) for row in pairs.to_dicts()}


def test_images_that_share_a_part_are_found(folder: Path) -> None:
    found = lw.pairs(folder, **BY)
    assert names(found) == PAIRS and len(found) == len(PAIRS)
    for options in ({"exact": True}, {"threads": 3}):
        assert lw.pairs(folder, **BY, **options).to_dicts() == found.to_dicts()
    assert not names(lw.pairs(folder)) - {frozenset(("4.png", "4 copy.png"))}  # `image` finds the copy alone
    assert "at or above 0.5" in run("pairs", folder, "--by", "image/region").stderr
    printed = [json.loads(line) for line in run("pairs", folder, "--by", "image/region").stdout.splitlines()]
    assert {frozenset((row["id_a"], row["id_b"])) for row in printed} == PAIRS


def test_the_values_are_those_of_the_measure(folder: Path) -> None:
    for row in lw.pairs(folder, **BY).to_dicts():
        assert row["similarity"] == lw.similarity(folder / row["id_a"], folder / row["id_b"], **BY)
    part, whole = folder / "0 part.jpg", folder / "0.png"
    value = lw.similarity(part, whole, **BY)
    assert 0.9 <= value <= 1 and lw.similarity(whole, part, **BY) == value
    assert lw.similarity([np.asarray(Image.open(whole)), whole], [scene(0), scene(1)], **BY).tolist() == [1.0, 0.0]


def test_dedup_keeps_the_whole(folder: Path, tmp_path: Path) -> None:
    done = run("dedup", folder, "--by", "image/region", "--keep", "longest", "-o", tmp_path / "out")
    assert done.exit_code == 0 and "near local features" in done.stderr and "broken.jpg" in done.stderr
    kept = {path.name for path in (tmp_path / "out/kept").iterdir()}
    assert {"0.png", "1.png", "34.png", "plain.png"} < kept and len(kept) == 5  # and one of 2.png and its mirror image
    assert run("audit", tmp_path / "out").exit_code == 0
    shown = run("show", tmp_path / "out", "0 part.jpg").stdout
    assert "by image/region (threshold 0.5)" in shown and "220 x 170 pixels" in shown


def test_neighbors_and_against(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    scene(3).crop((0, 0, 200, 240)).save(tmp_path / "new/x.png")
    found = lw.neighbors(folder, query=tmp_path / "new", k=2, **BY).to_dicts()
    assert {row["id_b"] for row in found} == {"3.png", "34.png"}
    assert found == lw.neighbors(folder, query=tmp_path / "new", k=2, exact=True, **BY).to_dicts()
    assert names(lw.pairs(folder, against=tmp_path / "new", **BY)) == {frozenset(("3.png", "x.png")), frozenset(("34.png", "x.png"))}
    itself = lw.neighbors(folder, k=1, threshold=0.5, **BY).to_dicts()
    assert {row["id_a"] for row in itself} == {name for pair in PAIRS for name in pair}


def test_other_forms_of_images() -> None:
    column = [encoded(scene(0), "PNG"), None, encoded(scene(0).crop((20, 20, 260, 200)), "PNG"), b"nothing"]
    found = lw.pairs(pa.table({"id": [*"abcd"], "image": column}), on_error="skip", **BY)
    assert names(found) == {frozenset("ac")}
    assert names(lw.pairs([scene(0), scene(1), scene(0).rotate(180)], **BY)) == {frozenset((0, 2))}


def test_what_is_no_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"image": "x"}\n')
    assert "--by image/region compares images" in refused("pairs", tmp_path / "a.jsonl", "--by", "image/region")
    with pytest.raises(UsageError, match="within"):
        lw.pairs([scene(0), scene(1)], within=0.1, threshold=0.5, **BY)
