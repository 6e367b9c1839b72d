"""The findings of a run about test items, from the content of report.json, in words."""

from __future__ import annotations

from typing import Any

from likewise.drawing.numbers import counted

Report = dict[str, Any]

#: Tokens of a unit of text, in singular and plural.
TOKENS = {
    **dict.fromkeys(("words", "whitespace"), ("word", "words")),
    "chars": ("character", "characters"),
    "code": ("token", "tokens"),
    "lines": ("line", "lines"),
    "paragraphs": ("paragraph", "paragraphs"),
}


def run(report: Report) -> str:
    """The length of an n-gram, such as "13 words"."""
    return counted(report["leaks"]["ngram"], *TOKENS[report["leaks"]["unit"]])


def in_a_line(report: Report) -> str:
    """How many test items were seen, in one line."""
    found = report["leaks"]
    have = "has" if found["seen"] == 1 else "have"
    said = f"{found['seen']:,} of {counted(found['items'], 'test item')} {have} {run(report)} in common with documents"
    if found["preset"]:
        said += f", {found['contaminated']:,} contaminated by {found['preset']}"
    return said + (f"; {found['too_short']:,} too short to judge" if found["too_short"] else "")


def rule(report: Report) -> str:
    """The rule of the run, in a sentence."""
    found = report["leaks"]
    if found["removes"] is None:
        return f"Nothing is removed. Test items are judged by the {run(report)} in a row that they share with a document."
    if found["removes"] == "documents":
        return f"Documents that share {run(report)} in a row with a test item are removed completely."
    said = f"Each run of {run(report)} or more that a document shares with a test item is cut out of the document"
    said += f", with {counted(found['around'], 'character')} before and after it" if found["around"] else ""
    said += f". So are pieces between of fewer than {counted(found['least_piece'], 'character')}" if found["least_piece"] else ""
    many = f". Documents in more than {counted(found['most_pieces'], 'piece')} are removed completely" if found["most_pieces"] is not None else ""
    common = f". Runs that are in more than {counted(found['most_documents'], 'document')} are kept" if found["most_documents"] is not None else ""
    return f"{said}{many}{common}."


def why_removed(report: Report, short: str) -> str:
    """The reason why documents were removed whole; ``short``: that for those with too little left."""
    found = report["leaks"]
    if found["removes"] == "documents":
        return f"with {run(report)} of a test item"
    return short if found["most_pieces"] is None else f"in more than {counted(found['most_pieces'], 'piece')}, or {short}"
