"""Passages that texts share: functions of arrays, above the kernels `winnow` and `passages`. Nothing here knows files."""
