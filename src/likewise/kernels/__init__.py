"""Compiled loops: numpy arrays in, numpy arrays out; no I/O, no clock, no Python object per record.

A kernel trusts its caller: shapes, types and bounds are checked one layer up. Each has a slow, obvious reference implementation in tests/.
"""
