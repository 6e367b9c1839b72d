"""The reader of each kind of payload."""

from __future__ import annotations

from likewise.items import codes, features, sets, sparse, token_ids, vectors, weighted
from likewise.items.reader import Reader

#: By the kinds of records.PAYLOADS but texts and strings, which are read as they are.
READERS: dict[str, Reader] = {module.READER.kind: module.READER for module in (token_ids, sets, weighted, vectors, sparse, features, codes)}
