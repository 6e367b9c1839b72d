"""`lw.Client` answers as `lw.Index` does: the same tables, values, types and exceptions, for every kind of items."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from indexes import plain_index
from kind_items import MADE
from services import CRASH, READ, Service, service, until

TEXTS = [f"{a} {b} {c} d e f g h" for a in "pqr" for b in "xyz" for c in "mn"]
CHOICES: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "texts": ({"by": "words:1", "threshold": 0.7}, TEXTS),
    "estimates": ({"by": "words:1", "threshold": 0.7}, TEXTS),
    "elements": ({"by": "elements", "threshold": 0.6}, [value for value in MADE["elements"].values if value]),
    "weighted": ({"by": "weighted", "threshold": 0.8}, MADE["weighted"].values[:60]),
    "cosine": ({"by": "cosine", "threshold": 0.9, "dimension": 24}, MADE["cosine"].values[:60]),
    "l2": ({"by": "l2", "within": 2, "dimension": 24}, MADE["l2"].values),
    "hamming": ({"by": "hamming", "within": 5, "dimension": 96}, MADE["hamming"].values),
}
CHOICES["estimates"][0]["sets"] = "none"


@pytest.mark.parametrize("name", CHOICES)
def test_answers_are_those_of_the_index(tmp_path: Path, name: str) -> None:
    choices, items = CHOICES[name]
    half = len(items) // 2
    index = plain_index(**choices)
    with service(tmp_path / "served", **choices) as served, served.client() as client:
        for one in (index, client):
            one.add(items[:half], ids=[place if place % 3 else f"i{place}" for place in range(half)])
        assert same(lambda one: one.query(items), index, client) and len(client.query(items)) > half / 2
        assert same(lambda one: one.query(items, ids=[str(place) for place in range(len(items))], k=1), index, client)
        assert client.query(items).report == index.query(items).report
        if name != "estimates":
            assert same(lambda one: one.add_new(items[half:], k=2), index, client)
            ids = ["i0", 1, "new0", "new0", *range(1000, 1000 + len(items) - 4)]
            assert same(lambda one: one.add_new(items[::-1], ids=ids, k=2, existing="skip"), index, client)
            assert same(lambda one: one.remove(ids[2:]), index, client)
        assert same(lambda one: one.add(items[:2], ids=[1, "new"], existing="skip"), index, client)
        assert same(lambda one: one.update(items[:2], ids=["new", 1]), index, client)
        assert same(lambda one: one.remove(["new", "none"]), index, client)
        assert same(len, index, client) and same(lambda one: (1 in one, "1" in one), index, client)
        assert same(lambda one: one.query(items), index, client)
        assert {name: value for name, value in client.info().items() if name in ("by", "items", "bands", "sets")} == {
            name: value for name, value in index.info().items() if name in ("by", "items", "bands", "sets")
        }


def same(ask: Callable[[Any], Any], index: lw.Index, client: lw.Client) -> bool:
    a, b = ask(index), ask(client)
    assert type(a) is type(b) and (a == b), (a, b)
    return True


def test_items_may_have_the_forms_that_an_index_takes(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(5, 8)).astype(np.float32)
    with service(tmp_path / "v", by="cosine", threshold=0.9, dimension=8) as served, served.client() as client:
        client.add(vectors)
        assert client.query(vectors.tolist(), k=1)["similarity"].round(6).tolist() == [1.0] * 5
        assert list(client.query(pa.array(vectors.tolist()), k=1)["id"]) == [0, 1, 2, 3, 4]
    codes = np.random.default_rng(0).integers(0, 256, (5, 8), np.uint8)
    with service(tmp_path / "c", by="hamming", within=3, dimension=64) as served, served.client() as client:
        client.add([bytes(code) for code in codes])
        bits = np.unpackbits(codes, axis=1, bitorder="little").astype(bool)
        for form in (codes, codes.view(np.uint64), bits, [bytes(code).hex() for code in codes]):
            assert client.query(form, k=1)["distance"].tolist() == [0] * 5
    with service(tmp_path / "p", by="words:1", per="shop") as served, served.client() as client:
        client.add(["a b", "a b"], ids=["x", "y"], per=["s", "t"])
        assert client.query(["a b"], per=["t"])["id"].tolist() == ["y"]
        assert client.query("a b", per=["s"])["id"].tolist() == ["x"]


def test_errors_are_those_of_the_index(served: Service) -> None:
    index = plain_index(by="words:2")
    with served.client() as client, served.client(READ) as reader, served.client("no-such-token-at-all") as nobody:
        for one in (index, client):
            one.add(["a b c"], ids=["x"])
        wrong: list[Callable[[Any], Any]] = [
            lambda one: one.add(["d e f", "a b c"], ids=["z", "x"]),
            lambda one: one.update(["a b c"], ids=["nobody"]),
            lambda one: one.remove(["x", "nobody"], missing="refuse"),
            lambda one: one.query(["a"], threshold=5),
            lambda one: one.query(["a"], threshold=0.1),
        ]
        for ask in wrong:
            with pytest.raises(lw.UsageError) as of_index:
                ask(index)
            with pytest.raises(lw.UsageError) as of_client:
                ask(client)
            assert type(of_client.value) is type(of_index.value)
            if isinstance(of_index.value, lw.IdError):
                assert (of_client.value.ids, of_client.value.rows) == (of_index.value.ids, of_index.value.rows)
        for refused in (lambda: client.query([1]), lambda: client.add(["a"], ids=["x", "y"]), lambda: client.add([]), lambda: client.query(5)):
            with pytest.raises(lw.UsageError):
                refused()
        with pytest.raises(lw.UsageError, match="read only"):
            reader.remove(["x"])
        with pytest.raises(lw.UsageError, match="Bearer"):
            nobody.info()
        assert reader.query(["a b c"])["id"].tolist() == ["x"]
        client.remove(["x"])


def test_addresses_are_checked_and_a_service_that_is_not_there_is_named() -> None:
    for url in ("localhost:80", "ftp://x", "http://", "http://x?y", 5, "http://x:port"):
        with pytest.raises(lw.UsageError, match="address of a service"):
            lw.Client(url)  # type: ignore[arg-type]
    with pytest.raises(ConnectionRefusedError, match=r"http://127\.0\.0\.1:9: .*is the service running"):
        lw.Client("http://127.0.0.1:9").info()


def test_many_items_go_in_several_requests(served: Service) -> None:
    with served.client() as client:
        items = [f"w{place} x{place} y{place} z{place}" for place in range(600)]
        assert client.add(items, ids=range(600)).added == 600
        assert client.query(items)["query"].tolist() == list(range(600))
        long = ["long " * 100_000 + str(place) for place in range(3)]  # 500,000 bytes each
        assert len(client.query(long)) == 0
        with pytest.raises(lw.IdError):
            client.add([*items[:300], "a b"], ids=[*range(1000, 1300), 5])
        assert 1255 in client and 1256 not in client  # the first request was done
        assert client.remove([*range(600), *range(1000, 1256)]) == 856


def test_threads_share_a_client_and_each_gets_its_own_answers(served: Service) -> None:
    """Sixteen threads add, query and remove their own items: together, requests are grouped, and each answer is about its own items."""
    faults: list[BaseException] = []

    def work(client: lw.Client, me: int) -> None:
        try:
            for turn in range(12):
                ids = [f"{me}-{turn}-{place}" for place in range(3)]
                items = [f"a{one} b{one} c{one} d{one}" for one in ids]
                assert client.add_new(items, ids=ids)["id"].tolist() == ids
                assert client.query(items)["id"].tolist() == ids
                assert client.add_new(items[:1], ids=ids[:1])["added"].tolist() == [False]
                with pytest.raises(lw.IdError):
                    client.add(["q r s"], ids=ids[:1])
                assert client.add(items, ids=ids, existing="skip").new == [False] * 3
                assert client.remove(ids) == 3
        except BaseException as error:
            faults.append(error)

    with served.client() as client:
        before = len(client)
        threads = [threading.Thread(target=work, args=(client, me)) for me in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == [] and len(client) == before


def test_a_connection_that_the_service_closed_is_opened_again(tmp_path: Path) -> None:
    with service(tmp_path / "served", limits={"idle_seconds": 1}) as served, served.client() as client:
        for place in range(2):
            client.add(["a b"], ids=[place])
            until(lambda: served.connections() == 0)
        assert len(client) == 2
        with pytest.raises(lw.LikewiseError, match="stopped"):
            client.add([CRASH])


def test_ids_that_only_python_and_files_can_have_are_answered(tmp_path: Path) -> None:
    """Whole numbers of any length and halves of surrogate pairs."""
    ids = ["a", 10**30, "\ud800"]
    with lw.Index.create(tmp_path / "a.lw", by="words:1") as index:
        index.add([TEXTS[0]] * 3, ids=ids)
    with service(tmp_path / "served", index=str(tmp_path / "a.lw")) as served, served.client() as client:
        assert client.query([TEXTS[0]])["id"].tolist() == ids
        assert not any(one in client for one in (None, [1], 10**5000))


def test_a_password_in_an_address_is_not_shown() -> None:
    with pytest.raises(lw.UsageError, match="give the address of a service") as error:
        lw.Client("http://user:s3cret@127.0.0.1:8080")
    assert "s3cret" not in str(error.value)


def test_ids_that_are_none_are_refused_as_by_the_index(served: Service) -> None:
    with served.client() as client, plain_index(by="words:2") as index:
        for ids in (["a", 2.5], ["a", True], np.array([True, False]), pa.array([7, 2.5])):
            said = []
            for one in (index, client):
                for call in (
                    one.add,
                    one.add_new,
                    one.update,
                    lambda items, ids, one=one: one.query(items, ids=ids),
                    lambda _, ids, one=one: one.remove(ids),
                ):
                    with pytest.raises(lw.UsageError) as error:
                        call(["a b", "c d"], ids)
                    said.append(str(error.value))
            assert said == said[:5] * 2 and "give strings or whole numbers" in said[0]
            assert not any(one in client for one in (2.5, True))


def test_ids_of_arrow_and_numpy_are_sent_as_the_index_keeps_them(served: Service) -> None:
    dates = pa.array([datetime.date(2026, 1, 2)])
    with served.client() as client, plain_index(by="words:2") as index:
        for ids in (np.array([7.0]), pa.array([7]), dates, [np.int32(9)]):
            assert same(lambda one, ids=ids: one.add(["a date"], ids, existing="replace").ids, index, client)
            assert same(lambda one, ids=ids: one.query(["a date"], ids=ids, k=1)["query"].tolist(), index, client)
            assert same(lambda one, ids=ids: one.remove(ids), index, client)


def test_the_number_of_items_is_asked_alone(tmp_path: Path) -> None:
    with service(tmp_path / "served", by="words:2") as served, served.client() as client:
        client.add(["a b", "c d", ""])
        assert len(client) == 3
        served.logged(path="/v1/count")
        assert [line["path"] for line in served.log() if "path" in line] == ["/v1/info", "/v1/add", "/v1/count"]
