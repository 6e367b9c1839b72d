"""What "similar" means: the shingling of a text, with a short text form such as ``words:5``."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Text:
    """Texts as sets of k-shingles (SPEC 2); as bags with ``bag``.

    ``unit`` is what a token is, ``k`` the tokens in a shingle, ``normalize`` the steps applied to the
    text before it is cut. Similarity is Jaccard, or weighted Jaccard of the bags.
    """

    unit: str
    k: int
    normalize: tuple[str, ...]
    bag: bool = False

    def __str__(self) -> str:
        return f"{self.unit}:{self.k}" + ("/bag" if self.bag else "")


def parse(spec: str | Text, normalize: str | None = None) -> Text:
    """Read the text form, ``UNIT[:K][/bag]``, with the normalisation steps of the unit or the given ones.

    >>> str(parse("words:5")), parse("words").normalize
    ('words:5', ('nfc', 'lower', 'invisible'))
    """
    if isinstance(spec, Text):
        return spec if normalize is None else Text(spec.unit, spec.k, steps(normalize), spec.bag)
    head, *suffixes = spec.strip().split("/")
    unit, _, number = head.partition(":")
    if unit not in UNITS:
        raise UsageError(f"--by {spec!r}: no unit {unit!r}; choose one of {', '.join(UNITS)}, as in words:5")
    default_k, default_steps = UNITS[unit]
    if (number or head.endswith(":")) and not (number.isascii() and number.isdigit() and 1 <= int(number) <= MAX_K):
        raise UsageError(f"--by {spec!r}: {number!r} is not a shingle length; give a whole number from 1 to {MAX_K}, as in {unit}:{default_k}")
    if unknown := [suffix for suffix in suffixes if suffix != "bag"]:
        raise UsageError(f"--by {spec!r}: no suffix /{unknown[0]}; there is /bag, which counts repeats")
    chosen = default_steps if normalize is None else steps(normalize)
    return Text(unit, int(number) if number else default_k, chosen, bool(suffixes))


def steps(names: str) -> tuple[str, ...]:
    """Normalisation steps from a comma-separated list, put into their fixed order.

    >>> steps("lower,nfc"), steps("none")
    (('nfc', 'lower'), ())
    """
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
    return parse(f"words:{k}" + "/bag" * bag)


def Chars(k: int = 9, *, bag: bool = False) -> Text:  # noqa: N802
    """``chars:k``"""
    return parse(f"chars:{k}" + "/bag" * bag)
