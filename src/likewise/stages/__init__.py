"""The steps of a run as functions of arrays, without engines or files.

In the order of a run:

- workers: the tasks, progress and memory that steps use
- counting: the shingles in more than a share of the items, which are then ignored, if the user asks for it
- sketch: rows become words, digests of copies, and band keys
- kept: sketched rows as an index keeps them
- copies: exact copies collapse into the first
- order: the priority order of ``keep`` and ``prefer``
- scope: the pairs of items that a removal compares
- buckets: items of equal band keys, band by band
- candidates: the candidate pairs of a bucket
- near: pairs that may be similar, by sizes and odd sketches
- verify: the exact comparison of pairs
- walk: greedy removal, and representatives
- settle: greedy removal once all similar pairs are known
- lazy: candidate pairs in rounds, so that those of removed items are not compared
- rounds: removal in rounds, for pairs that are too many for one place
- components: the components of kept items
- budget: the pairs that overfull buckets left out
- ranking: sets as ranks of their elements, for joins and searches
- known: keys that are held in memory, in which others are looked up
- listing: pairs of items as pairs of rows
- facts: facts about rows for the report, merged from those of blocks
- clusters: facts about clusters
- bins: how similar removed items are
"""
