"""numpy's .npy files: what is read, refused and written."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import DataError, UsageError
from likewise.io import formats
from likewise.io.formats import npy
from likewise.io.inputs import resolve
from likewise.items.words import Hasher
from likewise.records import REJECTED, TEXT, Records, Want

VECTOR = Want("embedding", kind="vector")


def saved(path: Path, array: np.ndarray) -> Path:
    np.save(path, array)
    return path


def read(path: Path, want: Want = VECTOR, start: int = 0) -> list[Records]:
    return [npy.parse(chunk, want, path.name) for chunk in npy.chunks(path, want, start)]


def rows(path: Path, want: Want = VECTOR, start: int = 0) -> list[list[float]]:
    dtype = np.float64 if want.wide else np.float32
    return [np.frombuffer(row, dtype).tolist() for records in read(path, want, start) for row in records.text.to_pylist()]


def written(path: Path, target: Path, keep: list[bool]) -> np.ndarray:
    nothing = np.zeros(len(keep), np.int64)
    npy.write(path, target, np.array(keep, bool), nothing, nothing)
    return np.load(target, allow_pickle=False)


TYPES = ["f2", "f4", "f8", "i1", "u1", "i2", "i4", "i8", "u8", ">f4", ">f8", ">i2"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("wide", [False, True])
def test_vectors_of_every_type_and_order(tmp_path: Path, dtype: str, order: str, wide: bool) -> None:
    array = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], dtype, order=order)
    path = saved(tmp_path / "a.npy", array)
    want = VECTOR._replace(wide=wide)
    (records,) = read(path, want)
    assert rows(path, want) == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert (records.kind.tolist(), records.width.tolist(), records.start.tolist()) == ([TEXT] * 3, [3] * 3, [0, 1, 2])
    assert records.found
    assert records.id.to_pylist() == [None] * 3  # ids are positions
    assert read(path, want._replace(id=None))[0].id is None
    out = written(path, tmp_path / "out.npy", [False, True, True])
    expected = io.BytesIO()
    np.save(expected, np.array(array[1:], order=order))
    assert (tmp_path / "out.npy").read_bytes() == expected.getvalue()
    assert out.dtype == array.dtype


def test_any_name_is_its_field_and_a_row_has_no_others(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.npy", np.eye(2, dtype=np.float32))
    for field in ("vector", "x0..x1", "x*", "a+b", "array"):
        assert rows(path, Want(field, id="array", per="array", score="array", kind="vector")) == [[1, 0], [0, 1]]
    (records,) = read(path, Want("v", id="array", per="array", score="array", kind="vector"))
    assert records.id.to_pylist() == records.per.to_pylist() == [None, None]
    assert np.isnan(records.score).all()


def test_vectors_are_the_file_itself(tmp_path: Path) -> None:
    """They are not copied again where the numbers lie as they are wanted."""
    path = saved(tmp_path / "a.npy", np.arange(8, dtype=np.float32).reshape(4, 2))
    (chunk,) = npy.chunks(path, VECTOR)
    values = chunk.data.column(0).chunk(0).flatten()
    assert npy.parse(chunk, VECTOR, "").text.buffers()[2].address == values.buffers()[1].address


def test_nan_is_named_by_its_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npy, "CHUNK_BYTES", 16)
    array = np.ones((5, 2), np.float32)
    array[3, 1] = np.nan
    found = read(saved(tmp_path / "a.npy", array))
    assert [records.kind.tolist() for records in found] == [[TEXT] * 2, [TEXT, REJECTED], [TEXT]]
    (entry,) = found[1].rejected
    assert (entry.row, entry.raw) == (1, b"[1.0,NaN]")
    assert entry.reason.startswith("position 3 (rows count from 0), column 'array', item 2 of 2: nan is not a coordinate")


def test_chunks_go_on_from_any_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npy, "CHUNK_BYTES", 24)
    array = np.arange(20, dtype=np.float32).reshape(10, 2)
    path = saved(tmp_path / "a.npy", array)
    chunks = list(npy.chunks(path, VECTOR))
    assert [(chunk.start, len(chunk.data)) for chunk in chunks] == [(0, 3), (3, 3), (6, 3), (9, 1)]
    for chunk in chunks:
        assert rows(path, start=chunk.start) == array[chunk.start :].tolist()
    assert rows(path, start=10) == []
    monkeypatch.setattr(npy, "CHUNK_ROWS", 2)
    assert [chunk.start for chunk in npy.chunks(path, VECTOR)] == [0, 2, 4, 6, 8]


def test_arrays_of_codes(tmp_path: Path) -> None:
    want = Want("code", kind="code")

    def codes(array: np.ndarray) -> tuple[list[str], list[int]]:
        (records,) = read(saved(tmp_path / "a.npy", array), want)
        return [row.hex() for row in records.text.to_pylist()], records.width.tolist()

    assert codes(np.array([[1, 255], [0, 2]], np.uint8)) == (["01ff" + 12 * "0", "0002" + 12 * "0"], [16, 16])
    assert codes(np.array([258, 2**64 - 1], np.uint64)) == (["0201" + 12 * "0", "ff" * 8], [64, 64])
    assert codes(np.array([258], ">u8")) == (["0201" + 12 * "0"], [64])
    assert codes(np.array([[1, 2]], np.uint64)) == (["01" + 14 * "0" + "02" + 14 * "0"], [128])
    assert codes(np.array([[1, 0, 0, 0, 0, 0, 0, 0, 1], [0] * 9], bool)) == (["0101" + 12 * "0", "00" * 8], [9, 9])
    assert codes(np.asfortranarray(np.array([[1, 255], [0, 2]], np.uint8)))[0] == ["01ff" + 12 * "0", "0002" + 12 * "0"]


def test_whole_numbers_as_sets_and_tokens(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.npy", np.array([[5, 6], [-1, 5]], np.int16))
    (sets,) = read(path, Want(kind="elements"))
    assert [np.frombuffer(row, np.uint64).tolist() for row in sets.text.to_pylist()] == [Hasher(0).listed(row).tolist() for row in ([5, 6], [-1, 5])]
    (tokens,) = read(path, Want(kind="tokens"))
    assert [np.frombuffer(row, np.int64).tolist() for row in tokens.text.to_pylist()] == [[5, 6], [-1, 5]]


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.zeros(3, np.float32), r"float32 of shape \(3,\); expected vectors: .*array.reshape\(1, -1\)"),
        (np.zeros((), np.float32), r"of shape \(\)"),
        (np.zeros((2, 2, 2)), r"of shape \(2, 2, 2\)"),
        (np.zeros((2, 0)), r"of shape \(2, 0\)"),
        (np.zeros((2, 2), complex), "complex128"),
        (np.zeros((2, 2), bool), "bool"),
        (np.array([["a", "b"]]), "<U1"),
        (np.zeros((2, 2), "M8[s]"), "datetime64"),
        (np.zeros((2, 2), np.longdouble), "float128"),
        (np.array([[{}, None]], object), "Python objects, which cannot be read without running code from the file"),
        (np.zeros(2, [("x", "f4"), ("y", "f4")]), "records with named fields"),
        (np.zeros((2, 2), [("日", "f4")]), "version 3"),
    ],
)
@pytest.mark.filterwarnings("ignore:Stored array in format")
def test_what_is_no_array_of_vectors_is_refused(tmp_path: Path, array: np.ndarray, says: str) -> None:
    path = saved(tmp_path / "a.npy", array)
    with pytest.raises(DataError, match=says) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_other_kinds_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.npy", np.zeros((2, 2)))
    for kind in ("text", "string", "weighted", "sparse"):
        with pytest.raises(UsageError, match=f"numbers, not {kind}"):
            read(path, Want(kind=kind))
    for kind in ("elements", "code", "tokens"):
        with pytest.raises(DataError, match="float64"):
            read(path, Want(kind=kind))


def test_what_follows_the_array_would_be_lost(tmp_path: Path) -> None:
    with open(tmp_path / "a.npy", "wb") as file:
        np.save(file, np.zeros((2, 2)))
        np.save(file, np.zeros((2, 2)))
    with pytest.raises(DataError, match="continues after its array: 160 bytes are expected"):
        read(tmp_path / "a.npy")


def test_no_code_in_a_file_is_run(tmp_path: Path) -> None:
    raw = bytearray(saved(tmp_path / "a.npy", np.zeros((2, 2), np.float32)).read_bytes())
    place = raw.index(b"{")
    for header in (b"{'descr': __import__('os').remove('x'), ", b"[" * 110, b"{'descr': 'f4', 'fortran_order': 5,      "):
        (tmp_path / "b.npy").write_bytes(raw[:place] + header + raw[place + len(header) :])
        with pytest.raises(DataError, match=r"cannot be read as a \.npy file"):
            read(tmp_path / "b.npy")


def test_empty_arrays(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.npy", np.zeros((0, 4), np.float32))
    assert read(path) == []
    assert written(path, tmp_path / "out.npy", []).shape == (0, 4)


def test_nothing_kept_and_all_kept(tmp_path: Path) -> None:
    array = np.arange(6, dtype=">f8").reshape(3, 2)
    path = saved(tmp_path / "a.npy", array)
    assert written(path, tmp_path / "out.npy", [False] * 3).shape == (0, 2)
    written(path, tmp_path / "all.npy", [True] * 3)
    assert (tmp_path / "all.npy").read_bytes() == path.read_bytes()
    assert written(path, tmp_path / "few.npy", [True, True]).tolist() == [[0, 1], [2, 3]]  # rows behind --limit
    with pytest.raises(UsageError, match="output='ids'"):
        npy.write(path, tmp_path / "out.npy", np.ones(3, bool), np.zeros(3), np.zeros(3), pa.table({"cluster": [1, 2, 3]}))


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_kept_rows_are_the_bytes_that_were_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("npy")
    shape = data.draw(st.sampled_from([(7,), (7, 1), (7, 3)]))
    dtype = data.draw(st.sampled_from([np.dtype(name) for name in (*TYPES, "?")]))
    raw = data.draw(st.binary(min_size=7 * 3 * 8, max_size=7 * 3 * 8))
    array = np.frombuffer(raw, dtype if dtype.kind != "b" else np.uint8, int(np.prod(shape))).reshape(shape)
    array = array > 127 if dtype.kind == "b" else array
    array = np.array(array, order=data.draw(st.sampled_from("CF")))
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=7, max_size=7)))
    out = written(saved(folder / "a.npy", array), folder / "out.npy", keep.tolist())
    assert out.tobytes("A") == np.array(
        array[keep], order="F" if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    ).tobytes("A")
    assert (out.dtype, out.shape) == (array.dtype, (int(keep.sum()), *shape[1:]))


def test_a_file_is_recognized_by_name_and_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path / "a.npy", np.zeros((2, 2), np.float32))
    assert formats.by_name(path) == "npy"
    (tmp_path / "other").write_bytes(path.read_bytes())
    (named,) = resolve([tmp_path / "other"])
    assert named.format is npy
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    (piped,) = resolve(["-"], work=tmp_path / "work")
    assert rows(piped.path) == [[0, 0], [0, 0]]


@pytest.mark.parametrize(("dtype", "alone"), [(bool, True), (np.float64, False)])
def test_an_array_of_another_type_is_not_taken_for_one_item(tmp_path, dtype, alone):
    """One dimension of booleans is one code, of whole numbers many; floats are none, in one row or in many."""
    path, array = tmp_path / "a.npy", np.array([0, 1, 1], dtype)
    np.save(path, array)
    for codes, hint in ((path, "reshape(1, -1)"), (array, "[code]")):
        with pytest.raises(lw.LikewiseError, match="codes: an array of bool or of whole numbers") as error:
            lw.pairs(codes, by="hamming", within=1)
        assert (hint in str(error.value)) == alone
