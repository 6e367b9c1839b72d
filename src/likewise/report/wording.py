"""The words of report.html for the choices and counters of report.json."""

from __future__ import annotations

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
    "exact": "Every pair behind a removal was compared exactly, on the whole sets. No removal rests on an estimate.",
    "estimate": "Pairs were checked by an estimate from signatures, not exactly: items a little below the threshold may have been removed.",
    "none": "Pairs were not checked at all: every item that shared a bucket with a kept one was removed, however unlike they may be.",
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
    "text": "text",
    "items": "items",
    "cut": "comparisons cut",
}
