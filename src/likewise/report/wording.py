"""The words of report.html for the choices and counters of report.json."""

from __future__ import annotations

from typing import NamedTuple

from likewise.messages import counted, shown

#: Kind of payload of sets (records.PAYLOADS).
SETS = ("elements", "weighted")


class Meaning(NamedTuple):
    """What a measure compares, and what its value is."""

    item: str
    value: str
    empty: str = "empty"  # what items are called that hold nothing that could be compared
    units: tuple[str, str] = ("", "")  # of the value: of one, and of several


EDITS = ("edit", "edits")
FEATURES, NO_DIRECTION = "a set of feature vectors", "without a feature that has a direction"
#: What is compared as it is, not cut into shingles.
MEASURES = {
    "elements": Meaning(
        "a set of elements",
        "the Jaccard similarity of these sets: what both hold, divided by what either holds; 1 is equal, 0 has nothing in common",
    ),
    "weighted": Meaning(
        "a set of elements with weights",
        "their weighted Jaccard similarity: the lesser weights of the elements, summed, divided by the sum of the greater; 1 is equal",
    ),
    "cosine": Meaning(
        "a vector",
        "the cosine of the angle between them, whatever their lengths: 1 is one direction, 0 a right angle, -1 the opposite",
        "of zeros only",
    ),
    "angle": Meaning(
        "a vector",
        "the angle between them in degrees, whatever their lengths: 0 is one direction, 90 a right angle, 180 the opposite",
        "of zeros only",
        ("degree", "degrees"),
    ),
    "l1": Meaning("a vector", "the sum of the differences of their numbers, each without its sign (L1)"),
    "l2": Meaning("a vector", "the square root of the sum of the squared differences of their numbers (L2, Euclid's)"),
    "features": Meaning(
        FEATURES,
        "the share of their features that can be paired one with one, by histograms of directions: the lesser counts of the bins, summed, divided "
        "by the sum of the greater; 1 is equal",
        NO_DIRECTION,
    ),
    "features/one-to-many": Meaning(
        FEATURES, "the cosine of the counts of their histograms of directions: the pairs of features that share a bin; 1 is equal", NO_DIRECTION
    ),
    "features/chamfer": Meaning(
        FEATURES, "the mean cosine of a feature and the nearest one of the other set, the mean of both ways; 1 is equal", NO_DIRECTION
    ),
    "features/assignment": Meaning(
        FEATURES,
        "the sum of the cosines of features that are paired one with one in the best way, divided by the size of the larger set; 1 is equal",
        NO_DIRECTION,
    ),
    "hamming": Meaning("a code of bits", "the number of bits in which they differ", units=("bit", "bits")),
    "edit": Meaning("a string", "the least number of characters to delete from one and to insert into it to make the other of it", units=EDITS),
    "levenshtein": Meaning("a string", "the least number of characters to delete, insert or replace to make one out of the other", units=EDITS),
}
TEXTS = Meaning("a text", "")
#: What is compared when elements stand in groups.
GROUPED = "the Jaccard similarity of the sets of groups that their elements are of: the groups that both have, divided by those that either has"

#: What a token is, by unit.
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
#: What a normalisation step does.
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
#: What the way of checking means for trust.
VERIFIED = {
    "exact": "Every pair behind a removal was compared exactly, on the whole items. No removal rests on an estimate.",
    "estimate": "Pairs were checked by an estimate from signatures, not exactly: items a little below the threshold may have been removed.",
    "none": "Pairs were not checked at all: every item that shared a bucket with a kept one was removed, however unlike they may be.",
}
#: How codes are shown.
OF_CODES = "Of a number the lowest byte comes first, and bit 0 is the lowest bit of the first byte."
#: Kind of payload of an item, or groups of elements -> what differs between two examples and is marked, and what is to be said of it.
MARKED = {
    **dict.fromkeys(("text", "tokens"), ("words", "Case and signs are marked too, although the comparison may pass over them. ")),
    "elements": ("elements", "What both hold stands first. "),
    "weighted": ("elements and weights", "What both hold with one weight stands first. "),
    "sparse": ("coordinates", "What both hold with one value stands first. "),
    "groups": ("groups", "What both have stands first, the elements of the removed item beside those of the kept one where they are not the same. "),
    "code": ("hexadecimal digits", f"{OF_CODES} "),
    "string": ("characters", ""),
}
#: What is to be said where elements stand in groups, and the groups cannot be read again.
UNGROUPED = "Elements of one group count as one, so that not every mark is a difference. "
#: What became of an item.
COUNTS = {
    "kept": "kept",
    "rejected": "rejected: could not be read",
    "removed_exact": "removed as exact copies",
    "removed_equal": "removed for the same shingles",
    "removed_near": "removed as near-duplicates",
}
#: Which item of a cluster stays.
KEEP = {
    "first": "the first in the order of the input",
    "last": "the last in the order of the input",
    "longest": "the longest",
    "shortest": "the shortest",
}
#: The same, of sets.
KEEP_SETS = {"longest": "the one of most elements", "shortest": "the one of fewest elements"}
#: What report.json may tell of a bucket: the item that stands for it, and the numbers.
BUCKET = {
    "id": "an item of it",
    "source": "source",
    "position": "position",
    "row": "row of the input",
    "text": "what it holds",
    "items": "items",
    "cut": "comparisons cut",
}


def meaning(by: str) -> Meaning:
    """What is compared by ``by``, as the method in report.json has it."""
    return MEASURES.get(by, TEXTS)


def amount(value: float, name: str, by: str) -> str:
    """A similarity, or a distance with its unit, in a sentence; what is not equal never looks as if it were.

    >>> amount(0.625, "similarity", "elements"), amount(0.99999994, "similarity", "cosine"), amount(4.576512, "distance", "angle")
    ('0.625', 'over 0.9999', '4.5765 degrees')
    >>> amount(1.0, "distance", "hamming"), amount(1234567.0, "distance", "l1")
    ('1 bit', '1,234,567')
    """
    if name == "similarity":
        return "over 0.9999" if 0.99995 <= value < 1 else f"{value:.4g}"
    number = f"{value:,.0f}" if float(value).is_integer() and value < 1e15 else f"{value:.5g}"
    return f"{number} {meaning(by).units[value != 1]}".rstrip()


def limit(threshold: float, name: str, by: str) -> str:
    """The least similarity, or the greatest distance with its unit.

    >>> limit(0.99999, "similarity", "cosine"), limit(3.0, "distance", "hamming")
    ('0.99999', '3 bits')
    """
    return f"{shown(threshold)} {meaning(by).units[threshold != 1] if name == 'distance' else ''}".rstrip()


def removals(counts: dict[str, int]) -> list[str]:
    """How many items were removed, by the reason; ``counts`` as report.json has them."""
    equal = counts.get("removed_equal", 0)  # which earlier versions counted as near-duplicates
    exact, near = counted(counts["removed_exact"], "exact copy", "exact copies"), counted(counts["removed_near"], "near-duplicate")
    return [exact, *([f"{equal:,} with the same shingles"] if equal else []), near]


def aside(counts: dict[str, int], by: str) -> list[str]:
    """What was kept without being compared; ``counts`` as report.json has them."""
    what = meaning(by)
    numbers = (counts["empty"] - counts["without_text"], counts["without_text"], counts["too_short_to_judge"])
    said = (what.empty, f"without {what.item}", "too short to judge")
    return [f"{number:,} {words}" for number, words in zip(numbers, said, strict=True) if number > 0]
