"""Compiled loops: numpy arrays in, numpy arrays out; no I/O, no clock, no Python object per record.

A kernel trusts its caller: shapes, types and bounds are checked one layer up. Each has a slow, obvious reference implementation in tests/.
In docstrings ``float32[n, d]`` is an array of that type and shape; ``out`` and names that begin with it are arrays that the kernel fills.
"""
