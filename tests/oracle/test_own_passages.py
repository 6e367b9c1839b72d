"""Removal of passages that a collection repeats, beside a slow reference, and written by every format."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw


def tokens(text: str) -> list[tuple[str, int, int]]:
    return [(found[0].lower(), found.start(), found.end()) for found in re.finditer(r"\w+", text)]


def later(texts: list[str], run: int) -> list[list[bool]]:
    """For each token, whether it lies in a run of tokens that occurs before; the first occurrence of a run stays where both overlap."""
    first: dict[tuple[str, ...], tuple[int, int]] = {}
    cut = [[False] * len(tokens(text)) for text in texts]
    for number, text in enumerate(texts):
        found = [token for token, _, _ in tokens(text)]
        for at in range(len(found) - run + 1):
            there = first.setdefault(tuple(found[at : at + run]), (number, at))
            if there != (number, at):
                begin = max(at, there[1] + run) if there[0] == number else at
                for token in range(begin, at + run):
                    cut[number][token] = True
    return cut


def left(text: str, cut: list[bool]) -> str:
    """The text without these tokens and what lies between two of them."""
    places, out, at = tokens(text), "", 0
    for number, (_, begin, end) in enumerate(places):
        if cut[number]:
            out += "" if number and cut[number - 1] else text[at:begin]
            at = end
    return out + text[at:]


def texts_of(rng: random.Random, n: int) -> list[str]:
    stock = [rng.choices("abcdefgh", k=rng.randint(3, 12)) for _ in range(12)]
    made = []
    for _ in range(n):
        words = [word for _ in range(rng.randint(0, 4)) for word in rng.choice([rng.choice(stock), rng.choices("ijklmnop", k=3)])]
        made.append("".join(rng.choice([word, word.upper()]) + rng.choice([" ", ", ", ". ", "\n", "\r\n", " é ", " 😀 "]) for word in words))
    return [text.replace(" é ", " ").replace("😀", "…") for text in made]


@pytest.mark.parametrize("run", [3, 4, 7])
@pytest.mark.parametrize("seed", range(5))
def test_later_occurrences_are_cut_out(seed: int, run: int) -> None:
    rng = random.Random(seed)
    texts = texts_of(rng, rng.choice([3, 40]))
    found = lw.dedup(texts, level="passage", min_run=run, min_left=0)
    cut = later(texts, run)
    assert found.kept["text"].tolist() == [left(text, some) for text, some in zip(texts, cut, strict=True)]
    counts, units = found.counts, found.report["units"]
    assert counts["kept"] == counts["read"] == len(texts)
    assert units["kept"] + units["removed"] == units["read"]
    assert units["characters"]["kept"] == sum(map(len, found.kept["text"].tolist()))
    for row in found.removed.to_dicts():
        assert row["kept_position"] <= row["position"]


def test_nothing_is_lost_where_documents_become_too_short() -> None:
    texts = ["a b c d\na b c d", "a b c d e f g h", "a b c d e f g h i j"]
    found = lw.dedup(texts, level="passage", min_run=4, min_left=6)
    assert found.kept["text"].tolist() == texts[1:]  # the first is too short, so what it has stays elsewhere
    assert found.dropped is not None and found.dropped["tokens_left"].tolist() == [4]


def test_symbols_are_no_tokens_of_passages() -> None:
    """As in `repeats`: rules and frames of tables lie between tokens."""
    texts = ["| a | b |\n|---|---|\n| c | d |", "a b = c d, and more"]
    assert lw.dedup(texts, level="passage", min_run=4).kept["text"].tolist() == [texts[0], ", and more"]
    assert lw.repeats(texts, min_run=4)["tokens"].tolist() == [4, 4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": "last"}, "keep='last': level='passage' removes runs of equal tokens; leave this out"),
        ({"ignore_common": 0.5, "per": "x"}, "leave these out"),
        ({"threshold": 0.8}, "leave this out"),
        ({"by": "cosine"}, "passages are counted in tokens; give their unit: words, whitespace, code, chars, lines, paragraphs"),
        ({"by": "words:5"}, "passages are counted in tokens"),
        ({"min_run": 0}, "give a number of tokens from 1 to 1000"),
        ({"output": "annotate"}, "a document has several parts"),
        ({"level": "line", "min_run": 3}, "only passages are runs of tokens; it needs level='passage'"),
        ({"level": None, "min_run": 3}, "only passages are runs of tokens"),
        ({"preset": "gpt3"}, "takes it only with a second collection"),
        ({"ignore": ["a"]}, "takes it only with a second collection"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, Any], message: str) -> None:
    with pytest.raises(lw.UsageError, match=message):
        lw.dedup(["a"], **({"level": "passage"} | options))


def test_files(tmp_path: Path) -> None:
    texts = ["é 😀 one two three four five\nmine", 'x "one, two" three\r\nfour five y', "z"]
    wanted = [texts[0], 'x "\n'.replace("\n", "") + " y", "z"]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    (tmp_path / "a.csv").write_bytes(("text,n\r\n" + "".join('"' + text.replace('"', '""') + '",1\r\n' for text in texts)).encode())
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        lw.dedup(tmp_path / name, level="passage", min_run=5, out=tmp_path / f"{name}.out")
        kept = tmp_path / f"{name}.out" / "kept" / name
        if name == "a.parquet":
            assert pq.read_table(kept)["text"].to_pylist() == wanted
        elif name == "a.jsonl":
            assert [json.loads(line)["text"] for line in kept.read_text().splitlines()] == wanted
        else:
            assert kept.read_bytes().decode() == "text,n\r\n" + "".join('"' + text.replace('"', '""') + '",1\r\n' for text in wanted)


def test_a_run_that_was_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(0)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts_of(rng, 300)))
    lw.dedup(tmp_path / "a.jsonl", out=tmp_path / "whole", level="passage", min_run=4)
    from likewise.passages import repeats, stretches
    from likewise.runs import removal

    stops = ((repeats, "counters"), (stretches, "stretched"), (repeats, "repeats"), (removal.outputs, "write"))
    for number, (module, name) in enumerate(stops):
        out = tmp_path / f"{number}"
        with monkeypatch.context() as patched:
            patched.setattr(module, name, lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                lw.dedup(tmp_path / "a.jsonl", out=out, level="passage", min_run=4)
        lw.dedup(tmp_path / "a.jsonl", out=out, level="passage", min_run=4, resume=True, threads=1)
        for path in (tmp_path / "whole").rglob("*"):
            if path.is_file() and path.name not in ("run.json", "report.html"):
                assert path.read_bytes() == (out / path.relative_to(tmp_path / "whole")).read_bytes(), path


def test_inside_a_collection_only_long_passages_are_cut_out_by_default():
    words = " ".join(f"w{i}" for i in range(50))
    for shared, cut in ((words, 1), (words.rpartition(" ")[0], 0)):
        found = lw.dedup([f"one {shared} two", f"three {shared} four"], level="passage")
        assert len(found.removed) == cut
        assert len(lw.dedup([f"one {shared} two"], against=[f"three {shared} four"], level="passage").removed) == 1


def test_the_report_lists_passages_and_not_the_pieces_around_them() -> None:
    common = "one two three four five six"
    found = lw.dedup([f"A start. {common} end.", f"Here: {common.upper()}", f"{common}, and four five six"], level="passage", min_run=5)
    (most,) = found.report["largest_parts"]
    assert (most["text"], most["times"], most["documents"]) == (common, 3, 3)
    assert (most["position"], most["start"], most["end"]) == (0, 9, 9 + len(common))
