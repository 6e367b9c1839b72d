"""Folders that other programs wrote as one dataset: their metadata is skipped, with a warning."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import likewise as lw
from command_line import refused
from likewise.io.inputs import resolve
from likewise.io.layouts import Layout

pytestmark = pytest.mark.usefixtures("folder")

TEXT = "the quick brown fox jumps over the lazy dog near the river bank today"
TABLE = pa.table({"id": [1, 2, 3], "text": [TEXT, f"{TEXT} again", "other words here and nothing else"]})
INFO = {"citation": "", "description": "", "features": {"text": {"dtype": "string", "_type": "Value"}}, "homepage": "", "license": ""}


def saved(folder: Path, *, files: int = 1) -> None:
    """A folder as save_to_disk of Hugging Face datasets writes it."""
    folder.mkdir(parents=True)
    names = [f"data-{number:05d}-of-{files:05d}.arrow" for number in range(files)]
    for number, name in enumerate(names):
        with ipc.new_stream(folder / name, TABLE.schema) as writer:
            writer.write_table(TABLE.slice(number * 3 // files, 3 // files))
    state = {"_data_files": [{"filename": name} for name in names], "_fingerprint": "a1b2", "_format_type": None, "_split": None}
    (folder / "state.json").write_text(json.dumps(state, indent=2))
    (folder / "dataset_info.json").write_text(json.dumps(INFO, indent=2))


def names(*inputs: str) -> tuple[list[str], list[str]]:
    found = resolve(inputs)
    return [source.name for source in found], sorted(path.name for path in found.skipped)


@pytest.mark.parametrize("files", [1, 3])
def test_a_saved_data_set_of_hugging_face(files: int):
    saved(Path("hfd"), files=files)
    result = lw.dedup(Path("hfd"), by="words:2", threshold=0.7)
    assert result.report["counts"]["read"] == 3 and result.kept.to_arrow()["id"].to_pylist() == [1, 3]
    (warning,) = result.report["warnings"]
    assert warning == "skipped 2 files or folders (unknown format, metadata or an earlier output), such as dataset_info.json"
    assert len(lw.pairs("hfd/*", by="words:2", threshold=0.7)) == 1


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        (["data-00001-of-00003.arrow"], "lists data-00001-of-00003.arrow, which does not exist"),
        (["data-00000-of-00003.arrow", "data-00002-of-00003.arrow"], "lists 2 names that do not exist, such as data-00000-of-00003.arrow"),
    ],
)
def test_a_saved_data_set_of_which_files_are_missing_is_refused(gone: list[str], said: str):
    saved(Path("hfd"), files=3)
    for name in gone:
        (Path("hfd") / name).unlink()
    assert f"hfd: the metadata of this dataset {said}; copy the whole" in refused("pairs", "hfd")
    assert said in refused("pairs", "*", "--on-error", "skip")
    assert names("hfd/data-*")[0] == sorted({f"data-0000{number}-of-00003.arrow" for number in range(3)} - set(gone))  # named is named


def test_a_saved_dictionary_of_which_a_data_set_is_missing_is_refused():
    saved(Path("d/train"))
    Path("d/dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert "d: the metadata of this dataset lists test, which does not exist" in refused("dedup", "d", "-o", "out")


def test_what_hugging_face_has_cached_beside_the_data_is_not_read_again():
    saved(Path("hfd"))
    (Path("hfd") / "cache-0123456789abcdef.arrow").write_bytes((Path("hfd") / "data-00000-of-00001.arrow").read_bytes())
    assert names("hfd") == (["data-00000-of-00001.arrow"], ["cache-0123456789abcdef.arrow", "dataset_info.json", "state.json"])
    assert names("hfd/cache-0123456789abcdef.arrow")[0] == ["cache-0123456789abcdef.arrow"]  # named is named


def test_a_saved_dictionary_of_data_sets():
    saved(Path("d/train"))
    saved(Path("d/test"))
    Path("d/dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert names("d")[0] == ["test/data-00000-of-00001.arrow", "train/data-00000-of-00001.arrow"]


@pytest.mark.parametrize("name", ["state.json", "dataset_info.json", "dataset_dict.json"])
@pytest.mark.parametrize("content", ['{"id": 1, "text": "a"}\n', '[{"text": "a"}]', '{"_data_files": 1', "", '["features"]'])
def test_data_of_such_a_name_is_data(name: str, content: str):
    Path("d").mkdir()
    (Path("d") / name).write_text(content)
    assert names("d") == ([name], [])


@pytest.mark.parametrize("state", ['{"_data_files": 1}', '{"_data_files": [{}]}', '{"_data_files": [1]}'])
def test_a_state_that_names_no_files_hides_none(state: str):
    saved(Path("d"))
    Path("d/state.json").write_text(state)
    assert names("d")[0] == ["data-00000-of-00001.arrow"]


def test_folders_of_spark():
    Path("d/_temporary/0").mkdir(parents=True)
    for name in ("part-00000-5e.c000.snappy.parquet", "part-00001-5e.c000.snappy.parquet", "_temporary/0/part-00000.parquet", "_metadata"):
        pq.write_table(TABLE, Path("d") / name)
    for name in ("_SUCCESS", "._SUCCESS.crc", ".part-00000-5e.c000.snappy.parquet.crc", "_committed_42", "_started_42"):
        (Path("d") / name).write_bytes(b"")
    assert names("d") == (
        ["part-00000-5e.c000.snappy.parquet", "part-00001-5e.c000.snappy.parquet"],
        ["_SUCCESS", "_committed_42", "_metadata", "_started_42", "_temporary"],
    )


@pytest.mark.parametrize("name", ["part-00000", "part-r-00000", "part-m-00001", "000000_0"])
def test_data_of_engines_may_have_no_extension(name: str):
    Path("d").mkdir()
    (Path("d") / name).write_text('{"text": "a"}\n')
    (Path("d") / "_x.jsonl").write_text('{"text": "b"}\n')
    assert names("d") == ([name], ["_x.jsonl"])


def test_elsewhere_a_name_may_begin_with_a_line():
    Path("src").mkdir()
    for name in ("__init__.py", "_private.py", "part-1.py", "readme"):
        (Path("src") / name).write_text("a = 1\n")
    (source,) = resolve(["src"])
    assert [name for name, _ in source.files] == ["__init__.py", "_private.py", "part-1.py"]


def test_a_delta_table_is_said_to_be_one():
    Path("d/_delta_log").mkdir(parents=True)
    Path("d/_delta_log/00000000000000000000.json").write_text('{"commitInfo": {}}\n')
    pq.write_table(TABLE, "d/part-00000-5e.c000.snappy.parquet")
    warnings = lw.pairs(Path("d"), by="words:2", threshold=0.7).report["warnings"]
    assert any("d is a Delta table" in warning for warning in warnings), warnings


def test_a_folder_of_metadata_alone_is_refused():
    saved(Path("d"))
    Path("d/data-00000-of-00001.arrow").unlink()
    Path("d/state.json").write_text('{"_data_files": []}')
    assert "no data file in this folder, only others (2, such as dataset_info.json)" in refused("dedup", "d", "-o", "out")


def test_a_folder_is_looked_at_once(monkeypatch):
    saved(Path("d"), files=3)
    looked = []
    monkeypatch.setattr("likewise.io.layouts._look", lambda folder, listed: looked.append(folder) or Layout())
    names("d/*.arrow", "d")
    assert looked == [Path("d")]
