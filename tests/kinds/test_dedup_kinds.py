"""Vectors and codes through the verbs: greedy removal in priority order, reports, threads, resumed runs; all against brute force."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import command_line
import likewise as lw
from likewise.io import batches
from likewise.io.formats import lines as byte_formats
from likewise.io.formats import npy
from likewise.io.work import Work
from likewise.progress import Progress
from likewise.runs import pair_search as search
from near_vectors import all_pairs, near, walked
from stopping import StoppedError, Stops, snapshot


def bits(seed: int, n: int) -> np.ndarray:
    """Codes of 64 bits, half of them a few bits from an earlier one; no two are equal."""
    draw = np.random.default_rng(seed)
    out = draw.integers(0, 2**64, n, np.uint64)
    for place in range(1, n, 2):
        out[place] = out[draw.integers(0, place)] ^ np.bitwise_or.reduce(np.uint64(1) << draw.integers(0, 64, 3).astype(np.uint64))
    return out[np.sort(np.unique(out, return_index=True)[1])]


GIVEN: dict[str, tuple[Any, dict[str, Any]]] = {
    "cosine": (near(11, 200), {"threshold": 0.9}),
    "angle": (near(12, 200), {"within": 25}),
    "l2": (near(13, 200), {"within": 4}),
    "l1": (near(14, 200), {"within": 16}),
    "hamming": (bits(15, 200), {"within": 3}),
}
#: So much that nothing is missed at this size, or all compared.
WAYS: dict[str, dict[str, Any]] = {"join": {"recall": 0.9999}, "exact": {"exact": True}}


def rows_of(by: str, **more: Any) -> list[dict[str, Any]]:
    values, _ = GIVEN[by]
    cells = [int(value).to_bytes(8, "little").hex() for value in values] if by == "hamming" else values.astype(float).tolist()
    return [
        {"id": place, "code" if by == "hamming" else "vector": cell, **{n: c[place] for n, c in more.items()}} for place, cell in enumerate(cells)
    ]


def removed_of(table: Any) -> dict[int, tuple[int, float]]:
    return {row["id"]: (row["kept_id"], row.get("similarity", row.get("distance"))) for row in table.to_pylist()}


ORDERS: dict[str, Any] = {
    "first": lambda n: list(range(n)),
    "last": lambda n: list(range(n))[::-1],
    "max:score": lambda n: sorted(range(n), key=lambda place: -(place * 7 % 11)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("keep", ORDERS)
@pytest.mark.parametrize("by", GIVEN)
def test_dedup_is_the_greedy_walk_in_keep_order(by, keep, way, small_steps):
    values, limit = GIVEN[by]
    shop = [place % 3 for place in range(len(values))]
    rows = rows_of(by, score=[place * 7 % 11 for place in range(len(values))], shop=shop)
    similar = all_pairs(values, by, next(iter(limit.values())))
    assert len(similar) > 60
    for per in (None, "shop"):
        result = lw.dedup(rows, by=by, keep=keep, per=per, **limit, **WAYS[way])
        inside = {pair: value for pair, value in similar.items() if per is None or shop[pair[0]] == shop[pair[1]]}
        assert removed_of(result.removed.to_arrow()) == walked(inside, ORDERS[keep](len(values)), "within" in limit)
        assert result.report["budget"]["recall"] == 1 if way == "exact" or by == "hamming" else result.report["budget"]["recall"] >= 0.9998


@pytest.mark.parametrize("by", ["cosine", "hamming"])
def test_items_of_preferred_files_stay(tmp_path, by, small_steps):
    values, limit = GIVEN[by]
    for name, part in (("a", values[:120]), ("b", values[120:])):
        np.save(tmp_path / f"{name}.npy", part)
    result = lw.dedup([tmp_path / "a.npy", tmp_path / "b.npy"], by=by, prefer="b.npy", out=tmp_path / "out", **limit, **WAYS["join"])
    order = [*range(120, len(values)), *range(120)]
    want = walked(all_pairs(values, by, next(iter(limit.values()))), order, "within" in limit)
    at = {"a.npy": 0, "b.npy": 120}
    got = [(at[row["source"]] + row["position"], at[row["kept_source"]] + row["kept_position"]) for row in result.removed.to_arrow().to_pylist()]
    assert dict(got) == {item: representative for item, (representative, _) in want.items()} and len(got) == len(want) > 30


@pytest.mark.parametrize("by", GIVEN)
def test_what_stays_and_what_goes(by):
    """At an ordinary recall: each removed item has a representative at or above the threshold; no two kept candidates are similar."""
    values, limit = GIVEN[by]
    result = lw.dedup(rows_of(by), by=by, recall=0.8, **limit)
    similar = all_pairs(values, by, next(iter(limit.values())))
    removed = removed_of(result.removed.to_arrow())
    assert all(
        representative not in removed and similar[min(item, representative), max(item, representative)] == value
        for item, (representative, value) in removed.items()
    )
    pairs = lw.pairs(rows_of(by), by=by, exact=True, **limit).to_arrow()
    left = [pair for pair in zip(pairs["id_a"].to_pylist(), pairs["id_b"].to_pylist(), strict=True) if not removed.keys() & {*pair}]
    assert len(left) <= (0 if by == "hamming" else 0.25 * len(similar)) and len(pairs) == len(similar)


@pytest.mark.parametrize("by", GIVEN)
@pytest.mark.parametrize("way", WAYS)
def test_pairs_and_audit_by_both_ways(by, way):
    values, limit = GIVEN[by]
    want = all_pairs(values, by, next(iter(limit.values())))
    result = lw.pairs(rows_of(by), by=by, **limit, **WAYS[way])
    assert {(row["id_a"], row["id_b"]): row.get("similarity", row.get("distance")) for row in result.to_arrow().to_pylist()} == want
    assert result.report["recall"] == (1 if way == "exact" or by == "hamming" else 0.9999)
    found = lw.audit(rows_of(by), by=by, sample=len(values), **limit, **WAYS[way])
    assert (found.pairs, found.found, found.expected_recall) == (len(want), len(want), result.report["recall"])


@pytest.mark.parametrize("by", ["cosine", "hamming"])
@pytest.mark.parametrize("steps", [None, "small"])
def test_threads_change_no_byte(tmp_path, by, steps, request):
    if steps:
        request.getfixturevalue("small_steps")
    values, limit = GIVEN[by]
    np.save(tmp_path / "in.npy", values)
    taken = []
    for threads in (1, 3):
        out = tmp_path / f"out{threads}"
        lw.dedup(tmp_path / "in.npy", by=by, out=out, threads=threads, pairs=True, **limit)
        taken.append({path.name: path.read_bytes() for path in out.rglob("*") if path.is_file() and path.name not in ("run.json", "report.html")})
    assert taken[0] == taken[1] and len(taken[0]) == 7


@pytest.mark.parametrize("by", ["l1", "hamming"])
def test_items_that_memory_does_not_hold_lie_in_the_work_folder(monkeypatch, by):
    """In another order than they were read, so they must be rearranged."""
    monkeypatch.setattr(Work, "in_memory", property(lambda self: 0, lambda self, size: None), raising=False)
    values, limit = GIVEN[by]
    result = lw.dedup(rows_of(by), by=by, keep="last", **limit, **WAYS["join"])
    assert removed_of(result.removed.to_arrow()) == walked(all_pairs(values, by, next(iter(limit.values()))), ORDERS["last"](len(values)), True)


# reports


def test_the_report_tells_of_the_join(tmp_path):
    """Bands of bits of codes, not of a plan; the curve is that of these bands, and falls for less similar pairs."""
    result = lw.dedup(rows_of("cosine"), by="cosine", threshold=0.9, recall=0.95, out=tmp_path / "out")
    report = result.report
    join = report["join"]
    assert report["method"]["plan"] is None and report["method"]["threshold_exact"] == "9/10" and report["method"]["target"] == 0.95
    assert join["by"] == "bits of vectors" and join["recall"] == report["budget"]["recall"] >= 0.95
    probabilities = [probability for _, probability in report["curve"]]
    assert probabilities == sorted(probabilities) and report["curve"][-1][0] == 1
    expected = 1 - (1 - (1 - math.acos(0.9) / math.pi) ** join["rows"]) ** join["bands"]
    assert join["recall"] == pytest.approx(expected, abs=2e-3)
    page = (tmp_path / "out/report.html").read_text()
    assert "joined by bit codes" in page and "collided in" not in page and "this was not measured" not in page
    assert json.loads((tmp_path / "out/manifest.json").read_text())["method"] == report["method"]


@pytest.mark.parametrize("by", ["hamming", "l2"])
def test_the_report_of_what_misses_nothing(tmp_path, by):
    result = lw.dedup(rows_of(by), by=by, exact=True if by == "l2" else None, out=tmp_path / "out", **GIVEN[by][1])
    report, run = result.report, json.loads((tmp_path / "out/run.json").read_text())
    assert report["curve"] == [] and report["budget"]["recall"] == 1 and report["join"]["dimension"] == (64 if by == "hamming" else 24)
    assert "no pair is missed" in (tmp_path / "out/report.html").read_text()
    assert run["engine"] == "local"
    assert run["compared"] == result.compared >= report["matched"] > 0 and "compared" not in report


@pytest.mark.parametrize("by", GIVEN)
def test_bands_by_hand_are_taken(by):
    """A layout that finds little is one that was asked for: buckets are what it says, for `pairs` as well."""
    limit = GIVEN[by][1]
    result = lw.dedup(rows_of(by), by=by, bands=2, rows=3, **limit)
    assert (result.report["method"]["plan"]["bands"], result.report["method"]["plan"]["rows"]) == (2, 3)
    assert result.report["buckets"]["number"] > 0 and "join" not in result.report
    assert len(lw.pairs(rows_of(by), by=by, bands=1, rows=40, **limit)) < len(lw.pairs(rows_of(by), by=by, exact=True, bands=1, rows=40, **limit))


@pytest.mark.parametrize(("by", "more"), [("cosine", {"exact": True}), ("l2", {}), ("hamming", {})])
def test_a_long_search_is_announced(monkeypatch, by, more):
    """200 items are few; a long search is announced before it begins, once, and in the report too. A sample takes less."""
    monkeypatch.setattr(search, "LONG", 5000)
    said: list[str] = []
    progress = Progress()
    warn, begin = progress.warn, progress.begin
    monkeypatch.setattr(progress, "warn", lambda message: (said.append(message), warn(message)))
    begun: list[tuple[str, int]] = []
    monkeypatch.setattr(progress, "begin", lambda stage, *rest: (begun.append((stage, len(said))), begin(stage, *rest)))
    result = lw.dedup(rows_of(by), by=by, progress=progress, **GIVEN[by][1], **more)
    kind = "codes" if by == "hamming" else "vectors"
    assert said == [f"{len(GIVEN[by][0])} {kind} will be compared; expect about 0 minutes on one core"]
    assert said[0] in result.report["warnings"] and {printed for stage, printed in begun if stage == "comparing"} == {1}


def test_the_share_of_pairs_that_is_wanted():
    """Of 4 items of A, 3 of B and 2 of both: 4 · 3 + 7 · 2 + 1 of 36."""
    assert search.wanted(np.array([1] * 4 + [2] * 3 + [3] * 2, np.uint8)) == 27 / 36
    assert search.wanted(np.zeros(0, np.uint8)) == 1


def test_dry_run_and_summary_say_how(tmp_path):
    np.save(tmp_path / "v.npy", GIVEN["cosine"][0])
    np.save(tmp_path / "c.npy", GIVEN["hamming"][0])

    def run(*args: object) -> Any:
        result = command_line.run(*args)
        assert result.exit_code == 0, result.stderr
        return result

    vectors, codes = ("--by", "cosine", "--threshold", 0.9), ("--by", "hamming", "--within", 3)
    assert "join by bits of codes; recall: at least 99.0% of pairs at 0.9" in run("dedup", tmp_path / "v.npy", "--dry-run", *vectors).stdout
    assert "all pairs compared; recall: 100%" in run("dedup", tmp_path / "v.npy", "--dry-run", "--exact", *vectors).stdout
    assert "exact similarity join; recall: 100%" in run("dedup", tmp_path / "c.npy", "--dry-run", *codes).stdout
    assert "% of pairs at 0.9 (" in run("dedup", tmp_path / "v.npy", "-o", tmp_path / "v", *vectors).stderr
    said = run("dedup", tmp_path / "c.npy", "-o", tmp_path / "c", *codes).stderr
    assert command_line.lines(said)["recall"] == "100% (exact similarity join)"
    assert "expected   100%\n" in run("audit", tmp_path / "c").stdout


def sparse_rows(path: Path) -> Path:
    """Three sparse vectors, of which each has one coordinate of its own."""
    rows = [{"id": f"{row}", "vector": {"indices": [1, 70_000 + row], "values": [1.0, 0.25]}} for row in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("by", "more", "sparse", "way"),
    [
        ("linf", ("--within", 1), False, "all pairs compared"),
        ("linf", ("--within", 1), True, "all pairs compared"),
        ("l1", ("--within", 1, "--exact"), True, "all pairs compared"),
        ("cosine", ("--threshold", 0.9), True, "exact similarity join"),
        ("cosine", ("--threshold", 0.9, "--exact"), False, "all pairs compared"),
    ],
)
def test_an_exact_search_says_whether_it_compares_all_pairs(tmp_path, by, more, sparse, way):
    np.save(tmp_path / "v.npy", GIVEN["cosine"][0])
    given = sparse_rows(tmp_path / "v.jsonl") if sparse else tmp_path / "v.npy"
    assert f"{way}; recall: 100%" in command_line.run("dedup", given, "--by", by, *more, "--dry-run").stdout
    said = command_line.run("dedup", given, "-o", tmp_path / "out", "--by", by, *more).stderr
    assert command_line.lines(said)["recall"] == f"100% ({way})"
    page = (tmp_path / "out/report.html").read_text()
    assert ("found by comparing all pairs, not by hashing" in page) == ("compared with each other" in page) == (way == "all pairs compared")


def test_an_output_is_audited_as_it_was_made(tmp_path):
    np.save(tmp_path / "v.npy", GIVEN["cosine"][0])
    for name, choices in {"join": {"recall": 0.9}, "exact": {"exact": True}, "hand": {"bands": 3, "rows": 9}}.items():
        lw.dedup(tmp_path / "v.npy", by="cosine", threshold="0.9", out=tmp_path / name, **choices)
        assert lw.audit(tmp_path / name) == lw.audit(tmp_path / "v.npy", by="cosine", threshold="0.9", **choices)
    assert lw.audit(tmp_path / "exact").expected_recall == 1 and lw.audit(tmp_path / "join").expected_recall == 0.9


# resumed runs


@pytest.mark.parametrize("by", ["l2", "hamming"])
def test_a_run_that_stops_at_any_step_goes_on_to_the_same_bytes(tmp_path, monkeypatch, by, small_steps):
    """Stopped before each step, with a torn write, and after it."""
    for module in (batches, byte_formats, npy):
        monkeypatch.setattr(module, "CHUNK_BYTES", 4000)
    values, limit = GIVEN[by]
    np.save(tmp_path / "in.npy", values)
    choices = {"by": by, "pairs": True, "recall": 0.9, **limit}
    stops = Stops(monkeypatch)
    lw.dedup(tmp_path / "in.npy", out=tmp_path / "whole", **choices)
    want, steps = snapshot(tmp_path / "whole"), len(stops.done)
    assert steps > 8
    for at, late in itertools.product(range(1, steps), (False, True)):
        out = tmp_path / f"stopped-{at}-{late}"
        stops.begin(at, late=late)
        with pytest.raises(StoppedError):
            lw.dedup(tmp_path / "in.npy", out=out, **choices)
        stops.begin(0)
        lw.dedup(tmp_path / "in.npy", out=out, resume=True, **choices)
        assert snapshot(out) == want


@pytest.mark.parametrize(("by", "other"), [("l2", {"within": 5}), ("l2", {"recall": 0.8}), ("l2", {"exact": True}), ("hamming", {"within": 4})])
def test_another_run_is_not_resumed(tmp_path, monkeypatch, by, other):
    values, limit = GIVEN[by]
    np.save(tmp_path / "in.npy", values)
    choices = {"by": by, "out": tmp_path / "out", **limit}
    stops = Stops(monkeypatch)
    lw.dedup(tmp_path / "in.npy", **{**choices, "out": tmp_path / "whole"})
    stops.begin(stops.done.index("decide") + 1)
    with pytest.raises(StoppedError):
        lw.dedup(tmp_path / "in.npy", **choices)
    stops.begin(0)
    with pytest.raises(lw.UsageError, match="cannot resume, because"):
        lw.dedup(tmp_path / "in.npy", resume=True, **{**choices, **other})
    assert len(lw.dedup(tmp_path / "in.npy", resume=True, **choices).removed) > 20
    assert pq.read_table(tmp_path / "out/removed.parquet").num_rows > 20
