"""Joins find all pairs of items within a limit, without bands. Each kind of item has its own; all values are exact. No I/O."""
