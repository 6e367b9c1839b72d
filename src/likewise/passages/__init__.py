"""Passages that texts share, or that a collection repeats: functions of arrays, above the kernels of the same names. Nothing here knows files."""
