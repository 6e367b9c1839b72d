"""Engines compute the steps of a removal and store its rows: the protocol, and the engines of one machine and of a Spark cluster."""
