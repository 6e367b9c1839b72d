"""The words of report.html for the options and counters of report.json."""

from __future__ import annotations

from typing import Any

from likewise import methods
from likewise.drawing import judged
from likewise.drawing.numbers import counted, share, shown
from likewise.kinds import kind_of, kinds, measures
from likewise.kinds.kind import MeasureFacts
from likewise.planning import Facts

#: The compared value if elements are grouped.
GROUPED = "the Jaccard similarity of their sets of groups: the number of common groups divided by the number of groups in either"

#: Name of the tokens, by unit.
UNITS = {
    "words": "words",
    "whitespace": "words separated by white space",
    "chars": "characters",
    "lines": "lines",
    "paragraphs": "paragraphs",
    "stopwords": "words that begin with a stop word",
    "bytes": "bytes",
    "code": "identifiers, literals and symbols",
    "tokens": "token ids",
}
#: Effect of each normalization step.
STEPS = {
    "header": "comments at the beginning left out",
    "uuid": "UUIDs replaced by 0",
    "ip": "IP addresses replaced by 0",
    "dates": "dates and times replaced by 0",
    "hex": "hexadecimal numbers replaced by 0",
    "numbers": "numbers, with their units, replaced by 0",
    "nfc": "Unicode composed (NFC)",
    "nfkc": "Unicode composed, compatibility forms replaced (NFKC)",
    "lower": "lower case",
    "fold": "case folding",
    "accents": "accents removed",
    "marks": "Arabic and Hebrew vowel marks removed",
    "invisible": "invisible characters removed",
    "punct": "punctuation removed",
    "digits": "runs of digits replaced by 0",
    "space": "white space collapsed",
}
#: Trustworthiness of a result, by the way pairs were checked.
VERIFIED = {
    "exact": "Each removal is based on an exact comparison of both items in full.",
    "estimate": "Pairs were checked by estimates from signatures: items slightly below the threshold may have been removed.",
    "none": "Pairs were not checked: each item that collided with a kept one was removed, even if the two are dissimilar.",
}
#: The noun and the remark of examples whose elements are grouped.
GROUPS = "groups", "Common groups come first; where their elements differ, those of the removed item precede those of the kept one. "
#: Remark for grouped elements if the groups cannot be read again.
UNGROUPED = "Elements of one group count as one, so some marked elements did not count as different. "
#: Outcome of an item.
COUNTS = {
    "kept": "kept",
    "rejected": "rejected (unreadable)",
    "dropped": "in documents that became too short",
    "removed_exact": "removed as exact copies",
    "removed_equal": "removed with the same shingles",
    "removed_near": "removed as near-duplicates",
    "removed": "removed passages",
}
#: The kept item of a cluster.
KEEP = {
    "first": "the first in input order",
    "last": "the last in input order",
    "longest": "the longest",
    "shortest": "the shortest",
}


def step(name: str) -> str:
    """Return the effect of a normalization step; for a pattern, the step itself.

    >>> step("lower"), step("re:id=[0-9]+")
    ('lower case', 're:id=[0-9]+ replaced by 0')
    """
    return STEPS.get(name, f"{name} replaced by 0")


def measured(by: str) -> MeasureFacts | None:
    """Return the measure of ``by``, as in the method of report.json; None for texts, which are cut into shingles."""
    return measures().get(by) or measures().get(by.split("/")[0])


def nouns(by: str) -> tuple[str, str]:
    """Return the noun of a compared item in singular and plural.

    >>> nouns("words:5"), nouns("hamming")
    (('document', 'documents'), ('code', 'codes'))
    """
    facts = measured(by)
    return (kind_of(facts.name).noun, kind_of(facts.name).name) if facts else ("document", "documents")


def compared(report: dict[str, Any]) -> tuple[str, str]:
    """Return the noun of what a run compared, in singular and plural: items, or parts of documents."""
    level = report["method"].get("level")
    return (level, f"{level}s") if level else nouns(str(report["method"]["by"]))


def outcome(report: dict[str, Any]) -> dict[str, Any]:
    """Return the counts of what a run compared: items, or parts of documents."""
    found: dict[str, Any] = report.get("units", report["counts"])
    return found


def shortened(report: dict[str, Any]) -> str:
    """Return the number of documents that were written without some of their parts; empty if documents were compared whole."""
    number = report["counts"].get("shortened")
    return "" if number is None else f"{number:,} without some of their {compared(report)[1]}"


def too_short(report: dict[str, Any]) -> str:
    """Return the reason why documents were removed in a run that removed parts of them."""
    least = report["method"].get("min_left")
    short = f"with fewer than {counted(1 if least is None else least, 'token')} left"
    return judged.why_removed(report, short) if "leaks" in report else short


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


def compares_all(report: dict[str, Any]) -> bool:
    """Return whether an exact search by the method of a report compares all pairs."""
    method = methods.parse(str(report["method"]["by"]))
    return method.compared.seen(Facts(sparse=bool(report["method"].get("sparse")))).compares_all(method.base)


def parts(by: str) -> str:
    """Return the plural noun of what an item is cut into, or consists of: shingles, or elements."""
    facts = measured(by)
    return facts.parts if facts else "shingles"


def between(by: str) -> str:
    """Return what separates passages of a text, or elements of a set."""
    return ", " if measured(by) else " … "


def without_ignored(report: dict[str, Any]) -> str:
    """Return a sentence that says what was left out before items were compared; empty if nothing was."""
    return f" Ignored {parts(str(report['method']['by']))} are left out of both." if report.get("ignored") else ""


def ignored(report: dict[str, Any]) -> str | None:
    """Return what was ignored in one line; None if nothing was."""
    found = report.get("ignored")
    if not found:
        return None
    part = parts(str(report["method"]["by"]))
    bare = found["items_without_others"]
    without = f"; {counted(bare, 'item has', 'items have')} no others" if bare else ""
    return f"{found['shingles']:,} {part}, {share(found['occurrences'], found['of'])} of all{without}"


def not_compared(counts: dict[str, int], by: str) -> list[str]:
    """Return the numbers of items kept without comparison, by reason; ``counts`` as in report.json."""
    facts = measured(by)
    kind = kind_of(facts.name) if facts else next(kind for kind in kinds().values() if kind.cut)
    numbers = (counts["empty"] - counts["without_text"], counts["without_text"], counts["too_short_to_judge"])
    said = (facts.empty if facts else "empty", f"without {kind.item}", "too short to judge")
    return [f"{number:,} {words}" for number, words in zip(numbers, said, strict=True) if number > 0]
