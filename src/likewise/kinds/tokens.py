"""Token ids from a tokenizer, cut into shingles like texts."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from likewise.kinds.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from likewise.records import Want


class Tokens(Texts):
    """Lists of integers, cut into shingles."""

    name, noun = "lists of token ids", "list of token ids"
    reader = "likewise.items.token_ids:READER"
    values = "i8"
    needed = "token ids: lists of whole numbers"
    advice = {}  # noqa: RUF012
    unit = "tokens"
    payload, holds = "tokens", "token ids"
    same = "The token ids are the same, one by one."

    def known(self, width: int) -> Any:
        return [[*range(-5, 40)]]

    def alone(self, given: Any) -> bool | None:
        from likewise.items import sets

        return isinstance(given, str | bytes) or sets.alone(given)

    def column(self, batch: Any) -> pa.LargeBinaryArray:
        from likewise.items.texts import token_ids

        return token_ids(batch)

    def readable(self, raw: bytes, want: Want) -> str:
        return " ".join(map(str, self.item_of(raw, want, 0).tolist()))

    def spans(self, text: str, parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        begins = [0, *accumulate(len(token) + 1 for token in text.split(" "))]
        last = len(begins) - 1
        return [(low := begins[min(start, last)], max(low, begins[min(end, last)] - 1)) for start, end in parts]

    def read_back(self, text: str) -> Any:
        return [*map(int, text.split())]

    def item_of(self, raw: bytes, want: Want, width: int) -> Any:
        import numpy as np

        return np.frombuffer(raw, np.int64)


KIND = Tokens()
