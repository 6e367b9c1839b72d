"""The steps of a run, as functions of arrays. No engine, no files.

In the order of a run:

- workers: what a step needs of whoever runs it
- sketch: rows become words, copies' digests and band keys
- copies: exact copies collapse into the first
- order: the priority order of --keep and --prefer
- buckets: items of equal band keys, band by band
- meeting: which items of a bucket meet
- near: which pairs may be similar, by sizes and odd sketches
- verify: the exact comparison of pairs
- walk: greedy removal, witnesses and components
- settle: greedy removal where all similar pairs are known
- budget: the pairs that overfull buckets left out
- ranking: sets as ranks of their elements, for joins and searches
- listing: pairs of items as pairs of rows
"""
