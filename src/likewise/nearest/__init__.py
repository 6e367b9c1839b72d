"""The most similar items of a query: by codes, by inverted lists, or by comparing all. No I/O."""
