"""Token ids, as a tokenizer gives them: cut into shingles as texts are."""

from __future__ import annotations

from likewise.kinds.texts import Texts


class Tokens(Texts):
    """Lists of whole numbers, cut into shingles."""

    name, noun = "lists of token ids", "list of token ids"
    unit = "tokens"
    payload, holds = "tokens", "token ids"


KIND = Tokens()
