"""Indexes over every store, for the tests of what must hold for all of them."""

from __future__ import annotations

from typing import Any

import likewise as lw
from likewise.index.settings import settings_of
from plain_store import PlainStore


def plain_index(**choices: Any) -> lw.Index:
    """An index over the store by definition."""
    settings = settings_of(**choices)
    return lw.Index(PlainStore(settings.to_dict(), settings.bands))
