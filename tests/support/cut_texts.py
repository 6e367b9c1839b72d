"""Texts to cut into shingles, and a slow reference implementation in plain Python that starts from tokens."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from likewise import methods
from likewise.items.documents import shingler
from likewise.items.normalize import normalize
from likewise.items.pieces import runs

LETTERS = st.one_of(
    st.characters(),
    st.characters(max_codepoint=0x250),
    st.sampled_from("aA bB\n\u0301\u0345ΣσİǅﬁΑ가각\u1100\u1161\u200d\ufe0f\ud800\udc00😀漢カ\u3099'\"\\"),
)
PARTS = st.text(LETTERS, max_size=8)


class Cut(NamedTuple):
    """The options of cutting, and the parts of each text."""

    by: str
    normalize: str
    texts: list[list[str]]


@st.composite
def cut(draw: st.DrawFn) -> Cut:
    """Texts made of a few parts, so that they share shingles."""
    unit = draw(st.sampled_from([unit for unit in methods.UNITS if unit != "tokens"]))
    steps = draw(
        st.lists(st.sampled_from(list(methods.STEPS)), unique=True).filter(
            lambda names: not {"nfc", "nfkc"} <= {*names} and not {"lower", "fold"} <= {*names}
        )
    )
    parts = st.sampled_from(draw(st.lists(PARTS, min_size=1, max_size=5)))
    by = f"{unit}:{draw(st.integers(1, 4))}" + "/bag" * draw(st.booleans())
    return Cut(by, ",".join(steps) or "none", draw(st.lists(st.lists(parts, max_size=6), min_size=1, max_size=5)))


def texts_are_cut_as_by_python(cut: Cut, folder: Path) -> str:
    """Check shared shingles against sets of tuples of tokens, copies against equal normalized texts, and each text against itself alone."""
    method = methods.parse(cut.by, cut.normalize)
    texts = ["".join(parts) for parts in cut.texts]
    raw = pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.large_binary())
    made = shingler(method, 3)
    found = made(raw, np.ones(len(texts), bool))
    got = [set(found.values[low:high].tolist()) for low, high in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
    want = [reference(text, method) for text in texts]
    copies = [tuple(row) for row in found.copy.tolist()]
    even = [normalize(text, method.normalize, in_lines=method.unit in ("lines", "paragraphs")) for text in texts]
    for i, one in enumerate(texts):
        alone = made(raw[i : i + 1], np.ones(1, bool))
        assert set(alone.values.tolist()) == got[i] and tuple(alone.copy[0].tolist()) == copies[i], one
        for j in range(i + 1):
            assert len(got[i] & got[j]) == len(want[i] & want[j]), (one, texts[j])
            assert (copies[i] == copies[j]) == (even[i] == even[j]), (one, texts[j])
    return "cut"


def reference(text: str, method: methods.Text) -> set[Any]:
    found = runs(text, method)
    return {(run, i) for run, times in Counter(found).items() for i in range(times)} if method.bag else set(found)
