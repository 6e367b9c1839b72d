"""Why a record was removed: an exact copy, a text of the same shingles, or a similar one."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import run

WORDS = " ".join(f"w{number}" for number in range(40))
#: Removed for the first: (text, similarity of shingles of five words, reason).
LIKE = [
    (WORDS, 1.0, "exact"),
    (WORDS.upper(), 1.0, "exact"),  # --normalize has lower
    (WORDS + "\n", 1.0, "equal"),
    (WORDS.replace(" ", ", "), 1.0, "equal"),
    (f"{WORDS} {WORDS} {WORDS}"[len("w0 ") :], 36 / 40, "near"),  # the four shingles across a seam are new
    (WORDS + " more", 36 / 37, "near"),
]


def reasons(found: lw.Removal) -> list[str]:
    return found.removed.to_arrow()["reason"].to_pylist()


def test_each_reason_is_distinguished_and_counted() -> None:
    found = lw.dedup([WORDS, *(text for text, _, _ in LIKE)], threshold=0.8)
    rows = found.removed.to_arrow().to_pylist()
    assert [row["reason"] for row in rows] == [reason for _, _, reason in LIKE]
    assert [row["similarity"] for row in rows] == pytest.approx([similarity for _, similarity, _ in LIKE])
    counts = found.report["counts"]
    assert (counts["removed_exact"], counts["removed_equal"], counts["removed_near"], counts["removed"]) == (2, 2, 2, 6)


def test_a_copy_of_a_text_of_the_same_shingles_is_one_too() -> None:
    assert reasons(lw.dedup([WORDS, WORDS + "\n", WORDS + "\n"])) == ["equal", "equal"]


def test_the_order_of_words_is_none_of_the_shingles_of_one_word() -> None:
    assert reasons(lw.dedup(["a b c", "c b a"], by="words:1")) == ["equal"]


@pytest.mark.parametrize(
    ("data", "more", "expected"),
    [
        ([WORDS, WORDS + "\n"], {"verify": "estimate"}, "near"),  # equal signatures tell of no equal sets
        ([WORDS, WORDS + "\n"], {"verify": "none"}, "near"),
        ([WORDS, WORDS + "\n"], {"exact": True}, "equal"),
        ([WORDS, WORDS + "\n"], {"by": "words:5/bag"}, "equal"),
        ([f"{WORDS} {WORDS} {WORDS}", f"{WORDS} {WORDS}"], {"by": "words:5"}, "equal"),
        ([f"{WORDS} {WORDS} {WORDS}", f"{WORDS} {WORDS}"], {"by": "words:5/bag", "threshold": 0.5}, "near"),
        ([[1.0, 2.0], [2.0, 4.0]], {"by": "cosine"}, "near"),  # of other length
        ([[3, 1, 2], [1, 2, 3]], {"by": "elements"}, "exact"),
        (["abc", "abd"], {"by": "levenshtein", "within": 1}, "near"),
    ],
)
def test_only_counted_shingles_are_said_to_be_the_same(data: list, more: dict, expected: str) -> None:
    assert reasons(lw.dedup(data, **more)) == [expected]


def test_the_reason_is_reported_wherever_a_removal_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of text files, one with a final line end."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for name, text in (("a.txt", WORDS), ("b.txt", WORDS + "\n"), ("c.txt", WORDS)):
        Path("in", name).write_bytes(text.encode())
    done = run("dedup", "in", "-o", "out")
    assert "2  (1 exact copy, 1 with the same shingles, 0 near-duplicates)" in done.stderr
    assert dict(zip(*pq.read_table("out/removed.parquet").select(["id", "reason"]).to_pydict().values(), strict=True)) == {
        "b.txt": "equal",
        "c.txt": "exact",
    }
    assert Path("out/kept/a.txt").read_bytes() == WORDS.encode()
    assert "same shingles by words:5 after normalization (nfc, lower, invisible)\n" in run("show", "out", "b.txt").stdout
    assert json.loads(run("show", "out", "b.txt", "--json").stdout)["reason"] == "equal"
    assert "equal  1.0000" in run("show", "out", "a.txt").stdout
    page = Path("out/report.html").read_text()
    assert "removed: 1 exact copy and 1 with the same shingles, in 1 cluster" in page and "Example 1: same shingles" in page
    assert run("report", "out").exit_code == 0
    assert "1 with the same shingles" in Path("out/report.html").read_text()


def test_a_resumed_run_tells_the_same_reasons(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in (WORDS, WORDS + "\n", WORDS)))

    class Stopped(lw.Progress):
        def begin(self, stage: str, total: int, unit: str) -> None:
            super().begin(stage, total, unit)
            if stage == "writing":
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lw.dedup(tmp_path / "a.jsonl", out=tmp_path / "out", progress=Stopped())
    found = lw.dedup(tmp_path / "a.jsonl", out=tmp_path / "out", resume=True)
    assert pa.table(found.removed)["reason"].to_pylist() == ["equal", "exact"]
