"""A service of an index that another server keeps: several services may write it."""

from __future__ import annotations

from pathlib import Path

import pytest

import likewise as lw
from index_servers import server
from services import service


@pytest.mark.parametrize("name", ["postgres", "valkey"])
def test_two_services_write_one_index(tmp_path: Path, name: str) -> None:
    address = server(name).address("served")
    lw.Index.create(address, by="words:1", threshold=0.8, durability="relaxed", overwrite=True).close()
    with service(tmp_path / "a", index=address) as one, service(tmp_path / "b", index=address) as other, one.client() as a, other.client() as b:
        assert a.add_new(["a b c d e", "f g h"], ids=["x", "y"])["added"].tolist() == [True, True]
        assert b.add_new(["a b c d e", "i j k"], ids=["z", "w"]).to_dicts() == [
            {"row": 0, "added": False, "id": "x", "similarity": 1.0},
            {"row": 1, "added": True, "id": "w", "similarity": None},
        ]
        assert [row["id"] for row in a.query(["i j k", "f g h"])] == ["w", "y"] and len(a) == len(b) == 3
        with pytest.raises(lw.IdError):
            a.add(["l m n"], ids=["w"])
        assert b.remove(["w", "x"]) == 2 and "w" not in a and "y" in a
        assert one.ask("GET", "/readyz").status == other.ask("GET", "/readyz").status == 200
        assert one.stop() == 0
        assert b.update(["o p q"], ids=["y"]).added == 1
