"""Joins: all pairs of items within a limit, without bands. Each kind of item has its own; all end in the exact measure. No I/O."""
