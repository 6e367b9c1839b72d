"""The progress line of runs that Python starts."""

from __future__ import annotations

import io
import subprocess
import sys
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

import likewise as lw
from likewise.runs import live


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(live, "time", SimpleNamespace(perf_counter=lambda: now.seconds, time_ns=count().__next__))
    return now


def test_the_line_comes_after_a_second_and_shows_what_is_done(clock: Any) -> None:
    said: list[tuple[str, bool]] = []
    line = live.Line(lambda text, more: said.append((text, more)))
    line.begin("reading", 200, "bytes")
    clock.seconds += 0.9
    line.advance(20)
    line.finish()
    assert said == []
    line.begin("comparing", 200, "items")
    clock.seconds += 0.2
    line.advance(100)
    line.advance(50)  # too soon for another change
    clock.seconds += 0.2
    line.advance(10)
    line.begin("writing", 0, "items")
    clock.seconds += 1
    line.advance(1_500)
    line.finish()
    line.finish()
    assert said == [
        ("likewise: comparing, 50%, 1 s", True),
        ("likewise: comparing, 80%, 1 s", True),
        ("likewise: 1.3 s", False),
        ("likewise: writing, 1 s", True),
        ("likewise: writing, 1,500 items, 2 s", True),
        ("likewise: 2.3 s", False),
    ]
    assert list(line.seconds) == ["reading", "comparing", "writing"]


def test_a_terminal_gets_one_line_and_is_left_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "20")
    live.on_stream("likewise: comparing, 50%", True)
    live.on_stream("likewise: 1.3 s", False)
    assert sys.stderr.getvalue() == "\rlikewise: comparing\r\r" + " " * 19 + "\r"


@pytest.mark.parametrize(("given", "terminal", "shown"), [(None, True, True), (None, False, False), (True, False, True), (False, True, False)])
def test_where_the_line_is_shown(given: bool | None, terminal: bool, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal() if terminal else io.StringIO())
    monkeypatch.setattr(live, "PATIENCE_SECONDS", 0.0)
    lw.dedup(["a b c", "a b c"], by="words:1", progress=given)
    assert ("likewise: reading" in sys.stderr.getvalue()) == shown


def test_a_run_without_standard_error_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(live, "PATIENCE_SECONDS", 0.0)
    for given in (None, True):
        assert len(lw.pairs(["a b c", "a b c"], by="words:1", progress=given)) == 1


def test_short_work_on_a_terminal_shows_nothing(clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By this clock, it takes no time."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    lw.dedup(["a b c", "a b c"], by="words:1")
    assert sys.stderr.getvalue() == ""


def test_a_notebook_gets_one_output_that_changes(clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    published: list[tuple[str, bool]] = []
    identities = set()

    def publish(data: dict[str, str], metadata: object, *, transient: dict[str, str], update: bool) -> None:
        identities.add(transient["display_id"])
        published.append((data["text/plain"], update))

    shell = SimpleNamespace(kernel=object(), display_pub=SimpleNamespace(publish=publish))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(live, "PATIENCE_SECONDS", 0.0)
    lw.dedup(["a b c", "a b c"], by="words:1")
    assert [update for _, update in published] == [False] + [True] * (len(published) - 1) and len(identities) == 1
    assert published[0][0] == "likewise: reading and sketching, 0 s" and published[-1][0] == "likewise: 0.0 s"
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))  # imported by a script
    assert live.notebook() is None


def test_ipython_is_not_imported_to_look_for_it() -> None:
    code = "import sys, likewise as lw; lw.pairs(['a b', 'a b'], by='words:1'); print('IPython' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True).stdout == "False\n"
