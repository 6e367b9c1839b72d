"""Who computes the steps of a removal, and where rows lie: the protocol, and the engine of one machine with its threads."""
