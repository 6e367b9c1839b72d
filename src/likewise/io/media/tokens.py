"""Vectors of tokens, such as those of GloVe and word2vec, and texts as sets of the vectors of their tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.format import read_array
from numpy.typing import NDArray

from likewise.errors import DataError, UsageError
from likewise.io.formats.npz import opened
from likewise.items.tokens import token_texts
from likewise.messages import option
from likewise.methods import Text

FORMS = (
    "token vectors must be a .parquet file with the columns token and vector, an .npz file with the arrays tokens[n] and vectors[n, d],"
    " or a .txt or .vec file with a token and its numbers per line"
)


@dataclass(frozen=True)
class TokenVectors:
    """A vector for each of some tokens."""

    places: dict[str, int]  # token -> row
    vectors: NDArray[np.float32]  # [n, d]

    def features_of(self, text: str, method: Text) -> tuple[NDArray[np.float32], int]:
        """Return the vectors of the distinct tokens of a text, float32[m, d], and the number of distinct tokens without one.

        Vectors are in the order in which the tokens first occur.
        """
        distinct = dict.fromkeys(token_texts(text, method))
        rows = [self.places[token] for token in distinct if token in self.places]
        return self.vectors[rows], len(distinct) - len(rows)


def load(path: Path) -> TokenVectors:
    """Return the vectors in a file; the first one of a token that occurs twice. Raises UsageError and DataError with the place."""
    if path.suffix not in READERS:
        raise UsageError(f"{option('vectors', path)}: {FORMS}")
    try:
        tokens, vectors = READERS[path.suffix](path)
    except FileNotFoundError:
        raise UsageError(f"{option('vectors', path)}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    if vectors.ndim != 2 or not vectors.size or len(tokens) != len(vectors):
        raise DataError(f"{path}: {len(tokens):,} tokens and vectors of shape {vectors.shape}; {FORMS}")
    if not np.isfinite(vectors).all():
        row = int(np.isfinite(vectors).all(axis=1).argmin())
        raise DataError(f"{path}: the vector of {tokens[row]!r} (row {row}) holds NaN, infinity or a number beyond float32")
    places: dict[str, int] = {}
    for place, token in enumerate(tokens):
        places.setdefault(token, place)
    return TokenVectors(places, vectors)


Read = tuple[list[str], NDArray[np.float32]]


def of_npz(path: Path) -> Read:
    """Return the tokens and vectors of a .npz file. Raises DataError."""
    with opened(path) as file:
        there = [name.removesuffix(".npy") for name in file.namelist()]
        if missing := {"tokens", "vectors"} - {*there}:
            raise DataError(f"{path}: has no array {min(missing)!r}, only {', '.join(there) or 'none'}; {FORMS}")
        tokens, vectors = (read_array(file.open(f"{name}.npy")) for name in ("tokens", "vectors"))
    if tokens.dtype.kind != "U" or vectors.dtype.kind not in "iuf":
        raise DataError(f"{path}: tokens are {tokens.dtype} and vectors {vectors.dtype}; expected strings (dtype U) and numbers")
    return tokens.tolist(), narrowed(vectors)


def of_parquet(path: Path) -> Read:
    """Return the tokens and vectors of a Parquet file. Raises DataError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from likewise.items.vectors import vectors

    try:
        with path.open("rb") as file:
            table = pq.read_table(file)
    except pa.ArrowInvalid as error:
        raise DataError(f"{path}: is not a Parquet file: {error}") from None
    for name in ("token", "vector"):
        if name not in table.column_names:
            raise DataError(f"{path}: has no column {name!r}, only {', '.join(table.column_names)}; {FORMS}")
    tokens = table["token"].to_pylist()
    if odd := [row for row, token in enumerate(tokens) if not isinstance(token, str)][:1]:
        raise DataError(f"{path}: row {odd[0]} of the column token holds {tokens[odd[0]]!r:.60}; a token is a string")
    try:
        return tokens, narrowed(vectors(table["vector"]))
    except (UsageError, DataError) as error:
        raise DataError(f"{path}: column vector: {error}") from None


def of_lines(path: Path) -> Read:
    """Return the vectors of a text file of word2vec or GloVe: a token and its numbers per line, after an optional line with the numbers of both."""
    tokens: list[str] = []
    rows: list[NDArray[np.float32]] = []
    with path.open("rb") as file:
        for line, token, numbers in split(path, file):
            if rows and len(numbers) != len(rows[0]):
                raise DataError(f"{path}: line {line}: {len(numbers)} numbers, but the lines before have {len(rows[0])}")
            tokens.append(token)
            rows.append(numbers)
    return tokens, np.array(rows, np.float32).reshape(len(rows), len(rows[0]) if rows else 0)


def split(path: Path, lines: Iterable[bytes]) -> Iterator[tuple[int, str, NDArray[np.float32]]]:
    """Yield (line number, token, numbers) of each nonempty line. A token may contain spaces; the first line determines how many numbers there are."""
    wide = 0
    for line, raw in enumerate(lines, 1):
        parts = raw.split()
        if line == 1 and len(parts) == 2 and all(part.isdigit() for part in parts):
            wide = int(parts[1])
            continue
        if not parts:
            continue
        wide = wide or len(parts) - 1
        token, *numbers = raw.rstrip().rsplit(None, wide)
        try:
            found = np.array(numbers, np.float64)
            yield line, token.decode(), narrowed(found)
        except UnicodeDecodeError:
            raise DataError(f"{path}: line {line}: the token is not UTF-8") from None
        except ValueError:
            raise DataError(f"{path}: line {line}: expected a token and {wide} numbers, got {raw[:60].decode(errors='replace')!r}") from None


def narrowed(vectors: NDArray[np.generic]) -> NDArray[np.float32]:
    """Return numbers as float32, contiguous; too large ones become infinite."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(vectors, np.float32)


READERS = {".npz": of_npz, ".parquet": of_parquet, ".txt": of_lines, ".vec": of_lines}
