"""Token ids, as a tokenizer gives them: cut into shingles as texts are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.kinds.texts import Texts

if TYPE_CHECKING:
    from likewise.records import Want


class Tokens(Texts):
    """Lists of whole numbers, cut into shingles."""

    name, noun = "lists of token ids", "list of token ids"
    unit = "tokens"
    payload, holds = "tokens", "token ids"
    same = "The token ids are the same, one by one."

    def readable(self, raw: bytes, want: Want) -> str:
        return " ".join(map(str, self.item_of(raw, want, 0).tolist()))

    def item_of(self, raw: bytes, want: Want, width: int) -> Any:
        import numpy as np

        return np.frombuffer(raw, np.int64)


KIND = Tokens()
