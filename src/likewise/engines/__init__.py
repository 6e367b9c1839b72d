"""Engines compute the steps of a removal and store its rows: the protocol, and the engine of one machine with its threads."""
