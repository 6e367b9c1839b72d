"""The explorer: the pages of an output folder, or of an index, for a browser on the same machine."""
