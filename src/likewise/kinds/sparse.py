"""Sparse vectors, which the column of vectors of some inputs turns out to hold: coordinates that are not 0."""

from __future__ import annotations

from likewise.kinds.kind import Kind


class SparseVectors(Kind):
    """Vectors of any dimension, by the measures of `vectors`."""

    name, noun, item = "sparse vectors", "sparse vector", "a vector"
    field = holds = "vector"
    payload = "sparse"
    needs_data = True
    sparse = True


KIND = SparseVectors()
