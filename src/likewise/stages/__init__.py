"""What is done to items, step by step: sketch, collapse copies, order, band, compare, cluster. No engine, no I/O."""
