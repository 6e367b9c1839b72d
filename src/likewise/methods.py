"""The meaning of "similar", with a short text form: ``words:5`` for texts cut into shingles, ``cosine`` for items compared whole."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from likewise.errors import UsageError
from likewise.kinds import kind_of, kind_of_unit, kinds, measure, measures, orders
from likewise.kinds.kind import NEVER, Kind, MeasureFacts
from likewise.messages import option

#: Steps that replace values by the word 0; ALL_MASKS names all of them. A step that begins with PATTERN, a regular expression, comes before them.
MASKS = ("uuid", "ip", "dates", "hex", "numbers")
ALL_MASKS, PATTERN = "masks", "re:"
#: The step that comes first of all: it leaves out the comments at the beginning.
HEADER = "header"
#: Normalization steps in the order in which they are applied, whatever the order of their names. Masks are applied together.
STEPS = (HEADER, *MASKS, "nfc", "nfkc", "lower", "fold", "accents", "marks", "invisible", "punct", "digits", "space")
NAMES = f"{', '.join(STEPS)}, {ALL_MASKS} ({MASKS[0]} to {MASKS[-1]}), {PATTERN}REGEX"

#: unit -> (default k, default steps).
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

#: Suffixes of text forms, after a slash -> description for messages.
SUFFIXES = {"bag": "counts repeats", "containment": "is the share of the first item that the second contains"}


@dataclass(frozen=True, slots=True)
class Text:
    """Texts as sets of k-shingles (Broder 1997), or as bags with ``bag``.

    unit: the token. k: tokens in a shingle. normalize: steps applied before a text is cut. signs: whether = + | and other symbols of
    mathematics, currencies and letters are tokens between words; in passages they are not, since rules and frames of tables are no text.
    The similarity is Jaccard, or weighted Jaccard of bags; with ``containment`` the share of the first item that the second contains.
    Raises UsageError for unknown units and steps, and for invalid lengths.
    """

    unit: str
    k: int
    normalize: tuple[str, ...]
    bag: bool = False
    containment: bool = False
    signs: bool = True

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise UsageError(f"Text({self.unit!r}): unknown unit {self.unit!r}; choose one of {', '.join(UNITS)}")
        if isinstance(self.k, bool) or not isinstance(self.k, int) or not 1 <= self.k <= MAX_K:
            raise UsageError(f"Text({self.unit!r}, {self.k!r}): the shingle length is a whole number from 1 to {MAX_K}")
        if unknown := [step for step in self.normalize if step not in STEPS and not step.startswith(PATTERN)]:
            raise UsageError(f"Text({self.unit!r}): unknown step {unknown[0]!r}; choose from {NAMES}")

    @property
    def kind(self) -> Kind:
        """The kind of the given items: texts, or lists of token ids."""
        return kind_of_unit(self.unit)

    @property
    def compared(self) -> Kind:
        """The kind of the compared items: the same."""
        return self.kind

    @property
    def bandless(self) -> bool:
        """True if items are always joined, because no hash family serves the measure."""
        return self.containment or self.compared.bands == NEVER

    @property
    def facts(self) -> MeasureFacts:
        """The measure of the sets of shingles."""
        assert self.kind.cut is not None
        return self.kind.cut

    base = facts

    @property
    def tokens_name(self) -> str:
        """The tokens, in the plural, for messages."""
        return {"whitespace": "tokens", "code": "tokens", "chars": "characters", "stopwords": "words"}.get(self.unit, self.unit)

    @property
    def length(self) -> int:
        """Tokens of a shingle: of stop words, k and the stop word. A text with fewer is one shingle of all its tokens."""
        return self.k + (self.unit == "stopwords")

    def __str__(self) -> str:
        return f"{self.unit}:{self.k}" + "/bag" * self.bag + "/containment" * self.containment


@dataclass(frozen=True, slots=True)
class Measure:
    """Items compared whole, without shingles: sets, weighted sets, vectors, codes, strings or sets of feature vectors.

    Raises UsageError for unknown names and invalid orders, and if the measure has no containment.
    """

    name: str
    order: float = 2.0  #: the r of ``lr``, the name of all L_r except L1, L2 and L∞
    containment: bool = False
    normalize: tuple[str, ...] = ()  #: steps applied to strings

    def __post_init__(self) -> None:
        facts = named(self.name)
        if facts is None:
            raise UsageError(f"Measure({self.name!r}): choose one of {', '.join(measures())}, or lr with its order")
        if facts.order and not (isinstance(self.order, int | float) and 1 <= self.order < float("inf")):
            raise UsageError(f"Measure({self.name!r}, {self.order!r}): L_r is a distance only for r of 1 or more; for an infinite r use linf")
        if self.containment and not facts.containment:
            can = " and ".join(name for name, one in measures().items() if one.containment)
            raise UsageError(f"Measure({self.name!r}): containment is available for {can} only")

    @property
    def facts(self) -> MeasureFacts:
        """The facts about the measure."""
        return measure(self.name)

    @property
    def kind(self) -> Kind:
        """The kind of the given items. Vectors may turn out to be sparse (`Job.kind`)."""
        return kind_of(self.name)

    @property
    def compared(self) -> Kind:
        """The kind of the compared items: those derived from the given ones (`MeasureFacts.converted_to`), or these."""
        return kinds()[self.facts.converted_to.kind] if self.facts.converted_to else self.kind

    @property
    def base(self) -> MeasureFacts:
        """The measure of the compared items."""
        return measure(self.facts.converted_to.measure) if self.facts.converted_to else self.facts

    @property
    def distance(self) -> bool:
        """True if values are distances: small for similar items."""
        return self.facts.distance

    @property
    def power(self) -> float:
        """The r of L_r; 0 for other measures."""
        return float(self.order) if self.facts.order else self.base.power

    @property
    def bandless(self) -> bool:
        """True if items are always joined, because no hash family serves the measure."""
        return self.containment or self.base.bandless or self.compared.bands == NEVER

    def __str__(self) -> str:
        return (f"l{self.order:g}" if self.facts.order else self.name) + "/containment" * self.containment


def named(name: str) -> MeasureFacts | None:
    """The facts about the measure with this name; None if unknown."""
    try:
        return measure(name)
    except KeyError:
        return None


def parse(spec: str | Text | Measure, normalize: str | Sequence[str] | None = None) -> Text | Measure:
    """Read a text form: ``UNIT[:K][/bag][/containment]`` as `text` does, or the name of a measure.

    >>> parse("edit", "lower").normalize, str(parse("l2.5")), str(parse("words"))
    (('lower',), 'l2.5', 'words:5')
    """
    found = spec if isinstance(spec, Measure) else measure_of(str(spec))
    if found is None and str(spec).strip().partition("/")[0].partition(":")[0] not in UNITS:
        meant = hint(str(spec).strip())
        choose = f"give a unit of text, such as words:5 ({', '.join(UNITS)}), or a measure ({', '.join(measures())})"
        raise UsageError(f"{option('by', str(spec))}: {meant or choose}")
    if found is None:
        return text(spec, normalize)  # type: ignore[arg-type]
    if normalize is None:
        return found
    if not found.kind.normalized:
        raise UsageError(f"{option('normalize', normalize)}: only texts and strings are normalized; leave it out with {option('by', str(found))}")
    return replace(found, normalize=steps(normalize))


def hint(spec: str) -> str:
    """The suggestion for an unknown name, for a message; empty if nothing is close."""
    lower = spec.lower()
    head = lower.partition("/")[0].partition(":")[0]
    names, others = [*UNITS, *measures()], [name for facts in measures().values() for name in facts.also]
    known = head in names or re.fullmatch(r"l[1-9]\d*(\.\d+)?", head)
    near = next(iter(difflib.get_close_matches(head, [*names, *others], 1)), "")
    meant = called(lower) or (lower if known and lower != spec else called(near) or near + lower[len(head) :] * bool(near))
    return f"did you mean {meant}?" if meant else ""


def called(other: str) -> str:
    """Our name for a measure that other libraries call ``other``; empty if unknown."""
    for name, facts in measures().items():
        if other in facts.also:
            cut = any(kind.cut is facts for kind in kinds().values())
            return f"{name} for {kind_of(name).name}, words:5 for texts" if cut else name
    return ""


def measure_of(spec: str) -> Measure | None:
    """Read the name of a measure, with its order and suffix; None if unknown."""
    if (whole := spec.strip()) in measures():
        return Measure(whole)
    head, *suffixes = whole.split("/")
    power = next(((facts, found) for facts in orders() if (found := re.fullmatch(facts.order, head))), None)
    facts = measures().get(head) or (power and power[0])
    if not facts:
        return None
    if suffixes and not (facts.containment and suffixes == ["containment"]):
        there = [f"/{name.partition('/')[2]}" for name in measures() if name.startswith(f"{head}/")] + ["/containment"] * bool(facts.containment)
        raise UsageError(f"{option('by', spec)}: {head} has no suffix /{suffixes[0]}" + f"; valid: {', '.join(there)}" * bool(there))
    if not power:
        return Measure(head, containment=True)
    if float(power[1][1]) >= 1:
        return Measure(power[0].name, float(power[1][1]))
    raise UsageError(f"{option('by', spec)}: L_r is a distance only for r of 1 or more; give l1, l2 or, for example, l2.5")


def text(spec: str | Text, normalize: str | Sequence[str] | None = None) -> Text:
    """Read the text form of a shingling, with the given normalization steps or those of the unit.

    >>> str(text("words:5")), text("words").normalize
    ('words:5', ('nfc', 'lower', 'invisible'))
    """
    if isinstance(spec, Text):
        return spec if normalize is None else replace(spec, normalize=steps(normalize))
    head, *suffixes = spec.strip().split("/")
    unit, _, number = head.partition(":")
    if unit not in UNITS:
        raise UsageError(f"{option('by', spec)}: unknown unit {unit!r}; choose one of {', '.join(UNITS)}, for example words:5")
    default_k, default_steps = UNITS[unit]
    if (number or head.endswith(":")) and not (re.fullmatch("[0-9]{1,9}", number) and 1 <= int(number) <= MAX_K):
        valid = f"give a whole number from 1 to {MAX_K}, such as {unit}:{default_k}"
        raise UsageError(f"{option('by', spec)}: {number!r:.40} is not a shingle length; {valid}")
    if unknown := [suffix for suffix in suffixes if suffix not in SUFFIXES]:
        known = ", ".join(f"/{name}, which {says}" for name, says in SUFFIXES.items())
        raise UsageError(f"{option('by', spec)}: unknown suffix /{unknown[0]}; valid: {known}")
    chosen = default_steps if normalize is None else steps(normalize)
    return Text(unit, int(number) if number else default_k, chosen, "bag" in suffixes, "containment" in suffixes)


def tokens(by: str | Text, normalize: str | Sequence[str] | None, units: Collection[str]) -> Text:
    """The tokens of which passages consist, without symbols: one of ``units``, as a name or a Text. Raises UsageError for others.

    >>> tokens("words", "lower", ["words", "chars"])
    Text(unit='words', k=1, normalize=('lower',), bag=False, containment=False, signs=False)
    """
    unit = by.unit if isinstance(by, Text) else str(by).strip()
    if unit not in units or (isinstance(by, Text) and (by.bag or by.containment)):
        raise UsageError(f"{option('by', str(by))}: passages are counted in tokens; give their unit: {', '.join(units)}")
    usual = by.normalize if isinstance(by, Text) else UNITS[unit][1]
    return Text(unit, 1, usual if normalize is None else steps(normalize), signs=False)


def steps(names: str | Sequence[str]) -> tuple[str, ...]:
    """Normalization steps in their fixed order, from a comma-separated list, or a sequence of them. ``re:`` takes the rest of its string.

    >>> steps("lower,nfc"), steps("none"), steps(["lower,ip", "re:id=[0-9]{2,}"])
    (('nfc', 'lower'), (), ('re:id=[0-9]{2,}', 'ip', 'lower'))
    """
    lists = [names] if isinstance(names, str) else names
    if not isinstance(lists, list | tuple) or not all(isinstance(one, str) for one in lists):
        raise UsageError(f"{option('normalize', names)}: give the steps in one string, such as 'nfc,lower', a list of such strings, or 'none'")
    wanted: list[str] = []
    patterns: list[str] = []
    for one in lists:
        before, *expression = re.split(rf"(?:^|,)\s*{PATTERN}", one, maxsplit=1)
        wanted += [name.strip() for name in before.split(",") if name.strip()]
        patterns += [PATTERN + checked(each) for each in expression]
    if wanted == ["none"] and not patterns:
        return ()
    if not wanted and not patterns:
        raise UsageError(f"{option('normalize', names)}: no step is named; choose from {NAMES}; or none alone")
    for name in wanted:
        if name not in (*STEPS, ALL_MASKS):
            raise UsageError(f"{option('normalize', names)}: unknown step {name!r}; choose from {NAMES}; or none alone")
    for pair in (("nfc", "nfkc"), ("lower", "fold")):
        if set(pair) <= set(wanted):
            raise UsageError(f"{option('normalize', names)}: {pair[1]} includes {pair[0]}; name only one of them")
    if ALL_MASKS in wanted:
        wanted += MASKS
    known = [name for name in STEPS if name in wanted]
    begin = int(HEADER in known)
    return (*known[:begin], *dict.fromkeys(patterns), *known[begin:])


def checked(expression: str) -> str:
    """The regular expression. Raises UsageError if RE2 does not know its syntax, or if it matches the empty text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    given = option("normalize", PATTERN + expression)
    try:
        empty = pc.match_substring_regex(pa.array([""]), expression)[0].as_py()
    except (pa.ArrowInvalid, UnicodeError) as error:
        fault = str(error).removeprefix("Invalid regular expression: ")
        syntax = "the syntax is that of RE2, whose time is proportional to the text: without look-around and references to groups"
        raise UsageError(f"{given}: this is not a regular expression: {fault}; {syntax}") from None
    if empty:
        raise UsageError(f"{given}: this expression matches the empty text, and so at every position; write one that matches at least one character")
    return expression


def Words(k: int = 5, *, bag: bool = False) -> Text:  # noqa: N802 - reads as a type in calls: by=lw.Words(5)
    """The method ``words:k``: sets of k words in sequence, or bags of them. Raises UsageError unless k is 1 to 1000."""
    return text(f"words:{k}" + "/bag" * bag)


def Chars(k: int = 9, *, bag: bool = False) -> Text:  # noqa: N802
    """The method ``chars:k``: sets of k characters in sequence, or bags of them. Raises UsageError unless k is 1 to 1000."""
    return text(f"chars:{k}" + "/bag" * bag)
