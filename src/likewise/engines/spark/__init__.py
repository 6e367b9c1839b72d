"""The engine of a Spark cluster: the steps of `engines.engine` on DataFrames."""
