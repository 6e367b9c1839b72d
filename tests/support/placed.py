"""The tokens of a text with their places, slowly, in plain Python: each step with the characters from which each of its characters comes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from likewise import methods
from likewise.items import tables, unicode
from likewise.items.masks import PATTERNS
from likewise.items.normalize import CHANGES, normalize
from likewise.items.tokens import token_texts
from likewise.kernels import tokens
from likewise.methods import HEADER, MASKS, PATTERN, STEPS

#: A character, and the first and the end of the characters of the text that it comes from.
Char = tuple[str, int, int]
REMOVED = {"marks": unicode.vowel_marks, "invisible": unicode.invisible, "punct": unicode.punctuation}


def values(text: str, names: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """The values that masks replace: at the first place where a value of any mask begins, the longest, and so on after it."""
    kinds = tables.classes("words")[[ord(char) for char in text]] if text else []
    word = [kind in (tokens.LETTER, tokens.MARK) and char != "_" for kind, char in zip(kinds, text, strict=True)]
    digits = "".join(str(unicodedata.decimal(char, char)) for char in text)
    expressions = [re.compile(PATTERNS[name]) for name in names]
    at = 0
    while at < len(text):
        ends = [
            end
            for end in range(len(text), at, -1)
            if not (at and word[at - 1]) and not (end < len(text) and word[end]) and any(one.fullmatch(digits, at, end) for one in expressions)
        ]
        if ends:
            yield at, ends[0]
        at = ends[0] if ends else at + 1


def token_places(text: str, method: methods.Text) -> list[tuple[str, int, int]]:
    """Each token, and the characters of the text that it comes from."""
    in_lines = method.unit in ("lines", "paragraphs")
    chars = [(char, i, i + 1) for i, char in enumerate(text)]
    for step in method.normalize:
        if step.startswith(PATTERN):
            chars = replaced(chars, [found.span() for found in re.finditer(step.removeprefix(PATTERN), joined(chars))])
        elif step == HEADER:
            chars = chars[len(chars) - len(normalize(joined(chars), (HEADER,))) :]
    if masks := tuple(step for step in method.normalize if step in MASKS):
        chars = replaced(chars, list(values(joined(chars), masks)))
    for step in (step for step in STEPS if step in method.normalize and step not in (HEADER, *MASKS)):
        chars = changed(chars, step, in_lines)
    assert joined(chars) == normalize(text, method.normalize, in_lines=in_lines)
    if method.unit in ("words", "code"):
        chars = changed(chars, "invisible", in_lines)
    whole, at, found = joined(chars), 0, []
    for token in token_texts(text, method):
        at = whole.index(token, at)
        found.append((token, chars[at][1], chars[at + len(token) - 1][2]))
        at += len(token)
    return found


def joined(chars: list[Char]) -> str:
    return "".join(char for char, _, _ in chars)


def replaced(chars: list[Char], spans: list[tuple[int, int]]) -> list[Char]:
    """A 0 in place of each span."""
    out, at = [], 0
    for begin, end in spans:
        out += [*chars[at:begin], ("0", chars[begin][1], chars[end - 1][2])]
        at = end
    return out + chars[at:]


def changed(chars: list[Char], step: str, in_lines: bool) -> list[Char]:
    """One step."""
    if step in ("nfc", "nfkc", "accents"):
        return formed(chars, step)
    if step in ("lower", "fold"):
        whole = iter(CHANGES[step](joined(chars)))
        return [(next(whole), begin, end) for char, begin, end in chars for _ in CHANGES[step](char)]
    if step in REMOVED:
        removed = REMOVED[step]()
        return [one for one in chars if not removed[ord(one[0])]]
    if step == "digits":
        return digits(chars)
    return lines(chars) if in_lines else spaced(chars)


def formed(chars: list[Char], step: str) -> list[Char]:
    """A normal form: the text is cut wherever both parts become, by themselves, what they become together."""
    change, whole, out = CHANGES[step], joined(chars), []
    cuts = [i for i in range(len(whole) + 1) if change(whole[:i]) + change(whole[i:]) == change(whole)]
    for low, high in pairwise(cuts):
        out += [(char, chars[low][1], chars[high - 1][2]) for char in change(whole[low:high])]
    assert joined(out) == change(whole)
    return out


def digits(chars: list[Char]) -> list[Char]:
    """Digits in a row become one."""
    digit, out, run = unicode.digits(), [], False
    for char, begin, end in chars:
        if run and digit[ord(char)]:
            out[-1] = ("0", out[-1][1], end)
        else:
            out.append(("0" if digit[ord(char)] else char, begin, end))
        run = bool(digit[ord(char)])
    return out


def spaced(chars: list[Char]) -> list[Char]:
    """The first of several white spaces stays, as a blank; none at the ends."""
    out: list[Char] = []
    for char, begin, end in chars:
        if not char.isspace():
            out.append((char, begin, end))
        elif out and out[-1][0] != " ":
            out.append((" ", begin, end))
    return out[:-1] if out and out[-1][0] == " " else out


def lines(chars: list[Char]) -> list[Char]:
    """`spaced` in each line; line ends become \\n."""
    out: list[Char] = []
    line: list[Char] = []
    for i, (char, begin, end) in enumerate(chars):
        if char == "\n" and i and chars[i - 1][0] == "\r":
            continue
        if char in "\r\n":
            out += [*spaced(line), ("\n", begin, end)]
            line = []
        else:
            line.append((char, begin, end))
    return out + spaced(line)
