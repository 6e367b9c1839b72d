"""The mechanisms of the lectures in plain Python: small, readable, slow, and the reference for what the kernels compute.

Everything prints as the slide shows it, and is a table in a notebook. Values are exact: similarities are fractions. The lectures follow Leskovec,
Rajaraman and Ullman, Mining of Massive Datasets, chapters 3 and 6; docs/learn/ has the course.

>>> from likewise.lecture import Matrix, Universal
>>> sets = Matrix.of({"D1": {0, 3}, "D2": {2}, "D3": {1, 4}, "D4": {0, 2, 3}}, rows=range(5))
>>> sets.one_pass(Universal(1, 1, 5), Universal(3, 1, 5)).signatures
               D1  D2  D3  D4
(x + 1) mod 5   1   3   0   1
(3x + 1) mod 5  0   2   3   0
>>> sets.similarity("D1", "D4")
Fraction(2, 3)
"""

from likewise.lecture.banding import Banding, errors_of, s_curve, s_curves
from likewise.lecture.baskets import a_priori, pcy
from likewise.lecture.hashing import Universal
from likewise.lecture.histograms import histogram, one_to_many, one_to_one
from likewise.lecture.matrix import Matrix, OnePass, RowTypes
from likewise.lecture.measured import measured
from likewise.lecture.sets import clustered_jaccard, containment, jaccard, weighted_jaccard
from likewise.lecture.sheet import Sheet
from likewise.lecture.shingles import bag, shingle_numbers, shingles
from likewise.lecture.signatures import Signatures
from likewise.lecture.strings import Alignment, edit, hamming
from likewise.lecture.vectors import degrees, on_line, sides

__all__ = [
    "Alignment",
    "Banding",
    "Matrix",
    "OnePass",
    "RowTypes",
    "Sheet",
    "Signatures",
    "Universal",
    "a_priori",
    "bag",
    "clustered_jaccard",
    "containment",
    "degrees",
    "edit",
    "errors_of",
    "hamming",
    "histogram",
    "jaccard",
    "measured",
    "on_line",
    "one_to_many",
    "one_to_one",
    "pcy",
    "s_curve",
    "s_curves",
    "shingle_numbers",
    "shingles",
    "sides",
    "weighted_jaccard",
]
