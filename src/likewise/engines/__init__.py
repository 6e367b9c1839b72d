"""Where stages run: over batches on this machine's threads."""
