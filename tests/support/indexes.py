"""Indexes over every store, for the tests of what must hold for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import likewise as lw
from index_stores import STORES
from likewise.index.settings import settings_of
from likewise.index.stored_settings import stored
from likewise.stages import candidates
from plain_store import PlainStore


def plain_index(**choices: Any) -> lw.Index:
    """An index over the store by definition."""
    settings = settings_of(**choices)
    return lw.Index(PlainStore(stored(settings), settings.bands, budget=candidates.BUDGET))


def index_in(name: str, folder: Path, **choices: Any) -> lw.Index:
    """An index over the store of this name (`index_stores.STORES`)."""
    return lw.Index(STORES[name].create(stored(settings_of(**choices)), folder))


def reopened(ix: lw.Index, name: str, folder: Path) -> lw.Index:
    """The same index, closed and opened again where its store outlives it."""
    reopen = STORES[name].reopen
    return ix if reopen is None else lw.Index(reopen(ix.store, folder))


def opened(batch: Any, ids: Any = None, groups: Any = None, **choices: Any) -> lw.Index:
    """An index with these items."""
    index = plain_index(**choices)
    index.add(batch, ids, per=groups)
    return index


def sentences(rng: np.random.Generator, n: int, length: int = 40, words: int = 5000) -> list[str]:
    return [" ".join(f"w{word}" for word in rng.integers(0, words, length)) for _ in range(n)]


def variants(rng: np.random.Generator, items: list[str], n: int) -> list[str]:
    """New texts: a third are copies, a third have another word at their end, and a third are other texts."""
    return [[text, f"{text} more", other][i % 3] for i, (text, other) in enumerate(zip(rng.choice(items, n), sentences(rng, n), strict=True))]
