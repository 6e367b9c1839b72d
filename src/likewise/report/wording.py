"""The words of report.html for the choices and counters of report.json."""

from __future__ import annotations

#: What is compared as it is: what an item is, and what the similarity or distance of two items is.
MEASURES = {
    "elements": (
        "is a set of elements",
        "the Jaccard similarity of these sets: what both hold, divided by what either holds; 1 is equal, 0 has nothing in common",
    ),
    "weighted": (
        "is a set of elements with weights",
        "their weighted Jaccard similarity: the lesser weights of the elements, summed, divided by the sum of the greater; 1 is equal",
    ),
    "cosine": ("is a vector", "the cosine of the angle between them, whatever their lengths: 1 is one direction, 0 a right angle, -1 the opposite"),
    "angle": ("is a vector", "the angle between them in degrees, whatever their lengths: 0 is one direction, 90 a right angle, 180 the opposite"),
    "l1": ("is a vector", "the sum of the differences of their numbers, each without its sign (L1)"),
    "l2": ("is a vector", "the square root of the sum of the squared differences of their numbers (L2, Euclid's)"),
    "hamming": ("is a code of bits", "the number of bits in which they differ"),
    "edit": ("is a string", "the least number of characters to delete from one and to insert into it to make the other of it"),
    "levenshtein": ("is a string", "the least number of characters to delete, insert or replace to make one out of the other"),
}
#: What is compared when elements stand in groups.
GROUPED = "the Jaccard similarity of the sets of groups that their elements are of: the groups that both have, divided by those that either has"

#: Measures without an exact search that an audit could go by.
UNAUDITED = ("weighted", "edit", "levenshtein")
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
#: Kind of payload of an item -> what differs between two examples and is marked, and what is to be said of it.
MARKED = {
    **dict.fromkeys(("text", "tokens"), ("words", "Case and signs are marked too, although the comparison may pass over them. ")),
    **dict.fromkeys(("elements", "weighted"), ("elements", "What both hold stands first. ")),
    "string": ("characters", ""),
}
#: What became of an item.
COUNTS = {
    "kept": "kept",
    "rejected": "rejected: could not be read",
    "removed_exact": "removed as exact copies",
    "removed_near": "removed as near-duplicates",
}
#: Which item of a cluster stays.
KEEP = {
    "first": "the first in the order of the input",
    "last": "the last in the order of the input",
    "longest": "the longest",
    "shortest": "the shortest",
}
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
