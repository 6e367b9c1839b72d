"""The most similar items to a query, found by codes, by inverted lists, or by comparing all. No I/O."""
