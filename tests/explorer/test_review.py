"""Verdicts: how they are asked for, where they are kept, and what they say about precision."""

from __future__ import annotations

import json
import math
import os
import shutil
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import run
from explorers import get, post, words
from likewise.errors import FormatError
from likewise.explorer.output import Output
from likewise.explorer.review import Review
from likewise.report import precision
from likewise.report.precision import Near, interval
from likewise.report.verdicts import append, digest_of, path_of, read
from services import Service, command


def row_of(page: str) -> int:
    return int(page.partition('name="row" value="')[2].partition('"')[0])


def lines(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path_of(out).read_text().splitlines()]


@pytest.fixture
def copied(out: Path, tmp_path: Path) -> Path:
    """The output in a place of its own, because verdicts lie beside it."""
    return Path(shutil.copytree(out, tmp_path / "own"))


def test_verdicts_are_asked_for_one_after_the_other_and_audited(copied: Path, tmp_path: Path) -> None:
    """Four near-duplicates; the last verdict is withdrawn and given again."""
    with command(copied, tmp_path / "served") as served:
        seen = []
        for verdict in ("same", "different", "skip", "same"):
            page = get(served, "/review", range="all")
            seen.append(row_of(page))
            assert post(served, "/verdicts", row=seen[-1], verdict=verdict, range="all").headers["location"] == "/review?range=all"
        page = words(get(served, "/review", range="all"))
        assert "All pairs of this range have a verdict" in page and sorted(seen) == [0, 1, 2, 4]  # row 3 is the exact copy
        assert "all near-duplicates 4 2 1 1 66.7% 9.4% to 99.2%" in page
        assert post(served, "/verdicts", row=seen[-1], verdict="undo", range="all").headers["location"] == f"/review?range=all&row={seen[-1]}"
        assert row_of(get(served, "/review", range="all")) == seen[-1]
    with command(copied, tmp_path / "again") as served:  # the file is read
        assert row_of(get(served, "/review", range="all")) == seen[-1]
        post(served, "/verdicts", row=seen[-1], verdict="different", range="all")
    assert [line["verdict"] for line in lines(copied)] == ["same", "different", "skip", "same", "undo", "different"]
    assert {line["kept_id"] for line in lines(copied)} == {"a", "x"} and all(0.5 < line["similarity"] < 1 for line in lines(copied))  # type: ignore[operator]
    people = lw.audit(copied).to_dict()["people"]
    assert [people[0][name] for name in ("pairs", "same", "different", "skipped", "precision")] == [4, 1, 2, 1, 1 / 3]
    assert "all: 1 of 3 pairs are the same: 33.3% (0.84% to 90.6%); 1 skipped" in run("audit", copied).output
    assert run("audit", copied, "--json").exit_code == 0


def test_a_pair_that_somebody_picked_does_not_count(copied: Path, tmp_path: Path) -> None:
    with command(copied, tmp_path / "served") as served:
        first = row_of(get(served, "/review", range="all"))
        other = next(row for row in (0, 1, 2, 4) if row != first)
        post(served, "/verdicts", row=other, verdict="different", range="all")
        assert "0 pairs have a verdict" in words(get(served, "/review", range="all"))
        post(served, "/verdicts", row=first, verdict="same", range="all")
    [everything, *_] = lw.audit(copied).people
    assert (everything["same"], everything["different"]) in ((1, 0), (1, 1))  # the second one, if it is the next of the order


def test_an_audit_says_which_lines_do_not_count(copied: Path) -> None:
    file = path_of(copied)
    append(file, "another", 0, "same", {})
    append(file, digest_of(Output(copied).originals.manifest), -1, "same", {})
    file.write_text(file.read_text() + '{"row": 0')
    audit = lw.audit(copied)
    assert audit.people == [] and audit.warnings[:2] == [
        "own.verdicts.jsonl: 1 verdict is about another result that was in this place, and not counted",
        "own.verdicts.jsonl: 2 lines are damaged, and not counted",
    ]


def test_verdicts_come_from_pages_of_the_explorer_alone(explored: Service, out: Path) -> None:
    form = {"row": 0, "verdict": "same", "range": "all"}
    for origin in (None, "null", "http://evil.example", explored.url.replace("http:", "https:"), explored.url.replace("127.0.0.1", "localhost")):
        assert post(explored, "/verdicts", origin=origin, **form).status == 403
    for name, value in (("row", "99"), ("row", "0" * 20 + "99"), ("row", "-1"), ("row", ""), ("verdict", "maybe")):
        assert post(explored, "/verdicts", **{**form, name: value}).status == 422, (name, value)
    sent = {"Origin": explored.url}
    assert explored.ask("POST", "/verdicts", form, token=None, **sent).status == 415
    assert explored.ask("POST", "/verdicts", b"row=0", token=None, media="application/x-www-form-urlencoded", Host="evil.example").status == 421
    assert explored.ask("GET", "/verdicts", token=None).status in (404, 405)
    for method in ("PUT", "DELETE", "PATCH"):
        assert explored.ask(method, "/clusters", token=None).status == 405
    assert not path_of(out).exists()


def test_a_line_that_was_cut_off_harms_no_other(tmp_path: Path) -> None:
    path = tmp_path / "out.verdicts.jsonl"
    append(path, "d", 1, "same", {})
    append(path, "other", 2, "same", {})
    with open(path, "a") as file:
        file.write('{"row": 3, "verd')
    append(path, "d", 4, "skip", {"id": None})
    with open(path, "a") as file:
        file.write('[]\n{"row": "5", "verdict": "same", "removals": "d"}\n{"row": 6, "verdict": "maybe", "removals": "d"}\n\n')
    assert read(path, "d") == ({1: "same", 4: "skip"}, 1, 4)
    assert read(tmp_path / "none", "d") == ({}, 0, 0)


def test_the_interval_is_that_of_the_binomial_distribution() -> None:
    """At each end, the tail of the distribution is 2.5%, summed here in fractions."""
    for good, n in ((0, 1), (1, 1), (3, 10), (50, 60), (199, 200), (1000, 1000)):
        low, high = interval(good, n)

        def tail(first: int, last: int, p: float, n: int = n) -> float:
            share = Fraction(p).limit_denominator(10**9)
            return float(sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(first, last + 1)))

        assert (low == 0) == (good == 0) and (high == 1) == (good == n)
        assert good == 0 or tail(good, n, low) == pytest.approx(0.025, rel=1e-4)
        assert good == n or tail(0, good, high) == pytest.approx(0.025, rel=1e-4)


@pytest.mark.parametrize(("value", "threshold"), [("similarity", 0.5), ("distance", 4.0)])
def test_ranges_divide_the_near_duplicates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, threshold: float) -> None:
    """Each pair is in one range, also on the edges; orders are those of all pairs, so the first ones of each are a sample of it."""
    end = 0.0 if value == "distance" else 1.0
    inner = [threshold + (end - threshold) * (place + 0.5) / 99 for place in range(99)]
    values = [threshold, *inner, end, None, threshold]
    reasons = ["near"] * 101 + ["near", "exact"]
    pq.write_table(pa.table({value: pa.array(values, pa.float64()), "reason": reasons}), tmp_path / "r.parquet")
    near = Near(tmp_path / "r.parquet", value, threshold)
    order = near.first(None, 1000).tolist()
    assert sorted(order) == [*range(101)] and order != sorted(order)
    ranges = [near.rows(number).tolist() for number in range(10)]
    assert sorted(row for rows in ranges for row in rows) == [*range(101)] and all(len(rows) in (9, 10, 11) for rows in ranges)
    assert ranges[0] == [*range(11)] and ranges[9][-1] == 100  # next to the threshold, and at equality
    for number in range(10):
        assert near.first(number, 1000).tolist() == [row for row in order if row in ranges[number]]
        assert near.first(number, 3).tolist() == near.first(number, 1000).tolist()[:3]
    monkeypatch.setattr(precision, "AHEAD", 1)
    again = Near(tmp_path / "r.parquet", value, threshold)
    for most in (1, 2, 8, 5, 40, 1000):  # what is remembered grows
        assert again.first(None, most).tolist() == order[:most]
    said = dict.fromkeys(order[:7], "same") | {order[8]: "different"}
    assert (near.judged(None, said).same, near.judged(None, said).different) == (7, 0)
    assert near.next(None, said) == (order[7], 7)


def test_the_interval_covers_as_often_as_it_says() -> None:
    """Samples of 12 of 40 pairs, of which 30 are the same: the true share lies in at least 95% of intervals, by theory."""
    n, total, good = 12, 40, 30
    covered = sum(
        math.comb(good, k) * math.comb(total - good, n - k) / math.comb(total, n)
        for k in range(max(0, n - (total - good)), min(n, good) + 1)
        if interval(k, n)[0] <= good / total <= interval(k, n)[1]
    )
    assert covered >= 0.95


def test_verdicts_of_another_explorer_are_seen_and_a_full_disk_is_said(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = shutil.copytree(out, tmp_path / "copied")
    review, digest = Review(Output(copied), "near-duplicates", ("Removed", "Kept"), audited=True), digest_of(Output(copied).originals.manifest)
    append(review.path, digest, 2, "same", {})
    assert review.verdicts.of == {2: "same"}
    write = os.write
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda file, data: write(file, data[:5]))
        with pytest.raises(OSError, match="the verdict cannot be stored: No space left on device"):
            append(review.path, digest, 1, "different", {})
    assert review.verdicts[:] == ({2: "same"}, 0, 1)  # the line that was cut off
    append(review.path, digest, 1, "different", {})
    assert review.verdicts.of == {2: "same", 1: "different"}
    review.path.rename(tmp_path / "elsewhere")
    review.path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FormatError, match="it is a link"):
        _ = review.verdicts
