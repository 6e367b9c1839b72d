"""Facts about rows, outcomes and clusters do not depend on how rows are cut into blocks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.records import NO_TEXT, REJECTED, TEXT
from likewise.schema import REASONS
from likewise.stages import clusters
from likewise.stages.bins import scales_of
from likewise.stages.facts import NAMED, Block, Facts, Limits, merged, outcome_facts, row_facts
from likewise.stages.removed import Removed, examples, matrix, removed_for

LIMITS = Limits(few=3, short=2, judged=4, grouped=True, scored=True)
SCALES = scales_of(0.5, distances=False, whole=False)

#: A row: source, kind, tokens, has an id, shingles, most ignored ones; was removed, why, its value, for the second side.
ROWS = st.lists(
    st.tuples(
        *(st.integers(0, 4), st.sampled_from([TEXT, NO_TEXT, REJECTED]), st.integers(0, 5), st.booleans(), st.integers(0, 3), st.integers(0, 3)),
        *(st.booleans(), st.integers(0, len(REASONS) - 1), st.one_of(st.just(float("nan")), st.floats(0.5, 1)), st.booleans()),
    ),
    max_size=40,
).map(lambda rows: sorted(rows, key=lambda row: row[0]))
CUTS = st.lists(st.integers(0, 40), max_size=5)


def parts(number: int, cuts: list[int]) -> list[slice]:
    borders = sorted({0, number, *(min(cut, number) for cut in cuts)})
    return [slice(*pair) for pair in pairwise(borders)] or [slice(0, 0)]


def facts_of(rows: list[tuple[Any, ...]], part: slice) -> tuple[Facts, Facts]:
    """The facts about some rows and about their outcomes. The rank of row i is 10 i."""
    some = rows[part]
    types = (np.int64, np.uint8, np.uint32, bool, np.uint32, np.uint32, bool, np.int8, float, bool)
    columns = (np.array([row[place] for row in some], kind) for place, kind in enumerate(types))
    source, kind, tokens, ids, shingles, ignored, removed, reason, value, second = columns
    numbers, counts = np.unique(source, return_counts=True)
    block = Block(numbers, np.cumsum(counts), range(10 * part.start, 10 * part.stop, 10))
    read_columns = {"kind": kind, "tokens": tokens, "per": shingles, "score": value}
    read = row_facts(block, read_columns.__getitem__, ids, np.stack([shingles, np.minimum(shingles, ignored)], axis=1), LIMITS)
    return read, outcome_facts(block, removed, reason, value, second & removed, SCALES)


def plain(facts: Facts) -> dict[str, Any]:
    """Facts as values that can be compared."""
    counts = {name: dict(zip(facts.source.tolist(), count.tolist(), strict=True)) for name, count in facts.counts.items()}
    return {"counts": counts, "first": facts.first, "sums": {name: values.tolist() for name, values in facts.sums.items()}}


@given(ROWS, CUTS)
def test_facts_of_blocks_are_those_of_all_rows(rows: list[tuple[Any, ...]], cuts: list[int]) -> None:
    for whole, *some in zip(facts_of(rows, slice(0, len(rows))), *(facts_of(rows, part) for part in parts(len(rows), cuts)), strict=True):
        assert plain(merged(some)) == plain(whole)
        assert plain(merged([merged([]), merged(some[:1]), merged(some[1:])])) == plain(whole)


@given(ROWS)
def test_rows_are_counted_by_source_and_the_first_are_named(rows: list[tuple[Any, ...]]) -> None:
    read, outcomes = facts_of(rows, slice(0, len(rows)))
    readable = [row for row in rows if row[1] != REJECTED]
    assert read.by_source("read", range(5)) == [sum(row[0] == source for row in rows) for source in range(5)]
    assert read.total("rejected") == len(rows) - len(readable) and read.total("without_text") == sum(row[1] == NO_TEXT for row in rows)
    assert read.total("without_id") == sum(not row[3] for row in readable) and read.total("empty") == sum(row[2] == 0 for row in readable)
    assert read.total("zero") == sum(row[1] == TEXT and row[2] == 0 for row in rows) and read.total("few") == sum(0 < row[2] < 3 for row in readable)
    assert read.total("short") == sum(row[1] == TEXT and row[2] == 1 for row in rows)
    assert read.total("not_judged") == sum(row[1] == TEXT and row[2] < 4 for row in rows)
    assert read.total("bare") == sum(0 < row[4] <= row[5] for row in rows)
    assert read.total("grouped") == sum(row[4] > 0 for row in rows) and read.total("scored") == sum(row[8] == row[8] for row in rows)
    assert read.readable == len(readable) and read.have_ids == any(row[3] for row in readable)
    assert read.first["without_text"] == [10 * place for place, row in enumerate(rows) if row[1] == NO_TEXT][:NAMED]
    assert read.sums["shingles"].tolist() == [sum(row[4] for row in rows), sum(min(row[4:6]) for row in rows)]
    gone = [row for row in rows if row[6]]
    assert outcomes.by_source("removed", range(5)) == [sum(row[0] == source for row in gone) for source in range(5)]
    assert [outcomes.total(f"removed_{name}") for name in REASONS] == [sum(row[7] == reason for row in gone) for reason in range(len(REASONS))]
    assert outcomes.total("for_second") == sum(row[9] for row in gone)
    measured = [row[8] for row in gone if row[7] == 0 and row[8] == row[8]]
    assert outcomes.total("measured") == outcomes.sums["by_value"].sum() == len(measured)
    assert outcomes.sums["by_value"][-1] == sum(value >= 0.95 for value in measured)
    for place, first in ((0, 0.5), (40, 0.7), (99, 0.995)):  # steps of 0.005
        last = 2 if place == 99 else (101 + place) / 200
        assert outcomes.sums["histogram"][place] == sum(first <= value < last for value in measured)


#: A cluster: its component, items removed for the representative, near-duplicates among them, those of low value, the number of sources, and the
#: source of the other side. `block_of` makes of the component whether it is the first cluster of it.
CLUSTERS = st.lists(
    st.tuples(
        *(st.integers(0, 9), st.integers(30, 45) | st.integers(95, 105), st.integers(25, 40), st.integers(15, 30)),
        *(st.integers(1, 11), st.integers(-1, 2)),
    ),
    max_size=60,
)


def block_of(rows: list[tuple[int, ...]], heads: list[int]) -> clusters.Block:
    head, component, *columns, source = np.array([(head, *rows[head]) for head in heads], np.int64).reshape(-1, 7).T
    first = np.array([of not in (row[0] for row in rows[:at]) for at, of in zip(head.tolist(), component.tolist(), strict=True)], bool)
    return clusters.Block(head, first, *columns, source[source >= 0])


def plain_clusters(found: Any) -> Any:
    return found.tolist() if isinstance(found, np.ndarray) else [*map(plain_clusters, found)] if isinstance(found, tuple) else found


@given(CLUSTERS, st.integers(1, 4), st.randoms())
def test_facts_about_clusters_add_up(rows: list[tuple[int, ...]], number: int, random: Any) -> None:
    heads = list(range(len(rows)))
    whole = clusters.clusters(block_of(rows, heads))
    random.shuffle(heads)
    found = clusters.merged([clusters.clusters(block_of(rows, heads[part::number])) for part in range(number)])
    assert plain_clusters(found) == plain_clusters(whole)
    assert whole.number == len(rows) and whole.components == len({row[0] for row in rows})
    assert dict(zip(whole.sizes.tolist(), whole.times.tolist(), strict=True)) == Counter(row[1] + 1 for row in rows)
    by_size = sorted(range(len(rows)), key=lambda head: (-rows[head][1], head))
    assert plain_clusters(whole.largest) == columns_of([(head, rows[head][1] + 1, *rows[head][2:5]) for head in by_size[:10]])
    like = [head for head, row in enumerate(rows) if row[2] >= 30 and 4 * row[3] >= 3 * row[2]]
    assert (whole.templates, whole.templated) == (len(like), sum(rows[head][2] for head in like))
    odd = [head for head in by_size if head in like or rows[head][1] >= 99 or rows[head][4] >= 10]
    odd = sorted(odd, key=lambda head: head not in like)[:20]
    assert plain_clusters(whole.suspicious) == columns_of([(head, rows[head][1] + 1, *rows[head][2:5]) for head in odd])
    reasons = {name: of.tolist() for name, of in whole.suspicious.reasons.items()}
    assert reasons["template"] == [head in like for head in odd] and reasons["large"] == [rows[head][1] >= 99 for head in odd]
    assert dict(zip(whole.source.tolist(), whole.matched.tolist(), strict=True)) == Counter(row[5] for row in rows if row[5] >= 0)


def columns_of(rows: list[tuple[int, ...]]) -> list[list[int]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[]] * 5


#: A removed row: the kept one, the value, the reason.
REMOVED = st.lists(st.tuples(st.integers(0, 9), st.one_of(st.just(float("nan")), st.sampled_from([0.5, 0.6, 0.75, 0.9, 1.0])), st.integers(0, 2)))


def blocks_of(rows: list[tuple[Any, ...]], cuts: list[int]) -> list[Removed]:
    """Rows from 10 on, in blocks."""
    columns = [np.array([row[place] for row in rows], kind) for place, kind in enumerate((np.int64, float, np.int8))]
    whole = Removed(10 + np.arange(len(rows)), *columns)
    return [whole.at(np.arange(part.start, part.stop)) for part in parts(len(rows), cuts)]


def source_of(rows: np.ndarray) -> np.ndarray:
    return rows // 4


@given(REMOVED, CUTS, st.booleans(), st.sampled_from([None, 14, 30]))
def test_examples_are_next_to_their_values_and_have_different_kept_rows(
    rows: list[tuple[Any, ...]], cuts: list[int], distances: bool, end: int | None
) -> None:
    """A plain search: each row in order of its distance from the value, unless its kept row has been taken."""
    ends = None if end is None else np.full(100, end)
    limit, equal = (1.0, 0.0) if distances else (0.5, 1.0)
    found = examples(blocks_of(rows, cuts), limit, distances=distances, ends=ends, source_of=source_of)
    allowed = [(number, *row) for number, row in enumerate(rows, 10) if end is None or number < end]
    near = [row for row in allowed if row[3] == 0 and row[2] == row[2]]

    def first(some: list[tuple[Any, ...]], count: int, key: Callable[[tuple[Any, ...]], float]) -> list[int]:
        taken: dict[int, int] = {}
        for row in sorted(some, key=lambda row: (key(row), row[0])):
            taken.setdefault(row[1], row[0])
        return list(taken.values())[:count]

    values = zip((limit, (limit + equal) / 2, equal), (5, 3, 3), strict=True)
    expected = [first(near, count, lambda row, value=value: abs(row[2] - value)) for value, count in values]
    expected.append(first([row for row in allowed if row not in near], 2, lambda row: row[0]))
    assert [group.row.tolist() for group in found] == expected


@given(REMOVED, CUTS)
def test_removed_rows_are_counted_by_the_sources_of_both_rows(rows: list[tuple[Any, ...]], cuts: list[int]) -> None:
    group = np.array([0, 1, 2, *[3] * 100])
    found = matrix(blocks_of(rows, cuts), group, source_of)
    pairs = Counter((int(group[number // 4]), int(group[row[0] // 4])) for number, row in enumerate(rows, 10))
    assert {(own, kept): int(found[own, kept]) for own in range(4) for kept in range(4) if found[own, kept]} == pairs
    assert removed_for(blocks_of(rows, cuts), np.array([3, 5])).row.tolist() == [number for number, row in enumerate(rows, 10) if row[0] in (3, 5)]


@pytest.mark.parametrize("choices", [{}, {"level": "line"}, {"per": "lang", "id": "name"}, {"ignore_common": "20%"}], ids=str)
def test_a_report_does_not_depend_on_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choices: dict[str, Any]) -> None:
    """Rows of several files on two sides: copies, near-duplicates, unreadable ones, without a text, without an id, and empty ones."""
    for file in ("a", "b", "c", "second"):
        rows = [{"name": f"{file}{i}", "text": f"a page about {i % 7}\nwith line {i % 3} and end {i % 11}", "lang": "xy"[i % 2]} for i in range(25)]
        rows += [{"name": "none"}, {"text": ""}, {"name": 7, "text": "one"}, {"text": "and"}]
        lines = [json.dumps(row) for row in rows]
        (tmp_path / f"{file}.jsonl").write_text("\n".join([*lines[:9], '{"text": "not closed', *lines[9:]]) + "\n")
    inputs = [tmp_path / f"{file}.jsonl" for file in "abc"]
    reports = []
    for rows_of_block in (1 << 20, 3):
        monkeypatch.setattr("likewise.io.facts.ROWS", rows_of_block)
        reports.append(lw.dedup(inputs, against=tmp_path / "second.jsonl", by="words:1", threshold=0.6, on_error="skip", **choices).report)
    assert reports[0] == reports[1]
    assert reports[0].get("units", reports[0]["counts"])["removed"] > 20 and reports[0]["against"]["matched"] > 3 and len(reports[0]["warnings"]) >= 2
