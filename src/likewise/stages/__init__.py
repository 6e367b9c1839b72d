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
- lazy: candidate pairs in rounds, so that few pairs of removed items are compared
- rounds: removal in rounds, for more pairs than one process can hold
- components: the components of kept items
- budget: the pairs that overfull buckets left out
- shared: what the members of a bucket have in common
- ranking: sets as ranks of their elements, for joins and searches
- known: keys that are held in memory, in which others are looked up
- listing: pairs of items as pairs of rows
- facts: facts about rows for the report, merged from those of blocks
- clusters: facts about clusters for the report, merged likewise
- removed: facts about removed rows for the report: their sources, and examples
- bins: the distribution of the similarities of removed items
- median: the median of values that come in blocks
"""
