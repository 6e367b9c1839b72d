"""Indexes over every store, for the tests of what must hold for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import likewise as lw
from index_stores import STORES
from likewise.index.settings import settings_of
from likewise.stages import candidates
from plain_store import PlainStore


def plain_index(**choices: Any) -> lw.Index:
    """An index over the store by definition."""
    settings = settings_of(**choices)
    return lw.Index(PlainStore(settings.to_dict(), settings.bands, budget=candidates.BUDGET))


def index_in(name: str, folder: Path, **choices: Any) -> lw.Index:
    """An index over the store of this name (`index_stores.STORES`)."""
    return lw.Index(STORES[name].create(settings_of(**choices).to_dict(), folder))


def reopened(ix: lw.Index, name: str, folder: Path) -> lw.Index:
    """The same index, closed and opened again where its store outlives it."""
    reopen = STORES[name].reopen
    return ix if reopen is None else lw.Index(reopen(ix.store, folder))
