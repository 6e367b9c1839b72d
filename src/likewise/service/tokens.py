"""Bearer tokens with scopes, from a file.

A line of the file is ``SCOPE TOKEN [NAME]``; empty lines and lines that begin with # are left out. SCOPE: read, or write, which includes read.
TOKEN: at least 16 letters, digits and ``-._~+/=``, or ``sha256:`` and the 64 hexadecimal digits of its SHA-256. NAME: what the log calls it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from likewise.errors import UsageError
from likewise.messages import option

Scope = Literal["read", "write"]
SCOPES = ("read", "write")
SHORTEST = 16
TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
HASHED = re.compile(r"sha256:([0-9a-fA-F]{64})")
#: A file of more tokens than this is not one of tokens, and each request is compared with all.
MOST = 1000


class Token(NamedTuple):
    digest: bytes  # SHA-256
    scope: Scope
    name: str


@dataclass(frozen=True)
class Tokens:
    """The tokens that are valid now."""

    known: tuple[Token, ...]

    def find(self, token: bytes) -> Token | None:
        """The token, or None. The time does not tell how much of a token is right."""
        digest = hashlib.sha256(token).digest()
        found = None
        for one in self.known:
            if hmac.compare_digest(digest, one.digest):
                found = one
        return found

    @property
    def writing(self) -> bool:
        """True if one of them may write."""
        return any(token.scope == "write" for token in self.known)


def read(path: Path) -> Tokens:
    """The tokens of a file. Raises UsageError, which quotes no token."""
    where = option("token_file", path)
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError as error:
        raise UsageError(f"{where}: {error.strerror}; give a file with a line `read TOKEN` or `write TOKEN` for each token") from error
    known: list[Token] = []
    plain = 0
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        here = f"{where}: line {number}"
        if words[0] not in SCOPES or len(words) not in (2, 3):
            raise UsageError(f"{here}: expected `read TOKEN [NAME]` or `write TOKEN [NAME]`, got another first word or {len(words)} words")
        if hashed := HASHED.fullmatch(words[1]):
            digest = bytes.fromhex(hashed[1])
        elif len(words[1]) < SHORTEST or not TOKEN.fullmatch(words[1]):
            rule = f"a token has at least {SHORTEST} letters, digits and -._~+/=, or is sha256: and 64 hexadecimal digits"
            raise UsageError(f"{here}: {rule}; `openssl rand -hex 32` makes one")
        else:
            digest, plain = hashlib.sha256(words[1].encode()).digest(), plain + 1
        if any(digest == other.digest for other in known):
            raise UsageError(f"{here}: this token appears twice; remove one of the lines")
        known.append(Token(digest, "write" if words[0] == "write" else "read", words[2] if len(words) == 3 else f"line {number}"))
    if not 0 < len(known) <= MOST:
        raise UsageError(f"{where}: expected 1 to {MOST:,} tokens, a line `read TOKEN` or `write TOKEN` for each, and found {len(known):,}")
    if plain and mode & stat.S_IROTH:
        raise UsageError(f"{where}: every user of this machine can read its tokens; run chmod o-r {path}, or write them as sha256:...")
    return Tokens(tuple(known))
