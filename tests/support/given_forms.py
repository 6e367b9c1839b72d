"""Items in the forms that callers may pass."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa

NAN, INF = math.nan, math.inf


def array(rows, kind=None):
    return np.array(rows, kind)


def values_and_offsets(kind):
    return array([3, 1, 1, 7], kind), array([0, 3, 4])


class Column:
    """An object that converts itself to an Arrow array, like a Series of polars."""

    def __init__(self, array):
        self.array = array

    def __arrow_c_stream__(self, schema=None):
        return pa.chunked_array([self.array]).__arrow_c_stream__(schema)


class Series:
    """An object that resembles a list without being one, like a Series of pandas."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return iter(self.values)

    def __getitem__(self, place):
        return self.values[place]

    def __contains__(self, value):
        return value in self.values
