"""likewise finds near-duplicates in large collections: documents, sets, vectors, codes and strings. Every result is verified and accounted for.

    import likewise as lw
    result = lw.dedup("crawl/*.jsonl", by="words:5", threshold=0.8, out="clean")

Names are loaded on first use, so importing the package takes almost no time.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Arrow's allocator (mimalloc) reserves 1 GiB of address space at once, which a limited process (ulimit -v) may not have. In KiB.
os.environ.setdefault("MIMALLOC_ARENA_RESERVE", str(64 * 2**10))

#: public name -> the module that holds it
_HOMES = {
    **{verb: f"likewise.verbs.{verb}" for verb in ("audit", "dedup", "neighbors", "pairs", "plan", "quotes", "repeats", "similarity")},
    "sketch": "likewise.verbs.similarity",
    **dict.fromkeys(("Added", "Index"), "likewise.verbs.index"),
    "Answers": "likewise.index.answers",
    "Client": "likewise.service.client",
    **dict.fromkeys(("Text", "Measure", "Words", "Chars"), "likewise.methods"),
    **dict.fromkeys(("LikewiseError", "UsageError", "IdError", "DataError", "FormatError", "MissingPartError"), "likewise.errors"),
    **dict.fromkeys(("Removal", "Pairs"), "likewise.runs.results"),
    "Quotes": "likewise.runs.quoted",
    "Repeats": "likewise.runs.repeated",
    "Table": "likewise.runs.table",
    "families": "likewise.families",
    "lecture": "likewise.lecture",
    **dict.fromkeys(("frequent", "FrequentPairs"), "likewise.runs.frequent_pairs"),
    "Audit": "likewise.runs.audit",
    "Plan": "likewise.planning",
    "Planted": "likewise.runs.planting",
    "Progress": "likewise.progress",
}

__all__ = [
    "Added",
    "Answers",
    "Audit",
    "Chars",
    "Client",
    "DataError",
    "FormatError",
    "FrequentPairs",
    "IdError",
    "Index",
    "LikewiseError",
    "Measure",
    "MissingPartError",
    "Pairs",
    "Plan",
    "Planted",
    "Progress",
    "Quotes",
    "Removal",
    "Repeats",
    "Table",
    "Text",
    "UsageError",
    "Words",
    "audit",
    "dedup",
    "families",
    "frequent",
    "lecture",
    "neighbors",
    "pairs",
    "plan",
    "quotes",
    "repeats",
    "similarity",
    "sketch",
]

if TYPE_CHECKING:
    from likewise import families, lecture
    from likewise.errors import DataError, FormatError, IdError, LikewiseError, MissingPartError, UsageError
    from likewise.index.answers import Answers
    from likewise.methods import Chars, Measure, Text, Words
    from likewise.planning import Plan
    from likewise.progress import Progress
    from likewise.runs.audit import Audit
    from likewise.runs.frequent_pairs import FrequentPairs, frequent
    from likewise.runs.planting import Planted
    from likewise.runs.quoted import Quotes
    from likewise.runs.repeated import Repeats
    from likewise.runs.results import Pairs, Removal
    from likewise.runs.table import Table
    from likewise.service.client import Client
    from likewise.verbs.audit import audit
    from likewise.verbs.dedup import dedup
    from likewise.verbs.index import Added, Index
    from likewise.verbs.neighbors import neighbors
    from likewise.verbs.pairs import pairs
    from likewise.verbs.plan import plan
    from likewise.verbs.quotes import quotes
    from likewise.verbs.repeats import repeats
    from likewise.verbs.similarity import similarity, sketch


def __getattr__(name: str) -> Any:
    if home := _HOMES.get(name):
        module = import_module(home)
        return module if home == f"{__name__}.{name}" else getattr(module, name)
    raise AttributeError(f"module 'likewise' has no attribute {name!r}")


def __dir__() -> list[str]:  # what an editor offers
    return [*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"]
