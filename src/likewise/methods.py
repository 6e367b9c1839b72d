"""What "similar" means, with a short text form: ``words:5`` for texts cut into shingles, ``cosine`` for items compared as they are."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace

from likewise.errors import UsageError

#: Normalisation steps in the order in which they are applied, whatever order they are named in.
STEPS = ("nfc", "nfkc", "lower", "fold", "accents", "marks", "invisible", "punct", "digits", "space")

#: unit -> (default k, default steps). The one table of what can be cut into shingles.
UNITS: dict[str, tuple[int, tuple[str, ...]]] = {
    "words": (5, ("nfc", "lower", "invisible")),
    "whitespace": (5, ()),
    "chars": (9, ("nfc", "lower", "invisible", "space")),
    "lines": (1, ("nfc", "lower", "invisible", "space")),
    "paragraphs": (1, ("nfc", "lower", "invisible", "space")),
    "stopwords": (3, ("nfc", "lower", "invisible")),
    "bytes": (16, ()),
    "code": (5, ()),
    "tokens": (5, ()),
}

MAX_K = 1000

#: measure -> (what it compares, whether its value is a distance). l3, l2.5 and so on are read as L_r beside these.
MEASURES: dict[str, tuple[str, bool]] = {
    "elements": ("sets", False),
    "weighted": ("weighted sets", False),
    "cosine": ("vectors", False),
    "angle": ("vectors", True),
    "l1": ("vectors", True),
    "l2": ("vectors", True),
    "linf": ("vectors", True),
    "hamming": ("codes", True),
    "edit": ("strings", True),
    "levenshtein": ("strings", True),
    "features": ("feature sets", False),
    "features/one-to-many": ("feature sets", False),
    "features/chamfer": ("feature sets", False),
    "features/assignment": ("feature sets", False),
}
#: Measures of what is made of an item beforehand -> the measure that it is compared by: histograms as weighted sets, and as sparse vectors.
EMBEDDED = {"features": "weighted", "features/one-to-many": "cosine"}
#: What others call them -> what to give here.
MEANT = {"jaccard": "elements for sets, words:5 for texts", "euclidean": "l2", "manhattan": "l1", "chebyshev": "linf", "cityblock": "l1"}
#: What may stand behind a slash, and after what.
SUFFIXES = {"bag": "counts repeats", "containment": "is the share of the first item that the second holds"}


@dataclass(frozen=True, slots=True)
class Text:
    """Texts as sets of k-shingles (Broder 1997); as bags with ``bag``.

    ``unit`` is what a token is, ``k`` the tokens in a shingle, ``normalize`` the steps applied to the
    text before it is cut. Similarity is Jaccard, or weighted Jaccard of the bags; with ``containment`` the share of the first that the second holds.
    Raises UsageError for what there is none of.
    """

    unit: str
    k: int
    normalize: tuple[str, ...]
    bag: bool = False
    containment: bool = False

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise UsageError(f"Text({self.unit!r}): no unit {self.unit!r}; choose one of {', '.join(UNITS)}")
        if isinstance(self.k, bool) or not isinstance(self.k, int) or not 1 <= self.k <= MAX_K:
            raise UsageError(f"Text({self.unit!r}, {self.k!r}): the shingle length is a whole number from 1 to {MAX_K}")
        if unknown := [step for step in self.normalize if step not in STEPS]:
            raise UsageError(f"Text({self.unit!r}): no step {unknown[0]!r}; choose from {', '.join(STEPS)}")

    def __str__(self) -> str:
        return f"{self.unit}:{self.k}" + "/bag" * self.bag + "/containment" * self.containment


@dataclass(frozen=True, slots=True)
class Measure:
    """Items compared as they are, with nothing cut: sets, weighted sets, vectors, codes, strings or sets of feature vectors.

    Raises UsageError for a name that there is not.
    """

    name: str
    order: float = 2.0  # the r of ``lr``, the name of every L_r but L1, L2 and L∞
    containment: bool = False

    def __post_init__(self) -> None:
        if self.name not in MEASURES and self.name != "lr":
            raise UsageError(f"Measure({self.name!r}): choose one of {', '.join(MEASURES)}, or lr with its order")
        if self.name == "lr" and not (isinstance(self.order, int | float) and 1 <= self.order < float("inf")):
            raise UsageError(f"Measure('lr', {self.order!r}): L_r is a distance for r of 1 or more; linf is that of no bound")
        if self.containment and self.name != "elements":
            raise UsageError(f"Measure({self.name!r}): containment is of elements alone")

    @property
    def distance(self) -> bool:
        """Whether values are distances: small where items are alike."""
        return self.name == "lr" or MEASURES[self.name][1]

    def __str__(self) -> str:
        return (f"l{self.order:g}" if self.name == "lr" else self.name) + "/containment" * self.containment


def parse(spec: str | Text | Measure, normalize: str | None = None) -> Text | Measure:
    """Read a text form: ``UNIT[:K][/bag][/containment]`` as `text` does, or the name of a measure.

    >>> parse("cosine"), str(parse("l2.5")), str(parse("words"))
    (Measure(name='cosine', order=2.0, containment=False), 'l2.5', 'words:5')
    """
    measure = spec if isinstance(spec, Measure) else measure_of(str(spec))
    if measure is None and str(spec).strip().partition("/")[0].partition(":")[0] not in UNITS:
        meant = hint(str(spec).strip())
        raise UsageError(f"--by {str(spec)!r}: {meant}choose a unit of text, {', '.join(UNITS)}, as in words:5, or one of {', '.join(MEASURES)}")
    if measure is None:
        return text(spec, normalize)  # type: ignore[arg-type]
    if normalize is not None:
        raise UsageError(f"--normalize {normalize!r}: only text is normalised; leave it out with --by {measure}")
    return measure


def hint(spec: str) -> str:
    """What a name that there is not may have been meant for; empty where that is not known."""
    lower = spec.lower()
    head = lower.partition("/")[0].partition(":")[0]
    known = head in MEASURES or head in UNITS or re.fullmatch(r"l[1-9]\d*(\.\d+)?", head)
    near = difflib.get_close_matches(head, [*UNITS, *MEASURES], 1)
    meant = MEANT.get(lower, lower if known and lower != spec else f"{near[0]}{lower[len(head) :]}" if near else "")
    return f"did you mean {meant}? else " if meant else ""


def measure_of(spec: str) -> Measure | None:
    """The measure of this name; None where it is none."""
    if (whole := spec.strip()) in MEASURES:
        return Measure(whole)
    head, *suffixes = whole.split("/")
    power = re.fullmatch(r"l(\d+(?:\.\d+)?)", head)
    if head not in MEASURES and not power:
        return None
    if suffixes and (head, suffixes) != ("elements", ["containment"]):
        there = [f"/{name.partition('/')[2]}" for name in MEASURES if name.startswith(f"{head}/")] + ["/containment"] * (head == "elements")
        raise UsageError(f"--by {spec!r}: {head} has no suffix /{suffixes[0]}" + f"; there is {', '.join(there)}" * bool(there))
    if head in MEASURES:
        return Measure(head, containment=True)
    if power and float(power[1]) >= 1:
        return Measure("lr", float(power[1]))
    raise UsageError(f"--by {spec!r}: L_r is a distance for r of 1 or more")


def text(spec: str | Text, normalize: str | None = None) -> Text:
    """Read the text form of a shingling, with the normalisation steps of the unit or the given ones.

    >>> str(text("words:5")), text("words").normalize
    ('words:5', ('nfc', 'lower', 'invisible'))
    """
    if isinstance(spec, Text):
        return spec if normalize is None else replace(spec, normalize=steps(normalize))
    head, *suffixes = spec.strip().split("/")
    unit, _, number = head.partition(":")
    if unit not in UNITS:
        raise UsageError(f"--by {spec!r}: no unit {unit!r}; choose one of {', '.join(UNITS)}, as in words:5")
    default_k, default_steps = UNITS[unit]
    if (number or head.endswith(":")) and not (re.fullmatch("[0-9]{1,9}", number) and 1 <= int(number) <= MAX_K):
        raise UsageError(
            f"--by {spec!r:.80}: {number!r:.40} is not a shingle length; give a whole number from 1 to {MAX_K}, as in {unit}:{default_k}"
        )
    if unknown := [suffix for suffix in suffixes if suffix not in SUFFIXES]:
        known = ", ".join(f"/{name}, which {says}" for name, says in SUFFIXES.items())
        raise UsageError(f"--by {spec!r}: no suffix /{unknown[0]}; there are {known}")
    chosen = default_steps if normalize is None else steps(normalize)
    return Text(unit, int(number) if number else default_k, chosen, "bag" in suffixes, "containment" in suffixes)


def steps(names: str) -> tuple[str, ...]:
    """Normalisation steps from a comma-separated list, put into their fixed order.

    >>> steps("lower,nfc"), steps("none")
    (('nfc', 'lower'), ())
    """
    if not isinstance(names, str):
        raise UsageError(f"--normalize {names!r}: give the names of steps in one str, as in 'nfc,lower', or 'none'")
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if wanted == ["none"]:
        return ()
    for name in wanted:
        if name not in STEPS:
            raise UsageError(f"--normalize {names!r}: no step {name!r}; choose from {', '.join(STEPS)}, or none")
    for pair in (("nfc", "nfkc"), ("lower", "fold")):
        if set(pair) <= set(wanted):
            raise UsageError(f"--normalize {names!r}: {pair[1]} already does what {pair[0]} does; name one of them")
    return tuple(name for name in STEPS if name in wanted)


def Words(k: int = 5, *, bag: bool = False) -> Text:  # noqa: N802 - reads as a type in calls: by=lw.Words(5)
    """``words:k``"""
    return text(f"words:{k}" + "/bag" * bag)


def Chars(k: int = 9, *, bag: bool = False) -> Text:  # noqa: N802
    """``chars:k``"""
    return text(f"chars:{k}" + "/bag" * bag)
