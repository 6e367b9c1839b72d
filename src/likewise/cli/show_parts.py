"""likewise show, for an output of which parts of documents were removed"""

from __future__ import annotations

from typing import Any

from likewise.cli.screen import Screen, counted, figure, harmless
from likewise.cli.show_names import SCHEMA, item, named

#: Parts listed of a document, and characters shown of each; -v shows all.
MOST_PARTS, SHOWN = 20, 60


def show_parts(screen: Screen, originals: Any, place: tuple[str, int], removed: list[dict[str, Any]], members: list[dict[str, Any]]) -> None:
    """Print which parts of a document were removed, and which ones stand for others. removed, members: rows of removed.parquet."""
    found = originals.texts([place])[place]
    identity, text = originals.called(place, found), found.text
    left = originals.tokens_left(place)
    stands: dict[tuple[int, int], int] = {}
    for row in members:
        span = row["kept_start"], row["kept_end"]
        stands[span] = stands.get(span, 0) + 1
    if screen.json:
        parts = [
            {"start": row["start"], "end": row["end"], "text": text[row["start"] : row["end"]], originals.value: row[originals.value]}
            | {"reason": row["reason"], "kept": {name: row[f"kept_{name}"] for name in ("id", "source", "position", "start", "end")}}
            for row in removed
        ]
        others = [{"start": begin, "end": end, "text": text[begin:end], "removed": times} for (begin, end), times in sorted(stands.items())]
        gone = {} if left is None else {"tokens_left": left}
        status = "kept" if left is None else "removed"
        screen.document({"schema": SCHEMA, "status": status, **item(identity, place), **gone, "parts": parts, "stands_for": others})
        return
    level, title = originals.method["level"], named(originals, identity, place)
    lost = counted(len(removed), level)
    if left is not None:
        screen.data(f"{title} was removed: it lost {lost}, and {counted(left, 'token was', 'tokens were')} left:")
    elif removed:
        screen.data(f"{title} was kept without {counted(len(removed), f'of its {level}s', f'of its {level}s')}:")
    else:
        screen.data(f"{title} was kept unchanged: none of its {level}s were removed")
    most = None if screen.verbose else MOST_PARTS
    for row in removed[:most]:
        there = named(originals, row["kept_id"], (row["kept_source"], row["kept_position"]))
        why = f"{reason(row, originals.value)} {there}, characters {row['kept_start']:,}-{row['kept_end']:,}"
        screen.data(f"  {row['start']:,}-{row['end']:,}  {beginning(screen, text[row['start'] : row['end']])}  ({why})")
    if len(removed) > len(removed[:most]):
        screen.data(f"  ... and {len(removed) - MOST_PARTS:,} more; -v shows all")
    for (begin, end), times in sorted(stands.items())[:most]:
        screen.data(f"stands for {counted(times, f'other {level}')}: {begin:,}-{end:,}  {beginning(screen, text[begin:end])}")


def reason(row: dict[str, Any], value: str) -> str:
    """The reason of a removal in words, without the part that stays."""
    if row["reason"] != "near":
        return {"exact": "exact copy of", "equal": "same shingles as", "passage": "tokens in a row of", "rest": "short rest beside tokens of"}[
            row["reason"]
        ]
    return "near-duplicate of" if row[value] is None else f"{value} {figure(row[value], value)} to"


def beginning(screen: Screen, text: str) -> str:
    """The beginning of a part on one line, or all of it with -v."""
    line = " ".join(text.split())
    return harmless(line if screen.verbose or len(line) <= SHOWN else f"{line[: SHOWN - 2]} …")
