"""Image files through the verbs: the folders of people, whose results name files."""

from __future__ import annotations

import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import likewise as lw
from command_line import lines, refused, run
from likewise.errors import DataError, UsageError
from likewise.io.formats import images
from pictures_made import encoded, photos, texture
from stopping import StoppedError, Stops, snapshot

#: The recall of candidates from hashes is measured only; these images are few and their copies plain, so comparing all pairs must give the same.
ALL = {"exact": True}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six images, of which one has a smaller copy, one a copy of low quality, and one a copy byte for byte."""
    made = photos(tmp_path / "photos")
    (made / "more").mkdir()
    texture(0, 160, 120).save(made / "more" / "0 small.png")
    texture(1).save(made / "more" / "1.webp", quality=50)
    shutil.copy(made / "2.jpg", made / "more" / "copy.jpg")
    return made


PAIRS = [("0.jpg", "more/0 small.png"), ("1.jpg", "more/1.webp"), ("2.jpg", "more/copy.jpg")]


def names(pairs: Any) -> list[tuple[str, str]]:
    return [(row["id_a"], row["id_b"]) for row in pairs.to_dicts()]


# ------------------------------------------------------------------------------------------------------- the whole job


def test_pairs_of_a_folder_name_files(folder: Path) -> None:
    for options in ({}, {"by": "image"}, ALL, {"threads": 3}):
        found = lw.pairs(folder, **options)
        assert names(found) == PAIRS and found.to_dicts()[2]["similarity"] == 1.0
    assert lw.pairs(folder).report["method"]["by"] == "image"
    assert names(lw.pairs(str(folder))) == names(lw.pairs([folder])) == names(lw.pairs(folder / "**")) == PAIRS
    printed = run("pairs", folder)
    assert [tuple(json.loads(line).values())[:2] for line in printed.stdout.splitlines()] == PAIRS


def test_the_values_are_those_of_the_measure(folder: Path) -> None:
    for row in lw.pairs(folder, threshold=0.1, exact=True).to_dicts():
        assert row["similarity"] == lw.similarity(folder / row["id_a"], folder / row["id_b"], by="image")


def test_dedup_copies_the_kept_files(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "clean"
    done = run("dedup", folder, "-o", out)
    assert done.exit_code == 0
    assert lines(done.stderr)["removed"] == "3  (1 exact copy, 2 near-duplicates)"
    kept = {path.relative_to(out / "kept").as_posix(): path.read_bytes() for path in (out / "kept").rglob("*") if path.is_file()}
    assert kept == {f"{seed}.jpg": (folder / f"{seed}.jpg").read_bytes() for seed in range(6)}
    removed = pq.read_table(out / "removed.parquet").to_pylist()
    assert [(row["kept_id"], row["id"], row["reason"]) for row in removed] == [(*PAIRS[0], "near"), (*PAIRS[1], "near"), (*PAIRS[2], "exact")]
    audited = run("audit", out)
    assert audited.exit_code == 0 and "2 pairs with a sampled item" in audited.stdout
    assert run("report", out).exit_code == 0


@pytest.mark.parametrize(
    ("flags", "kept"),
    [
        (["--keep", "longest"], "a.png"),
        (["--keep", "shortest"], "b.jpg"),
        (["--keep", "last"], "c.bmp"),
        (["--prefer", "c*"], "c.bmp"),
    ],
)
def test_the_kept_one_of_similar_images(tmp_path: Path, flags: list[str], kept: str) -> None:
    """``longest`` keeps the one with the most pixels, though others may have more bytes."""
    for name, width in {"a.png": 320, "b.jpg": 80, "c.bmp": 240}.items():
        tmp_path.joinpath("in").mkdir(exist_ok=True)
        texture(1, width, width * 3 // 4).save(tmp_path / "in" / name)
    assert (tmp_path / "in/c.bmp").stat().st_size > (tmp_path / "in/a.png").stat().st_size
    assert run("dedup", tmp_path / "in", "-o", tmp_path / "out", *flags).exit_code == 0
    assert [path.name for path in (tmp_path / "out/kept").iterdir()] == [kept]
    page = (tmp_path / "out/report.html").read_text()
    assert ("the one with the most pixels" in page) == (flags[1] == "longest")


def test_other_outputs_of_dedup(folder: Path, tmp_path: Path) -> None:
    assert run("dedup", folder, "-o", tmp_path / "ids", "--output", "ids").exit_code == 0
    assert pq.read_table(tmp_path / "ids/kept.parquet")["id"].to_pylist() == [f"{seed}.jpg" for seed in range(6)]
    assert run("dedup", folder, "-o", tmp_path / "both", "--removed-records").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "both/removed").rglob("*.*")) == ["0 small.png", "1.webp", "copy.jpg"]
    assert "fields cannot be added" in refused("dedup", folder, "-o", tmp_path / "out", "--output", "annotate")


def test_neighbors_and_against(folder: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    texture(4, 200, 150).save(new / "x.png")
    found = lw.neighbors(folder, query=new, k=2).to_dicts()
    assert (found[0]["id_a"], found[0]["id_b"], len(found)) == ("x.png", "4.jpg", 2)
    assert found == lw.neighbors(folder, query=new, k=2, exact=True).to_dicts()
    assert names(lw.neighbors(folder, query=new, k=9, threshold=0.8)) == [("x.png", "4.jpg")]
    assert [(row["id_a"], row["id_b"]) for row in lw.pairs(folder, against=new).to_dicts()] == [("4.jpg", "x.png")]
    itself = lw.neighbors(folder, k=1, threshold=0.8).to_dicts()
    assert {(row["id_a"], row["id_b"]) for row in itself} == {*PAIRS, *((b, a) for a, b in PAIRS)}


def test_show_and_the_report_tell_sizes(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "clean"
    assert run("dedup", folder, "-o", out).exit_code == 0
    shown = run("show", out, "more/0 small.png")
    assert shown.stderr == ""
    first, second, why, _, *sizes = shown.stdout.splitlines()
    assert (first, second) == ("removed  'more/0 small.png'", "kept     '0.jpg'")
    assert why.startswith("why      near-duplicate: similarity 0.99") and why.endswith("by image (threshold 0.8)")
    assert sizes == ["removed  160 x 120 pixels", "kept     320 x 240 pixels"]
    assert "exact copy" in run("show", out, "more/copy.jpg").stdout
    assert run("show", out, "2.jpg").stdout.splitlines()[1].strip() == "'more/copy.jpg'  exact  1.0000"
    assert run("show", out, "5.jpg").stdout == "'5.jpg' was kept: no similar kept item was found at or above 0.8\n"
    page = (out / "report.html").read_text()
    assert "160 x 120 pixels" in page and "6 kept, 3 removed" in page and "9 images read" in page
    assert "Candidates were proposed by perceptual hashes" in page and "became candidates by perceptual hashes" in page


def test_show_finds_a_file_in_a_folder_by_its_name_alone(folder: Path, tmp_path: Path) -> None:
    """With the outcome that it has, and not as an item without duplicates; a part of the name brings the ids that contain it."""
    out = tmp_path / "clean"
    assert run("dedup", folder, "-o", out, "--prefer", "*/copy.jpg").exit_code == 0
    assert run("show", out, "0 small.png").stdout == run("show", out, "more/0 small.png").stdout
    assert run("show", out, "0 small.png").stdout.startswith("removed  'more/0 small.png'\n")
    assert run("show", out, "copy.jpg").stdout.splitlines() == [
        "'more/copy.jpg' was kept; 1 duplicate of it was removed:",
        "  '2.jpg'  exact  1.0000",
    ]
    near = run("show", out, "SMALL").stderr
    assert "has the id 'SMALL'; ids of removed items are, for example, 'more/0 small.png'; or use a location such as more/0 small.png" in near
    assert "for example, '2.jpg', 'more/0 small.png', 'more/1.webp'; or use" in run("show", out, "none").stderr


def test_a_dry_run_says_what_will_happen(folder: Path) -> None:
    printed = run("dedup", folder, "--dry-run").stdout
    assert printed.splitlines()[0].startswith("image files  images, ")
    assert "candidates from perceptual hashes; recall: not guaranteed" in printed and "on-error         skip" in printed
    assert "all pairs compared; recall: 100%" in run("dedup", folder, "--dry-run", "--exact").stdout


def test_threads_and_chunks_change_nothing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff")
    run("dedup", folder, "-o", tmp_path / "one", "--threads", 1)
    run("dedup", folder, "-o", tmp_path / "three", "--threads", 3)
    monkeypatch.setattr(images, "CHUNK_BYTES", 1)
    run("dedup", folder, "-o", tmp_path / "many", "--threads", 3)
    one, three, many = (snapshot(tmp_path / name) for name in ("one", "three", "many"))
    assert one == three
    assert one | {"manifest.json": b""} == many | {"manifest.json": b""}  # it has a digest of the chunks of the input


def test_a_stopped_run_continues(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff")
    monkeypatch.setattr(images, "CHUNK_BYTES", 1)  # each file is a step
    stops, expected = Stops(monkeypatch), tmp_path / "whole"
    lw.dedup(folder, out=expected)
    steps = len(stops.done)
    assert steps > 12
    for at in range(1, steps + 1, 3):
        out = tmp_path / f"out{at}"
        stops.begin(at)
        with pytest.raises(StoppedError):
            lw.dedup(folder, out=out)
        stops.begin(0)
        lw.dedup(folder, out=out, resume=True)
        assert snapshot(out) == snapshot(expected)


# ------------------------------------------------------------------------------------------------------- odd folders


def test_broken_images_are_rejected_and_named(folder: Path, tmp_path: Path) -> None:
    whole = (folder / "3.jpg").read_bytes()
    (folder / "3.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "empty.png").write_bytes(b"")
    (folder / "text.gif").write_text("no image")
    (folder / "phone.heic").write_bytes(b"\0\0\0\x18ftypheic" + bytes(20))
    out = tmp_path / "clean"
    done = run("dedup", folder, "-o", out)
    assert done.exit_code == 0
    rejected = [json.loads(line) for line in (out / "rejected.jsonl").read_text().splitlines()]
    assert {entry["source"]: entry["reason"].removeprefix("this image cannot be decoded: ") for entry in rejected} == {
        "3.jpg": "it is truncated",
        "empty.png": "the file is empty",
        "text.gif": "it is damaged, or its format is not read",
        "phone.heic": "it is a HEIC file; convert it to JPEG",
    }
    assert "warning: 4 of 12 items could not be read and were rejected: 3.jpg, this image cannot be decoded: it is truncated" in done.stderr
    assert run("show", out, "3.jpg").stdout == f"'3.jpg' was rejected: it could not be read; see {out / 'rejected.jsonl'}\n"
    assert names(lw.pairs(folder)) == PAIRS
    with pytest.raises(DataError, match=r"3\.jpg, this image cannot be decoded: it is truncated; on_error='skip' omits such rows"):
        lw.pairs(folder, on_error="fail")


def test_a_file_above_the_limit_is_rejected(folder: Path) -> None:
    most = (folder / "0.jpg").stat().st_size - 1
    said = " ".join(lw.pairs(folder, max_record=most).report["warnings"])
    assert f"0.jpg, the file has {most + 1:,} bytes, but" in said
    plain = Image.new("L", (3000, 3000))
    plain.save(folder / "plain.png")
    said = " ".join(lw.pairs(folder, max_record=1_000_000).report["warnings"])
    assert "plain.png, the image has 3,000 x 3,000 pixels, but" in said


def test_names_and_links(folder: Path) -> None:
    """A wrong extension does not matter, nor do unusual names; a linked file is read once; a broken link and a pipe are skipped."""
    (folder / "really a jpeg.png").write_bytes((folder / "5.jpg").read_bytes() + b"\0")
    (folder / "line\nbreak é.JPG").write_bytes(encoded(texture(4), "PNG"))
    os.symlink("0.jpg", folder / "link.jpg")
    os.symlink("nowhere", folder / "broken-link.jpg")
    os.mkfifo(folder / "pipe.jpg")
    found = lw.pairs(folder)
    assert {*names(found)} == {*PAIRS, ("5.jpg", "really a jpeg.png"), ("4.jpg", "line\nbreak é.JPG")}
    assert any("link.jpg, the same file as 0.jpg" in said for said in found.report["warnings"])
    assert "skipped 2 broken links or special files, such as broken-link.jpg" in found.report["warnings"]
    assert not any("images, which were skipped" in said for said in found.report["warnings"])


def test_the_choice_of_image_without_by(folder: Path, tmp_path: Path) -> None:
    """Only if all files are images; with data files among them, the images are skipped and named."""
    assert names(lw.pairs([folder / "0.jpg", folder / "more"])) == [PAIRS[0]]
    with pytest.raises(UsageError, match=r"0\.jpg: is an image; by='image' compares images"):
        lw.pairs(folder / "0.jpg", by="words:5")
    (folder / "Thumbs.db").write_bytes(b"\xd0\xcf\x11")
    assert names(lw.pairs(folder)) == PAIRS  # no data file
    (folder / "notes.txt").write_text("a b c d e f g")
    found = lw.pairs(folder)
    assert (found.report["method"]["by"], found.report["read"]) == ("words:5", 1)
    assert "photos has 9 images, which were skipped; by image compares images" in [
        said.replace("='image'", " image") for said in found.report["warnings"]
    ]
    assert names(lw.pairs(folder, by="image")) == PAIRS
    (tmp_path / "a.jsonl").write_text('{"text": "a b c d e f"}\n')
    with pytest.raises(UsageError, match=r"more: no data file in this folder, but 3 images; by='image' compares images"):
        lw.pairs([folder / "more", tmp_path / "a.jsonl"])
    with pytest.raises(UsageError, match="no such file"):
        lw.pairs(tmp_path / "nothing")


def test_an_image_on_standard_input(tmp_path: Path) -> None:
    data = encoded(texture(1), "JPEG")
    done = run("dedup", "-", "--by", "image", "-o", tmp_path / "out", input=io.BytesIO(data).getvalue())
    assert done.exit_code == 0 and (tmp_path / "out/kept/stdin").read_bytes() == data


# ------------------------------------------------------------------------------------------------------------ Python


def test_lists_of_images_in_python(folder: Path) -> None:
    paths = [folder / "0.jpg", folder / "1.jpg", folder / "more" / "0 small.png"]
    arrays = [np.asarray(Image.open(path)) for path in paths]
    for given in (arrays, [path.read_bytes() for path in paths], [Image.open(path) for path in paths], [arrays[0], None, arrays[2]]):
        [row] = lw.pairs(given, by="image").to_dicts()
        assert (row["id_a"], row["id_b"]) == (0, 2) and row["similarity"] > 0.99
    assert names(lw.pairs(paths)) == names(lw.pairs([*map(str, paths)], by="image")) == [PAIRS[0]]
    stacked = np.stack([np.asarray(texture(seed, 32, 24)) for seed in (1, 2, 1)])
    assert names(lw.pairs(stacked, by="image")) == [(0, 2)]
    assert lw.dedup(arrays, by="image").report["counts"]["kept"] == 2


def test_images_of_pillow_with_the_same_values_and_another_look_are_no_copies() -> None:
    """A palette, an orientation and a transparent color change the look of the same values."""
    values = np.kron(np.arange(48).reshape(6, 8) % 5, np.ones((20, 20))).astype(np.uint8)
    palette = Image.fromarray(values, "L").convert("P")
    palette.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9, 200, 200, 90])
    other, clear, turned = palette.copy(), palette.copy(), palette.copy()
    other.putpalette([9, 9, 9, 200, 200, 90, 0, 0, 255, 255, 0, 0, 0, 255, 0])
    clear.info["transparency"] = 3
    turned.getexif()[0x112] = 8
    removal = lw.dedup([palette, palette.copy(), other, clear, turned], by="image", threshold=1.0)
    assert (removal.report["counts"]["removed_exact"], removal.report["counts"]["kept"]) == (1, 4)
    gray = Image.fromarray(values * 50)
    assert lw.dedup([gray, values * 50], by="image").report["counts"]["removed_exact"] == 1  # an array and an image that look the same


def test_a_table_of_encoded_images() -> None:
    """As Hugging Face's datasets has them: a struct of bytes and path."""
    rows = [{"bytes": encoded(texture(seed), "PNG"), "path": None} for seed in (1, 2, 1)] + [{"bytes": b"x", "path": "x.png"}, None]
    for column in (pa.array(rows), pa.array([row and row["bytes"] for row in rows])):
        table = pa.table({"id": ["a", "b", "c", "d", "e"], "image": column})
        found = lw.dedup(table, by="image")
        assert found.kept.to_arrow()["id"].to_pylist() == ["a", "b", "e"]
        assert found.report["counts"]["rejected"] == 1


def test_similarity_of_images(folder: Path) -> None:
    one, other = folder / "0.jpg", folder / "more" / "0 small.png"
    value = lw.similarity(one, other, by="image")
    assert value > 0.99 and lw.similarity(one, one, by="image") == 1.0
    assert lw.similarity([one, one], [other, one], by="image").tolist() == [value, 1.0]
    assert lw.similarity(np.asarray(Image.open(one)), str(other), by="image") == value
    with pytest.raises(UsageError, match=r"on the right, row 0: .*missing\.png: cannot be read"):
        lw.similarity(one, folder / "missing.png", by="image")
    with pytest.raises(UsageError, match="on the left, row 1: an array of shape"):
        lw.similarity([one, np.zeros(3, np.uint8)], [one, one], by="image")
    with pytest.raises(UsageError, match="of type int is not an image"):
        lw.similarity([1], [2], by="image")


def test_kinds_of_data_are_not_mixed_up(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"image": "x"}\n')
    said = refused("pairs", tmp_path / "a.jsonl", "--by", "image")
    assert said == "likewise: error: a.jsonl: the field 'image' holds strings, such as 'x'; --by image compares images: files, or their bytes"
    with pytest.raises(DataError, match=r"the field 'image' holds strings, such as 'a\.jpg'"):
        lw.pairs(pa.table({"image": ["a.jpg", "b.jpg"]}), by="image")
    with pytest.raises(UsageError, match="row 0: a value of type int is not an image"):
        lw.pairs([1, 2], by="image")
