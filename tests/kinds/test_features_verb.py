"""likewise features: images, videos and texts as sets of feature vectors."""

from __future__ import annotations

import json
import shutil
import sys

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.cli.main import main
from likewise.errors import DataError, MissingPartError, UsageError
from likewise.io.formats import lines
from likewise.io.media import files, images, tokens, videos
from likewise.items import opencv
from likewise.items.features import features
from likewise.progress import Progress
from likewise.runs.extraction import extract


def run(*words) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code


def made(tmp_path, *inputs, **choices) -> pa.Table:
    extract(list(inputs), **choices).write(tmp_path / "made.parquet", overwrite=True)
    return pq.read_table(tmp_path / "made.parquet")


def texture(seed: int) -> np.ndarray:
    return cv2.resize(np.random.default_rng(seed).integers(0, 256, (24, 32, 3), np.uint8), (320, 240), interpolation=cv2.INTER_CUBIC)


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    (folder / "more").mkdir(parents=True)
    for name, seed in (("b.png", 1), ("a.jpg", 1), ("more/c.png", 2)):
        cv2.imwrite(str(folder / name), texture(seed))
    cv2.imwrite(str(folder / "plain.png"), np.full((40, 40), 90, np.uint8))
    (folder / "notes.txt").write_text("not an image")
    return folder


def test_a_stage_that_fails_ends(tmp_path, monkeypatch):
    """A bar that is not finished draws over later messages."""
    (tmp_path / "a.jsonl").write_text('{"text": "a b"}\n')
    (tmp_path / "vectors.txt").write_text("a 1 0\nb 0 1\n")
    progress = Progress()
    found = extract([tmp_path / "a.jsonl"], vectors=tmp_path / "vectors.txt", progress=progress)
    monkeypatch.setattr(tokens.TokenVectors, "features_of", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        found.write(tmp_path / "made.parquet", overwrite=True)
    assert list(progress.seconds) == ["reading", "extracting features"]


# Images


def test_a_folder_of_images_becomes_a_table(photos, tmp_path):
    table = made(tmp_path, photos, most=50)
    assert table.schema.field("features").type == pa.list_(pa.list_(pa.float32(), 128))
    assert table["id"].to_pylist() == ["a.jpg", "b.png", "more/c.png", "plain.png"]
    sizes = pc.list_value_length(table["features"]).to_pylist()
    assert sizes == [50, 50, 50, 0]  # nothing stands out in a plain one
    values, offsets = features(table.filter(pc.greater(pc.list_value_length(table["features"]), 0))["features"])
    assert offsets.tolist() == [0, 50, 100, 150]
    assert np.allclose((values**2).sum(axis=1), 1, atol=1e-5)  # roots of shares


def test_features_of_an_image_are_roots_of_opencvs():
    gray = cv2.cvtColor(texture(3), cv2.COLOR_BGR2GRAY)
    _, slow = cv2.SIFT_create(nfeatures=40).detectAndCompute(gray, None)
    rows = {np.sqrt(row / row.sum()).astype(np.float32).tobytes() for row in slow}
    found = images.described(gray, 40)
    assert len(found) == 40
    assert {row.tobytes() for row in found} <= rows


def test_large_images_are_reduced():
    gray = cv2.cvtColor(texture(4), cv2.COLOR_BGR2GRAY)
    large = cv2.resize(gray, (1920, 1440), interpolation=cv2.INTER_CUBIC)
    reduced = cv2.resize(large, (640, 480), interpolation=cv2.INTER_AREA)
    assert (images.described(large, 100) == images.described(reduced, 100)).all()


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(photos, tmp_path, threads):
    assert made(tmp_path, photos, threads=threads).equals(made(tmp_path, photos, threads=2))


def test_an_image_that_cannot_be_decoded_is_named(photos, tmp_path):
    (photos / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 and no more")
    (photos / "empty.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"broken\.jpg: this image cannot be decoded: it is truncated"):
        made(tmp_path, photos)
    skipping = extract([photos], on_error="skip")
    skipping.write(tmp_path / "made.parquet", overwrite=True)
    assert [entry["source"] for entry in skipping.rejected] == ["broken.jpg", "empty.png"]
    assert (skipping.report["read"], skipping.report["items"], skipping.report["empty"]) == (6, 4, 1)
    with pytest.raises(DataError, match="all 1 were rejected"):
        made(tmp_path, photos / "empty.png", on_error="skip")


def test_images_that_have_gone_are_not_set_aside(photos, tmp_path, monkeypatch):
    found = files.found
    monkeypatch.setattr(files, "found", lambda inputs: (found(inputs), shutil.rmtree(photos))[0])
    with pytest.raises(DataError, match="No such file"):
        extract([photos], on_error="skip").write(tmp_path / "made.parquet", overwrite=True)


def test_the_command_accounts_for_all(photos, tmp_path, capsys):
    (photos / "broken.jpg").write_bytes(b"nothing")
    out = tmp_path / "photos.parquet"
    assert run("features", photos, "-o", out) == 2
    assert "--on-error skip lists such files in FILE.rejected.jsonl beside -o FILE and continues" in " ".join(capsys.readouterr().err.split())
    assert not out.exists()
    assert run("features", photos, "-o", out, "--on-error", "skip", "--json", "--most", 20) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["kind"], printed["items"], printed["rejected"], printed["features"]) == ("images", 4, 1, 60)
    (line,) = (tmp_path / "photos.parquet.rejected.jsonl").read_text().splitlines()
    assert json.loads(line)["source"] == "broken.jpg"
    assert run("features", photos / "a.jpg", "-o", out) == 2  # it exists
    assert run("features", photos / "a.jpg", "-o", out, "--overwrite") == 0
    assert not (tmp_path / "photos.parquet.rejected.jsonl").exists()  # the old list is no longer true


@pytest.mark.parametrize("what", ["file", "folder", "link"])
@pytest.mark.parametrize("flags", [[], ["--overwrite"]])
def test_a_list_that_appears_during_the_run_loses_nothing(photos, tmp_path, monkeypatch, capsys, what, flags):
    (photos / "broken.jpg").write_bytes(b"nothing")
    out, rejected_path = tmp_path / "photos.parquet", tmp_path / "photos.parquet.rejected.jsonl"
    features_of = images.features_of

    def meanwhile(path, most):
        if not rejected_path.exists():
            {
                "file": lambda: rejected_path.write_text("mine"),
                "folder": rejected_path.mkdir,
                "link": lambda: rejected_path.symlink_to(photos / "notes.txt"),
            }[what]()
        return features_of(path, most=most)

    monkeypatch.setattr(images, "features_of", meanwhile)
    assert run("features", photos, "-o", out, "--on-error", "skip", "--threads", 1, *flags) == 0
    assert pq.read_table(out).num_rows == 4
    (listed,) = (path for path in tmp_path.glob("*.jsonl") if path != rejected_path)
    assert json.loads(listed.read_text())["source"] == "broken.jpg"
    assert (
        f"{rejected_path}: this appeared during the run and was not replaced; the rejected inputs are listed in {listed}" in capsys.readouterr().err
    )
    assert (what == "folder" and not [*rejected_path.iterdir()]) or rejected_path.read_text() == ("mine" if what == "file" else "not an image")


def test_a_result_that_is_kept_under_another_name_has_its_list(photos, tmp_path, monkeypatch, capsys):
    (photos / "broken.jpg").write_bytes(b"nothing")
    out, features_of = tmp_path / "photos.parquet", images.features_of

    def meanwhile(path, most):
        out.write_text("mine")
        return features_of(path, most=most)

    monkeypatch.setattr(images, "features_of", meanwhile)
    assert run("features", photos, "-o", out, "--on-error", "skip", "--threads", 1) == 2
    (listed,) = tmp_path.glob("*.jsonl")
    assert json.loads(listed.read_text())["source"] == "broken.jpg" and out.read_text() == "mine"
    assert f"the rejected inputs are listed in {listed}" in " ".join(capsys.readouterr().err.split())


def test_a_missing_part_is_named(photos, tmp_path, monkeypatch):
    opencv.library.cache_clear()
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingPartError, match="install opencv-python-headless"):
        made(tmp_path, photos)
    monkeypatch.undo()
    opencv.library.cache_clear()


@pytest.mark.parametrize(
    ("names", "choices", "said"),
    [
        (["none.png"], {}, "no such file"),
        (["*.webp"], {}, "no file matches"),
        (["notes.txt"], {}, "not the extension of an image or a video"),
        (["a.jpg"], {"most": 0}, "most=0"),
        (["a.jpg"], {"every": 0.0}, "every=0"),
        (["a.jpg"], {"kind": "sift"}, "kind='sift': give phash, dhash, ahash"),
        (["a.jpg"], {"kind": "phash", "bits": 128}, "bits=128: give 64 or 256"),
        (["a.jpg"], {"bits": 64}, "add kind='phash'"),
        (["a.jpg"], {"kind": "phash", "most": 9}, "leave one out"),
        (["a.jpg", "film.mp4"], {}, "is an image and .* a video"),
    ],
)
def test_what_cannot_be_meant_is_refused(photos, tmp_path, names, choices, said):
    (photos / "film.mp4").write_bytes(b"")
    with pytest.raises(UsageError, match=said):
        made(tmp_path, *(photos / name for name in names), **choices)


def test_a_perceptual_hash_is_a_code_of_an_image(photos, tmp_path):
    table = made(tmp_path, photos, kind="ahash", bits=64)
    assert table.schema.field("code").type == pa.binary(8)
    assert table["id"].to_pylist() == ["a.jpg", "b.png", "more/c.png", "plain.png"]
    jpeg, png, other, plain = (np.unpackbits(np.frombuffer(code, np.uint8), bitorder="little") for code in table["code"].to_pylist())
    gray = cv2.cvtColor(texture(1), cv2.COLOR_BGR2GRAY).astype(float)
    parts = gray.reshape(8, 30, 8, 40).mean(axis=(1, 3))
    clear = np.abs(parts - parts.mean()).ravel() > 2  # not decided by rounding
    assert (png == (parts > parts.mean()).ravel())[clear].all()
    assert (jpeg != png).sum() <= 2
    assert (other != png).sum() > 10
    assert not plain.any()
    pairs = lw.pairs(tmp_path / "made.parquet", by="hamming", within=2)
    assert [(pair["id_a"], pair["id_b"]) for pair in pairs] == [("a.jpg", "b.png")]


@pytest.mark.parametrize("kind", ["phash", "dhash", "ahash"])
@pytest.mark.parametrize("bits", [64, 256])
def test_kinds_and_lengths_of_hashes(photos, tmp_path, kind, bits):
    table = made(tmp_path, photos, kind=kind, bits=bits)
    assert table.schema.field("code").type == pa.binary(bits // 8)
    assert table["code"].to_pylist() == [images.hash_of(photos / name, kind, bits).tobytes() for name in table["id"].to_pylist()]


def test_the_command_names_codes(photos, tmp_path, capsys):
    assert run("features", photos, "--kind", "dhash", "--bits", "256", "-o", tmp_path / "codes.parquet") == 0
    assert "wrote 4 codes of 256 bits to" in capsys.readouterr().err


# Videos


def film(path, frames, rate=20):
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), rate, (64, 48))
    for color in frames:
        writer.write(np.full((48, 64, 3), color, np.uint8))
    writer.release()


def test_hashes_of_key_frames(tmp_path):
    writer = cv2.VideoWriter(str(tmp_path / "film.avi"), cv2.VideoWriter_fourcc(*"MJPG"), 10, (320, 240))
    for seed in (1,) * 10 + (2,) * 10:
        writer.write(texture(seed))
    writer.release()
    [rows] = made(tmp_path, tmp_path / "film.avi", every=0.5, kind="phash")["features"].to_pylist()
    found = np.array(rows)
    assert found.shape == (4, 64)
    assert set(found.ravel()) == {-1, 1}
    assert (found[0] == found[1]).all()
    for row, seed in ((0, 1), (2, 2)):
        cv2.imwrite(str(tmp_path / "frame.png"), texture(seed))
        still = np.unpackbits(images.hash_of(tmp_path / "frame.png", "phash", 64), bitorder="little")
        assert ((found[row] > 0) != still).sum() <= 4


def test_key_frames_of_a_video(tmp_path):
    film(tmp_path / "film.avi", [(0, 0, 255)] * 20 + [(255, 0, 0)] * 15)  # a second of red, and three quarters of blue
    table = made(tmp_path, tmp_path / "film.avi", every=0.5)
    rows = np.array(table["features"].to_pylist()[0])
    assert rows.shape == (4, 64)
    red, blue = 3, 3 * 16  # the highest level of one color, the lowest of the others
    assert rows.argmax(axis=1).tolist() == [red, red, blue, blue]
    assert (rows.max(axis=1) > 0.9).all()  # but for what the compression adds


def test_colors_between_two_levels_count_for_both():
    shares = videos.colors(np.full((10, 10, 3), (0, 0, 42.5), np.float32).astype(np.uint8)) ** 2
    level = 42 / 255 * 3
    assert np.allclose([shares[0], shares[1]], [1 - level, level], atol=1e-6)
    assert np.isclose(shares.sum(), 1)


def test_a_video_that_cannot_be_decoded_is_named(tmp_path):
    (tmp_path / "film.mp4").write_bytes(b"no film")
    with pytest.raises(DataError, match=r"film\.mp4: no frame of this video"):
        made(tmp_path, tmp_path / "film.mp4")


# Texts


TEXTS = '{"id": "a", "text": "The cat sat, the CAT!"}\n{"id": "b", "text": "dog"}\n{"id": "c", "text": "what?"}\n{"id": "d"}\n'
TABLE = {"the": [1.0, 2.0], "cat": [3.0, 4.0], "dog": [5.0, 6.5]}


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "texts.jsonl").write_text(TEXTS)
    return tmp_path / "texts.jsonl"


def written(tmp_path, form: str):
    path = tmp_path / f"vectors.{form}"
    names, numbers = list(TABLE), np.array(list(TABLE.values()), np.float32)
    if form == "npz":
        np.savez(path, tokens=np.array(names), vectors=numbers)
    elif form == "parquet":
        pq.write_table(pa.table({"token": names, "vector": numbers.tolist()}), path)
    else:
        head = "3 2\n" if form == "vec" else ""
        path.write_text(head + "".join(f"{name} {x} {y}\n" for name, (x, y) in TABLE.items()))
    return path


@pytest.mark.parametrize("form", ["npz", "parquet", "txt", "vec"])
def test_texts_become_the_vectors_of_their_tokens(texts, tmp_path, form):
    extraction = extract([texts], vectors=written(tmp_path, form))
    extraction.write(tmp_path / "made.parquet", overwrite=True)
    rows = pq.read_table(tmp_path / "made.parquet").to_pylist()
    assert [row["id"] for row in rows] == ["a", "b", "c", "d"]
    assert [row["features"] for row in rows] == [[TABLE["the"], TABLE["cat"]], [TABLE["dog"]], [], []]
    assert (extraction.unknown, extraction.empty) == (2, 2)  # sat, what


def test_rows_that_cannot_be_read_are_reported(texts, tmp_path):
    texts.write_text("{broken\n" + TEXTS)
    with pytest.raises(DataError, match=r"texts\.jsonl, line 1"):
        made(tmp_path, texts, vectors=written(tmp_path, "npz"))
    extraction = extract([texts], vectors=written(tmp_path, "npz"), on_error="skip", limit=3)
    extraction.write(tmp_path / "made.parquet", overwrite=True)
    assert pq.read_table(tmp_path / "made.parquet")["id"].to_pylist() == ["a", "b"]
    assert [(entry["position"], entry["bytes"]) for entry in extraction.rejected] == [(0, "{broken")]


def test_texts_that_have_gone_are_not_set_aside(texts, tmp_path, monkeypatch):
    """A disk that is taken out while the line of a record is to be named, whose file has to be read again for that."""
    texts.write_text("{broken\n" + TEXTS)
    counted = lines.counted

    def gone_meanwhile(*given):
        away = texts.rename(tmp_path / "away")
        try:
            return counted(*given)
        finally:
            away.rename(texts)

    monkeypatch.setattr(lines, "counted", gone_meanwhile)
    with pytest.raises(DataError, match="No such file"):
        extract([texts], vectors=written(tmp_path, "npz"), on_error="skip").write(tmp_path / "made.parquet", overwrite=True)


def test_tokens_are_cut_as_asked(texts, tmp_path):
    table = made(tmp_path, texts, vectors=written(tmp_path, "npz"), by="whitespace:1")
    assert table["features"].to_pylist()[0] == [TABLE["cat"], TABLE["the"]]  # "The" and "CAT!" are others
    with pytest.raises(UsageError, match="words:5"):
        made(tmp_path, texts, vectors=written(tmp_path, "npz"), by="words:5")
    with pytest.raises(UsageError, match="most="):
        made(tmp_path, texts, vectors=written(tmp_path, "npz"), most=3)
    texts.write_text('{"text": "other words"}\n')
    with pytest.raises(DataError, match="no token of these texts has a vector"):
        made(tmp_path, texts, vectors=written(tmp_path, "npz"))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("v.txt", b"the 1 2\ncat 3\n", "line 2"),
        ("v.txt", b"the 1 two\n", "line 1: expected a token and 2 numbers"),
        ("v.txt", b"th\xff 1 2\n", "line 1: the token is not UTF-8"),
        ("v.txt", b"the 1 nan\n", "row 0"),
        ("v.txt", b"", "0 tokens"),
        ("v.npz", b"PK", "cannot be read as a .npz file"),
        ("v.parquet", b"PAR1", "is not a Parquet file"),
        ("v.bin", b"", "vectors="),
    ],
)
def test_token_vectors_that_cannot_be_read(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises((DataError, UsageError), match=said):
        tokens.load(tmp_path / name)


def test_tokens_may_hold_spaces(tmp_path):
    (tmp_path / "v.txt").write_text("the 1 2\nnew york 3 4\n")
    assert tokens.load(tmp_path / "v.txt").places == {"the": 0, "new york": 1}
