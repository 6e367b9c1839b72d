"""Real texts from the packages that fetch_texts.sh unpacks: manuals in nine languages, two versions of one manual, the Bible, and source code."""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Document(NamedTuple):
    """A text and its path below the folder."""

    id: str
    text: str


class Source(NamedTuple):
    """The files of some packages that have texts, and how a file becomes text."""

    patterns: Sequence[str]
    text: Callable[[str], str]


# Requests of roff that begin a paragraph; escapes and the other requests are left out.
_BREAK = re.compile(r"(?m)^\.(?:[PLI]?P|TP|HP|SH|SS|RS|RE|EX|EE|nf|fi|br|Pp|Sh|Ss|It)\b *")
_REQUEST = re.compile(r"(?m)^(?:\.\\\"|'\\\"|\.(?:TH|so|ds|de|if|ie|el|ad|hy|nh|in|ta|ie|IX|rm|nr|tr|\.)).*\n?")
_ESCAPE = re.compile(r"\\f(?:\[[A-Z]*\]|\(..|.)|\\[,/&%:]|\\s[-+]?\d|(?m:^\.(?:B|I|BR|RB|IR|RI|BI|IB|SM|SB)\b *)")
_SCRIPT = re.compile(r"(?is)<(script|style|head)\b.*?</\1\s*>|<!--.*?-->")
_BLOCK = re.compile(r"(?i)</?(?:p|div|h[1-6]|li|ul|ol|dl|dt|dd|tr|table|pre|br|section|blockquote)\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")
_BLANKS = re.compile(r"[ \t]*\n\s*\n\s*")


def plain(text: str) -> str:
    return text


def man(text: str) -> str:
    """The text of a manual page in roff, well enough to search it."""
    text = _ESCAPE.sub("", _BREAK.sub("\n", _REQUEST.sub("", text)))
    for escape, character in (("\\-", "-"), ("\\(aq", "'"), ("\\(dq", '"'), ("\\(bu", "*"), ("\\(em", "—"), ("\\e", "\\")):
        text = text.replace(escape, character)
    return _BLANKS.sub("\n\n", text)


def web(text: str) -> str:
    """The text of a page without its tags; blocks are paragraphs."""
    text = _BLOCK.sub("\n\n", _SCRIPT.sub(" ", text))
    return _BLANKS.sub("\n\n", html.unescape(_TAG.sub("", text))).strip()


SOURCES = {
    "man pages": Source(["manpages*/usr/share/man/**/*.gz", "glibc-doc/usr/share/man/**/*.gz"], man),
    "kernel": Source(["linux-doc-6.1/**/*.rst.gz", "linux-doc-6.1/**/*.txt.gz", "linux-doc-6.1/**/*.yaml.gz"], plain),
    "kernel in HTML": Source(["linux-doc-6.1/**/*.html"], web),
    "Python": Source(["python3.11-doc/**/*.rst.txt"], plain),
    "Perl": Source(["perl-doc/**/*.pod"], plain),
    "databases": Source(["postgresql-doc-15/**/*.html", "sqlite3-doc/**/*.html", "python-sqlalchemy-doc/**/*.html"], web),
    "Debian": Source(["debian-*/**/*.html", "developers-reference/**/*.html"], web),
    "Django 4.2": Source(["Django-4.2.16/docs/**/*.txt"], plain),
    "Django 5.2": Source(["django-5.2.8/docs/**/*.txt"], plain),
    "code": Source(["python3-*/usr/lib/**/*.py"], plain),
}
PROSE = [name for name in SOURCES if name != "code"]


def documents(folder: Path, *names: str) -> Iterator[Document]:
    """The documents of these sources, in the order of their paths; empty ones and links are left out. Raises SystemExit if a source has none."""
    for name in names:
        paths = sorted({path for pattern in SOURCES[name].patterns for path in folder.glob(pattern) if path.is_file() and not path.is_symlink()})
        if not paths:
            raise SystemExit(f"{folder} has no files for {name!r}: run fetch_texts.sh {folder}")
        for path in paths:
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            text = SOURCES[name].text(data.decode(errors="replace"))
            if text.strip():
                yield Document(str(path.relative_to(folder)), text)


def chapters(folder: Path) -> list[Document]:
    """The chapters of the King James Bible, without the numbers of verses."""
    found: dict[str, list[str]] = {}
    for line in (folder / "bible.txt").read_text().splitlines():
        place, _, verse = line.partition(" ")
        found.setdefault(place.partition(":")[0], []).append(verse)
    return [Document(f"bible/{name}", " ".join(verses)) for name, verses in found.items()]


def synonyms(folder: Path) -> dict[str, list[str]]:
    """The single-word synonyms of words, from the thesaurus of Debian's mythes-en-us (WordNet)."""
    lines = iter((folder / "mythes-en-us/usr/share/mythes/th_en_US_v2.dat").read_text().splitlines()[1:])
    found: dict[str, list[str]] = {}
    for line in lines:
        word, number = line.rsplit("|", 1)
        meanings = [next(lines).split("|")[1:] for _ in range(int(number))]
        same = {term for meaning in meanings for term in meaning if term.isalpha() and term.islower() and term != word}
        if word.isalpha() and same:
            found[word] = sorted(same)
    return found


def write(documents: Sequence[Document], path: Path) -> int:
    """Write documents as JSON lines; the bytes of their texts."""
    with path.open("w") as file:
        file.writelines(json.dumps(document._asdict(), ensure_ascii=False) + "\n" for document in documents)
    return sum(len(document.text.encode(errors="surrogatepass")) for document in documents)


class Runs:
    """The runs of ``size`` words of texts, counted by brute force, without likewise."""

    def __init__(self, texts: Iterable[str], size: int) -> None:
        self.size, self.numbers = size, dict[str, int]()
        self.hashes, self.times = np.unique(np.concatenate([self.of(text) for text in texts]), return_counts=True)

    def of(self, text: str) -> np.ndarray:
        """A hash of each run: uint64[words - size + 1]. A word is a maximal sequence of letters, digits and underscores, in lower case."""
        numbers = np.array([self.numbers.setdefault(word, len(self.numbers) + 1) for word in re.findall(r"\w+", text.lower())], np.uint64)
        hashes = np.zeros(max(0, len(numbers) - self.size + 1), np.uint64)
        for at in range(self.size):
            hashes = hashes * FACTOR + numbers[at : at + len(hashes)]
        return hashes

    def count(self, text: str) -> np.ndarray:
        """How often each run of a text stands in the texts."""
        hashes = self.of(text)
        places = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return np.where(self.hashes[places] == hashes, self.times[places], 0)
