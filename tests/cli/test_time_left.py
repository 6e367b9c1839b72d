"""The time left in a stage, by a clock that is set by hand."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from likewise.cli.progress import ScreenProgress
from likewise.cli.screen import Screen
from likewise.cli.time_left import TimeLeft

#: Seconds between two marks of the stages below.
STEP = 0.1


def estimates(total: float, done_at: Callable[[float], float], until: float, left: TimeLeft | None = None) -> list[tuple[float, float | None]]:
    """(second, estimate) of a stage that has done ``done_at(second)`` of ``total``."""
    left = left or TimeLeft(total)
    found = []
    for number in range(round(until / STEP) + 1):
        clock = number * STEP
        if done_at(clock) > 0:
            left.mark(done_at(clock), clock)
        found.append((clock, left.seconds(clock)))
    return found


def test_at_a_constant_speed_the_estimate_is_the_truth_once_two_seconds_have_passed() -> None:
    found = estimates(1000, lambda clock: 10 * clock, 99)
    assert all(seconds is None for clock, seconds in found if clock < 1.8)
    shown = [(clock, seconds) for clock, seconds in found if seconds is not None]
    assert next(clock for clock, _ in shown) < 2.5 and len(shown) > 960
    assert all(seconds == pytest.approx(100 - clock, abs=2 * STEP) for clock, seconds in shown)


def test_what_comes_before_the_first_work_is_no_part_of_the_speed() -> None:
    """As by compilation: 60 seconds pass, and then the stage takes 20."""
    found = estimates(200, lambda clock: max(0.0, 10 * (clock - 60)), 79)
    shown = [(clock, seconds) for clock, seconds in found if seconds is not None]
    assert 61.5 < shown[0][0] < 63
    assert all(seconds == pytest.approx(80 - clock, abs=0.5) for clock, seconds in shown)


def test_while_the_speed_changes_nothing_is_said() -> None:
    """1 a second for 10 seconds, and then 100 a second: of 2010 the end comes after 30 seconds."""
    found = estimates(2010, lambda clock: clock if clock < 10 else 10 + 100 * (clock - 10), 29)
    assert all(seconds is None for clock, seconds in found if 10.2 < clock < 12.5)
    later = [(clock, seconds) for clock, seconds in found if clock > 10.2 and seconds is not None]
    assert later[0][0] < 14
    assert all(seconds == pytest.approx(30 - clock, rel=1 / 3) for clock, seconds in later if clock < 14)
    assert all(seconds == pytest.approx(30 - clock, abs=0.1) for clock, seconds in later if clock >= 14)


def test_a_speed_that_rises_all_the_time_is_estimated_within_a_third_when_anything_is_said() -> None:
    """Work done goes with the square of time: of 10,000 all is done after 100 seconds. The speed looked back on is at most a quarter older."""
    shown = [(clock, seconds) for clock, seconds in estimates(10_000, lambda clock: clock**2, 99) if seconds is not None]
    assert shown
    for clock, seconds in shown:
        rest = (10_000 - clock**2) / (2 * clock)  # at the speed of this moment
        assert rest * 0.99 <= seconds + 1 and seconds <= rest * 4 / 3 + 1


@pytest.mark.parametrize("pause", [3.0, 50.0])
def test_a_stage_that_stands_still_says_nothing_after_a_while(pause: float) -> None:
    left = TimeLeft(1000)
    estimates(1000, lambda clock: 10 * clock, 10, left)
    assert left.seconds(10) == pytest.approx(90, abs=0.5)
    assert left.seconds(11) == pytest.approx(89, abs=0.5), "the time passes meanwhile"
    assert left.seconds(10 + pause) is None


def test_a_clock_that_was_put_back_begins_the_estimate_anew() -> None:
    """Seconds of compilation are taken off the clock when it ends."""
    left = TimeLeft(1000)
    estimates(1000, lambda clock: 10 * clock, 30, left)
    left.mark(301, 5.0)
    assert left.seconds(5.0) is None and len(left.marks) == 1


def test_many_marks_take_little_room() -> None:
    left = TimeLeft(10**9)
    for number in range(100_000):
        left.mark(number + 1, number * 1e-3)
    assert len(left.marks) <= 100


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr("likewise.cli.progress.time.perf_counter", lambda: now[0])
    return now


def test_work_of_an_earlier_run_counts_as_done_but_not_as_speed(clock: list[float]) -> None:
    printed = ScreenProgress(Screen(quiet=True))
    printed.begin("reading", 1000, "items")
    printed.resumed(800)
    assert printed.state() == "80% of 1,000 items"
    for _ in range(50):
        clock[0] += 0.1
        printed.advance(1)
    assert printed.state() == "85% of 1,000 items, 10 items/s, 15.0 s left"
    assert printed.bytes_read == 0


def test_each_stage_is_estimated_by_itself(clock: list[float]) -> None:
    printed = ScreenProgress(Screen(quiet=True))
    for stage, each in (("reading", 1), ("joining", 10)):
        printed.begin(stage, 1000, "items")
        assert " left" not in printed.state()
        for _ in range(50):
            clock[0] += 0.1
            printed.advance(each)
    assert printed.state() == "50% of 1,000 items, 100 items/s, 5.0 s left"


class Heard(lw.Progress):
    """Records the calls by stage: total, unit, work of an earlier run, work done."""

    def __init__(self) -> None:
        super().__init__()
        self.stages: list[list] = []

    def begin(self, stage: str, total: int, unit: str) -> None:
        super().begin(stage, total, unit)
        self.stages.append([stage, total, unit, 0, 0])

    def resumed(self, amount: int) -> None:
        super().resumed(amount)
        self.stages[-1][3] += amount

    def advance(self, amount: int) -> None:
        super().advance(amount)
        self.stages[-1][4] += amount

    def of(self, stage: str) -> list:
        return next(found[1:] for found in self.stages if found[0] == stage)


def texts(number: int) -> list[dict]:
    return [{"id": i, "text": " ".join(f"w{i % 7}x{j}" for j in range(3 + i))} for i in range(number)]


@pytest.mark.parametrize("verb", ["dedup", "pairs", "audit"])
def test_a_join_counts_the_elements_of_its_sets(verb: str) -> None:
    """Large sets take longer, and come first. A text of 3 + i words has 3 + i sets of one word, without copies."""
    heard = Heard()
    getattr(lw, verb)(texts(40), by="words:1", threshold=0.5, progress=heard, **({} if verb == "audit" else {"exact": True}))
    elements = sum(3 + i for i in range(40))
    assert heard.of("joining") == [elements, "elements", 0, elements]


def test_files_are_read_and_written_by_their_size(tmp_path: Path) -> None:
    """If file sizes do not show how much is read, as with compressed files, the total is unknown."""
    lines = "".join(json.dumps(row) + "\n" for row in texts(20))
    (tmp_path / "a.jsonl").write_text(lines)
    heard = Heard()
    lw.dedup(tmp_path / "a.jsonl", threshold=0.9, out=tmp_path / "out", progress=heard)
    assert heard.of("reading and sketching") == [len(lines), "bytes", 0, len(lines)]
    assert heard.of("writing") == [20, "rows", 0, 20]
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    pq.write_table(pa.Table.from_pylist(texts(20)), tmp_path / "c.parquet")
    for name in ("b.jsonl.gz", "c.parquet"):
        heard = Heard()
        lw.pairs([tmp_path / "a.jsonl", tmp_path / name], threshold=0.9, progress=heard)
        assert heard.of("reading and sketching")[:3] == [0, "bytes", 0]


def test_a_resumed_run_tells_what_was_read_before(tmp_path: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in texts(20))
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(lines)

    class Stopped(Heard):
        def advance(self, amount: int) -> None:
            super().advance(amount)
            raise KeyboardInterrupt

    inputs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    with pytest.raises(KeyboardInterrupt):
        lw.dedup(inputs, threads=1, out=tmp_path / "out", progress=Stopped())
    heard = Heard()
    lw.dedup(inputs, threads=1, out=tmp_path / "out", resume=True, progress=heard)
    assert heard.of("reading and sketching") == [2 * len(lines), "bytes", len(lines), len(lines)]
