"""The words of report.html for the options and counters of report.json."""

from __future__ import annotations

from likewise.kinds import kind_of, kinds, measures
from likewise.kinds.kind import MeasureFacts
from likewise.messages import shown

#: The compared value if elements are grouped.
GROUPED = "the Jaccard similarity of the sets of groups that their elements are of: the groups that both have, divided by those that either has"

#: Name of the tokens, by unit.
UNITS = {
    "words": "words",
    "whitespace": "runs between white space",
    "chars": "characters",
    "lines": "lines",
    "paragraphs": "paragraphs",
    "stopwords": "words from a stop word on",
    "bytes": "bytes",
    "code": "identifiers, literals and symbols",
    "tokens": "token ids",
}
#: Effect of each normalization step.
STEPS = {
    "nfc": "Unicode composed (NFC)",
    "nfkc": "Unicode composed, compatibility forms made plain (NFKC)",
    "lower": "lower case",
    "fold": "case folded",
    "accents": "accents dropped",
    "marks": "Arabic and Hebrew vowel marks dropped",
    "invisible": "invisible signs dropped",
    "punct": "punctuation dropped",
    "digits": "runs of digits made one 0",
    "space": "white space made one space",
}
#: Trustworthiness of a result, by the way pairs were checked.
VERIFIED = {
    "exact": "Every pair behind a removal was compared exactly, on the whole items. No removal rests on an estimate.",
    "estimate": "Pairs were checked by an estimate from signatures, not exactly: items a little below the threshold may have been removed.",
    "none": "Pairs were not checked at all: every item that shared a bucket with a kept one was removed, however unlike they may be.",
}
#: The noun and the remark of examples whose elements are grouped.
GROUPS = "groups", "What both have stands first, the elements of the removed item beside those of the kept one where they are not the same. "
#: Remark for grouped elements if the groups cannot be read again.
UNGROUPED = "Elements of one group count as one, so that not every mark is a difference. "
#: Outcome of an item.
COUNTS = {
    "kept": "kept",
    "rejected": "rejected: could not be read",
    "removed_exact": "removed as exact copies",
    "removed_equal": "removed for the same shingles",
    "removed_near": "removed as near-duplicates",
}
#: The item of a cluster that is kept.
KEEP = {
    "first": "the first in the order of the input",
    "last": "the last in the order of the input",
    "longest": "the longest",
    "shortest": "the shortest",
}
#: Column headings for the keys of a bucket in report.json: its example item, then numbers.
BUCKET = {
    "id": "an item of it",
    "source": "source",
    "position": "position",
    "row": "row of the input",
    "text": "what it holds",
    "items": "items",
    "cut": "comparisons cut",
}


def measured(by: str) -> MeasureFacts | None:
    """Return the measure of ``by``, as in the method of report.json; None for texts, which are cut into shingles."""
    return measures().get(by) or measures().get(by.split("/")[0])


def units(by: str) -> tuple[str, str]:
    """Return the unit of a value in singular and plural."""
    facts = measured(by)
    return facts.units if facts else ("", "")


def amount(value: float, name: str, by: str) -> str:
    """Return a similarity, or a distance with its unit, rounded for a sentence; unequal items never appear as equal.

    >>> amount(0.625, "similarity", "elements"), amount(0.99999994, "similarity", "cosine"), amount(4.576512, "distance", "angle")
    ('0.625', 'over 0.9999', '4.5765 degrees')
    >>> amount(1.0, "distance", "hamming"), amount(1234567.0, "distance", "l1")
    ('1 bit', '1,234,567')
    """
    if name == "similarity":
        return "over 0.9999" if 0.99995 <= value < 1 else f"{value:.4g}"
    number = f"{value:,.0f}" if float(value).is_integer() and value < 1e15 else f"{value:.5g}"
    return f"{number} {units(by)[value != 1]}".rstrip()


def limit(threshold: float, name: str, by: str) -> str:
    """Return the minimum similarity, or the maximum distance with its unit.

    >>> limit(0.99999, "similarity", "cosine"), limit(3.0, "distance", "hamming")
    ('0.99999', '3 bits')
    """
    return f"{shown(threshold)} {units(by)[threshold != 1] if name == 'distance' else ''}".rstrip()


def not_compared(counts: dict[str, int], by: str) -> list[str]:
    """Return the numbers of items kept without comparison, by reason; ``counts`` as in report.json."""
    facts = measured(by)
    kind = kind_of(facts.name) if facts else next(kind for kind in kinds().values() if kind.cut)
    numbers = (counts["empty"] - counts["without_text"], counts["without_text"], counts["too_short_to_judge"])
    said = (facts.empty if facts else "empty", f"without {kind.item}", "too short to judge")
    return [f"{number:,} {words}" for number, words in zip(numbers, said, strict=True) if number > 0]
