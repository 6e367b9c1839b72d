"""Universal hashing: random functions that spread numbers evenly over buckets (Carter and Wegman 1979)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from likewise.errors import UsageError


@dataclass(frozen=True)
class Universal:
    """h(x) = ((a x + b) mod p) mod n. Without p it is (a x + b) mod n.

    With p a prime above every x, and a and b drawn at random (a not 0), two numbers have the same value with a probability of at most 1/n.

    >>> h = Universal(2, 1, 5)
    >>> print(h, [h(x) for x in range(5)])
    (2x + 1) mod 5 [1, 3, 0, 2, 4]
    >>> print(Universal(3, 4, 6, 17), Universal(3, 4, 6, 17)(8))
    ((3x + 4) mod 17) mod 6 5
    """

    a: int
    b: int
    n: int
    p: int | None = None

    def __post_init__(self) -> None:
        if self.n < 1 or (self.p is not None and (self.p < self.n or not is_prime(self.p))):
            raise UsageError(f"n = {self.n} with p = {self.p}: give 1 or more buckets, and a prime p that is not smaller than n")

    @classmethod
    def drawn(cls, n: int, p: int, seed: int = 0) -> Universal:
        """A random member of the family, with 0 < a < p and 0 <= b < p. p: a prime."""
        draw = random.Random(seed)  # noqa: S311 - no secret
        return cls(draw.randrange(1, p), draw.randrange(p), n, p)

    def __call__(self, x: int) -> int:
        y = self.a * x + self.b
        return (y if self.p is None else y % self.p) % self.n

    def __str__(self) -> str:
        times = "x" if self.a == 1 else f"{self.a}x"
        inner = times if not self.b else f"{times} + {self.b}" if self.b > 0 else f"{times} - {-self.b}"
        inner = f"({inner})" if self.b else inner
        return f"{inner} mod {self.n}" if self.p is None else f"({inner} mod {self.p}) mod {self.n}"


def is_prime(number: int) -> bool:
    """True for a prime.

    >>> [number for number in range(20) if is_prime(number)]
    [2, 3, 5, 7, 11, 13, 17, 19]
    """
    return number > 1 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


def name_of(function: Callable[[Any], Any], place: int) -> str:
    """How a hash function is named in a table: by its formula, or as h1, h2, ..."""
    return str(function) if isinstance(function, Universal) else f"h{place}"
